"""CIGAR runs and fields of many alignments at a time, in native code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s
from pairalign.base.native import library

Runs = npt.NDArray[np.uint32]
Offsets = npt.NDArray[np.int64]

_reverse = library.pairalign_reverse_runs
_offsets = library.pairalign_offsets_of_runs
_gather = library.pairalign_gather_runs
_take = library.pairalign_take_fields


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
    _reverse(len(mask), offsets, mask, runs)


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
    numbers = np.ascontiguousarray(numbers, np.int64)
    offsets = np.ascontiguousarray(offsets, np.int64)
    assert runs.flags.c_contiguous
    new_offsets = np.empty(len(numbers) + 1, np.int64)
    _offsets(len(numbers), numbers, offsets, new_offsets)
    out = np.empty(int(new_offsets[-1]), np.uint32)
    _gather(len(numbers), numbers, offsets, runs, out)
    return out, new_offsets


def take_fields(
    fields: Sequence[Int32s],
    strand: npt.NDArray[np.int8] | None,
    numbers: npt.NDArray[np.int64],
) -> tuple[list[Int32s], npt.NDArray[np.int8] | None]:
    """Copy some pairs of some fields.

    Parameters
    ----------
    fields : sequence of ndarrays of int32, shape (n,)
    strand : ndarray of int8, shape (n,), or None
    numbers : ndarray of int64, shape (m,)
        From 0 to n - 1.

    Returns
    -------
    fields : list of ndarrays of int32, shape (m,)
    strand : ndarray of int8, shape (m,), or None
    """
    numbers = np.ascontiguousarray(numbers, np.int64)
    count = len(numbers)
    kept = [np.ascontiguousarray(field, np.int32) for field in fields]
    copies = [np.empty(count, np.int32) for _ in fields]
    strand_taken = None if strand is None else np.empty(count, np.int8)
    _take(*(count, numbers, len(kept)), *(tuple(kept), tuple(copies), strand, strand_taken))
    return copies, strand_taken
