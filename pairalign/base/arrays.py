"""Names of the types of arrays that most modules use, and which numbers or bytes occur in one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]
Float32s = npt.NDArray[np.float32]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
UInt8s = npt.NDArray[np.uint8]
UInt32s = npt.NDArray[np.uint32]
Structs = npt.NDArray[np.void]


def distinct(numbers: npt.NDArray[np.integer[Any]]) -> Int64s:
    """Return the different ones of small numbers, none of them negative, ascending.

    For a few of them ``np.unique`` would load NumPy's masked arrays: 40 ms.
    """
    return np.flatnonzero(np.bincount(numbers))


def first_of_each(
    numbers: npt.NDArray[np.integer[Any]],
) -> tuple[Int64s, Int64s]:
    """Return where each number comes first, ascending, and for each place which of these is it."""
    _, firsts, places = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    return firsts[order], np.argsort(order)[places]


_CHUNK = 1 << 20
_SHORT_BYTES = 1 << 16


def count_bytes(letters: bytes | npt.NDArray[np.uint8]) -> Int64s:
    """Count how often each byte occurs in `letters`; shape (256,), int64."""
    array = np.frombuffer(letters, np.uint8)
    if len(array) < _SHORT_BYTES:  # than the table of twos
        return np.bincount(array, minlength=256)
    twos = array[: len(array) // 2 * 2].view(np.uint16)  # which halves the work
    counts = np.zeros(1 << 16, np.int64)
    # bincount works on a copy of eight bytes an item, so on one small piece at a time.
    for start in range(0, len(twos), _CHUNK):
        counts += np.bincount(twos[start : start + _CHUNK], minlength=1 << 16)
    table = counts.reshape(256, 256)
    last = np.bincount(array[len(twos) * 2 :], minlength=256)
    histogram: npt.NDArray[np.int64] = table.sum(axis=0) + table.sum(axis=1) + last
    return histogram


def has_none(texts: Iterable[str], letters: str) -> bool:
    """Whether some texts have none of some letters of ASCII."""
    joined = "".join(texts).encode("utf-8", "surrogatepass")
    return len(joined.translate(None, letters.encode())) == len(joined)
