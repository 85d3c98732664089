"""How long pairs share a device: batches, tiles, and what lies where in memory. Pure functions.

A *batch* is some pairs that are on the device at a time. All have tiles of one size: rows and
columns of the matrix between kept borders (see ``cuda/block_diagonals/block_diagonals.cuh``). Small
tiles take more memory for borders and less time to fill again.

Bytes of a traced pair of m and n residues, m >= n, with tiles of B::

    8 n                         the row between strips
    8 n (m/B) + 8 m (n/B)       borders of tiles
    4 (m + n)                   CIGAR runs
    slots (B/2 + 8) B           flags and borders of the tiles filled again at a time
    4 (m/32K) (n/B)             local: the best of each strip in each column of tiles

Scores only take ``8 n`` and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairalign.base.arrays import Int32s, Int64s, Structs
from pairalign.base.native import struct_dtype
from pairalign.engines.device.tile_plan import ALIGNMENT

PAIR = struct_dtype(
    "uint64 row_residues column_residues handed kept_rows kept_columns best runs; int32 rows "
    "columns padded_rows strips row_is_query unused"
)
"""Pair in cuda/block_diagonals/block_diagonals.cuh."""

PROGRESS = struct_dtype(
    "uint64 row_key column_key place; int32 score tile_column row column state active operation "
    "length matches diagonals openings runs end_row end_column"
)
"""Progress in cuda/block_diagonals/block_diagonals.cuh."""

PARAMETERS = struct_dtype(
    "uint64 pairs progress items ticket table dense scratch flags; int32 first_item items_stop "
    "pair_count letters gap_open gap_extend tile slots scratch_tiles low unambiguous traced "
    "min_score want_runs rows_a_lane warp_words"
)
"""Params in cuda/block_diagonals/block_diagonals.cuh."""

assert PAIR.itemsize == 80
assert PROGRESS.itemsize == 80
assert PARAMETERS.itemsize == 128

LANES = 32
TILE_STRIP = 128  # rows of a strip when tiles are filled again
ROWS_A_LANE = (4, 8, 16)
SMALLEST_TILE, LARGEST_TILE = 256, 1 << 20
PER_DEPTH = 5  # tiles at each step up a diagonal: slots in cuda/block_diagonals/traceback.cu

MOST_PAIRS = 4096
MOST_STRIPS = 1 << 17  # of a batch, unless it is one pair
TILES_ACROSS, USUAL_TILE = 32, 8192
"""Tiles grow until a pair has no more of them in a row, or to this size; if memory allows."""
STRIPS_AGAIN = 4096
"""Strips filled again at a time, about as many as a device has warps."""
DEEPEST = 128


@dataclass(frozen=True)
class Shape:
    """Lengths of a pair: matrix rows (the longer sequence) and columns."""

    rows: int
    columns: int


@dataclass(frozen=True)
class Layout:
    """Where the arrays of a batch lie.

    Attributes
    ----------
    tile : int
        Rows and columns of a tile.
    slots : int
        Tiles of each pair that are filled again at a time.
    scratch_tiles : int
        Tiles of each pair that have memory for the rows that their strips hand on. Local: one for
        each row of tiles at least, where the end cell is looked for.
    rows_a_lane : int
        Of the filling kernel.
    sizes : dict of str to int
        Bytes of each array, in the order in which they lie there.
    """

    tile: int
    slots: int
    scratch_tiles: int
    rows_a_lane: int
    sizes: dict[str, int]

    @property
    def bytes(self) -> int:
        """Return what the batch needs on the device."""
        return sum(-(-size // ALIGNMENT) * ALIGNMENT for size in self.sizes.values())


@dataclass(frozen=True)
class Task:
    """What decides the layout besides lengths.

    Attributes
    ----------
    wide : bool
        Scores of residues need 32 bits.
    rows_a_lane : int or None
        Of `ROWS_A_LANE`, where scores are not wide; None: `choose_rows` decides.
    """

    traced: bool
    local: bool
    wants_runs: bool
    wide: bool
    multiprocessors: int
    rows_a_lane: int | None = None


def choose_rows(shapes: Sequence[Shape], task: Task) -> int:
    """Choose how many rows a lane has: many are faster, few keep more of the device busy."""
    if task.wide:  # more rows of a large alphabet do not fit the shared memory
        return ROWS_A_LANE[0]
    if task.rows_a_lane is not None:
        return task.rows_a_lane
    few, many = ROWS_A_LANE[1:]
    strips = sum(-(-shape.rows // (LANES * many)) for shape in shapes)
    return many if strips >= 4 * task.multiprocessors else few


def lay_out(shapes: Sequence[Shape], task: Task, limit_bytes: int) -> Layout | None:
    """Choose tiles for a batch and lay out its arrays; None when it does not fit.

    Parameters
    ----------
    limit_bytes : int
        What the batch may take.
    """
    rows_a_lane = choose_rows(shapes, task)
    if not task.traced:
        layout = _arrays(shapes, task, rows_a_lane, 1 << 30, 0)
        return layout if layout.bytes <= limit_bytes else None
    longest = max(shape.rows for shape in shapes)
    least = max(SMALLEST_TILE, LANES * rows_a_lane)
    fitting: Layout | None = None
    tile = least
    while tile <= LARGEST_TILE:
        most_slots = _slots(shapes, tile)
        slots = most_slots
        while slots:
            layout = _arrays(shapes, task, rows_a_lane, tile, slots)
            if layout.bytes <= limit_bytes:
                break
            slots //= 2
        if slots:
            fitting = fitting or layout
            few = -(-longest // tile) <= TILES_ACROSS or tile >= USUAL_TILE
            if few and 4 * slots >= most_slots:
                return layout
        elif fitting:
            break
        if tile >= longest:
            break
        tile *= 2
    return fitting


def _slots(shapes: Sequence[Shape], tile: int) -> int:
    """Choose how many tiles of a pair are filled again at a time: so far up a diagonal."""
    across = max(-(-shape.rows // tile) for shape in shapes)
    strips = PER_DEPTH * (tile // TILE_STRIP) * len(shapes)
    return PER_DEPTH * max(1, min(DEEPEST, across, STRIPS_AGAIN // strips))


def _arrays(shapes: Sequence[Shape], task: Task, rows_a_lane: int, tile: int, slots: int) -> Layout:
    pairs = len(shapes)
    padded = [padded_rows(shape, rows_a_lane) for shape in shapes]
    strips = sum(padded) // (LANES * rows_a_lane)
    columns = sum(shape.columns for shape in shapes)
    sizes = {
        "tables": 8 * strips + (PAIR.itemsize + PROGRESS.itemsize) * pairs + 3 * ALIGNMENT,
        "handed": 8 * columns,
    }
    scratch_tiles = slots
    if task.traced:
        sizes["kept_rows"] = sum(8 * shape.columns * ((shape.rows - 1) // tile) for shape in shapes)
        sizes["kept_columns"] = sum(
            8 * rows * ((shape.columns - 1) // tile)
            for rows, shape in zip(padded, shapes, strict=True)
        )
        if task.local:
            sizes["best"] = sum(
                4 * rows // (LANES * rows_a_lane) * (-(-shape.columns // tile))
                for rows, shape in zip(padded, shapes, strict=True)
            )
            scratch_tiles = max(slots, max(-(-shape.rows // tile) for shape in shapes))
        if task.wants_runs:
            sizes["runs"] = 4 * sum(shape.rows + shape.columns for shape in shapes)
        sizes["scratch"] = 8 * tile * scratch_tiles * pairs + ALIGNMENT  # and the ticket
        sizes["flags"] = 64 * (tile + LANES) * (tile // TILE_STRIP) * slots * pairs
    return Layout(tile, slots, scratch_tiles, rows_a_lane, sizes)


def padded_rows(shape: Shape, rows_a_lane: int) -> int:
    """Rows of a pair's whole strips."""
    strip = LANES * rows_a_lane
    return -(-shape.rows // strip) * strip


def cut_batch(
    shapes: Sequence[Shape], first: int, task: Task, limit_bytes: int
) -> tuple[int, Layout | None]:
    """Choose how many pairs from `first` on make the next batch.

    Returns
    -------
    count : int
        At least 1.
    layout : Layout or None
        None: a single pair that does not fit.
    """
    strips = np.cumsum(
        [-(-shape.rows // TILE_STRIP) for shape in shapes[first : first + MOST_PAIRS]]
    )
    count = max(1, int(np.searchsorted(strips, MOST_STRIPS, side="right")))
    while True:
        layout = lay_out(shapes[first : first + count], task, limit_bytes)
        if layout is not None or count == 1:
            return count, layout
        count = (count + 1) // 2


def describe_pairs(
    shapes: Sequence[Shape], layout: Layout, addresses: dict[str, int]
) -> tuple[Structs, Int32s]:
    """Fill in the table of a batch's pairs but for their residues, and list their strips.

    Returns
    -------
    pairs : structured array of `PAIR`
    items : int32 array, shape (strips, 2)
        Pair and strip, in the order in which they are taken.
    """
    rows = np.array([shape.rows for shape in shapes], np.int64)
    columns = np.array([shape.columns for shape in shapes], np.int64)
    strip = LANES * layout.rows_a_lane
    strips = -(-rows // strip)
    pairs = np.zeros(len(shapes), PAIR)
    pairs["rows"], pairs["columns"] = rows, columns
    pairs["padded_rows"], pairs["strips"] = strips * strip, strips

    def place(name: str, sizes: Int64s) -> None:
        pairs[name] = addresses.get(name, 0) + np.cumsum(sizes) - sizes

    place("handed", 8 * columns)
    if "scratch" in layout.sizes:  # traced
        place("kept_rows", 8 * columns * ((rows - 1) // layout.tile))
        place("kept_columns", 8 * strips * strip * ((columns - 1) // layout.tile))
        place("best", 4 * strips * -(-columns // layout.tile))
        if "runs" in addresses:  # they are written from their end
            pairs["runs"] = addresses["runs"] + np.cumsum(4 * (rows + columns))
    items = np.empty((int(strips.sum()), 2), np.int32)
    items[:, 0] = np.repeat(np.arange(len(shapes)), strips)
    items[:, 1] = np.arange(len(items)) - np.repeat(np.cumsum(strips) - strips, strips)
    return pairs, items


def cut_launches(
    items: Int32s, shapes: Sequence[Shape], strip_rows: int, most_cells: float
) -> list[tuple[int, int]]:
    """Cut the strips of a batch into launches of about `cells` cells."""
    columns = np.array([shape.columns for shape in shapes], np.int64)
    cells = np.cumsum(columns[items[:, 0]] * strip_rows)
    launches = []
    start = 0
    while start < len(items):
        before = int(cells[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(cells, before + most_cells, side="right")))
        launches.append((start, stop))
        start = stop
    return launches
