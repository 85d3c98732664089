"""What the packed kernels read on the device: their parameters, and a batch's small arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple

import numpy as np

from pairalign.alignments.alignments import SCORE_FIELDS
from pairalign.base.arrays import Structs
from pairalign.base.native import struct_dtype
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.engines.cuda.packed.batches import PackedBatch
from pairalign.engines.cuda.packed.score_table import Costs
from pairalign.engines.cuda.packed.sequences import DenseSet
from pairalign.engines.cuda.packed.tilings import MOST_COLUMNS
from pairalign.pairs.want import Detail, Want

NAMES = len(SCORE_FIELDS)  # fields before those of STATS
FIELDS = 11  # Field in cuda/packed/moves.cuh
PAIRS_OF_BLOCK = 256  # THREADS in cuda/packed/runs.cu, as the next one
PLACING_THREADS = 1024
PAIRS_OF_PASSING_BLOCK = 4096  # PAIRS in cuda/packed/passing.cu, as the next one
PASSING_THREADS = 256

PARAMETERS = struct_dtype(
    "uint64 row_residues row_starts row_lengths column_residues column_starts column_lengths "
    "row_order column_order row_ranks column_ranks table items rows pair_of_place item_tiles "
    "tiers_before tiles item_borders residues_before borders pair_of_row moves_of_row "
    "first_pair_of_row moves_of_pair score end_row end_column fields moves chunks profiles "
    "item_profiles query target; int64 pairs; "
    "int32 first_row first_column triangular letters unambiguous gap_open gap_extend shift bias "
    f"tile_bias min_score one group longest places unused; uint32*{MOST_COLUMNS} open_codes; "
    "int32 edge_bias edge_step start_open start_extend end_open end_extend"
)
"""Params in cuda/packed/packed.cuh."""

Parameters = Structs

PARAMETER_NAMES = frozenset(PARAMETERS.names or ())


def constants(
    context: DeviceContext,
    costs: Costs,
    sets: Mapping[str, DenseSet],
    *,
    ranks: Sequence[int],
    table: int,
    residues_before: int,
    unambiguous: int,
) -> Parameters:
    """Return parameters with all that is the same for all batches.

    Parameters
    ----------
    sets : mapping of str to DenseSet
        Of ``row`` and ``column``.
    ranks : sequence of int
        Device addresses of the ranks of rows and of columns; of one set there are none.
    table, residues_before : int
        Device addresses: of the score table, and of the sums of residues over all rows.
    unambiguous : int
        Dense residues below are never ambiguous.
    """
    parameters: Parameters = np.zeros((), PARAMETERS)
    for (prefix, dense), device in zip(
        sets.items(), (context.queries, context.targets), strict=True
    ):
        parameters[f"{prefix}_residues"] = int(dense.residues)
        parameters[f"{prefix}_starts"] = int(dense.starts)
        parameters[f"{prefix}_lengths"] = int(device.device_lengths)
        parameters[f"{prefix}_order"] = int(device.order)
    for prefix, address in zip(sets, ranks, strict=False):
        parameters[f"{prefix}_ranks"] = address
    names = ("letters", "gap_open", "gap_extend", "shift", "bias", "tile_bias")
    for name in (*names, "edge_bias", "edge_step"):
        parameters[name] = getattr(costs, name)
    ends = context.scoring.end_gaps
    if ends is not None:
        parameters["start_open"], parameters["start_extend"] = astuple(ends.query_start)
        parameters["end_open"], parameters["end_extend"] = astuple(ends.query_end)
    parameters["table"], parameters["residues_before"] = table, residues_before
    parameters["unambiguous"] = unambiguous
    parameters["one"] = 1
    return parameters


def parameters_of(
    batch: PackedBatch, want: Want, at: Mapping[str, int], same: Parameters
) -> Parameters:
    """Return parameters with all that is the same for all launches of a batch.

    `at`: where its arrays lie on the device, see `array_bytes`; `same`: see `constants`.
    """
    rectangle = batch.rectangle
    parameters: Parameters = same.copy()
    parameters["pairs"] = batch.pairs
    parameters["first_row"] = rectangle.row_start
    parameters["first_column"] = rectangle.column_start
    parameters["places"] = rectangle.row_stop - rectangle.row_start
    parameters["longest"] = batch.longest
    parameters["triangular"] = rectangle.triangular
    parameters["min_score"] = want.least_raw_score
    parameters["residues_before"] += 8 * rectangle.row_start
    for number, name in enumerate(("query", "target", "score", "fields")):
        parameters[name] = at["fields"] + 4 * batch.pairs * number
    for name in ("end_row", "end_column", "borders", "profiles", "moves", "tiles"):
        parameters[name] = at.get(name, 0)
    return parameters


def upload_tables(batch: PackedBatch, slot: Slot, address: int) -> dict[str, int]:
    """Upload the tables of a batch: in one copy but for those of chosen pairs, which are large.

    Returns
    -------
    dict of str to int
        Where those begin that all launches share.
    """
    slot.upload("tables", batch.tables, address)
    end = len(batch.tables)
    places = {name: address + at for name, at in batch.places.items()}
    for name, array in batch.arrays.items():
        slot.send_array(array, address + end)
        places[name] = address + end
        end += _round_up(array.nbytes)
    return places


def table_bytes(batch: PackedBatch) -> int:
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


def passing_blocks_of(pairs: int) -> int:
    """Count the blocks of the kernels that look for pairs that reach a minimum."""
    return -(-pairs // PAIRS_OF_PASSING_BLOCK)


def passing_bytes(pairs: int) -> dict[str, int]:
    """Device arrays for the pairs of a batch that reach a minimum, in bytes."""
    blocks = passing_blocks_of(pairs)
    return {
        "passing_counts": 4 * blocks,
        "passing_starts": 8 * (blocks + 1),
        "passing_numbers": 4 * pairs,
        "passing_fields": 4 * NAMES * pairs,
    }


def array_bytes(batch: PackedBatch, want: Want) -> dict[str, int]:
    """Device arrays of a batch, in bytes."""
    pairs = batch.pairs
    is_traced = want.detail > Detail.SCORE
    sizes = {
        "tables": table_bytes(batch),
        # Query, target, score and fields, one after the other as results have them.
        "fields": 4 * (NAMES + (FIELDS if is_traced else 0)) * pairs,
        "end_row": 4 * pairs,
        "end_column": 4 * pairs,
        "borders": 8 * batch.border_entries,
    }
    if want.detail == Detail.CIGAR:
        blocks = blocks_of(pairs)
        sizes["block_runs"] = 4 * blocks
        sizes["block_starts"] = 8 * (blocks + 1)
        sizes["run_offsets"] = 8 * (pairs + 1)
        sizes["moves"] = 8 * batch.move_words
    if is_traced:
        sizes["profiles"] = batch.profile_bytes
        sizes["tiles"] = batch.tile_bytes
        sizes["tiles_end"] = 0
    return sizes
