"""Scores and constants as the packed kernels see them; see ``cuda/packed/packed.cuh``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairalign.base.arrays import Int32s, Int64s, UInt8s, UInt32s
from pairalign.base.choices import END_GAPS
from pairalign.engines.cuda.packed.tilings import MOST_COLUMNS, TIER
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.residues import sum_worth
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
