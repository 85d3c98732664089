"""Where the pairs of a window stand: their rows and columns, in native code (``cpu/pairs``).

And, of pairs whose rows and columns are known, the order in which windows hold them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.native import library

_positions = library.pairalign_window_positions
_positions_of_mask = library.pairalign_positions_of_mask
_positions_of_numbers = library.pairalign_positions_of_numbers


def window_positions(
    rows: tuple[int, int], columns: tuple[int, int], triangular: bool, pairs: int
) -> tuple[Int32s, Int32s]:
    """Return row and column of every pair of a window, row by row, int32 of shape (pairs,).

    Parameters
    ----------
    rows, columns : (int, int)
        Half-open ranges.
    triangular : bool
        Only pairs with ``row < column``.
    pairs : int
        How many there are.
    """
    positions = np.empty(pairs, np.int32), np.empty(pairs, np.int32)
    _positions(*rows, *columns, triangular, *positions)
    return positions


_BEYOND = 8  # places after the last column that native code writes to

Bounds = tuple[int, int, int, int, bool]
"""Half-open rows, half-open columns, and whether only pairs with ``row < column`` are meant."""


def positions_of_mask(bounds: Bounds, pair_mask: Bools) -> tuple[Int32s, Int32s]:
    """Return row and column of the pairs that a mask names, int32 of shape (n,).

    Parameters
    ----------
    bounds : Bounds
        Of the part of the pair matrix whose pairs the mask is of.
    pair_mask : ndarray of bool, shape (pairs,)
    """
    mask = np.ascontiguousarray(pair_mask, np.bool_)
    count = int(np.count_nonzero(mask))
    rows, columns = np.empty(count, np.int32), np.empty(count + _BEYOND, np.int32)
    written = _positions_of_mask(*bounds, mask, rows, columns)
    assert written == count
    return rows, columns[:count]


def positions_of_numbers(
    bounds: Bounds, numbers: npt.NDArray[np.signedinteger]
) -> tuple[Int32s, Int32s]:
    """Return row and column of some pairs by their numbers, int32 of shape (n,).

    Parameters
    ----------
    bounds : Bounds
        Of the part of the pair matrix in which the pairs are numbered.
    numbers : ndarray of int32 or int64, shape (n,)
        In any order.

    Raises
    ------
    MemoryError
    """
    kept = np.ascontiguousarray(numbers, np.int32 if numbers.dtype == np.int32 else np.int64)
    positions = np.empty(len(kept), np.int32), np.empty(len(kept), np.int32)
    failed = _positions_of_numbers(*bounds, *(len(kept), kept, kept.itemsize), *positions)
    if failed:
        raise MemoryError("no memory to find pairs in")
    return positions


def order_keys(rows: Int64s, columns: Int64s, count: int, window: int) -> Int64s:
    """Return numbers of pairs that ascend in the order of output of windows.

    Parameters
    ----------
    rows, columns : ndarray of int64, shape (n,)
        Sorted positions.
    count : int
        Columns of the pair matrix.
    window : int
        Rows and columns of a window.

    Returns
    -------
    ndarray of int64, shape (n,)
        Different for different pairs.
    """
    blocks = -(-count // window)
    windows = rows // window * blocks + columns // window
    inside = rows % window * window + columns % window
    keys: Int64s = windows * (window * window) + inside
    return keys
