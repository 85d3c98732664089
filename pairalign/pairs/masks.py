"""Which pairs of a window are among listed ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s
from pairalign.base.native import library
from pairalign.pairs.windows import Window

_mask_pairs = library.pairalign_mask_pairs


def mask_pairs(window: Window, rows: Int32s, columns: Int32s) -> npt.NDArray[np.bool_]:
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


def mask_sorted_pairs(window: Window, rows: Int32s, columns: Int32s) -> npt.NDArray[np.bool_]:
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
