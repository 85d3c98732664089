"""What to compute for the pairs of a window: how much of each, and which are still of use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

from pairalign.base.arrays import Bools, Doubles, Int32s
from pairalign.base.native import Struct, struct_fields
from pairalign.pairs.windows import Window


class Detail(IntEnum):
    """How much of an alignment is wanted; each level includes the ones before it."""

    SCORE = 0
    STATS = 1
    CIGAR = 2


@dataclass(frozen=True)
class Want:
    """What an engine computes for the pairs of a window.

    Attributes
    ----------
    detail : Detail
        SCORE, STATS (spans, matches, columns) or CIGAR.
    min_raw_score : int or None
        Only pairs with at least this raw (scaled) score are traced and returned.
    """

    detail: Detail = Detail.CIGAR
    min_raw_score: int | None = None

    @property
    def least_raw_score(self) -> int:
        """`min_raw_score` for native code: without one, or below it, the least of 32 bits."""
        least = -(1 << 31)
        return least if self.min_raw_score is None else max(self.min_raw_score, least)


class NativeDemand(Struct):
    """A `Wanted`: ``pairalign_demand`` of ``cpu/filters/pair_filter.h``."""

    _fields_ = struct_fields("pointer rows_left best row_groups column_groups")


@dataclass(frozen=True)
class Wanted:
    """Which pairs of a window are of use; None: all.

    Attributes
    ----------
    rows : ndarray of bool, shape (rows,), or None
        Whose pairs are.
    best : ndarray of float64, shape (columns,), or None
        Identities, as the thresholds define them, of which a pair must have more; 0: of none.
    row_groups, column_groups : ndarray of int32, shape (rows,) and (columns,), or None
        Pairs of one group are not.
    """

    rows: Bools | None = None
    best: Doubles | None = None
    row_groups: Int32s | None = None
    column_groups: Int32s | None = None

    def native(self) -> NativeDemand:
        """Return what native code takes; valid while this is."""
        arrays = (self.rows, self.best, self.row_groups, self.column_groups)
        return NativeDemand(*arrays)


class Demand(Protocol):
    """Which pairs are still of use; it grows less while pairs are aligned."""

    def of(self, window: Window) -> Wanted:
        """Return what is of use of a window."""
