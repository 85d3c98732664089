"""Which pairs of a window are still of use to who asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pairalign.base.arrays import Bools, Doubles, Int32s
from pairalign.base.native import Struct, struct_fields
from pairalign.pairs.windows import Window


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
