"""Blocks of the pair matrix: windows in an order in which neighbours share rows and columns.

Rows are cut into stripes of whole windows; in a stripe windows come column by column. A shard is a
contiguous part of that order, so it touches the rows of a stripe, or of two, and some columns. What
it writes is in the order of output all the same, in *pieces*: pairs that follow one another.
`SumsOfWindows` is all that is held of the whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from math import isqrt
from typing import NamedTuple

import numpy as np

from pairalign.base.arguments import Shard, check_shard
from pairalign.base.arrays import Int64s
from pairalign.jobs.run.slabs import PAIR_CELLS, weigh_residues
from pairalign.pairs.windows import Lengths, Window, WindowGrid, count_pairs, cut_window

LengthsBetween = Callable[[int, int], Lengths]
"""Gives the lengths at some sorted positions: from one up to another."""

_BITS = 62  # of costs at most, in 64; where more were needed, weights and costs are rounded
_AT_A_TIME = 1 << 14


class Pairs(NamedTuple):
    """Pairs that follow one another in the order of output."""

    start: int
    pairs: int


class _Place(NamedTuple):
    """A place in the order of blocks: a window of a stripe, and how many of its pairs precede."""

    stripe: int
    column: int
    row: int
    pairs: int


class SumsOfWindows(NamedTuple):
    """What each window's rows, or its columns, have together.

    Attributes
    ----------
    counts, residues, weights, squares : ndarray of int64
        Sequences, residues, weights (see `weigh_residues`) and squares of weights.
    """

    counts: Int64s
    residues: Int64s
    weights: Int64s
    squares: Int64s

    @classmethod
    def of(cls, lengths: LengthsBetween, count: int, size: int, shift: int) -> SumsOfWindows:
        """Sum up lengths, some of `count` at a time; weights are divided by 2 to the `shift`."""
        sums = []
        step = max(1, _AT_A_TIME // size) * size
        for start in range(0, count, step):
            residues = lengths(start, min(start + step, count)).astype(np.int64)
            weights = weigh_residues(residues) >> shift
            starts = np.arange(0, len(residues), size)
            values = np.ones_like(residues), residues, weights, weights * weights
            sums.append([np.add.reduceat(one, starts) for one in values])
        return cls(*map(np.concatenate, zip(*sums, strict=True)))


class Blocks:
    """The windows of a grid in the order of blocks, and what they cost.

    Parameters
    ----------
    rows, columns : callable
        Lengths by sorted position; of one set the same.
    shards : int
        Stripes are about as high as the block of a shard is wide, in residues.

    Notes
    -----
    The first window stays the first and the last one the last.
    """

    def __init__(
        self,
        grid: WindowGrid,
        rows: LengthsBetween,
        columns: LengthsBetween,
        shards: int,
    ) -> None:
        self._grid, self._shards = grid, shards
        self._lengths = rows, columns
        longest = int(weigh_residues(rows(0, 1))[0]) * int(weigh_residues(columns(0, 1))[0])
        most = longest * min(grid.size, grid.rows) * min(grid.size, grid.width)
        self._shift = max(0, most.bit_length() - _BITS + 1) // 2
        self._rows = SumsOfWindows.of(rows, grid.rows, grid.size, self._shift)
        self._columns = self._rows
        if not grid.triangular:
            self._columns = SumsOfWindows.of(columns, grid.width, grid.size, self._shift)
        total = int(self._rows.weights.sum()) * int(self._columns.weights.sum())
        total += PAIR_CELLS * grid.rows * grid.width
        self._coarse = max(0, total.bit_length() - _BITS)
        self._stripes = self._cut_stripes()
        costs = (sum(int(self._costs(row).sum()) for row in range(*one)) for one in self._stripes)
        self._ends = list(accumulate(costs))

    def _cut_stripes(self) -> list[tuple[int, int]]:
        """Return the half-open range of window rows of each stripe."""
        residues, others = int(self._rows.residues.sum()), int(self._columns.residues.sum())
        square = 2 * self._shards if self._grid.triangular else self._shards * residues // others
        stripes = isqrt(square) or 1
        numbers = (np.cumsum(self._rows.residues) - self._rows.residues) * stripes // residues
        cuts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
        return list(zip(cuts, [*cuts[1:], len(numbers)], strict=True))

    def _costs(self, row: int, start: int = 0, stop: int | None = None) -> Int64s:
        """Return what the windows of a row cost, in some columns."""
        rows, columns = self._rows, self._columns
        cells = columns.weights[start:stop] * rows.weights[row]
        cells += columns.counts[start:stop] * (PAIR_CELLS * rows.counts[row])
        if self._grid.triangular:
            cells[: max(row - start, 0)] = 0
            if 0 <= row - start < len(cells):
                count, weight = int(rows.counts[row]), int(rows.weights[row])
                pairs = count * (count - 1) // 2
                cells[row - start] = (weight * weight - int(rows.squares[row])) // 2
                cells[row - start] += PAIR_CELLS * pairs
        costs: Int64s = cells >> self._coarse
        return costs

    def _first_column(self, row: int) -> int:
        return row if self._grid.triangular else 0

    def _rows_of(self, stripe: int, column: int) -> range:
        start, stop = self._stripes[stripe]
        return range(start, min(column + 1, stop) if self._grid.triangular else stop)

    def find(self, number: int) -> _Place:
        """Return where the first `number` of all shards end.

        Notes
        -----
        A cut may be anywhere in a row of a window: the longest sequences make rows that would be
        too much for one of many shards. So a shard's work differs from the mean by that of a pair
        at most.

        Work is estimated, by `weigh_residues` and `PAIR_CELLS`: by cells alone the heaviest of
        1,000 shards of human proteins has 2% more than the mean.
        """
        if number == self._shards:  # all, also what is rounded
            row, column = (count - 1 for count in self._grid.shape)
            return _Place(len(self._stripes) - 1, column, row, self._grid.window(row, column).pairs)
        left = self._ends[-1] * number // self._shards
        if left <= 0:
            return _Place(0, 0, 0, 0)
        stripe = bisect_left(self._ends, left)
        left -= self._ends[stripe - 1] if stripe else 0
        start, stop = self._stripes[stripe]
        width = np.zeros(self._grid.shape[1], np.int64)
        column, left = _reach(sum((self._costs(row) for row in range(start, stop)), width), left)
        rows = self._rows_of(stripe, column)
        down = np.concatenate([self._costs(row, column, column + 1) for row in rows])
        place, left = _reach(down, left)
        window = self._grid.window(rows[place], column)
        return _Place(stripe, column, rows[place], self._find_pair(window, left << self._coarse))

    def _find_pair(self, window: Window, target: int) -> int:
        """Pairs of a window, from its first on, that cost at least `target` (at most all)."""
        rows = self._lengths[0](window.row_start, window.row_stop)
        columns = self._lengths[1](window.column_start, window.column_stop)
        heights, widths = (weigh_residues(lengths) >> self._shift for lengths in (rows, columns))
        offsets = window.row_offsets
        ends = np.cumsum(_row_costs(np.diff(offsets), heights, widths))
        row = int(np.searchsorted(ends, target))
        left = target - (int(ends[row - 1]) if row else 0)
        first = window.first_column(window.row_start + row) - window.column_start
        along = np.cumsum(widths[first:] * heights[row] + PAIR_CELLS)
        return int(offsets[row]) + int(np.searchsorted(along, left)) + 1

    def between(self, start: _Place, stop: _Place) -> Iterator[Window]:
        """Give the windows from one place up to another, some of them cut."""
        for stripe in range(start.stripe, stop.stripe + 1):
            first = self._first_column(self._stripes[stripe][0])
            last = stop.column if stripe == stop.stripe else self._grid.shape[1] - 1
            for column in range(start.column if stripe == start.stripe else first, last + 1):
                for row in self._rows_of(stripe, column):
                    here = (stripe, column, row)
                    if start[:3] <= here <= stop[:3]:
                        window = self._grid.window(row, column)
                        from_, to = start.pairs * (here == start[:3]), window.pairs
                        to = stop.pairs if here == stop[:3] else to
                        if from_ < to:
                            is_whole = to - from_ == window.pairs
                            yield from (window,) if is_whole else cut_window(window, from_, to)


def _reach(costs: Int64s, target: int) -> tuple[int, int]:
    """Return the first place up to which costs are at least a target, and what is left there."""
    ends = np.cumsum(costs)
    place = int(np.searchsorted(ends, target))
    return place, target - int(ends[place] - costs[place])


def cut_shard(
    grid: WindowGrid, rows: LengthsBetween, columns: LengthsBetween, shard: Shard
) -> tuple[list[Window], list[Pairs]]:
    """Find the pairs of a shard.

    Parameters
    ----------
    grid, rows, columns
        As for `Blocks`.
    shard : (int, int)

    Returns
    -------
    windows : list of Window
        In the order of output, some of them cut.
    pieces : list of Pairs
        Which pairs of all these are.

    Notes
    -----
    Where the cuts are follows from the lengths, the grid and the number of shards alone, in exact
    integers: whoever computes them gets the same, without talking to anybody. With more shards than
    pairs some have none.
    """
    number, shards = check_shard(shard)
    blocks = Blocks(grid, rows, columns, shards)
    windows = sorted(
        blocks.between(blocks.find(number - 1), blocks.find(number)),
        key=lambda window: (window.index, window.row_start, window.column_start),
    )
    return windows, _pieces(grid, windows)


def _row_costs(counts: Int64s, rows: Int64s, columns: Int64s) -> Int64s:
    """Return what the pairs of each row of a window cost, of which it has the last `counts`."""
    sums = np.concatenate(([0], np.cumsum(columns)))
    tails = sums[-1] - sums[len(columns) - counts]
    costs: Int64s = rows * tails + PAIR_CELLS * counts
    return costs


def _pieces(grid: WindowGrid, windows: Iterable[Window]) -> list[Pairs]:
    pieces: list[Pairs] = []
    for part in windows:
        above, beside = part.row_start // grid.size, part.column_start // grid.size
        whole = grid.window(above, beside)
        row = part.row_start
        columns = whole.column_start, whole.column_stop
        inside = count_pairs(whole.row_start, row, *columns, grid.triangular)
        inside += part.first_column(row) - whole.first_column(row)
        start = grid.pairs_before(above, beside) + inside
        if pieces and sum(pieces[-1]) == start:
            pieces[-1] = Pairs(pieces[-1].start, pieces[-1].pairs + part.pairs)
        else:
            pieces.append(Pairs(start, part.pairs))
    return pieces
