"""Which bytes a text has, and how many of each: of all residues or names of a set at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

_CHUNK = 1 << 20
_SHORT_BYTES = 1 << 16


def count_bytes(letters: bytes | npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
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
