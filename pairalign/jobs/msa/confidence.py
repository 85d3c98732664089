"""How sure the residues and columns of a multiple alignment are, by the posteriors of pairs.

All pairs of up to `MOST_ALL` sequences count. Of more, each sequence is compared with some others:
in a shuffled ring of all sequences with those that are some steps before and after it, the steps
drawn by chance, so that all are compared with equally many.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import ONE, SparsePosteriors
from pairalign.engines.cpu.cpu_msa import Support
from pairalign.engines.posterior_engines import Pairs
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.posterior.posterior import PosteriorJob
from pairalign.sequences.sets import SequenceSet

MOST_ALL = 200
"""Sequences of which all pairs are compared, unless it is said with how many."""

PARTNERS = 20
"""Of each sequence of more than that."""


class Confidence(NamedTuple):
    """What posteriors say of the residues of a `MultipleAlignment`: its fields of these names."""

    support: npt.NDArray[np.float64]
    compared: npt.NDArray[np.int32]
    against: npt.NDArray[np.float64]

    @classmethod
    def unknown(cls, residues: int) -> Confidence:
        """Return that residues are compared with none."""
        return cls(np.zeros(residues), np.zeros(residues, np.int32), np.zeros(residues))

    def of(self, places: npt.NDArray[np.int64]) -> Confidence:
        """Return what is known of some residues."""
        return Confidence(self.support[places], self.compared[places], self.against[places])


def confidence_by(
    posteriors: Iterable[SparsePosteriors],
    sequences: SequenceSet,
    columns: npt.NDArray[np.int32],
) -> Confidence:
    """Sum up what posteriors say of an alignment.

    Parameters
    ----------
    columns : ndarray of int32, shape (total_residues,)
    """
    support = Support(sequences.offsets, columns)
    for piece in posteriors:
        support.add(piece)
    return Confidence(support.sums / ONE, support.compared, support.against / ONE)


def find_confidence(
    sequences: SequenceSet,
    columns: npt.NDArray[np.int32],
    match_states: int,
    run: FamilyRun,
) -> Confidence:
    """Compute posteriors of all pairs, or of sampled ones, and sum up what they say.

    Parameters
    ----------
    sequences : SequenceSet
        Two or more.
    columns : ndarray of int32, shape (total_residues,)
    match_states : int
        Of the pair HMM.
    run : FamilyRun
        Its partners by default: all of up to `MOST_ALL` sequences, `PARTNERS` of more.
    """
    count = len(sequences)
    partners = run.partners or (count if count <= MOST_ALL else PARTNERS)
    job = PosteriorJob(
        sequences,
        run.resources,
        pairs=sample_pairs(count, partners, run.seed),
        kept=run.kept,
        phase="confidence",
        match_states=match_states,
    )
    return confidence_by(job, sequences, columns)


def sample_pairs(count: int, partners: int, seed: int) -> Pairs | None:
    """Choose pairs of sequences so that each is compared with some others.

    Parameters
    ----------
    count : int
        Sequences.
    partners : int
        Others that each is compared with, rounded up to an even number.
    seed : int
        What is drawn by chance follows from it.

    Returns
    -------
    (ndarray of int32, ndarray of int32) or None
        Input indices of the pairs, the lower one first, in ascending order; None: all pairs.
    """
    steps, most = (partners + 1) // 2, (count - 1) // 2
    if steps >= most:
        return None
    generator = np.random.default_rng(seed)
    ring = generator.permutation(count)
    offsets = np.sort(generator.permutation(most)[:steps]) + 1
    others = ring[(np.arange(count)[:, None] + offsets) % count]
    members = np.repeat(ring, steps)
    pairs = np.stack((np.minimum(members, others.ravel()), np.maximum(members, others.ravel())))
    pairs = pairs[:, np.lexsort(pairs[::-1])].astype(np.int32)
    return np.ascontiguousarray(pairs[0]), np.ascontiguousarray(pairs[1])
