"""Candidates of greedy clusters: an index of the seeds of representatives alone.

The source, with the proofs of what it says of identities, is in ``cpu/index/growing_index.h``.

References
----------
E. Ukkonen: Algorithms for approximate string matching. Information and Control 64, 1985.
G. M. Landau, U. Vishkin: Fast parallel and serial approximate string matching. J. Algorithms 10,
1989.
"""

from __future__ import annotations

import ctypes
from ctypes import Structure, c_void_p
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.errors import CapacityError
from pairalign.base.native import library


class NativeBestRows(Structure):
    """What columns have so far: ``pairalign_best_rows``."""

    _fields_ = (("parts", c_void_p), ("wholes", c_void_p), ("rows", c_void_p))


@dataclass(frozen=True)
class Candidates:
    """Pairs that may pass, by column, those that may be the most similar first, then by row.

    Attributes
    ----------
    rows, columns : ndarray of int32, shape (n,)
        Sorted positions.
    parts, wholes : ndarray of int64, shape (n,)
        The identities are at most ``parts / wholes``.
    are_known : ndarray of bool, shape (n,)
        Where they are exactly that, and the pair passes.
    """

    rows: Int32s
    columns: Int32s
    parts: Int64s
    wholes: Int64s
    are_known: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, which: npt.NDArray[np.generic]) -> Candidates:
        """Return some of the candidates."""
        return Candidates(
            self.rows[which],
            self.columns[which],
            self.parts[which],
            self.wholes[which],
            self.are_known[which],
        )


class GrowingIndex:
    """An index that rows are put into; finds which of them a column may pass with.

    Parameters
    ----------
    pair_filter : int
        The handle of a filter of one set, which stays open.
    letters : int
        Of a seed; 0: what takes the least time by a sample.

    Attributes
    ----------
    letters : int
        0: there is no index.
    found : int
        Pairs that share a seed, of all that was looked for.
    """

    def __init__(self, pair_filter: int, letters: int = 0) -> None:
        self._handle: int | None = library.pairalign_open_growing(pair_filter, letters)
        self.letters: int = library.pairalign_growing_letters(self._handle) if self._handle else 0
        self._found = np.zeros(1, np.int64)

    @property
    def found(self) -> int:
        """Pairs that share a seed."""
        return int(self._found[0])

    def add(self, rows: Int32s) -> None:
        """Put rows in, ascending.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        rows = np.ascontiguousarray(rows, np.int32)
        if library.pairalign_add_rows(self._handle, len(rows), rows.ctypes.data):
            raise CapacityError("out of memory for an index of seeds")

    def drop(self, rows: Int32s) -> None:
        """Take rows out."""
        rows = np.ascontiguousarray(rows, np.int32)
        library.pairalign_drop_rows(self._handle, len(rows), rows.ctypes.data)

    def find(
        self, first: int, stop: int, least_row: int, best: tuple[Int64s, Int64s], rows: Int32s
    ) -> Candidates:
        """Find candidates of the columns from `first` up to `stop`.

        Parameters
        ----------
        first, stop : int
        least_row : int
            The rows are those of the index from here on that come before the column.
        best : two ndarray of int64, shape (sequences,)
            Identities, part by whole, that a column has already, 0: none: candidates may have more,
            or the same and come before its row.
        rows : ndarray of int32, shape (sequences,)
            Those rows.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        native = NativeBestRows(best[0].ctypes.data, best[1].ctypes.data, rows.ctypes.data)
        count = library.pairalign_find_candidates(
            self._handle, first, stop, least_row, ctypes.byref(native), self._found.ctypes.data
        )
        if count < 0:
            raise CapacityError("out of memory while seeds are looked up")
        found = Candidates(
            np.empty(count, np.int32),
            np.empty(count, np.int32),
            np.empty(count, np.int64),
            np.empty(count, np.int64),
            np.empty(count, np.bool_),
        )
        columns = (found.rows, found.columns, found.parts, found.wholes, found.are_known)
        library.pairalign_take_candidates(self._handle, *(one.ctypes.data for one in columns))
        return found

    def close(self) -> None:
        """Free what the index holds, before the filter is closed."""
        handle, self._handle = self._handle, None
        if handle:
            library.pairalign_close_growing(handle)

    def __del__(self) -> None:
        self.close()
