"""Candidates of greedy clusters among the representatives: by their seeds, or in lanes of vectors.

The sources, with the proofs of what they say of identities, are
``cpu/index/representative_index.h`` and ``cpu/index/lane_index.h``.

References
----------
E. Ukkonen: Algorithms for approximate string matching. Information and Control 64, 1985.
G. M. Landau, U. Vishkin: Fast parallel and serial approximate string matching. J. Algorithms 10,
1989.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.error_types import CapacityError
from pairalign.base.native import Struct, library, struct_fields


class NativeBestRows(Struct):
    """What columns have so far: ``pairalign_best_rows``."""

    _fields_ = struct_fields("pointer parts wholes rows")


LEAST_DROPPED = 50
"""Percent of a sample of pairs that common subsequences drop, or all may as well be aligned."""

_NO_MEMORY = "out of memory for the representatives of clusters"


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
    are_known: Bools

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


class Representatives:
    """What rows are put into; finds which of them a column may pass with.

    Parameters
    ----------
    handle : int or None
        Of native memory, which `close` frees; None: there is none.
    residues : int
        Of a seed; 0: common subsequences are looked at.

    Attributes
    ----------
    found : int
        Pairs that share a seed, or whose lengths let them pass, of all that was looked for.
    """

    def __init__(self, handle: int | None, residues: int = 0) -> None:
        self._handle = handle
        self.residues = residues
        self._found = np.zeros(1, np.int64)

    @property
    def found(self) -> int:
        """Pairs that share a seed, or whose lengths let them pass."""
        return int(self._found[0])

    def add(self, rows: Int32s) -> None:
        """Put rows in, ascending.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        self._change(library.pairalign_add_rows, rows)

    def drop(self, rows: Int32s) -> None:
        """Take rows out, ascending, that were put in last.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        self._change(library.pairalign_drop_rows, rows)

    def _change(self, change: Callable[..., int], rows: Int32s) -> None:
        rows = np.ascontiguousarray(rows, np.int32)
        if change(self._handle, len(rows), rows):
            raise CapacityError(_NO_MEMORY)

    def find(
        self, first: int, stop: int, least_row: int, best: tuple[Int64s, Int64s], rows: Int32s
    ) -> Candidates:
        """Find candidates of the columns from `first` up to `stop`.

        Parameters
        ----------
        least_row : int
            The rows are those put in, from here on, that come before the column.
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
        native = NativeBestRows(*best, rows)
        count = library.pairalign_find_candidates(
            self._handle, first, stop, least_row, native, self._found
        )
        if count < 0:
            raise CapacityError(_NO_MEMORY)
        dtypes = np.int32, np.int32, np.int64, np.int64, np.bool_
        columns = [np.empty(count, dtype) for dtype in dtypes]
        library.pairalign_take_candidates(self._handle, *columns)
        return Candidates(*columns)

    def close(self) -> None:
        """Free what is held, before the filter is closed."""
        handle, self._handle = self._handle, None
        if handle:
            library.pairalign_close_representatives(handle)

    def __del__(self) -> None:
        self.close()


def open_representative_index(pair_filter: int, residues: int = 0) -> Representatives | None:
    """Return an index of seeds; None where it is of no use.

    Parameters
    ----------
    pair_filter : int
        The handle of a filter of one set, which stays open.
    residues : int
        Residues of a seed; 0 chooses.
    """
    handle = library.pairalign_open_growing(pair_filter, residues)
    return Representatives(handle, library.pairalign_growing_residues(handle)) if handle else None


def open_lane_index(pair_filter: int, instruction_set: str) -> Representatives | None:
    """Return what compares common subsequences; None where these drop few pairs of a sample.

    Parameters
    ----------
    pair_filter : int
        The handle of a filter of one set, longest first, which stays open.
    """
    handle = library.pairalign_open_lanes(pair_filter, instruction_set.encode(), LEAST_DROPPED)
    return Representatives(handle) if handle else None
