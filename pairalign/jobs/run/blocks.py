"""Blocks of the pair matrix: windows in an order in which neighbours share rows and columns.

Rows are cut into stripes of whole windows; in a stripe windows come column by column. A shard is a
contiguous part of that order, so it touches the rows of a stripe, or of two, and some columns. What
it writes is in the order of output all the same, in *pieces*: pairs that follow one another.
`SumsOfWindows` is all that is held of the whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import isqrt
from operator import mul
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.base.arguments import Shard, check_shard
from pairalign.jobs.run.shards import PAIR_CELLS, weigh_residues
from pairalign.pairs.windows import Lengths, Window, WindowGrid, count_pairs, cut_window

LengthsBetween = Callable[[int, int], Lengths]
"""Gives the lengths at some sorted positions: from one up to another."""

_BITS = 62  # of the cost of a window at most, in 64; where more were needed, weights are rounded
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


@dataclass(frozen=True)
class SumsOfWindows:
    """What each window's rows, or its columns, have together.

    Attributes
    ----------
    counts, residues, weights, squares : list of int
        Sequences, residues, weights (see `weigh_residues`) and squares of weights.
    """

    counts: list[int]
    residues: list[int]
    weights: list[int]
    squares: list[int]

    @classmethod
    def of(cls, lengths: LengthsBetween, count: int, size: int, shift: int) -> SumsOfWindows:
        """Sum up lengths, some of `count` at a time; weights are divided by 2 to the `shift`."""
        sums: list[list[int]] = [[], [], [], []]
        step = max(1, _AT_A_TIME // size) * size
        for start in range(0, count, step):
            residues = lengths(start, min(start + step, count)).astype(np.int64)
            weights = weigh_residues(residues) >> shift
            starts = np.arange(0, len(residues), size)
            for kept, values in zip(
                sums, (np.ones_like(residues), residues, weights, weights * weights), strict=True
            ):
                kept += np.add.reduceat(values, starts).tolist()
        return cls(*sums)


@dataclass(frozen=True)
class Density:
    """What windows cost for each unit that lengths say, by groups of them.

    Attributes
    ----------
    rows, columns : list of int
        Of each group, the window row, or column, that follows its last.
    factors : list of list of int
        A row a group of rows, a column a group of columns; all are 1 at least. Of one set those
        below the diagonal say nothing.
    """

    rows: list[int]
    columns: list[int]
    factors: list[list[int]]

    def column_parts(self, start: int, stop: int) -> Iterator[tuple[int, range]]:
        """Give the window columns from one up to another, those of a group together."""
        for group, end in enumerate(self.columns):
            if start < min(end, stop):
                yield group, range(start, min(end, stop))
                start = end

    def down(self, rows: range, group: int) -> list[int]:
        """Return the factors of some window rows with a group of columns."""
        return [self.factors[bisect_right(self.rows, row)][group] for row in rows]

    def of(self, row: int, column: int) -> int:
        """Return the factor of a window."""
        return self.factors[bisect_right(self.rows, row)][bisect_right(self.columns, column)]


class Blocks:
    """The windows of a grid in the order of blocks, and what they cost.

    Parameters
    ----------
    rows, columns : callable
        Lengths by sorted position; of one set the same.
    shards : int
        Stripes are about as high as the block of a shard is wide, in residues.
    density : Density, optional
        Default: all windows cost what lengths say.

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
        density: Density | None = None,
    ) -> None:
        self._grid, self._shards = grid, shards
        self._density = density or _even(grid)
        self._lengths = rows, columns
        longest = int(weigh_residues(rows(0, 1))[0]) * int(weigh_residues(columns(0, 1))[0])
        most = longest * min(grid.size, grid.rows) * min(grid.size, grid.width)
        self._shift = max(0, most.bit_length() - _BITS + 1) // 2
        self._rows = SumsOfWindows.of(rows, grid.rows, grid.size, self._shift)
        self._columns = self._rows
        if not grid.triangular:
            self._columns = SumsOfWindows.of(columns, grid.width, grid.size, self._shift)
        self._stripes = self._cut_stripes()
        self._ends = self._band_ends()

    def _cut_stripes(self) -> list[tuple[int, int]]:
        """Return the half-open range of window rows of each stripe."""
        residues, others = sum(self._rows.residues), sum(self._columns.residues)
        square = 2 * self._shards if self._grid.triangular else self._shards * residues // others
        stripes = isqrt(square) or 1
        starts = [0, *accumulate(self._rows.residues)][:-1]
        numbers = [start * stripes // residues for start in starts]
        cuts = [k for k in range(len(numbers)) if k == 0 or numbers[k] != numbers[k - 1]]
        return list(zip(cuts, [*cuts[1:], len(numbers)], strict=True))

    def _band_ends(self) -> list[int]:
        """Return what all windows up to the end of each stripe cost."""
        sums = [
            [0, *accumulate(values)] for values in (self._columns.weights, self._columns.counts)
        ]
        costs = []
        for start, stop in self._stripes:
            beside = stop if self._grid.triangular else 0
            cost = sum(self._column_costs(start, stop, beside))
            for group, part in self._density.column_parts(beside, self._grid.shape[1]):
                weights, counts = self._down(start, stop, group)
                weight, count = (ends[part.stop] - ends[part.start] for ends in sums)
                cost += weights[-1] * weight + PAIR_CELLS * counts[-1] * count
            costs.append(cost)
        return list(accumulate(costs))

    def _down(self, start: int, stop: int, group: int) -> tuple[list[int], list[int]]:
        """Return weights and counts of rows of windows, summed up, as a group of columns costs."""
        factors = self._density.down(range(start, stop), group)
        kept = self._rows.weights[start:stop], self._rows.counts[start:stop]
        weights, counts = ([0, *accumulate(map(mul, values, factors))] for values in kept)
        return weights, counts

    def _column_costs(self, start: int, stop: int, end: int) -> list[int]:
        """Return what the windows of a stripe cost, those of each column up to `end` together."""
        columns, costs = self._columns, []
        for group, part in self._density.column_parts(self._first_column(start), end):
            weights, counts = self._down(start, stop, group)
            for column in part:
                above = min(column, stop) - start if self._grid.triangular else stop - start
                cost = columns.weights[column] * weights[above]
                cost += PAIR_CELLS * columns.counts[column] * counts[above]
                if self._grid.triangular and column < stop:
                    cost += self._cost(column, column)
                costs.append(cost)
        return costs

    def _first_column(self, row: int) -> int:
        return row if self._grid.triangular else 0

    def _cost(self, row: int, column: int) -> int:
        weight, count = self._rows.weights[row], self._rows.counts[row]
        if self._grid.triangular and row == column:
            pairs = count * (count - 1) // 2
            cells = (weight * weight - self._rows.squares[row]) // 2
        else:
            pairs = count * self._columns.counts[column]
            cells = weight * self._columns.weights[column]
        return self._density.of(row, column) * (cells + PAIR_CELLS * pairs)

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
        left = self._ends[-1] * number // self._shards
        if left <= 0:
            return _Place(0, 0, 0, 0)
        stripe = bisect_left(self._ends, left)
        left -= self._ends[stripe - 1] if stripe else 0
        costs = list(accumulate(self._column_costs(*self._stripes[stripe], self._grid.shape[1])))
        place = bisect_left(costs, left)
        left -= costs[place - 1] if place else 0
        column = self._first_column(self._stripes[stripe][0]) + place
        rows = self._rows_of(stripe, column)
        costs = list(accumulate(self._cost(row, column) for row in rows))
        place = bisect_left(costs, left)
        left -= costs[place - 1] if place else 0
        window = self._grid.window(rows[place], column)
        left = -(-left // self._density.of(rows[place], column))
        return _Place(stripe, column, rows[place], self._find_pair(window, left))

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


def _even(grid: WindowGrid) -> Density:
    down, across = grid.shape
    return Density([down], [across], [[1]])


def cut_shard(
    grid: WindowGrid,
    rows: LengthsBetween,
    columns: LengthsBetween,
    shard: Shard,
    density: Density | None = None,
) -> tuple[list[Window], list[Pairs]]:
    """Find the pairs of a shard.

    Parameters
    ----------
    grid, rows, columns, density
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
    Where the cuts are follows from the lengths, the grid, the number of shards and the density
    alone, in exact integers: whoever computes them gets the same, without talking to anybody. With
    more shards than pairs some have none.
    """
    number, shards = check_shard(shard)
    blocks = Blocks(grid, rows, columns, shards, density)
    windows = sorted(
        blocks.between(blocks.find(number - 1), blocks.find(number)),
        key=lambda window: (window.index, window.row_start, window.column_start),
    )
    return windows, _pieces(grid, windows)


def _row_costs(
    counts: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return what the pairs of each row of a window cost, of which it has the last `counts`."""
    sums = np.concatenate(([0], np.cumsum(columns)))
    tails = sums[-1] - sums[len(columns) - counts]
    costs: npt.NDArray[np.int64] = rows * tails + PAIR_CELLS * counts
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
