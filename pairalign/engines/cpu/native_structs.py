"""What crosses to the native library's engines: declarations of ``cpu/align/engine.h`` and others.

`tests/engines/test_struct_layouts.py` compares every field with what the C++ compiler makes of it.
"""

from __future__ import annotations

from ctypes import Structure, c_int32, c_int64, c_void_p

from pairalign.alignments.alignments import SCORE_FIELDS, STATS_FIELDS
from pairalign.pairs.windows import Window

MODES = ("global", "semiglobal", "local", "end-gaps")
"""Modes by their number in native code."""

DONE, CANCELLED, CAPACITY, NO_MEMORY, SCORES = range(5)
"""What native functions return: ``pairalign_status``."""

INT32_FIELDS = (*SCORE_FIELDS, *STATS_FIELDS)
"""In the order of `NativeColumns`."""


class NativeSet(Structure):
    """A set of sequences by sorted position: ``pairalign_set``."""

    _fields_ = (
        ("codes", c_void_p),
        ("starts", c_void_p),
        ("lengths", c_void_p),
        ("inputs", c_void_p),
        ("count", c_int32),
    )


class NativeWindow(Structure):
    """A Window: ``pairalign_window``."""

    _fields_ = tuple(
        (name, c_int32)
        for name in ("row_start", "row_stop", "column_start", "column_stop", "triangular", "strand")
    )

    @classmethod
    def of(cls, window: Window) -> NativeWindow:
        """Return a window of either strand."""
        return cls(*window.bounds, window.strand)


class NativeWant(Structure):
    """A Want, and the pairs of the window that are wanted: ``pairalign_want``."""

    _fields_ = (
        ("detail", c_int32),
        ("has_minimum", c_int32),
        ("minimum", c_int32),
        ("pair_mask", c_void_p),
    )


class NativeColumns(Structure):
    """Where results are copied to: ``pairalign_columns``."""

    _fields_ = tuple((name, c_void_p) for name in (*INT32_FIELDS, "cigar_offsets", "cigar"))


class NativeTrouble(Structure):
    """What could not be done, for the error message: ``pairalign_trouble``."""

    _fields_ = (
        ("row", c_int32),
        ("column", c_int32),
        ("needed_bytes", c_int64),
        ("available_bytes", c_int64),
    )


class NativeLinear(Structure):
    """Linear-gap scores, all but `match` as costs: ``pairalign_linear`` of ``cpu/bitwise``."""

    _fields_ = tuple((name, c_int32) for name in ("match", "mismatch", "gap", "factor", "low_bits"))
