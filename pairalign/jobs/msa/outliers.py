"""Which sequences of an alignment are like no other: related to none by scores, nor by posteriors.

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
    lonely: Indices,
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
    lonely : ndarray of int64
        Those that are related to nothing by scores.
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
    if not len(lonely):
        return ()
    support = Support(sequences.offsets, columns)
    if posteriors is not None:
        support.add(pairs_where(posteriors, _counts(posteriors, lonely, len(sequences))))
    else:
        for piece in PosteriorJob(sequences, pairs=_near(scores, lonely), **computed):
            support.add(piece)
    sure = np.concatenate(([0], np.cumsum(are_sure(support.sums, support.compared))))
    confident = sure[sequences.offsets[lonely + 1]] - sure[sequences.offsets[lonely]]
    return unlike_of(sequences, lonely, confident)


def _counts(posteriors: SparsePosteriors, lonely: Indices, count: int) -> npt.NDArray[np.bool_]:
    """Return which pairs count: those with the others, if there are some."""
    is_lonely = np.zeros(count, bool)
    is_lonely[lonely] = True
    one, other = is_lonely[posteriors.queries], is_lonely[posteriors.targets]
    few = count - len(lonely) < LEAST_FIRST
    counts: npt.NDArray[np.bool_] = one | other if few else one ^ other
    return counts


def _near(
    scores: ScoreDistances, lonely: Indices
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return pairs of each with seeds that are near, in ascending order, the lower one first."""
    distances, seeds = scores.to_seeds(), scores.seeds()
    least, most = _COMPARED
    taken = min(max(len(distances) // len(lonely), least), most)
    own = distances[lonely]
    own[:, np.isin(seeds, lonely)] += 1 << 32
    own[lonely[:, np.newaxis] == seeds] = np.iinfo(np.int64).max
    near = seeds[np.argsort(own, axis=1, kind="stable")[:, :taken]]
    one = np.repeat(lonely, near.shape[1])
    pairs = np.sort(np.stack((one, near.ravel())), axis=0)
    pairs = np.unique(pairs[:, pairs[0] < pairs[1]], axis=1).astype(np.int32)
    return np.ascontiguousarray(pairs[0]), np.ascontiguousarray(pairs[1])
