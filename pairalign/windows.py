"""Windows of the pair matrix: which pairs belong together, in which order. Pure functions.

The pair matrix has one row and one column per sequence, both sorted longest first (see
`pairalign.sequences.SequenceSet`). It is cut into square windows as in gpu-pairAlign
(Blazewicz et al. 2011, figure 1). The order of windows, and of pairs inside a window, is the order
of every output file; it depends on the set and the window size alone, never on a device.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

DEFAULT_WINDOW = 1024


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

    def first_column(self, row: int) -> int:
        """First column of the pairs of `row` in this window (may be ``column_stop``: none)."""
        if not self.triangular:
            return self.column_start
        return min(max(self.column_start, row + 1), self.column_stop)

    @property
    def row_offsets(self) -> npt.NDArray[np.int64]:
        """Number of pairs before each row, shape (rows + 1,); the last is the number of pairs."""
        rows = np.arange(self.row_start, self.row_stop, dtype=np.int64)
        first = np.full_like(rows, self.column_start)
        if self.triangular:
            first = np.clip(rows + 1, self.column_start, self.column_stop)
        return np.concatenate(([0], np.cumsum(self.column_stop - first)))

    @property
    def pairs(self) -> int:
        """Number of pairs in the window."""
        return int(self.row_offsets[-1])

    def positions(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Row and column of every pair in order, two int32 arrays of shape (pairs,)."""
        offsets = self.row_offsets
        counts = np.diff(offsets)
        rows = np.repeat(np.arange(self.row_start, self.row_stop, dtype=np.int32), counts)
        columns = np.arange(self.pairs, dtype=np.int64) - np.repeat(offsets[:-1], counts)
        return rows, (columns + np.repeat(self.column_stop - counts, counts)).astype(np.int32)
