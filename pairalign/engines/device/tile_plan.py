"""How a window becomes batches of tiles, for kernels that give each pair a thread. Pure functions.

A *tile* is the share of one warp: 32 pairs of a block of 16 x 16, see
``cuda/pair_per_thread/tiles.cuh``. A *batch* is what is on the device at a time: a
rectangle of the window whose pairs are consecutive in the window's order (some whole rows, or part
of one row), so that results are put together by concatenation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pairalign.base.arrays import Bools, Int32s, Int64s, Structs
from pairalign.base.native import struct_dtype
from pairalign.engines.device.device_sets import DeviceSet
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window, count_pairs, first_columns
from pairalign.scoring.scoring import SCORE_LIMIT, Scoring

WARP = 32
TIER = 8  # rows of the DP matrix whose flags share a word
RESULT_FIELDS = 14  # Result in cuda/pair_per_thread/tiles.cuh
ALIGNMENT = 256  # bytes; every array of a batch starts at a multiple of it

TILE = struct_dtype(
    "int32 row column; uint32 lanes; int32 swapped columns unused; int64 border trace"
)
"""Tile in cuda/pair_per_thread/tiles.cuh."""

BATCH_NUMBERS = (
    "int32 tile_count first_row pairs minimum gap_open gap_extend unambiguous one_set scored"
)
"""What kernels are told of a batch (cuda/pair_per_thread/tiles.cuh, opencl/tiles.clh): `Batch`."""

ARGUMENTS = struct_dtype(
    "uint64 tiles; uint64*2 codes starts lengths order; "
    "uint64 pair_base matrix border trace results run_offsets runs; "
    f"{BATCH_NUMBERS} unused; int32*8 ends"
)
"""Arguments in cuda/pair_per_thread/tiles.cuh."""

assert TILE.itemsize == 40
assert ARGUMENTS.itemsize == 200

Tiles = Structs


@dataclass(frozen=True)
class Rectangle:
    """Part of a window: rows and columns of the pair matrix, half-open."""

    row_start: int
    row_stop: int
    column_start: int
    column_stop: int
    triangular: bool

    @classmethod
    def of(cls, window: Window) -> Rectangle:
        """Return the whole window."""
        return cls(*window.bounds)

    @property
    def bounds(self) -> tuple[int, int, int, int, bool]:
        """``row_start, row_stop, column_start, column_stop, triangular``."""
        columns = self.column_start, self.column_stop
        return self.row_start, self.row_stop, *columns, self.triangular

    def first_columns(self) -> Int64s:
        """First column with a pair, of each row."""
        return first_columns(*self.bounds)

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return count_pairs(*self.bounds)

    def pair_base(self) -> Int32s:
        """Per row what to add to a column to get the pair's number in the rectangle."""
        first = self.first_columns()
        before = np.cumsum(self.column_stop - first) - (self.column_stop - first)
        return (before - first).astype(np.int32)

    def rest(self, unfinished: Rectangle) -> list[Rectangle]:
        """Return what remains of this rectangle, given the first part that has not been done."""
        parts = [unfinished]
        if unfinished.column_stop < self.column_stop:  # part of one row
            parts.append(
                Rectangle(
                    unfinished.row_start,
                    unfinished.row_stop,
                    unfinished.column_stop,
                    self.column_stop,
                    self.triangular,
                )
            )
        if unfinished.row_stop < self.row_stop:
            parts.append(
                Rectangle(
                    unfinished.row_stop,
                    self.row_stop,
                    self.column_start,
                    self.column_stop,
                    self.triangular,
                )
            )
        return parts

    def halves(self, block: int) -> tuple[Rectangle, Rectangle]:
        """Two parts, the pairs of the first before those of the second; needs at least 2 pairs."""
        rows = self.row_stop - self.row_start
        if rows > 1:
            half = rows // 2
            if rows > block:
                half = -(-half // block) * block
            middle = self.row_start + half
            return replace(self, row_stop=middle), replace(self, row_start=middle)
        first = int(self.first_columns()[0])
        middle = (first + self.column_stop) // 2
        return (
            replace(self, column_start=first, column_stop=middle),
            replace(self, column_start=middle),
        )

    def window(self) -> Window:
        """Return the same pairs as a window, for another engine."""
        return Window(
            0,
            self.row_start,
            self.row_stop,
            self.column_start,
            self.column_stop,
            self.triangular,
        )


@dataclass(frozen=True)
class Costs:
    """Bytes that a batch needs on the device, besides what all batches share.

    Attributes
    ----------
    border_bytes : int
        Of an entry of the border: 4 or 8.
    traced : bool
        Whether flags and CIGAR runs are kept.
    array_limit : int or None
        What a single array may take: OpenCL devices do not give all their memory to one.
    """

    border_bytes: int
    traced: bool
    array_limit: int | None = None


@dataclass(frozen=True)
class TileBatch:
    """What goes to the device at a time.

    Attributes
    ----------
    tiles : structured array of `TILE`
        With their places in the border and trace arrays; empty for the host.
    border_entries, trace_words, most_runs : int
        Sizes of the arrays; `most_runs` is as many CIGAR runs as the pairs can possibly have.
    on_host : bool
        A single pair that the device has no room for.
    """

    rectangle: Rectangle
    tiles: Tiles
    pairs: int
    border_entries: int = 0
    trace_words: int = 0
    most_runs: int = 0
    on_host: bool = False

    def array_bytes(self, costs: Costs) -> dict[str, int]:
        """Size of each array on the device, in the order in which they lie there."""
        sizes = {
            "tiles": self.tiles.nbytes,
            "pair_base": 4 * (self.rectangle.row_stop - self.rectangle.row_start),
            "results": 4 * RESULT_FIELDS * self.pairs,
            "border": costs.border_bytes * self.border_entries,
        }
        if costs.traced:
            sizes["trace"] = 4 * self.trace_words
            sizes["run_offsets"] = 8 * (self.pairs + 1)
            sizes["runs"] = 4 * self.most_runs
        return sizes

    def bytes(self, costs: Costs) -> int:
        """Return what the batch needs on the device."""
        return sum(-(-size // ALIGNMENT) * ALIGNMENT for size in self.array_bytes(costs).values())

    def fits(self, costs: Costs, limit_bytes: int) -> bool:
        """Tell whether the device has room for the batch, and for each of its arrays."""
        if self.bytes(costs) > limit_bytes:
            return False
        limit = costs.array_limit
        return limit is None or max(self.array_bytes(costs).values()) <= limit

    def write_numbers(
        self, arguments: Structs, want: Want, scoring: Scoring, *, one_set: bool
    ) -> None:
        """Set the fields of `BATCH_NUMBERS`, and `ends`, in what a kernel is given."""
        arguments["tile_count"] = len(self.tiles)
        arguments["first_row"] = self.rectangle.row_start
        arguments["pairs"] = self.pairs
        arguments["minimum"] = want.least_raw_score
        arguments["gap_open"] = scoring.gap_open
        arguments["gap_extend"] = scoring.gap_extend
        arguments["unambiguous"] = scoring.alphabet.unambiguous
        arguments["one_set"] = one_set
        arguments["scored"] = want.min_raw_score is not None
        if scoring.end_gaps is not None:
            arguments["ends"] = scoring.end_gaps.numbers


class Planner:
    """Cuts windows into batches.

    Parameters
    ----------
    row_lengths, column_lengths : ndarray of int32
        Lengths by sorted position, of the first and the second set.
    block : int
        Rows and columns of a block of pairs: 8, 16 or 32; 16 in the paper.
    ranks : (ndarray of int32, ndarray of int32), optional
        Of two sets, by sorted position: which sequence of a pair runs along the rows, see
        `pairalign.sequences.row_order.find_row_ranks`.
    """

    def __init__(
        self,
        row_lengths: Int32s,
        column_lengths: Int32s,
        block: int = 16,
        ranks: tuple[Int32s, Int32s] | None = None,
    ) -> None:
        self.row_lengths = row_lengths.astype(np.int64)
        self.column_lengths = column_lengths.astype(np.int64)
        self.block = block
        self._ranks = ranks

    def batches(
        self, rectangle: Rectangle, costs: Costs, limit_bytes: int, target_pairs: int
    ) -> Iterator[TileBatch]:
        """Cut a rectangle into batches that need at most `limit_bytes` each.

        Batches of whole rows of blocks hold about `target_pairs` pairs, unless memory is short.
        Pairs that do not fit even alone come as batches for the host.
        """
        stop = rectangle.row_stop
        row = rectangle.row_start
        while row < stop:
            # As many rows of blocks as reach the target, then fewer if they do not fit.
            part = replace(rectangle, row_start=row, row_stop=stop)
            counts = np.cumsum(part.column_stop - part.first_columns())
            row_count = int(np.searchsorted(counts, target_pairs)) + 1
            row_count = min(-(-row_count // self.block) * self.block, stop - row)
            if 0 < counts[-1] - counts[row_count - 1] < target_pairs // 2:
                row_count = stop - row  # no tiny last batch
            yield from self._fitting(replace(part, row_stop=row + row_count), costs, limit_bytes)
            row += row_count

    def _fitting(self, rectangle: Rectangle, costs: Costs, limit_bytes: int) -> Iterator[TileBatch]:
        pairs = rectangle.pairs
        if pairs == 0:
            return
        batch = self.batch(rectangle)
        if batch.fits(costs, limit_bytes):
            yield batch
        elif pairs == 1:
            yield replace(batch, on_host=True, tiles=batch.tiles[:0])
        else:
            for half in rectangle.halves(self.block):
                yield from self._fitting(half, costs, limit_bytes)

    def batch(self, rectangle: Rectangle) -> TileBatch:
        """Lay out the tiles of a rectangle and their arrays, whether or not that fits anywhere."""
        rows = np.arange(rectangle.row_start, rectangle.row_stop)
        columns = np.arange(rectangle.column_start, rectangle.column_stop)
        row_lengths = self.row_lengths[rows]
        column_lengths = self.column_lengths[columns]
        first = rectangle.first_columns()
        if rectangle.triangular:
            parts = [self._grid(rows, first, columns, row_lengths, column_lengths, swapped=0)]
        else:
            # Of each row the columns that do not come before it (they are the last ones) and,
            # swapped, of each column the rows that come after it.
            assert self._ranks is not None
            row_ranks, column_ranks = self._ranks[0][rows], self._ranks[1][columns]
            first = columns[0] + np.searchsorted(column_ranks, row_ranks, side="left")
            shorter = rows[0] + np.searchsorted(row_ranks, column_ranks, side="right")
            parts = [
                self._grid(rows, first, columns, row_lengths, column_lengths, swapped=0),
                self._grid(columns, shorter, rows, column_lengths, row_lengths, swapped=1),
            ]
        tiles = np.concatenate([tiles for tiles, _ in parts])
        longest = np.concatenate([longest for _, longest in parts])
        columns_of = tiles["columns"].astype(np.int64)
        border = (columns_of + 1) * WARP
        trace = -(-longest // TIER) * columns_of * WARP
        tiles["border"] = np.cumsum(border) - border
        tiles["trace"] = np.cumsum(trace) - trace
        return TileBatch(
            rectangle,
            tiles,
            rectangle.pairs,
            border_entries=int(border.sum()),
            trace_words=int(trace.sum()),
            most_runs=int(((longest + columns_of) * WARP).sum()),
        )

    def masked(self, batch: TileBatch, pair_mask: Bools) -> TileBatch:
        """Return a batch of only the pairs of `pair_mask`; its arrays stay where they are.

        Parameters
        ----------
        pair_mask : ndarray of bool, shape (pairs of the batch,)
        """
        tiles = batch.tiles
        items = np.arange(WARP)
        rows = tiles["row"][:, None] + items // self.block
        columns = tiles["column"][:, None] + items % self.block
        swapped = tiles["swapped"][:, None] != 0
        window_rows = np.where(swapped, columns, rows) - batch.rectangle.row_start
        active = (tiles["lanes"][:, None] >> items.astype(np.uint32)) & 1 != 0
        base = batch.rectangle.pair_base()
        numbers = base[np.where(active, window_rows, 0)] + np.where(swapped, rows, columns)
        active &= pair_mask[np.where(active, numbers, 0)]
        lanes = (active.astype(np.uint64) << items.astype(np.uint64)).sum(axis=1, dtype=np.uint64)
        tiles = tiles.copy()
        tiles["lanes"] = lanes.astype(np.uint32)
        return replace(batch, tiles=tiles[lanes != 0])

    def _grid(
        self,
        rows: Int64s,
        first: Int64s,
        columns: Int64s,
        row_lengths: Int64s,
        column_lengths: Int64s,
        *,
        swapped: int,
    ) -> tuple[Tiles, Int64s]:
        """Lay tiles over consecutive positions; also return their longest row sequences.

        Row ``rows[k]`` has pairs with the columns from ``first[k]`` on, and `first` never falls.
        The order is that of blocks row by row, and inside a block of its tiles from top to bottom.
        """
        block, tile_rows = self.block, WARP // self.block
        stop = int(columns[-1]) + 1
        padding = -len(rows) % block
        rows = np.concatenate((rows, rows[-1] + 1 + np.arange(padding)))
        first = np.concatenate((first, np.full(padding, stop)))
        starts = columns[::block]
        # [row, tile column]: the lanes of the row that have a pair, as bits low..high - 1
        low = np.clip(first[:, None] - starts[None, :], 0, block)
        high = np.clip(stop - starts[None, :], 0, block)
        bit = np.uint64(1)
        bits = (bit << high.astype(np.uint64)) - (bit << np.minimum(low, high).astype(np.uint64))
        blocks, tiles_down, across = len(rows) // block, block // tile_rows, len(starts)
        shifts = (np.arange(tile_rows, dtype=np.uint64) * np.uint64(block))[:, None]
        bits = bits.reshape(blocks, tiles_down, tile_rows, across)
        lanes = np.bitwise_or.reduce(bits << shifts, axis=2)
        lanes = lanes.transpose(0, 2, 1).ravel()  # blocks row by row, tiles top to bottom
        used = lanes != 0
        shape = (len(rows) // block, len(starts), block // tile_rows)
        tops = np.broadcast_to(rows[::tile_rows].reshape(shape[0], 1, shape[2]), shape).ravel()[
            used
        ]
        lefts = np.broadcast_to(starts[None, :, None], shape).ravel()[used]
        # The longest column of a tile is the first that its first row has a pair with.
        leftmost = np.maximum(lefts, first[tops - rows[0]])
        tiles = np.zeros(len(tops), dtype=TILE)
        tiles["row"] = tops
        tiles["column"] = lefts
        tiles["lanes"] = lanes[used].astype(np.uint32)
        tiles["swapped"] = swapped
        tiles["columns"] = column_lengths[leftmost - columns[0]]
        return tiles, row_lengths[tops - rows[0]]


_TAG_LIMIT = 1 << 24  # scores below it leave room for tags and for minus infinity


@dataclass(frozen=True)
class Width:
    """How scores are stored; see Store in ``cuda/pair_per_thread/cell.cuh``."""

    name: str
    border_bytes: int


NARROW = Width("NARROW", 4)
WIDE = Width("WIDE", 8)
PLAIN = Width("PLAIN", 8)
WIDTHS = (NARROW, WIDE, PLAIN)


def choose_width(scoring: Scoring, rows: int, columns: int) -> Width:
    """Choose the narrowest width in which no score of sequences of these lengths overflows."""
    low, high = scoring.score_bounds(rows, columns)
    smallest, largest = int(scoring.matrix.min()), int(scoring.matrix.max())
    assert max(high, scoring.gap_open - low) < SCORE_LIMIT, "Scoring.check_sets was not called"
    if max(high, scoring.gap_open - low, scoring.gap_open) >= _TAG_LIMIT:
        return PLAIN
    # A border's minus infinity is -32768, below any score of 16 bits that occurs.
    if low > -(1 << 15) and high < 1 << 15 and smallest >= -128 and largest <= 127:
        return NARROW
    if smallest >= -(1 << 15) and largest < 1 << 15:
        return WIDE
    return PLAIN


def width_of(
    rectangle: Rectangle, scoring: Scoring, queries: DeviceSet, targets: DeviceSet
) -> Width:
    """Choose the width for part of a window; its first row and column are its longest."""
    if not rectangle.pairs:
        return NARROW
    return choose_width(
        scoring,
        int(queries.lengths[rectangle.row_start]),
        int(targets.lengths[rectangle.column_start]),
    )
