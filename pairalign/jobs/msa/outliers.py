"""Which sequences of an alignment are like no other: related to none by scores, nor by posteriors.

That is said, and changes no row. Where there are no posteriors of all pairs, each is compared with
the nearest of some seeds (`pairalign.jobs.msa.free_end_scores.FreeEndScores.seeds`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import Unlike, unlike_of
from pairalign.alignments.posteriors import SparsePosteriors, pairs_where
from pairalign.engines.cpu.cpu_msa import Support
from pairalign.jobs.msa.free_end_scores import Distances, FreeEndScores
from pairalign.jobs.msa.grouping import Indices, evenly
from pairalign.jobs.msa.joining import are_sure
from pairalign.jobs.posterior.posterior import PosteriorJob
from pairalign.sequences.sets import SequenceSet

_MOST_OF_ALL = 1000
"""Sequences of which all are compared with all."""

_COMPARED = 200
"""Scores for each sequence that looking for relatives of a few may take."""

_POSTERIORS = (2, 8)
"""Seeds that each is compared with: at least, and at most; not more than sequences in all."""


def find_unlike(
    sequences: SequenceSet,
    columns: npt.NDArray[np.int32],
    posteriors: SparsePosteriors | None,
    **computed: Any,
) -> tuple[Unlike, ...]:
    """Find what is like no other.

    Parameters
    ----------
    sequences : SequenceSet
    columns : ndarray of int32, shape (total_residues,)
        Of their alignment.
    posteriors : SparsePosteriors or None
        Of all pairs, if they are known.
    **computed
        What others are computed with, see `PosteriorJob`.
    """
    scores = FreeEndScores(sequences, computed["threads"], computed["memory_bytes"])
    lonely, seeds, distances = _lonely(sequences, scores)
    if not len(lonely):
        return ()
    support = Support(sequences.offsets, columns)
    if posteriors is not None:
        is_lonely = np.zeros(len(sequences), bool)
        is_lonely[lonely] = True
        with_one = is_lonely[posteriors.queries] | is_lonely[posteriors.targets]
        support.add(pairs_where(posteriors, with_one))
    else:
        pairs = _near(lonely, seeds, distances)
        for piece in PosteriorJob(sequences, pairs=pairs, **computed):
            support.add(piece)
    sure = np.concatenate(([0], np.cumsum(are_sure(support.sums, support.compared))))
    confident = sure[sequences.offsets[lonely + 1]] - sure[sequences.offsets[lonely]]
    return unlike_of(sequences, lonely, confident)


def _lonely(sequences: SequenceSet, scores: FreeEndScores) -> tuple[Indices, Indices, Distances]:
    """Return which sequences are related to none, seeds, and the distances of all to these."""
    count = len(sequences)
    everything = np.arange(count)
    seeds = everything if count <= _MOST_OF_ALL else scores.seeds()
    distances = scores.between(everything, seeds)
    lonely = np.flatnonzero(_has_none(scores.above_chance(distances, everything, seeds)))
    if len(seeds) < count:
        if len(lonely) > count // 2:  # too many to look at more closely
            lonely = lonely[:0]
        elif len(lonely):
            others = evenly(sequences.order.astype(np.int64), _COMPARED * count // len(lonely))
            found = scores.above_chance(scores.between(lonely, others), lonely, others)
            lonely = lonely[_has_none(found)]
    return lonely, seeds, distances


def _has_none(related: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = ~np.logical_or.reduce(related, axis=1)
    return found


def _near(
    lonely: Indices, seeds: Indices, distances: Distances
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return pairs of each with seeds that are near, in ascending order, the lower one first."""
    least, most = _POSTERIORS
    taken = min(max(len(distances) // len(lonely), least), most)
    own = distances[lonely]
    own[:, np.isin(seeds, lonely)] += 1 << 32
    own[lonely[:, np.newaxis] == seeds] = np.iinfo(np.int64).max
    near = seeds[np.argsort(own, axis=1, kind="stable")[:, :taken]]
    one = np.repeat(lonely, near.shape[1])
    pairs = np.sort(np.stack((one, near.ravel())), axis=0)
    pairs = np.unique(pairs[:, pairs[0] < pairs[1]], axis=1).astype(np.int32)
    return np.ascontiguousarray(pairs[0]), np.ascontiguousarray(pairs[1])
