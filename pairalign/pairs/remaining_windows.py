"""The windows that are left of a grid, made as they are asked for: too many to hold at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from pairalign.pairs.windows import Lengths, Window, WindowGrid, count_cells, cut_window

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
