"""How much device memory batches of the packed kernels take: before they are planned, about."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s, Int64s
from pairalign.engines.cuda.packed.native_plan import GROUPS
from pairalign.engines.cuda.packed.score_table import Costs
from pairalign.engines.cuda.packed.tilings import (
    FILL_THREADS,
    KINDS,
    TILINGS,
    move_words,
    tiling_of,
)
from pairalign.engines.device.tile_plan import Rectangle


class MemoryEstimate:
    """Bytes that rows and pairs take; what columns add is summed up once.

    Parameters
    ----------
    row_lengths, column_lengths : int32 arrays
        By sorted position, longest first.
    tiers : dict of int to int32 arrays
        Of each row, by lanes of a group.
    tilings : two int64 arrays
        Kind and strips of each column, see `choose_tilings`.
    wide : bool array
        Which columns need a word of their own beside the longest row; beside others more columns
        may share a word.
    """

    def __init__(
        self,
        row_lengths: Int32s,
        column_lengths: Int32s,
        tiers: dict[int, Int32s],
        tilings: tuple[Int64s, Int64s],
        costs: Costs,
        wide: npt.NDArray[np.bool_],
    ) -> None:
        self._rows, self._columns = row_lengths, column_lengths
        self._tiers = tiers
        # Where values do not fit the tiles that a word of two is traced in, all are wide there.
        self._traced_share = 1.0 if costs.fits_tiles else 2.0
        self._kinds, self._strips = kinds, strips = tilings
        tier_bytes = np.array([tiling_of(kind).tier_bytes for kind in KINDS])
        group = np.array([tiling_of(kind).group for kind in KINDS])
        # A narrow column before a wide one may have no other to share a word with.
        shares = np.append(~wide[:-1] & ~wide[1:], not wide[-1])
        weight = np.where(shares, 0.5, 1.0) * strips * tier_bytes[kinds]
        self._tier_bytes_before = {
            group_size: _fractions_before(np.where(group[kinds] == group_size, weight, 0.0))
            for group_size in GROUPS
        }
        # Of a kind's first and last word half may be needed, or half be of another kind.
        self._spare_bytes_before = {
            group_size: _fractions_before(np.where(group == group_size, tier_bytes, 0.0))
            for group_size in GROUPS
        }
        self._far_before = sums_before(strips > 1)
        # The profiles of those, one an item; it has that number of rows or more.
        profile_bytes = np.array([tiling_of(kind).profile_bytes(costs.letters) for kind in KINDS])
        of_row = strips * profile_bytes[kinds] / (2 * FILL_THREADS // group[kinds])
        self._profile_bytes_before = _fractions_before(np.where(strips > 1, of_row, 0.0))

    def of_first_row(self, rectangle: Rectangle, traced: bool) -> float:
        """Device bytes that the first row takes, about; none takes more."""
        row, first = rectangle.row_start, rectangle.column_start
        if rectangle.triangular:
            first = min(max(first, row + 1), rectangle.column_stop)
        return float(self._bytes_of(row, first, first, rectangle.column_stop, traced))

    def of_rows(self, rectangle: Rectangle, traced: bool) -> npt.NDArray[np.float64]:
        """Device bytes that each row takes, about."""
        first = rectangle.first_columns()
        rows = slice(rectangle.row_start, rectangle.row_stop)
        cost: npt.NDArray[np.float64]
        cost = self._bytes_of(rows, first, int(first[0]), rectangle.column_stop, traced)
        return cost

    def _bytes_of(
        self, row: int | slice, first: int | Int64s, least_first: int, stop: int, traced: bool
    ) -> Any:
        """Device bytes of a row with the columns from `first` on, or of each of some rows.

        `row` and `first` are of one row or of several; of all these the first takes the most.
        """
        length, pairs = self._rows[row], stop - first
        cost = 80.0 * pairs + 64
        if least_first == stop:
            return cost
        if self._far_before[stop] > self._far_before[least_first]:
            cost += 8.0 * length * (self._far_before[stop] - self._far_before[first])
        if not traced:
            return cost
        cost += self._profile_bytes_before[stop] - self._profile_bytes_before[first]
        cost += 8.0 * pairs * move_words(length, int(self._columns[least_first]))
        least, most = self._kinds[stop - 1], self._kinds[least_first]
        strips = 1
        if most >= len(TILINGS):  # any of those in strips may come, and one strip more
            most, strips = KINDS[-1], int(self._strips[least_first]) + 1
        for group in GROUPS:
            before, spare = self._tier_bytes_before[group], self._spare_bytes_before[group]
            if before[stop] > before[least_first]:
                word_bytes = self._traced_share * (before[stop] - before[first])
                word_bytes += strips * (spare[most + 1] - spare[least])
                cost += word_bytes * self._tiers[group][row]
        return cost


def sums_before(values: npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> Int64s:
    """Return the sums of the values before each, and of all."""
    return np.concatenate(([0], np.cumsum(values, dtype=np.int64)))


def _fractions_before(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sums of the values before each, and of all."""
    return np.concatenate(([0.0], np.cumsum(values)))
