"""What packed kernels are given at a time: some pairs of a window, as a batch of launches.

Native code plans it: `plan_natively` and others declare what is in ``cpu/gpu_plan/``.
`pairalign.engines.cuda.packed.packed_plan` makes them; what items and places are is said there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Int32s, UInt8s
from pairalign.base.native import Struct, library, struct_dtype, struct_fields
from pairalign.engines.cuda.cuda_family import Numbers
from pairalign.engines.cuda.packed.tilings import Tiling
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.pairs.positions import positions_of_mask, positions_of_numbers

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


@dataclass(frozen=True)
class Kind:
    """What the items of a launch have in common."""

    tiling: Tiling
    wide: bool
    strips: bool


@dataclass(frozen=True)
class Launch:
    """One launch of a fill kernel and its traceback.

    Attributes
    ----------
    items, chunks : int
        How many.
    items_at, item_tiles_at, item_borders_at, item_profiles_at, chunks_at : int
        Where they begin in the batch's tables, in bytes; borders and profiles with strips only.
    """

    kind: Kind
    items: int
    chunks: int
    traceback_threads: int
    items_at: int
    item_tiles_at: int
    item_borders_at: int
    item_profiles_at: int
    chunks_at: int


@dataclass(frozen=True)
class Chosen:
    """Some pairs of a rectangle, in its order.

    Attributes
    ----------
    rows, columns : int32 arrays
        Sorted positions, row by row.
    rectangle : Rectangle
        What they were chosen from.
    """

    rows: Int32s
    columns: Int32s
    rectangle: Rectangle

    @classmethod
    def of(cls, rectangle: Rectangle, pair_mask: Bools) -> Chosen:
        """Choose the pairs that `pair_mask` names, bool[pairs]."""
        return cls(*positions_of_mask(rectangle.bounds, pair_mask), rectangle)

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.rows)

    def part(self, start: int, stop: int) -> Chosen:
        """Return the pairs from one number up to another, and the smallest rectangle of them."""
        rows, columns = self.rows[start:stop], self.columns[start:stop]
        around = replace(
            self.rectangle,
            row_start=int(rows[0]),
            row_stop=int(rows[-1]) + 1,
            column_start=int(columns.min()),
            column_stop=int(columns.max()) + 1,
        )
        return Chosen(rows, columns, around)

    def rest(self, unfinished: Chosen) -> list[Chosen]:
        """Return what remains, given the first part that has not been done."""
        first = np.flatnonzero(
            (self.rows == unfinished.rows[0]) & (self.columns == unfinished.columns[0])
        )
        return [self.part(int(first[0]), self.pairs)]


Work = Rectangle | Chosen


def choose_numbers(work: Work, numbers: Numbers) -> Chosen:
    """Choose pairs of some work by their numbers in it, which ascend."""
    if isinstance(work, Chosen):
        return replace(work, rows=work.rows[numbers], columns=work.columns[numbers])
    return Chosen(*positions_of_numbers(work.bounds, numbers), work)


@dataclass(frozen=True)
class PackedBatch:
    """Pairs that are on the device together.

    Attributes
    ----------
    work : Rectangle or Chosen
    rectangle : Rectangle
        Of the work.
    tables : uint8 array
        What the kernels look up, each table at a multiple of 16 bytes.
    places : dict of str to int
        Where those begin there that all launches share, by their names in ``Params``.
    arrays : dict of str to array
        More of them, by name, that lie elsewhere; of chosen pairs.
    longest : int
        Residues of the longest column.
    is_uneven : bool
        Whether the longest pair takes longer than a device that is busy needs for all.
    move_words : int
        Words of 8 bytes that moves take.
    tile_bytes, border_entries, profile_bytes : int
        What all items take.
    """

    work: Work
    rectangle: Rectangle
    launches: list[Launch]
    tables: UInt8s
    places: dict[str, int]
    arrays: dict[str, npt.NDArray[np.integer]]
    longest: int
    is_uneven: bool
    move_words: int
    tile_bytes: int
    border_entries: int
    profile_bytes: int

    @cached_property
    def pairs(self) -> int:
        """Number of pairs."""
        return self.work.pairs
