"""CIGAR runs of many alignments at a time, handled in native code (``cpu/text/runs.cpp``)."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt

from pairalign.native import library

Runs = npt.NDArray[np.uint32]
Offsets = npt.NDArray[np.int64]

_reverse = library.pairalign_reverse_runs
_reverse.restype = None
_reverse.argtypes = (ctypes.c_int64, *(ctypes.c_void_p,) * 3)
_gather = library.pairalign_gather_runs
_gather.restype = None
_gather.argtypes = (ctypes.c_int64, *(ctypes.c_void_p,) * 4)


def reverse_runs(runs: Runs, offsets: Offsets, turned: npt.NDArray[np.bool_]) -> None:
    """Reverse the runs of some alignments in place.

    Parameters
    ----------
    runs : ndarray of uint32, shape (total,)
    offsets : ndarray of int64, shape (n + 1,)
        Where the runs of each alignment begin.
    turned : ndarray of bool, shape (n,)
    """
    assert runs.flags.c_contiguous
    assert runs.flags.writeable
    assert turned.shape == (len(offsets) - 1,)
    offsets = np.ascontiguousarray(offsets, np.int64)
    mask = np.ascontiguousarray(turned, np.bool_)
    _reverse(len(mask), offsets.ctypes.data, mask.ctypes.data, runs.ctypes.data)


def gather_runs(runs: Runs, offsets: Offsets, numbers: Offsets) -> tuple[Runs, Offsets]:
    """Copy the runs of some alignments, in the order given.

    Parameters
    ----------
    runs : ndarray of uint32, shape (total,)
    offsets : ndarray of int64, shape (n + 1,)
    numbers : ndarray of int64, shape (m,)
        Numbers of alignments, from 0 to n - 1.

    Returns
    -------
    runs : ndarray of uint32
    offsets : ndarray of int64, shape (m + 1,)
    """
    sizes = offsets[numbers + 1] - offsets[numbers]
    new_offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    out = np.empty(int(new_offsets[-1]), np.uint32)
    numbers = np.ascontiguousarray(numbers, np.int64)
    offsets = np.ascontiguousarray(offsets, np.int64)
    assert runs.flags.c_contiguous
    addresses = (one.ctypes.data for one in (numbers, offsets, runs, out))
    _gather(len(numbers), *addresses)
    return out, new_offsets
