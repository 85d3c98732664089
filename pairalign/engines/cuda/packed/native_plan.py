"""The plan of a batch, made in native code: declarations for what is in ``cpu/gpu_plan/``."""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_void_p

import numpy as np

from pairalign.base.native import library

GROUPS = (8, 16, 32)
"""Lanes of a group; sums of tiers go by them."""

MOST_LAUNCHES = 64

KIND = np.dtype(
    [
        *((name, "<i4") for name in ("group", "groups", "width", "tier_units")),
        *((name, "<i4") for name in ("traceback_threads", "far")),
    ]
)
"""What a kind of columns is like: see ``Kind`` there."""


class NativeLaunch(ctypes.Structure):
    """A launch of the filling kernel and its traceback: see ``Launch`` there."""

    _fields_ = [
        ("kind", c_int32),
        ("wide", c_int32),
        *((name, c_int64) for name in ("items", "chunks", "traceback_threads")),
        *((name, c_int64) for name in ("items_at", "tiles_at")),
        *((name, c_int64) for name in ("borders_at", "profiles_at", "chunks_at")),
    ]


class NativePlan(ctypes.Structure):
    """What is planned, on what, and what comes of it: see ``pairalign_packed_plan`` there."""

    _fields_ = [
        *((name, c_void_p) for name in ("row_lengths", "column_lengths", "strips_of_column")),
        *((name, c_void_p) for name in ("kind_of_column", "kinds")),
        *((name, c_int32) for name in ("kind_count", "letters", "multiprocessors")),
        *((name, c_int32) for name in ("row_start", "row_stop", "column_start", "column_stop")),
        *((name, c_int32) for name in ("triangular", "traced")),
        ("wide", c_void_p),
        ("tiers_before", c_void_p * len(GROUPS)),
        *((name, c_void_p) for name in ("residues_before", "words")),
        ("word_count", c_int64),
        ("tables", c_void_p),
        *((name, c_int64) for name in ("capacity", "needed", "pair_of_row_at")),
        *((name, c_int64) for name in ("first_pair_of_row_at", "moves_of_row_at", "tile_units")),
        *((name, c_int64) for name in ("border_entries", "profile_units", "move_words")),
        *((name, c_int32) for name in ("longest", "launch_count")),
        ("launches", NativeLaunch * MOST_LAUNCHES),
    ]


_plan = library.pairalign_plan_packed


def plan_natively(plan: NativePlan) -> None:
    """Fill in what comes of a plan, and where they find room, its tables.

    Raises
    ------
    MemoryError
        There is no memory for the words.
    """
    if _plan(ctypes.byref(plan)):
        raise MemoryError("no memory to plan a batch in")


WORD = np.dtype([(name, "<i4") for name in ("column", "columns", "first_place", "last_place")])
"""See ``Word`` in column_words.h."""


class NativeChosenPairs(ctypes.Structure):
    """Chosen pairs and their places: see ``pairalign_chosen_pairs`` in chosen_pairs.cpp."""

    _fields_ = [
        ("rows", c_void_p),
        ("columns", c_void_p),
        ("pairs", c_int64),
        *((name, c_int32) for name in ("row_start", "row_stop", "column_start", "column_stop")),
        *((name, c_void_p) for name in ("wide", "row_lengths", "column_lengths")),
        ("tiers_before", c_void_p * len(GROUPS)),
        *((name, c_void_p) for name in ("kind_of_column", "strips_of_column", "kinds")),
        *((name, c_void_p) for name in ("words", "row_of_place", "pair_of_place")),
        *((name, c_void_p) for name in ("moves_before", "residues_before")),
        ("place_tiers", c_void_p * len(GROUPS)),
        *((name, c_int64) for name in ("word_count", "places")),
        *((name, c_int32) for name in ("longest", "unused")),
    ]


_place = library.pairalign_place_pairs


def place_natively(chosen: NativeChosenPairs) -> None:
    """Fill in the places and words of chosen pairs.

    Raises
    ------
    MemoryError
        There is no memory to sort them in.
    """
    if _place(ctypes.byref(chosen)):
        raise MemoryError("no memory to plan chosen pairs in")


_cut = library.pairalign_cut_pairs


def cut_natively(chosen: NativeChosenPairs, first: int, traced: bool, limit: int) -> int:
    """Count the pairs from one on that a batch of `limit` bytes has room for, at least one."""
    count: int = _cut(ctypes.byref(chosen), first, traced, limit)
    return count
