"""What crosses to the native library's engines: declarations of ``cpu/align/engine.h`` and others.

`tests/engines/test_struct_layouts.py` compares every field with what the C++ compiler makes of it.
"""

from __future__ import annotations

from ctypes import Structure

from pairalign.alignments.alignments import SCORE_FIELDS, STATS_FIELDS
from pairalign.base.native import Struct, struct_fields
from pairalign.pairs.windows import Window

MODES = ("global", "semiglobal", "local", "end-gaps")
"""Modes by their number in native code."""

DONE, CANCELLED, CAPACITY, NO_MEMORY, SCORES = range(5)
"""What native functions return: ``pairalign_status``."""

INT32_FIELDS = (*SCORE_FIELDS, *STATS_FIELDS)
"""In the order in which ``pairalign_take`` copies them."""


class NativeSet(Struct):
    """A set of sequences by sorted position: ``pairalign_set``."""

    _fields_ = struct_fields("pointer codes starts lengths inputs; int32 count")


class NativeWindow(Structure):
    """A Window: ``pairalign_window``."""

    _fields_ = struct_fields("int32 row_start row_stop column_start column_stop triangular strand")

    @classmethod
    def of(cls, window: Window) -> NativeWindow:
        """Return a window of either strand."""
        return cls(*window.bounds, window.strand)


class NativeWant(Structure):
    """A Want, and where the mask of pairs begins: ``pairalign_want``."""

    _fields_ = struct_fields("int32 detail has_minimum minimum; pointer pair_mask")


class NativeTrouble(Structure):
    """What could not be done, for the error message: ``pairalign_trouble``."""

    _fields_ = struct_fields("int32 row column; int64 needed_bytes available_bytes")


class NativeFound(Structure):
    """How much ``pairalign_align`` has found: ``pairalign_found``."""

    _fields_ = struct_fields("int64 pairs runs; trouble trouble", trouble=NativeTrouble)


class NativeLinear(Struct):
    """Linear-gap scores, all but `match` as costs: ``pairalign_linear`` of ``cpu/bitwise``."""

    _fields_ = struct_fields("int32 match mismatch gap factor low_bits")
