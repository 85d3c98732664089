"""How wide the scores of kernels are that give each pair a thread: chosen from bounds."""

from __future__ import annotations

from dataclasses import dataclass

from pairalign.engines.device.device_sets import DeviceSet
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.scoring.scoring import SCORE_LIMIT, Scoring

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
