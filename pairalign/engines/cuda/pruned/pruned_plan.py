"""How similar pairs share a device: what lies where in memory. Pure functions.

A warp works in a *slab*, one pair after the other. Of a traced pair of m and n residues it holds::

    4 (m + n)                CIGAR runs
    (m + n) / 2              where the lanes of each block of 32 antidiagonals lie
    16 (m + n) / 32 x lanes  the lanes before each block: as many as the band is wide, and 32

A pair of which the band has no room gets one of a few large slabs, if one is not in use, and is
tried again with fewer warps and larger slabs if not.
"""

from __future__ import annotations

from dataclasses import dataclass

from pairalign.base.arrays import Int64s
from pairalign.base.native import struct_dtype
from pairalign.pairs.want import Detail

RESIDUE_SET = struct_dtype("uint64 codes starts lengths row_worth column_worth cheap")
"""ResidueSet in cuda/pruned/pruned.cuh."""

PAIR = struct_dtype("int32 row column swapped row_is_query")
"""PrunedPair in cuda/pruned/pruned.cuh."""

RESULT = struct_dtype(
    "int32 status score matches diagonals openings runs; int64 runs_at beam_cells cells"
)
"""PrunedResult in cuda/pruned/pruned.cuh."""

PARAMETERS = struct_dtype(
    "ResidueSet*2 sets; uint64 pairs results ticket runs_used runs; int64 runs_room; uint64 slabs; "
    "int64 slab_bytes; uint64 large_slabs; int64 large_bytes; uint64 taken table; "
    "int32 pair_count detail gap_open gap_extend match mismatch plain unambiguous row_loss "
    "row_bonus column_loss column_bonus pair_bonus diagonal min_score forced worse_seed "
    "lower_bound; float widest; int32 sketched large_count unused",
    ResidueSet=RESIDUE_SET,
)
"""Params in cuda/pruned/pruned.cuh."""

DONE, GIVEN_UP, NO_ROOM, LOST = range(4)
"""What became of a pair: PrunedStatus in cuda/pruned/pruned.cuh."""

STEPS = 32  # antidiagonals of a block
MARGIN = 32  # lanes of a window beside those that are alive
LANE_BYTES = 16
LEAST_LANES = 512  # in a slab
WARPS_A_BLOCK = 4
WARPS_A_MULTIPROCESSOR = 16
WORTH_PADDING = 16
"""Numbers of a sequence's worths beyond its residues."""

HEAD_BYTES = 384  # before a batch's tables: counters, and which large slabs are in use
LARGE_SLABS, LARGE_SHARE = 64, 8
"""Most warps, and the divisor of the memory that they share."""

USUAL_LANES = 192
"""Lanes on average for which slabs have room at first, if memory allows."""
MORE = 8
"""Factor by which slabs for pairs that had no room are larger."""

ANTIDIAGONALS_A_MULTIPROCESSOR = 2e7
"""Of the pairs of a launch: a second of work at most, for runs are cancelled between launches."""


@dataclass(frozen=True)
class Layout:
    """Where the arrays of a batch lie.

    Attributes
    ----------
    warps : int
        That work at a time.
    slab_bytes : int
        Of each.
    large_bytes, large_count : int
        Slabs for pairs that have no room in that of their warp.
    runs_room : int
        CIGAR runs that all pairs of the batch may have.
    sizes : dict of str to int
        Bytes of each array, in the order in which they lie there.
    is_largest : bool
        There is no more room for a pair than this.
    """

    warps: int
    slab_bytes: int
    large_bytes: int
    large_count: int
    runs_room: int
    sizes: dict[str, int]
    is_largest: bool


def slab_bytes(antidiagonals: int, lanes: int, detail: Detail) -> int:
    """Return what a warp needs for a pair, by its residues in all and its lanes on average."""
    beams = max(2 * (lanes + MARGIN), LEAST_LANES) * LANE_BYTES
    if detail == Detail.SCORE:
        return beams
    runs = (antidiagonals + 4) // 4 * 16 if detail == Detail.CIGAR else 0
    blocks = antidiagonals // STEPS + 1
    saved = (blocks * (lanes + MARGIN) + 1) * LANE_BYTES
    return runs + blocks * 16 + max(saved, beams)


def lay_out(
    rows: Int64s,
    columns: Int64s,
    detail: Detail,
    multiprocessors: int,
    level: int,
    limit_bytes: int,
) -> Layout | None:
    """Lay out the arrays of a batch; None when not even one warp has room.

    Parameters
    ----------
    rows, columns : int64 arrays
        Lengths of each pair.
    level : int
        How often the pairs had no room before.
    limit_bytes : int
        What the batch may take.
    """
    longest, shortest = int((rows + columns).max()), int(columns.max())
    pairs = len(rows)
    sizes = {"tables": HEAD_BYTES + (PAIR.itemsize + RESULT.itemsize) * pairs}
    left = limit_bytes - sizes["tables"] - (1 << 16)
    runs_room = 0
    if detail == Detail.CIGAR:
        runs_room = min(int((rows + columns).sum()), left // 16)
        if runs_room < longest:
            return None
        sizes["runs"] = 4 * runs_room
        left -= sizes["runs"]
    most = slab_bytes(longest, shortest + 2 * MARGIN, detail)
    large = min(slab_bytes(longest, USUAL_LANES * MORE ** (level + 1), detail), most) // 16 * 16
    large_count = min(LARGE_SLABS, pairs, left // LARGE_SHARE // large)
    left -= large * large_count
    slab_room = min(slab_bytes(longest, USUAL_LANES * MORE**level, detail), most)
    warps = min(pairs, multiprocessors * WARPS_A_MULTIPROCESSOR, left // slab_room)
    if warps == 0:  # a last attempt, with all that there is
        warps, slab_room = 1, left
        if slab_room < slab_bytes(longest, 2 * MARGIN, detail):
            return None
    elif slab_room < most:
        slab_room = max(slab_room, min(left // 4 * 3 // warps, most))
    slab = slab_room // 16 * 16
    sizes["slabs"] = slab * warps
    sizes["large_slabs"] = large * large_count
    is_largest = warps == 1 or slab_room >= most
    return Layout(warps, slab, large, large_count, runs_room, sizes, is_largest)
