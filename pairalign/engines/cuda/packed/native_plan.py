"""The plan of a batch, made in native code: declarations for what is in ``cpu/gpu_plan/``."""

from __future__ import annotations

from pairalign.base.native import Struct, library, struct_dtype, struct_fields

GROUPS = (8, 16, 32)
"""Lanes of a group; sums of tiers go by them."""

MOST_LAUNCHES = 64

KIND = struct_dtype("int32 group groups width tier_units traceback_threads far")
"""What a kind of columns is like: see ``Kind`` there."""


class NativeLaunch(Struct):
    """A launch of the filling kernel and its traceback: see ``Launch`` there."""

    _fields_ = struct_fields(
        "int32 kind wide; int64 items chunks traceback_threads items_at tiles_at borders_at "
        "profiles_at chunks_at"
    )


class NativePlan(Struct):
    """What is planned, on what, and what comes of it: see ``pairalign_packed_plan`` there."""

    _fields_ = struct_fields(
        "pointer row_lengths column_lengths strips_of_column kind_of_column kinds; "
        "int32 kind_count letters multiprocessors row_start row_stop column_start column_stop "
        f"triangular traced; pointer wide; pointer*{len(GROUPS)} tiers_before; "
        "pointer residues_before words; int64 word_count; pointer tables; "
        "int64 capacity needed pair_of_row_at first_pair_of_row_at moves_of_row_at tile_units "
        "border_entries profile_units move_words; int32 longest launch_count; "
        f"Launch*{MOST_LAUNCHES} launches",
        Launch=NativeLaunch,
    )


_plan = library.pairalign_plan_packed


def plan_natively(plan: NativePlan) -> None:
    """Fill in what comes of a plan, and where they find room, its tables.

    Raises
    ------
    MemoryError
        There is no memory for the words.
    """
    if _plan(plan):
        raise MemoryError("no memory to plan a batch in")


WORD = struct_dtype("int32 column columns first_place last_place")
"""See ``Word`` in column_words.h."""


class NativeChosenPairs(Struct):
    """Chosen pairs and their places: see ``pairalign_chosen_pairs`` in chosen_pairs.cpp."""

    _fields_ = struct_fields(
        "pointer rows columns; int64 pairs; int32 row_start row_stop column_start column_stop; "
        f"pointer wide row_lengths column_lengths; pointer*{len(GROUPS)} tiers_before; "
        "pointer kind_of_column strips_of_column kinds words row_of_place pair_of_place "
        f"moves_before residues_before; pointer*{len(GROUPS)} place_tiers; "
        "int64 word_count places; int32 longest unused"
    )


_place = library.pairalign_place_pairs


def place_natively(chosen: NativeChosenPairs) -> None:
    """Fill in the places and words of chosen pairs.

    Raises
    ------
    MemoryError
        There is no memory to sort them in.
    """
    if _place(chosen):
        raise MemoryError("no memory to plan chosen pairs in")


_cut = library.pairalign_cut_pairs


def cut_natively(chosen: NativeChosenPairs, first: int, traced: bool, limit: int) -> int:
    """Count the pairs from one on that a batch of `limit` bytes has room for, at least one."""
    count: int = _cut(chosen, first, traced, limit)
    return count
