"""Shards: contiguous parts of windows in some order that take about the same time.

Where the cuts are follows from the lengths, the windows and the number of shards alone, in exact
integers: whoever computes them gets the same, without talking to anybody.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from pairalign.base.arguments import Shard, check_shard
from pairalign.pairs.windows import Lengths, Window, count_cells

PAIR_CELLS = 3000
"""Cells that a pair costs beside its own: finding it, its columns, its text."""

_LONG, _LONGEST, _TWICE = 20_000, 36_000, 5_000
"""A cell of the CPU engine takes longer where sequences are so long that scores need more bits, and
so fewer pairs fit a vector. Human proteins in all modes, relative to those of usual lengths: about
1.3 times with 22,152 residues, 3.8 times with the 34,350 of titin."""

_BITS = 62  # of the cost of a window at most, in 64; where more were needed, weights are rounded


def shard_range(
    windows: Sequence[Window], rows: Lengths, columns: Lengths, shard: Shard
) -> tuple[int, int]:
    """Find the pairs of a shard.

    Parameters
    ----------
    windows : sequence of Window
        All of the pair matrix, see `pairalign.pairs.windows.plan_windows`.
    rows, columns : ndarray of int, shape (sequences,)
        Lengths by sorted position; the same array for one set.
    shard : (int, int)

    Returns
    -------
    start, stop : int
        Half-open range of pairs in the order of output. The ranges of shards 1 to N follow each
        other; with more shards than pairs some are empty.

    Notes
    -----
    A cut may be anywhere in a row of a window: the longest sequences make rows that would be too
    much for one of many shards. So a shard's work differs from the mean by that of a pair at most.

    Work is estimated, by `weigh_letters` and `PAIR_CELLS`: by cells alone the heaviest of 1,000
    shards of human proteins has 2% more than the mean.
    """
    number, shards = check_shard(shard)
    rows, columns = weigh_letters(rows), weigh_letters(columns)
    most = int(rows.max()) * int(columns.max()) * max(window.pairs for window in windows)
    shift = max(0, most.bit_length() - _BITS + 1) // 2
    rows, columns = rows >> shift, columns >> shift
    costs = [_cost(window, rows, columns) for window in windows]
    ends = list(accumulate(costs))
    pairs = [0, *accumulate(window.pairs for window in windows)]

    def cut(k: int) -> int:
        target = ends[-1] * k // shards
        place = bisect_left(ends, target)
        if target <= 0:
            return 0
        left = target - (ends[place] - costs[place])
        return pairs[place] + _find_pair(windows[place], rows, columns, left)

    return cut(number - 1), cut(number)


def weigh_letters(lengths: Lengths) -> npt.NDArray[np.int64]:
    """Return the lengths that sequences count with: the product of two is what their pair takes.

    Parameters
    ----------
    lengths : ndarray of int, shape (sequences,)

    Returns
    -------
    ndarray of int64, shape (sequences,)
        Up to 20,000 residues the lengths, then more, up to 4.2 times as much.
    """
    letters = np.asarray(lengths, np.int64)
    return letters + letters * (np.clip(letters, _LONG, _LONGEST) - _LONG) // _TWICE


def _cost(window: Window, rows: Lengths, columns: Lengths) -> int:
    return count_cells(window, rows, columns) + PAIR_CELLS * window.pairs


def _find_pair(window: Window, rows: Lengths, columns: Lengths, target: int) -> int:
    """Pairs of a window, from its first on, that cost at least `target` (at most all)."""
    offsets = window.row_offsets
    ends = np.cumsum(_row_costs(window, rows, columns))
    row = int(np.searchsorted(ends, target))
    left = target - (int(ends[row - 1]) if row else 0)
    first = window.first_column(window.row_start + row)
    letters = columns[first : window.column_stop].astype(np.int64)
    along = np.cumsum(letters * int(rows[window.row_start + row]) + PAIR_CELLS)
    return int(offsets[row]) + int(np.searchsorted(along, left)) + 1


def _row_costs(window: Window, rows: Lengths, columns: Lengths) -> npt.NDArray[np.int64]:
    lengths = rows[window.row_start : window.row_stop].astype(np.int64)
    inside = columns[window.column_start : window.column_stop].astype(np.int64)
    sums = np.concatenate(([0], np.cumsum(inside)))
    counts = np.diff(window.row_offsets)
    tails = sums[-1] - sums[len(inside) - counts]
    costs: npt.NDArray[np.int64] = lengths * tails + PAIR_CELLS * counts
    return costs
