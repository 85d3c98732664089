"""Which sequences of an alignment are like no other: related to none by scores, nor by posteriors.

Near copies of such a sequence do not make it one that is like others.

Where there are no posteriors of all pairs, each is compared with the nearest of the seeds
(`pairalign.jobs.msa.grouping.ScoreDistances.seeds`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import Unlike, unlike_of
from pairalign.alignments.posteriors import SparsePosteriors, pairs_where
from pairalign.engines.cpu.cpu_msa import Support
from pairalign.jobs.msa.grouping import Indices, ScoreDistances
from pairalign.jobs.msa.joining import are_sure
from pairalign.jobs.msa.latecomers import LEAST_FIRST
from pairalign.jobs.posterior.posterior import PosteriorJob
from pairalign.sequences.sets import SequenceSet

_COMPARED = (2, 8)
"""Seeds that each is compared with: at least, and at most; not more than sequences in all."""


def find_unlike(
    sequences: SequenceSet,
    columns: npt.NDArray[np.int32],
    strange: Indices,
    posteriors: SparsePosteriors | None,
    scores: ScoreDistances,
    **computed: Any,
) -> tuple[Unlike, ...]:
    """Find what is like no other.

    Parameters
    ----------
    sequences : SequenceSet
    columns : ndarray of int32, shape (total_residues,)
        Of their alignment.
    strange : ndarray of int64
        Those that are related to nothing, or to a few of these alone, by scores.
    posteriors : SparsePosteriors or None
        Of all pairs, if they are known.
    scores : ScoreDistances
        Of the sequences.
    **computed
        What others are computed with, see `PosteriorJob`.

    Returns
    -------
    tuple of Unlike
        Of those that have relatives nothing is said.
    """
    if not len(strange):
        return ()
    support = Support(sequences.offsets, columns)
    if posteriors is not None:
        support.add(pairs_where(posteriors, _counts(posteriors, strange, len(sequences))))
    else:
        for piece in PosteriorJob(sequences, pairs=_near(scores, strange), **computed):
            support.add(piece)
    sure = np.concatenate(([0], np.cumsum(are_sure(support.sums, support.compared))))
    confident = sure[sequences.offsets[strange + 1]] - sure[sequences.offsets[strange]]
    return unlike_of(sequences, strange, confident)


def _counts(posteriors: SparsePosteriors, strange: Indices, count: int) -> npt.NDArray[np.bool_]:
    """Return which pairs count: those with the others, if there are some."""
    is_strange = np.zeros(count, bool)
    is_strange[strange] = True
    one, other = is_strange[posteriors.queries], is_strange[posteriors.targets]
    few = count - len(strange) < LEAST_FIRST
    counts: npt.NDArray[np.bool_] = one | other if few else one ^ other
    return counts


def _near(
    scores: ScoreDistances, strange: Indices
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return pairs of each with seeds that are near, in ascending order, the lower one first."""
    distances, seeds = scores.to_seeds(), scores.seeds()
    least, most = _COMPARED
    taken = min(max(len(distances) // len(strange), least), most)
    own = distances[strange]
    own[:, np.isin(seeds, strange)] += 1 << 32
    own[strange[:, np.newaxis] == seeds] = np.iinfo(np.int64).max
    near = seeds[np.argsort(own, axis=1, kind="stable")[:, :taken]]
    one = np.repeat(strange, near.shape[1])
    pairs = np.sort(np.stack((one, near.ravel())), axis=0)
    pairs = np.unique(pairs[:, pairs[0] < pairs[1]], axis=1).astype(np.int32)
    return np.ascontiguousarray(pairs[0]), np.ascontiguousarray(pairs[1])
