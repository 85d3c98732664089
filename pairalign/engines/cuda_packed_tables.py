"""What the packed kernels read on the device: their parameters, and a batch's small arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.engines import Detail, Want
from pairalign.engines.cuda_buffers import Slot
from pairalign.engines.cuda_packed_batches import Batch
from pairalign.engines.cuda_packed_tilings import MOST_COLUMNS

FIELDS = 11  # Field in cuda/packed_moves.cuh
PAIRS_OF_BLOCK = 256  # THREADS in cuda/packed_runs.cu, as the next one
PLACING_THREADS = 1024

PARAMETERS = np.dtype(
    [
        *((name, "<u8") for name in ("row_letters", "row_starts", "row_lengths")),
        *((name, "<u8") for name in ("column_letters", "column_starts", "column_lengths")),
        *((name, "<u8") for name in ("row_order", "column_order", "table")),
        *((name, "<u8") for name in ("items", "rows", "pair_of_place", "item_tiles")),
        *((name, "<u8") for name in ("bands_before", "tiles", "item_borders")),
        *((name, "<u8") for name in ("letters_before", "borders", "pair_of_row")),
        *((name, "<u8") for name in ("moves_of_row", "first_pair_of_row", "moves_of_pair")),
        *((name, "<u8") for name in ("score", "end_row", "end_column", "fields", "moves")),
        *((name, "<u8") for name in ("chunks", "profiles", "item_profiles")),
        *((name, "<u8") for name in ("query", "target")),
        ("pairs", "<i8"),
        *((name, "<i4") for name in ("first_row", "first_column", "triangular", "letters")),
        *((name, "<i4") for name in ("definite", "gap_open", "gap_extend", "shift", "bias")),
        *((name, "<i4") for name in ("tile_bias", "min_score", "one", "group", "longest")),
        *((name, "<i4") for name in ("places", "unused")),
        ("open_codes", "<u4", MOST_COLUMNS),
    ]
)
"""Params in cuda/packed.cuh."""


def _starts(sizes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Sum of the sizes before each."""
    ends = np.cumsum(sizes, dtype=np.int64)
    starts: npt.NDArray[np.int64] = ends - sizes
    return starts


def tables_of(batch: Batch) -> dict[str, npt.NDArray[Any]]:
    """Return all small arrays of a batch; those of each launch end in its number."""
    arrays: dict[str, npt.NDArray[Any]] = dict(batch.tables)
    profiles_before = 0
    for number, launch in enumerate(batch.launches):
        stride = launch.kind.tiling.band_bytes // 16
        arrays[f"items_{number}"] = launch.items
        arrays[f"item_tiles_{number}"] = _starts(launch.item_bands) * stride
        arrays[f"item_borders_{number}"] = _starts(launch.item_border_entries)
        profiles = profiles_before + _starts(launch.item_profile_bytes)
        arrays[f"item_profiles_{number}"] = profiles // 16
        profiles_before += int(launch.item_profile_bytes.sum())
        arrays[f"chunks_{number}"] = launch.chunks
    return arrays


def upload_tables(arrays: dict[str, npt.NDArray[Any]], slot: Slot, address: int) -> dict[str, int]:
    """Upload arrays in one copy; returns where each lies."""
    places, parts, end = {}, [], 0
    for name, array in arrays.items():
        places[name] = address + end
        data = np.ascontiguousarray(array).view(np.uint8).ravel()
        parts += [data, np.zeros(-len(data) % 16, np.uint8)]
        end += len(data) + -len(data) % 16
    slot.upload("tables", np.concatenate(parts), address)
    return places


def blocks_of(pairs: int) -> int:
    """Count the blocks of the kernels that make runs."""
    return -(-pairs // PAIRS_OF_BLOCK)


def array_bytes(batch: Batch, tables: dict[str, npt.NDArray[Any]], want: Want) -> dict[str, int]:
    """Device arrays of a batch, in bytes."""
    pairs = batch.pairs
    sizes = {
        "tables": sum(array.nbytes + 16 for array in tables.values()),
        "query": 4 * pairs,
        "target": 4 * pairs,
        "score": 4 * pairs,
        "end_row": 4 * pairs,
        "end_column": 4 * pairs,
        "borders": 8 * sum(int(one.item_border_entries.sum()) for one in batch.launches),
    }
    if want.detail > Detail.SCORE:
        sizes["fields"] = 4 * FIELDS * pairs
        blocks = blocks_of(pairs)
        sizes["block_runs"] = 4 * blocks
        sizes["block_starts"] = 8 * (blocks + 1)
        sizes["run_offsets"] = 8 * (pairs + 1)
        sizes["profiles"] = sum(int(one.item_profile_bytes.sum()) for one in batch.launches)
        sizes["moves"] = 8 * batch.move_words
        sizes["tiles"] = sum(one.tile_bytes for one in batch.launches)
        sizes["tiles_end"] = 0
    return sizes
