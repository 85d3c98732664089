"""What pairs cost as a run is cut into shards that take about the same time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pairalign.base.arguments import Shard
from pairalign.base.arrays import Int32s
from pairalign.pairs.windows import Lengths
from pairalign.sequences.block_set import slices
from pairalign.sequences.sets import SequenceSet

PAIR_CELLS = 3000
"""Cells that a pair costs beside its own: finding it, its columns, its text."""

_LONG, _LONGEST, _TWICE = 20_000, 36_000, 5_000
"""A cell of the CPU engine takes longer where sequences are so long that scores need more bits, and
so fewer pairs fit a vector. Human proteins in all modes, relative to those of usual lengths: about
1.3 times with 22,152 residues, 3.8 times with the 34,350 of titin."""


def weigh_residues(lengths: Lengths) -> npt.NDArray[np.int64]:
    """Return the lengths that sequences count with: the product of two is what their pair takes.

    Parameters
    ----------
    lengths : ndarray of int, shape (sequences,)

    Returns
    -------
    ndarray of int64, shape (sequences,)
        Up to 20,000 residues the lengths, then more, up to 4.2 times as much.
    """
    residues = np.asarray(lengths, np.int64)
    return residues + residues * (np.clip(residues, _LONG, _LONGEST) - _LONG) // _TWICE


def cut_queries(queries: SequenceSet, others: SequenceSet, shard: Shard) -> tuple[int, int]:
    """Find the queries of a shard whose pairs are those of each with all others.

    Returns
    -------
    first, stop : int
        Half-open range of input indices. Of shards in order the ranges follow one another, and
        their pairs take about the same; a few lengths are held at a time.
    """
    number, shards = shard
    residues = sum(_weigh(others, some)[-1] for some in slices(others))
    starts, ends = [0], [0]
    for some in slices(queries):
        starts.append(starts[-1] + len(some))
        ends.append(ends[-1] + _weigh(queries, some)[-1])

    def cost(weights: int, count: int) -> int:
        return residues * weights + PAIR_CELLS * len(others) * count

    def cut(target: int) -> int:
        """Return how many queries cost `target` at least."""
        place = _first(len(ends), target, lambda k: cost(ends[k], starts[k]))
        if place == 0:
            return 0
        start, before = starts[place - 1], ends[place - 1]
        weights = _weigh(queries, np.arange(start, starts[place], dtype=np.int32))
        inside = _first(len(weights), target, lambda k: cost(before + weights[k], start + k + 1))
        return start + inside + 1

    total = cost(ends[-1], len(queries))
    return cut(total * (number - 1) // shards), cut(total * number // shards)


def _weigh(sequences: SequenceSet, some: Int32s) -> list[int]:
    """Return the sums of the weights of some sequences, up to each of them."""
    sums: list[int] = np.cumsum(weigh_residues(sequences.lengths_at(some))).tolist()
    return sums


def _first(count: int, target: int, cost: Callable[[int], int]) -> int:
    """Return the first of `count` numbers whose cost is `target` at least; costs ascend."""
    return bisect_left(range(count), target, key=cost)
