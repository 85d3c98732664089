"""Windows of the pair matrix: which pairs belong together, in which order. Pure functions.

The pair matrix has one row and one column per sequence, both sorted longest first (see
`pairalign.sequences.sets.SequenceSet`). It is cut into square windows as in gpu-pairAlign
(Blazewicz et al. 2011, figure 1). The order of windows, and of pairs inside a window, is the order
of every output file; it depends on the set and the window size alone, never on a device.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Doubles, Int32s, Int64s
from pairalign.base.choices import DEFAULT_WINDOW, LIST_WINDOW
from pairalign.base.native import library
from pairalign.pairs.positions import positions_of_numbers, window_positions

Lengths = npt.NDArray[np.signedinteger[Any]]

UNLIMITED = 2**63 - 1
"""More cells than any run has."""


@dataclass(frozen=True)
class Window:
    """A rectangle of the pair matrix, in positions of the length-sorted sets.

    Attributes
    ----------
    index : int
        Place in the order of output, counted from 0.
    row_start, row_stop : int
        Half-open range of rows: positions in the (first) sorted set.
    column_start, column_stop : int
        Half-open range of columns: positions in the same sorted set, or in the second one.
    triangular : bool
        True for one set against itself: only pairs with ``row < column`` belong to the window.
    strand : int
        1, or -1: the sequences of the *columns* are reverse-complemented before they are aligned
        (DNA only). What comes back is on the original strands, see `pairalign.alignments.strands`.

    Notes
    -----
    Pairs are numbered row by row. With two sets (``triangular`` False) rows are positions in the
    first set (IN) whatever the lengths are; the engine turns a pair so that the longer sequence
    runs along its matrix's rows.
    """

    index: int
    row_start: int
    row_stop: int
    column_start: int
    column_stop: int
    triangular: bool
    strand: int = 1

    def first_column(self, row: int) -> int:
        """First column of the pairs of `row` in this window (may be ``column_stop``: none)."""
        if not self.triangular:
            return self.column_start
        return min(max(self.column_start, row + 1), self.column_stop)

    @property
    def bounds(self) -> tuple[int, int, int, int, bool]:
        """The rectangle: ``row_start, row_stop, column_start, column_stop, triangular``."""
        columns = self.column_start, self.column_stop
        return self.row_start, self.row_stop, *columns, self.triangular

    @property
    def row_offsets(self) -> Int64s:
        """Number of pairs before each row, shape (rows + 1,); the last is the number of pairs."""
        counts = self.column_stop - first_columns(*self.bounds)
        return np.concatenate(([0], np.cumsum(counts)))

    @property
    def pairs(self) -> int:
        """Number of pairs in the window."""
        return count_pairs(*self.bounds)

    def positions(self) -> tuple[Int32s, Int32s]:
        """Row and column of every pair in order, two int32 arrays of shape (pairs,)."""
        return window_positions(
            (self.row_start, self.row_stop),
            (self.column_start, self.column_stop),
            self.triangular,
            self.pairs,
        )

    def positions_of(self, numbers: npt.NDArray[np.signedinteger[Any]]) -> tuple[Int32s, Int32s]:
        """Row and column of some pairs, by their numbers in the window, in any order."""
        return positions_of_numbers(self.bounds, numbers)


def default_window(listed: bool) -> int:
    """Rows and columns of a window where none are given; larger ones for pairs of a list."""
    return LIST_WINDOW if listed else DEFAULT_WINDOW


@dataclass(frozen=True)
class WindowGrid:
    """The pair matrix, cut into windows row by row.

    Attributes
    ----------
    rows : int
        Sequences of the (first) set.
    columns : int or None
        Sequences of the second set; None for every pair of one set.
    size : int
        Rows and columns of a window.

    Notes
    -----
    Iterating gives every window that has a pair, in the order of output.
    """

    rows: int
    columns: int | None = None
    size: int = DEFAULT_WINDOW

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"window {self.size}: expected at least 1")

    @property
    def triangular(self) -> bool:
        """Whether a set is aligned with itself."""
        return self.columns is None

    @property
    def width(self) -> int:
        """Columns of the pair matrix."""
        return self.rows if self.columns is None else self.columns

    @property
    def shape(self) -> tuple[int, int]:
        """How many windows are above, and beside, one another."""
        return -(-self.rows // self.size), -(-self.width // self.size)

    @property
    def pairs(self) -> int:
        """Number of all pairs."""
        return count_pairs(0, self.rows, 0, self.width, self.triangular)

    def window(self, row: int, column: int) -> Window:
        """Return a window by its place among those above it, and among those beside it."""
        _, across = self.shape
        index = row * across + column
        if self.triangular:  # with windows of one pair those on the diagonal have none
            index -= row * (row + 1) // 2 + (row + 1) * (self.size == 1)
        first, left = row * self.size, column * self.size
        stop, right = min(first + self.size, self.rows), min(left + self.size, self.width)
        return Window(index, first, stop, left, right, self.triangular)

    def pairs_before(self, row: int, column: int) -> int:
        """Count the pairs that come before a window in the order of output."""
        first, left = row * self.size, column * self.size
        stop = min(first + self.size, self.rows)
        above = count_pairs(0, first, 0, self.width, self.triangular)
        return above + count_pairs(first, stop, 0, left, self.triangular)

    def __iter__(self) -> Iterator[Window]:
        down, across = self.shape
        for row in range(down):
            for column in range(row if self.triangular else 0, across):
                window = self.window(row, column)
                if window.pairs:
                    yield window


def plan_windows(
    rows: int, columns: int | None = None, window: int = DEFAULT_WINDOW
) -> list[Window]:
    """Return all windows of a `WindowGrid`, whose parameters these are."""
    return list(WindowGrid(rows, columns, window))


def first_columns(
    row_start: int, row_stop: int, column_start: int, column_stop: int, triangular: bool
) -> Int64s:
    """First column with a pair of each row of a rectangle; `column_stop` where there is none."""
    rows = np.arange(row_start, row_stop, dtype=np.int64)
    if not triangular:
        return np.full_like(rows, column_start)
    return np.clip(rows + 1, column_start, column_stop)


def count_pairs(
    row_start: int, row_stop: int, column_start: int, column_stop: int, triangular: bool
) -> int:
    """Pairs of a rectangle of the pair matrix; `triangular`: those with ``row < column``."""
    columns = column_stop - column_start
    if not triangular:
        return (row_stop - row_start) * columns
    whole = max(min(row_stop, column_start) - row_start, 0)  # rows with all columns
    first, last = max(row_start, column_start), min(row_stop, column_stop)
    rows = max(last - first, 0)  # the others that have any: each one fewer than that before
    return whole * columns + rows * (2 * column_stop - first - last - 1) // 2


def count_cells(window: Window, rows: Lengths, columns: Lengths) -> int:
    """Cells of the dynamic programming matrices of a window's pairs: the work it takes.

    Parameters
    ----------
    rows, columns : ndarray of int, shape (sequences,)
        Lengths by sorted position; the same array for one set.
    """
    if not window.triangular or window.row_stop <= window.column_start:  # all with all
        residues = rows[window.row_start : window.row_stop].sum(dtype=np.int64)
        others = columns[window.column_start : window.column_stop].sum(dtype=np.int64)
        return int(residues * others)
    return int(np.dot(rows[window.row_start : window.row_stop], sums_of_tails(window, columns)))


def split_rows(
    window: Window,
    rows: Lengths,
    columns: Lengths,
    pair_bytes: int,
    residue_bytes: float,
    limit: int,
    most_cells: int = UNLIMITED,
) -> Iterator[Window]:
    """Cut a window into slabs of whole rows whose results fit some memory, and some time.

    The slabs, one after the other, hold the window's pairs in the window's order.

    Parameters
    ----------
    rows, columns : ndarray of int, shape (sequences,)
        Lengths by sorted position.
    pair_bytes : int
        Bytes of a pair's result, whatever its length.
    residue_bytes : float
        Bytes of a pair's result for each residue of both sequences.
    limit : int
        Bytes that a slab's results may take; a slab of one row may take more.
    most_cells : int
        Cells that a slab may have; a slab of one row may have more.
    """
    longest = int(rows[window.row_start : window.row_stop].max(initial=0))
    longest += int(columns[window.column_start : window.column_stop].max(initial=0))
    fits = window.pairs * (pair_bytes + residue_bytes * longest) <= limit
    soon = most_cells == UNLIMITED or count_cells(window, rows, columns) <= most_cells
    if window.pairs and fits and soon:
        yield window
        return
    offsets = window.row_offsets
    counts = np.diff(offsets)
    heights, tails = rows[window.row_start : window.row_stop], sums_of_tails(window, columns)
    ends = np.cumsum(pair_bytes * counts + residue_bytes * (counts * heights + tails))
    cells = np.cumsum(heights * tails)
    yield from cut_rows(window, ends, cells, limit, most_cells)


def cut_rows(
    window: Window,
    ends: Doubles,
    cells: Int64s,
    limit: int,
    most_cells: int,
) -> Iterator[Window]:
    """Cut a window into slabs of whole rows, by what its rows take.

    Parameters
    ----------
    ends, cells : ndarray, shape (rows,)
        Bytes of the results of each row and those before it, and cells.
    limit, most_cells : int
        As for `split_rows`.
    """
    start, done, done_cells = 0, 0.0, 0
    while start < len(ends):
        fitting = int(np.searchsorted(ends, done + limit, side="right"))
        near = int(np.searchsorted(cells, min(done_cells + most_cells, UNLIMITED), side="right"))
        stop = max(start + 1, min(fitting, near))
        slab = replace(window, row_start=window.row_start + start, row_stop=window.row_start + stop)
        if slab.pairs:
            yield slab
        start, done, done_cells = stop, float(ends[stop - 1]), int(cells[stop - 1])


def sums_of_tails(window: Window, columns: Lengths) -> Int64s:
    """Sum the lengths of the columns that each row of a window is paired with; or other values.

    Parameters
    ----------
    columns : ndarray of int, shape (sequences,)
        By sorted position.

    Returns
    -------
    ndarray of int64, shape (rows,)
    """
    inside = columns[window.column_start : window.column_stop].astype(np.int64)
    sums = np.concatenate(([0], np.cumsum(inside)))
    first = np.zeros(window.row_stop - window.row_start, np.int64)
    if window.triangular:
        rows = np.arange(window.row_start, window.row_stop)
        first = np.clip(rows + 1 - window.column_start, 0, len(inside))
    tails: Int64s = sums[-1] - sums[first]
    return tails


def restrict_windows(windows: Iterable[Window], start: int, stop: int) -> Iterator[Window]:
    """Give some of the pairs of some windows, in the same order.

    Parameters
    ----------
    start, stop : int
        Half-open range of pairs, counted over all windows in their order.

    Yields
    ------
    Window
        A window with pairs outside of the range comes as up to three: what is left of its first
        row, whole rows, and what is left of its last row.
    """
    before = 0
    for window in windows:
        pairs = window.pairs
        first, last = max(start - before, 0), min(stop - before, pairs)
        before += pairs
        if first < last:
            yield from (window,) if last - first == pairs else cut_window(window, first, last)


def cut_window(window: Window, first: int, last: int) -> Iterator[Window]:
    """Give some pairs of a window, from number `first` up to `last`: at most three windows."""
    offsets = window.row_offsets
    row = int(np.searchsorted(offsets, first, side="right")) - 1
    end = int(np.searchsorted(offsets, last, side="left")) - 1  # the row of the last pair
    whole_from = row if offsets[row] == first else row + 1
    whole_to = end + 1 if offsets[end + 1] == last else end
    if row == end and whole_from >= whole_to:
        yield _cut_row(window, row, first - int(offsets[row]), last - int(offsets[row]))
        return
    if whole_from > row:
        count = int(offsets[row + 1] - offsets[row])
        yield _cut_row(window, row, first - int(offsets[row]), count)
    if whole_from < whole_to:
        rows = (window.row_start + whole_from, window.row_start + whole_to)
        yield replace(window, row_start=rows[0], row_stop=rows[1])
    if whole_to == end:
        yield _cut_row(window, end, 0, last - int(offsets[end]))


def _cut_row(window: Window, row: int, first: int, last: int) -> Window:
    """Pairs `first` to `last` of one row, as a window; rows count from the window's first."""
    at = window.row_start + row
    column = window.first_column(at)
    return replace(
        window,
        row_start=at,
        row_stop=at + 1,
        column_start=column + first,
        column_stop=column + last,
    )


def join_windows(
    windows: Iterable[Window], fits: Callable[[Window], bool], alone: int
) -> Iterator[Window]:
    """Join neighbours of the same rows, for engines that take longer for each than for its pairs.

    What is found in a joined one must be brought into the order of its windows, see
    `order_of_windows`.

    Parameters
    ----------
    windows : iterable of Window
        In the order of output; `alone` of them are asked for ahead.
    fits : callable (Window) -> bool
        Whether a joined one is not too large.
    alone : int
        How many of the last are left as they are, so that several engines end together.
    """
    coming = iter(windows)
    last = deque(islice(coming, alone))
    joined: Window | None = None
    for window in coming:
        last.append(window)
        candidate = last.popleft()
        if joined is not None:
            both = replace(joined, column_stop=candidate.column_stop)
            if _are_neighbours(joined, candidate) and fits(both):
                joined = both
                continue
            yield joined
        joined = candidate
    if joined is not None:
        yield joined
    yield from last


def _are_neighbours(left: Window, right: Window) -> bool:
    rows = (left.row_start, left.row_stop) == (right.row_start, right.row_stop)
    return rows and left.column_stop == right.column_start


def order_of_windows(joined: Window, numbers: Int64s, width: int) -> tuple[Int64s, Int64s] | None:
    """Return how pairs of joined windows follow one another in the order of output.

    Parameters
    ----------
    numbers : ndarray of int64, shape (n,)
        Of pairs, ascending.
    width : int
        Columns of a window; the first begins at a multiple of that.

    Returns
    -------
    order : ndarray of int64, shape (n,)
        Places in `numbers`.
    keys : ndarray of int64, shape (n,)
        Of the pairs in that order: they ascend, and are the same for the same pair.

    None where all are of one window.
    """
    first, last = joined.column_start // width, (joined.column_stop - 1) // width
    if first == last:
        return None
    windows = joined.positions_of(numbers)[1] // np.int32(width) - np.int32(first)
    order = np.concatenate([np.flatnonzero(windows == k) for k in range(last - first + 1)])
    return order, numbers[order] + windows[order] * np.int64(joined.pairs)


_AT_A_TIME = 1 << 20


class RestOfGrid:
    """The windows of a grid from a pair on, as `restrict_windows` gives them.

    Parameters
    ----------
    start : int
        Pairs that come before, fewer than all.

    Attributes
    ----------
    pairs : int
        Those that are left.
    """

    def __init__(self, grid: WindowGrid, start: int) -> None:
        self._grid = grid
        self.pairs = grid.pairs - start
        down, across = grid.shape
        self._row = bisect_right(range(down), start, key=lambda row: self._before(row)) - 1
        first = self._first_column(self._row)
        places = range(first, across)
        count = bisect_right(places, start, key=lambda column: grid.pairs_before(self._row, column))
        self._column = first + count - 1
        window = grid.window(self._row, self._column)
        before = start - grid.pairs_before(self._row, self._column)
        self._cut = list(cut_window(window, before, window.pairs)) if before else [window]

    @property
    def triangular(self) -> bool:
        """Whether a set is aligned with itself."""
        return self._grid.triangular

    def __iter__(self) -> Iterator[Window]:
        yield from self._cut
        down, across = self._grid.shape
        for row in range(self._row, down):
            first = self._column + 1 if row == self._row else self._first_column(row)
            for column in range(first, across):
                window = self._grid.window(row, column)
                if window.pairs:
                    yield window

    def cells(self, rows: Lengths, columns: Lengths) -> int:
        """Count the cells of all pairs, see `count_cells`; windows are not looked at."""
        size = self._grid.size
        here = rows[self._row * size : (self._row + 1) * size].sum(dtype=np.int64)
        beside = columns[(self._column + 1) * size :].sum(dtype=np.int64)
        cells = int(here) * int(beside) + sum(
            count_cells(window, rows, columns) for window in self._cut
        )
        below = rows[(self._row + 1) * size :]
        return cells + cells_of_all(below, None if self.triangular else columns)

    def _first_column(self, row: int) -> int:
        return row if self.triangular else 0

    def _before(self, row: int) -> int:
        return self._grid.pairs_before(row, self._first_column(row))


def cells_of_all(rows: Lengths, columns: Lengths | None) -> int:
    """Count the cells of all pairs of two sets, or of one; they may need more than 64 bits."""
    residues = int(rows.sum(dtype=np.int64))
    if columns is not None:
        return residues * int(columns.sum(dtype=np.int64))
    parts = (rows[at : at + _AT_A_TIME].astype(np.int64) for at in range(0, len(rows), _AT_A_TIME))
    return (residues * residues - sum(int(np.dot(part, part)) for part in parts)) // 2


_mask_pairs = library.pairalign_mask_pairs


def mask_pairs(window: Window, rows: Int32s, columns: Int32s) -> Bools:
    """Return which pairs of a window are among some of its pairs, bool of shape (pairs,).

    Parameters
    ----------
    rows, columns : ndarray of int32, shape (n,)
        Of the pairs, in the window's order.
    """
    mask = np.empty(window.pairs, np.bool_)
    kept = [np.ascontiguousarray(array, np.int32) for array in (rows, columns)]
    _mask_pairs(
        *(window.row_start, window.column_start, window.column_stop, window.triangular),
        *(len(kept[0]), *kept, len(mask), mask),
    )
    return mask


def mask_sorted_pairs(window: Window, rows: Int32s, columns: Int32s) -> Bools:
    """Return which pairs of a window are among pairs of the whole matrix.

    Parameters
    ----------
    rows, columns : ndarray of int32, shape (n,)
        Of the pairs, row by row.
    """
    ends = np.array(
        (window.row_start, window.row_stop), rows.dtype
    )  # of another type, rows are copied
    which = slice(*np.searchsorted(rows, ends).tolist())
    rows, columns = rows[which], columns[which]
    inside = (columns >= window.column_start) & (columns < window.column_stop)
    return mask_pairs(window, rows[inside], columns[inside])
