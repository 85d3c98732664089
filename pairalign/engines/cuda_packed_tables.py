"""What the packed kernels read on the device: their parameters, and a batch's small arrays."""

from __future__ import annotations

import numpy as np

from pairalign.engines import Detail, Want
from pairalign.engines.cuda_buffers import Slot
from pairalign.engines.cuda_packed_batches import Batch
from pairalign.engines.cuda_packed_tilings import MOST_COLUMNS

NAMES = 3  # query, target and score: columns before the fields
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

PARAMETER_NAMES = frozenset(PARAMETERS.names or ())


def upload_tables(batch: Batch, slot: Slot, address: int) -> dict[str, int]:
    """Upload the tables of a batch in one copy.

    Returns
    -------
    dict of str to int
        Where those begin that all launches share.
    """
    staged = slot.pinned("tables", table_bytes(batch), np.uint8)
    end = len(batch.tables)
    staged[:end] = batch.tables
    places = {name: address + at for name, at in batch.places.items()}
    for name, array in batch.arrays.items():
        staged[end : end + array.nbytes].view(array.dtype)[:] = array.ravel()
        places[name] = address + end
        end += _round_up(array.nbytes)
    slot.send("tables", end, address)
    return places


def table_bytes(batch: Batch) -> int:
    """Bytes of all tables of a batch."""
    size = len(batch.tables)
    for array in batch.arrays.values():
        size += _round_up(array.nbytes)
    return size


def _round_up(size: int) -> int:
    return -(-size // 16) * 16


def blocks_of(pairs: int) -> int:
    """Count the blocks of the kernels that make runs."""
    return -(-pairs // PAIRS_OF_BLOCK)


def array_bytes(batch: Batch, want: Want) -> dict[str, int]:
    """Device arrays of a batch, in bytes."""
    pairs = batch.pairs
    is_traced = want.detail > Detail.SCORE
    sizes = {
        "tables": table_bytes(batch),
        # Query, target, score and fields, one after the other as results have them.
        "columns": 4 * (NAMES + (FIELDS if is_traced else 0)) * pairs,
        "end_row": 4 * pairs,
        "end_column": 4 * pairs,
        "borders": 8 * batch.border_entries,
    }
    if is_traced:
        blocks = blocks_of(pairs)
        sizes["block_runs"] = 4 * blocks
        sizes["block_starts"] = 8 * (blocks + 1)
        sizes["run_offsets"] = 8 * (pairs + 1)
        sizes["profiles"] = batch.profile_bytes
        sizes["moves"] = 8 * batch.move_words
        sizes["tiles"] = batch.tile_bytes
        sizes["tiles_end"] = 0
    return sizes
