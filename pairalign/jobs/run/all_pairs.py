"""All pairs of a set or of two, as slabs of windows for engines; `ListedPairs` is its other half.

Both plan the pairs of a job: how many there are, which are a shard's, and slabs of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.base.arguments import Shard
from pairalign.base.arrays import Bools
from pairalign.jobs.run.blocks import LengthsBetween, Pairs, cut_shard
from pairalign.jobs.run.slabs import cut_windows
from pairalign.pairs.windows import (
    UNLIMITED,
    Lengths,
    RestOfGrid,
    Window,
    WindowGrid,
    cells_of_all,
    count_cells,
    cut_rows,
    first_columns,
    restrict_windows,
    sums_of_tails,
)
from pairalign.sequences.block_set import BlockSet

if TYPE_CHECKING:
    from pairalign.engines.cpu.seed_index import SeedIndex


Windows = WindowGrid | RestOfGrid | Sequence[Window]
"""All windows, or some: iterated over any number of times."""

_PLACE_BYTES = 16
"""What a pair takes that does not count: a place in masks, and in what is made of these."""


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

    def shard(self, shard: Shard) -> tuple[PlannedPairs, list[Pairs]]:
        """Return the pairs of a shard, and which of all they are."""

    def split(
        self, pair_bytes: int, residue_bytes: float, limit: int, most_cells: int = UNLIMITED
    ) -> Iterable[Window]:
        """Cut the pairs into slabs whose results fit some memory, and some time.

        They may be cut as they are asked for: there may be too many to hold.
        """


class AllPairs:
    """Windows of a set against itself or another.

    Parameters
    ----------
    windows : WindowGrid or sequence of Window
        All of them, or some.
    rows, columns : ndarray of int, shape (sequences,)
        Lengths by sorted position.
    between : two LengthsBetween, optional
        Read some lengths of rows and of columns, for `shard`, and keep no others.
    """

    left_out = 0

    def __init__(
        self,
        windows: Windows,
        rows: Lengths,
        columns: Lengths,
        between: tuple[LengthsBetween, LengthsBetween] | None = None,
    ) -> None:
        self._windows = windows
        self._lengths = rows, columns
        self._between = between or (partial(_some, rows), partial(_some, columns))

    def split_seeded(
        self, index: SeedIndex, result_bytes: tuple[int, float], limit: int, *, first_alone: bool
    ) -> Iterator[Window]:
        """Cut the windows into slabs, see `pairalign.jobs.run.seeded_slabs.cut_seeded`."""
        from pairalign.jobs.run.seeded_slabs import cut_seeded

        request = self._windows, index, self._lengths, result_bytes, limit
        return cut_seeded(*request, first_alone=first_alone)

    def __len__(self) -> int:
        if isinstance(self._windows, (WindowGrid, RestOfGrid)):
            return self._windows.pairs
        return sum(map(self.pairs_of, self._windows))

    @property
    def cells(self) -> int:
        """Cells of the matrices of all pairs."""
        return _cells_of(self._windows, *self._lengths)

    def cells_of(self, slab: Window) -> int:
        """Cells of the matrices of a slab's pairs."""
        return count_cells(slab, *self._lengths)

    def pairs_of(self, slab: Window) -> int:
        """Pairs of a slab."""
        return slab.pairs

    def part(self, start: int, stop: int) -> AllPairs:
        """Return some of the pairs, those from `start` up to `stop`."""
        grid = self._windows
        if isinstance(grid, WindowGrid) and start < stop == grid.pairs:
            return self._with(RestOfGrid(grid, start))
        return self._with(list(restrict_windows(grid, start, stop)))

    def shard(self, shard: Shard) -> tuple[AllPairs, list[Pairs]]:
        """Return the pairs of a shard of a grid, see `pairalign.jobs.run.blocks.cut_shard`."""
        assert isinstance(self._windows, WindowGrid)
        rows, columns = self._between
        windows, pieces = cut_shard(self._windows, rows, columns, shard)
        return self._with(windows), pieces

    def of_block(self, problem: Problem) -> tuple[Problem, AllPairs] | None:
        """Return the sequences alone that the windows touch, and the same pairs of these.

        None where there is no pair, or where they touch all.
        """
        windows = list(self._windows)
        if not windows:
            return None
        bounds = np.array([window.bounds[:4] for window in windows], np.int64).T
        rows, columns = (list(zip(*bounds[k : k + 2].tolist(), strict=True)) for k in (0, 2))
        if problem.is_one_set:
            first = second = BlockSet(problem.queries, rows + columns)
            block = Problem(first, None, problem.scoring)
        else:
            first = BlockSet(problem.queries, rows)
            second = BlockSet(problem.others, columns)
            block = Problem(first, second, problem.scoring)
        if (len(first), len(second)) == (len(problem.queries), len(problem.others)):
            return None
        starts = first.places_of(bounds[0]), second.places_of(bounds[2])
        stops = starts[0] + bounds[1] - bounds[0], starts[1] + bounds[3] - bounds[2]
        places = np.stack((starts[0], stops[0], starts[1], stops[1]), axis=1).tolist()
        moved = [
            Window(window.index, top, bottom, left, right, window.triangular, window.strand)
            for window, (top, bottom, left, right) in zip(windows, places, strict=True)
        ]
        return block, AllPairs(moved, first.sorted_lengths, second.sorted_lengths)

    def _with(self, windows: Windows) -> AllPairs:
        return AllPairs(windows, *self._lengths)

    def split(
        self, pair_bytes: int, residue_bytes: float, limit: int, most_cells: int = UNLIMITED
    ) -> Iterator[Window]:
        """Cut the windows into slabs whose results take at most `limit` bytes.

        Parameters
        ----------
        pair_bytes, residue_bytes, limit, most_cells
            As for `pairalign.pairs.windows.split_rows`.
        """
        limits = limit, most_cells
        return cut_windows(self._windows, *self._lengths, pair_bytes, residue_bytes, *limits)


class PairsOfQueries(AllPairs):
    """Pairs of some queries: of one set those with either sequence among them.

    The windows are those of all pairs, and so is how pairs are counted; `mask_of` says which count.

    Parameters
    ----------
    windows, rows, columns
        As for `AllPairs`.
    are_queries : ndarray of bool, shape (rows,)
        Which rows are the queries, by sorted position.
    """

    def __init__(
        self,
        windows: Windows,
        rows: Lengths,
        columns: Lengths,
        are_queries: Bools,
    ) -> None:
        super().__init__(windows, rows, columns)
        self._are_queries = are_queries
        self._others = np.where(are_queries, 0, rows)

    def cells_of(self, slab: Window) -> int:
        """Cells of the matrices of a slab's pairs that count."""
        others = self._others if slab.triangular else self._lengths[1]
        return super().cells_of(slab) - count_cells(slab, self._others, others)

    @property
    def cells(self) -> int:
        """Cells of the matrices of all pairs that count."""
        if not isinstance(self._windows, (WindowGrid, RestOfGrid)):
            return sum(map(self.cells_of, self._windows))
        others = self._others if self._windows.triangular else self._lengths[1]
        return super().cells - _cells_of(self._windows, self._others, others)

    def _with(self, windows: Windows) -> PairsOfQueries:
        return PairsOfQueries(windows, *self._lengths, self._are_queries)

    def mask_of(self, slab: Window) -> Bools | None:
        """Return which pairs of a slab count; None: all."""
        rows = self._are_queries[slab.row_start : slab.row_stop, np.newaxis]
        columns = np.zeros(slab.column_stop - slab.column_start, np.bool_)
        if slab.triangular:
            columns = self._are_queries[slab.column_start : slab.column_stop]
        mask: Bools = rows | columns
        if slab.triangular and slab.row_stop > slab.column_start:
            firsts = first_columns(*slab.bounds)[:, np.newaxis]
            mask = mask[np.arange(slab.column_start, slab.column_stop) >= firsts]
        return None if mask.all() else mask.reshape(-1)

    def split(
        self, pair_bytes: int, residue_bytes: float, limit: int, most_cells: int = UNLIMITED
    ) -> Iterator[Window]:
        """Cut the windows into slabs: pairs that do not count take a place in a mask alone."""
        (rows, columns), every = self._lengths, np.ones(len(self._lengths[1]), np.int32)
        # Columns whose pairs count in each row; of two sets none.
        chosen, residues = np.zeros_like(every), np.zeros_like(columns)
        if next((window.triangular for window in self._windows), False):
            chosen, residues = self._are_queries.astype(np.int32), columns * self._are_queries
        for window in self._windows:
            which = slice(window.row_start, window.row_stop)
            are_queries, heights = self._are_queries[which], rows[which]
            places = sums_of_tails(window, every)
            counts = np.where(are_queries, places, sums_of_tails(window, chosen))
            tails = np.where(
                are_queries, sums_of_tails(window, columns), sums_of_tails(window, residues)
            )
            needed_bytes = pair_bytes * counts + residue_bytes * (counts * heights + tails)
            ends, cells = (
                np.cumsum(_PLACE_BYTES * places + needed_bytes),
                np.cumsum(heights * tails),
            )
            yield from cut_rows(window, ends, cells, limit, most_cells)


def _some(lengths: Lengths, start: int, stop: int) -> Lengths:
    return lengths[start:stop]


def _cells_of(windows: Windows, rows: Lengths, columns: Lengths) -> int:
    """Count the cells of all pairs of some windows."""
    if isinstance(windows, WindowGrid):
        return cells_of_all(rows, None if windows.triangular else columns)
    if isinstance(windows, RestOfGrid):
        return windows.cells(rows, columns)
    return sum(count_cells(window, rows, columns) for window in windows)
