"""Thresholds of pairs in native code: ``cpu/filters/thresholds.h`` and ``passing.cpp``."""

from __future__ import annotations

import ctypes
from ctypes import Structure, c_int32, c_int64, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Int32s
from pairalign.base.native import library
from pairalign.sequences.sets import SequenceSet

_COUNTS = ("matches", "mismatches", "gap_openings", "gap_residues")
_SPANS = ("query_start", "query_end", "target_start", "target_end")

Ends = tuple[Int32s, Int32s]
Sets = tuple[SequenceSet, SequenceSet]


class NativeThresholds(Structure):
    """Thresholds: ``pairalign_thresholds`` of ``cpu/filters/thresholds.h``."""

    _fields_ = (
        *((name, c_int64) for name in ("identity", "identity_whole", "coverage", "coverage_whole")),
        *((name, c_int64) for name in ("ratio", "ratio_part", "ratio_whole")),
        *((name, c_int32) for name in ("identity_of", "coverage_of", "mode", "ends_cost")),
    )


class NativeAligned(Structure):
    """Columns of alignments: ``pairalign_aligned`` of ``cpu/filters/passing.cpp``."""

    _fields_ = (
        ("pairs", c_int64),
        *(
            (name, c_void_p)
            for name in ("query", "target", *_SPANS, *_COUNTS, "query_lengths", "target_lengths")
        ),
        ("cigar", c_void_p),
        ("cigar_offsets", c_void_p),
    )


def columns_of(alignments: Alignments, *, with_cigar: bool) -> dict[str, npt.NDArray[Any]]:
    """Return what identities and coverages are counted of."""
    columns: dict[str, npt.NDArray[Any]] = {
        name: alignments.field(name) for name in (*_SPANS, *_COUNTS)
    }
    if with_cigar:
        assert alignments.cigar is not None
        assert alignments.cigar_offsets is not None
        columns["cigar"] = np.ascontiguousarray(alignments.cigar)
        columns["cigar_offsets"] = alignments.cigar_offsets
    return columns


def find_passing(
    thresholds: NativeThresholds, pairs: Ends, sets: Sets, columns: dict[str, npt.NDArray[Any]]
) -> npt.NDArray[np.int64]:
    """Return which pairs, of input indices, pass: ascending positions.

    Parameters
    ----------
    columns : dict of ndarray
        See `columns_of`; empty where lengths alone are looked at.
    """
    ends = dict(zip(("query", "target"), pairs, strict=True))
    sides = zip(("query_lengths", "target_lengths"), sets, strict=True)
    lengths = {name: np.ascontiguousarray(sequences.lengths, np.int32) for name, sequences in sides}
    arrays = {**ends, **lengths, **columns}
    count = len(pairs[0])
    numbers = np.empty(count, np.int64)
    aligned = NativeAligned(count, **{k: array.ctypes.data for k, array in arrays.items()})
    passing = library.pairalign_find_passing(
        ctypes.byref(aligned), ctypes.byref(thresholds), numbers.ctypes.data
    )
    return numbers[:passing]
