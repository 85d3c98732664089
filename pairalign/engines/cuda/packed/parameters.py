"""What the packed kernels read on the device; see ``cuda/packed/packed.cuh``.

Their constants and scores, residues numbered densely and padded, parameters, and a batch's small
arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, SupportsInt

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import SCORE_FIELDS
from pairalign.base.arrays import Int32s, Int64s, Structs, UInt8s, UInt32s
from pairalign.base.choices import END_GAPS
from pairalign.base.native import struct_dtype
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import DeviceContext, DeviceSet
from pairalign.engines.cuda.cuda_reverse_complement import OtherStrand
from pairalign.engines.cuda.packed.batches import PackedBatch
from pairalign.engines.cuda.packed.tilings import MOST_COLUMNS, TIER
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import complement_of
from pairalign.sequences.residues import lay_out_residues, sum_worth
from pairalign.sequences.sets import SequenceSet

LETTERS = 32  # row stride of the score table
SCALE, E_CODES = 64, 17  # see cuda/packed/tile.cuh
SHIFTED_MODES = ("semiglobal", END_GAPS)
"""Modes in which stored values grow along the border."""
_TILE_LIMIT = 1024 - 1  # 16 bits less six of a code
_STEP_LIMIT = 127  # neighbours' difference that eight bits hold


@dataclass(frozen=True)
class Costs:
    """Scores and constants as the kernels see them."""

    table: Int32s  # [32, 32] by dense residue
    letters: int  # the last one is the padding
    gap_open: int
    gap_extend: int
    shift: int
    bias: int
    tile_bias: int
    tile_range: int  # values of a tile stay below it
    step_range: int  # H of neighbouring cells differ by no more
    edge_bias: int  # end gaps: H of the border, see packed.cuh
    edge_step: int

    @classmethod
    def of(cls, scoring: Scoring, codes: UInt8s) -> Costs:
        """Make the table for sequences that use these codes, which become residues 0, 1, ..."""
        used = len(codes)
        padding = used + (scoring.end_gaps is not None)
        assert padding < LETTERS
        edge = edge_step = 0  # end gaps: how much lower the border is than H(0,0); its step
        table = np.zeros((LETTERS, LETTERS), np.int64)
        table[:used, :used] = scoring.matrix[np.ix_(codes, codes)]
        lowest = min(int(table.min()), 0)
        if scoring.mode == "local":
            opening, shift = scoring.gap_open, 0
            table[padding, : used + 1] = table[: used + 1, padding] = lowest - 1
            bias = opening + scoring.gap_extend + 1 - lowest + 16
            extend = scoring.gap_extend
        else:
            opening, shift = scoring.gap_open - scoring.gap_extend, scoring.gap_extend
            table[:used, :used] += 2 * shift
            padded = -opening if scoring.mode == "global" else 2 * shift
            table[padding, :used] = table[:used, padding] = padded
            table[padding, padding] = 0 if scoring.mode == "global" else padded
            if scoring.end_gaps is not None:
                start = scoring.end_gaps.query_start
                edge, edge_step = start.open - start.extend, shift - start.extend
                table[used:, :] = table[:, used:] = edge_step
                table[used:, used:] = 0
                table[used, used] = edge
            lowest = min(int(table.min()), 0)
            bias = 4 * opening + edge - lowest + 16
            extend = 0
        # From the corner of a tile two gaps lead to any of its cells, a third to E or F. None is
        # worth more than TIER residues and a gap above the corner: a path that enters the tile's
        # rows or columns beyond it has passed the corner's row or column at a gap's cost.
        tile_bias = 3 * opening + (2 * TIER + 2) * extend + edge - lowest + 8
        highest = max(int(table.max()), 0)
        return cls(
            table=table.astype(np.int32),
            letters=padding + 1,
            gap_open=opening,
            gap_extend=scoring.gap_extend if scoring.mode == "local" else 0,
            shift=shift,
            bias=bias,
            tile_bias=tile_bias,
            tile_range=tile_bias + opening + TIER * (highest + extend),
            step_range=highest + 2 * (opening + extend + shift + edge),
            edge_bias=bias - edge,
            edge_step=edge_step,
        )

    @property
    def fits_tiles(self) -> bool:
        """Whether two pairs may share a word of a tile that is traced."""
        return self.tile_range <= _TILE_LIMIT and self.step_range <= _STEP_LIMIT

    def open_codes(self, wide: bool) -> UInt32s:
        """Return what opening E after each column of a tile costs, with its code: uint32[16]."""
        costs = -SCALE * self.gap_open + E_CODES + MOST_COLUMNS - 1 - np.arange(MOST_COLUMNS)
        if wide:
            return costs.astype(np.int32).view(np.uint32)
        halves: UInt32s = (costs & 0xFFFF).astype(np.uint32) * np.uint32(0x10001)
        return halves


def worth_of(sequences: SequenceSet, codes: UInt8s, costs: Costs, mode: str) -> Int64s:
    """Largest sum of scores that each sequence's residues can bring, by sorted position."""
    used = len(codes)
    shift = 2 * costs.shift if mode in SHIFTED_MODES else 0  # there the lengths count it
    best_of_code = np.zeros(256, np.int64)
    best_of_code[codes] = np.maximum(costs.table[:used, :used].max(axis=1) - shift, 0)
    return sum_worth(sequences, best_of_code)


PADDING = 96
"""Padding residues around each sequence; the kernels read up to 80 beyond."""

Upload = Callable[[npt.NDArray[Any]], Any]


@dataclass
class DenseSet:
    """A set on the device: residues by sorted position, and where each sequence's begin."""

    residues: SupportsInt
    starts: SupportsInt

    @classmethod
    def of(cls, dense: DenseResidues, upload: Upload) -> DenseSet:
        """Upload the residues of a set."""
        return cls(upload(dense.residues), upload(dense.starts))


@dataclass(frozen=True)
class DenseResidues:
    """The same on the host."""

    residues: UInt8s
    starts: Int64s

    @classmethod
    def of(cls, device: DeviceSet, codes: UInt8s, padding: int) -> DenseResidues:
        """Give residue k to code k of these codes, of which all residues of a set are.

        `padding`: the residue around the sequences. If there is one between the last code's and
        that, it stands before each sequence (mode end-gaps, see ``cuda/packed/packed.cuh``).
        """
        dense_of_code = np.zeros(256, np.uint8)
        dense_of_code[codes] = np.arange(len(codes))
        starts = dense_starts(device.lengths)
        size = int((device.lengths.astype(np.int64) + PADDING).sum()) + 2 * PADDING
        residues = np.full(size, padding, np.uint8)
        residues[starts - 1] = len(codes)
        lay_out_residues(device.sequences, dense_of_code, starts, residues)
        return cls(residues, starts)


def dense_starts(lengths: Int32s) -> Int64s:
    """First residue of each sequence."""
    padded = lengths.astype(np.int64) + PADDING
    starts: Int64s = np.cumsum(padded) - padded + PADDING
    return starts


class ColumnResidues:
    """Residues of a window's columns, reverse-complemented where the window says so.

    Parameters
    ----------
    codes : ndarray of uint8
        See `DenseResidues.of`.
    """

    def __init__(self, context: DeviceContext, columns: DenseSet, codes: UInt8s) -> None:
        self._context = context
        self._columns = columns
        self._codes = codes
        self._other_strand: OtherStrand | None = None

    def of(self, window: Window) -> int:
        """Return the device address of the residues."""
        if window.strand > 0 or not window.pairs:
            return int(self._columns.residues)
        context, codes = self._context, self._codes
        if self._other_strand is None:
            complement = np.full(256, len(codes), np.uint8)
            complement[: len(codes)] = np.searchsorted(
                codes, complement_of(context.scoring.alphabet)[codes]
            )
            targets, dense = context.targets, self._columns
            self._other_strand = OtherStrand(
                context.driver,
                context.load_module,
                replace(targets, codes=dense.residues, starts=dense.starts),
                dense_starts(targets.lengths),
                complement=complement,
                padding=len(codes),
            )
        return self._other_strand.residues_of(window.column_start, window.column_stop)

    def close(self) -> None:
        """Free what `of` took."""
        if self._other_strand is not None:
            self._other_strand.close()


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
