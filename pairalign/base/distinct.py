"""Which numbers occur. For a few of them ``np.unique`` would load NumPy's masked arrays: 40 ms."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def distinct(numbers: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Return the different ones of small numbers, none of them negative, ascending."""
    return np.flatnonzero(np.bincount(numbers))


def first_of_each(
    numbers: npt.NDArray[np.integer[Any]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where each number comes first, ascending, and for each place which of these is it."""
    _, firsts, places = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    return firsts[order], np.argsort(order)[places]
