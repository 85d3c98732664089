"""All pairs of a set or of two, as slabs of windows for engines; `ListedPairs` is its other half.

Both plan the pairs of a job: how many there are, which are a shard's, and slabs of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pairalign.base.arguments import Shard
from pairalign.jobs.run.shards import shard_range
from pairalign.jobs.run.slabs import cut_windows
from pairalign.pairs.windows import UNLIMITED, Lengths, Window, count_cells, restrict_windows


class PlannedPairs(Protocol):
    """The pairs of a job, in the order of output."""

    def __len__(self) -> int:
        """Return the number of pairs."""

    @property
    def left_out(self) -> int:
        """Pairs that were asked for and are not there."""

    @property
    def cells(self) -> int:
        """Cells of the matrices of all pairs."""

    def cells_of(self, slab: Window) -> int:
        """Cells of the matrices of a slab's pairs."""

    def pairs_of(self, slab: Window) -> int:
        """Pairs of a slab."""

    def part(self, start: int, stop: int) -> PlannedPairs:
        """Return some of the pairs, those from `start` up to `stop`."""

    def shard_range(self, shard: Shard) -> tuple[int, int]:
        """Find the pairs of a shard."""

    def split(
        self, pair_bytes: int, letter_bytes: float, limit: int, most_cells: int = UNLIMITED
    ) -> list[Window]:
        """Cut the pairs into slabs whose results fit some memory, and some time."""


class AllPairs:
    """Windows of a set against itself or another.

    Parameters
    ----------
    windows : sequence of Window
    rows, columns : ndarray of int, shape (sequences,)
        Lengths by sorted position.
    """

    left_out = 0

    def __init__(self, windows: Sequence[Window], rows: Lengths, columns: Lengths) -> None:
        self._windows = windows
        self._lengths = rows, columns

    def __len__(self) -> int:
        return sum(map(self.pairs_of, self._windows))

    @property
    def cells(self) -> int:
        """Cells of the matrices of all pairs."""
        return sum(map(self.cells_of, self._windows))

    def cells_of(self, slab: Window) -> int:
        """Cells of the matrices of a slab's pairs."""
        return count_cells(slab, *self._lengths)

    def pairs_of(self, slab: Window) -> int:
        """Pairs of a slab."""
        return slab.pairs

    def part(self, start: int, stop: int) -> AllPairs:
        """Return some of the pairs, those from `start` up to `stop`."""
        return AllPairs(list(restrict_windows(self._windows, start, stop)), *self._lengths)

    def shard_range(self, shard: Shard) -> tuple[int, int]:
        """Find the pairs of a shard, see `pairalign.jobs.run.shards.shard_range`."""
        return shard_range(self._windows, *self._lengths, shard)

    def split(
        self, pair_bytes: int, letter_bytes: float, limit: int, most_cells: int = UNLIMITED
    ) -> list[Window]:
        """Cut the windows into slabs whose results take at most `limit` bytes.

        Parameters
        ----------
        pair_bytes, letter_bytes, limit, most_cells
            As for `pairalign.pairs.windows.split_rows`.
        """
        limits = limit, most_cells
        return cut_windows(self._windows, *self._lengths, pair_bytes, letter_bytes, *limits)
