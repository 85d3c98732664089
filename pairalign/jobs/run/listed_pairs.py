"""The pairs of a list, as slabs of windows for engines: which are aligned in each.

A slab is as small a rectangle as holds its pairs, whose results fit some memory. `ListedEngine`
wraps an engine and is one itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arguments import Shard
from pairalign.base.arrays import Bools, Doubles
from pairalign.engines import Engine
from pairalign.jobs.run.blocks import Pairs
from pairalign.jobs.run.slabs import PAIR_CELLS, weigh_residues
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.lists import SortedPairs
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import UNLIMITED, Lengths, Window, mask_pairs

__all__ = ["ListedEngine", "ListedPairs"]

_MOST_IN_RECTANGLE = 1 << 25
"""Pairs of a slab's rectangle: a byte is held for each."""


class _Slab(NamedTuple):
    """Pairs of the list, from one up to another, and their cells."""

    start: int
    stop: int
    cells: int


class ListedPairs:
    """A sorted list of pairs and the slabs that it was cut into.

    Parameters
    ----------
    rows, columns : ndarray of int, shape (sequences,)
        Lengths by sorted position.
    triangular : bool
        Whether both are one set.
    """

    def __init__(
        self, pairs: SortedPairs, rows: Lengths, columns: Lengths, *, triangular: bool
    ) -> None:
        self._pairs = pairs
        self._lengths = rows, columns
        self._triangular = triangular
        self._residues = rows[pairs.rows].astype(np.int64) + columns[pairs.columns]
        cells = rows[pairs.rows].astype(np.int64) * columns[pairs.columns]
        self._cells_before = np.concatenate(([0], np.cumsum(cells)))
        self._slabs: dict[Window, _Slab] = {}

    def __len__(self) -> int:
        return len(self._pairs)

    @property
    def left_out(self) -> int:
        """Pairs of the list that came again, and sequences with themselves."""
        return self._pairs.left_out

    @property
    def cells(self) -> int:
        """Cells of the matrices of all pairs."""
        return int(self._cells_before[-1])

    def cells_of(self, slab: Window) -> int:
        """Cells of the matrices of a slab's pairs."""
        return self._slabs[slab].cells

    def pairs_of(self, slab: Window) -> int:
        """Pairs of the list in a slab."""
        return self._slabs[slab].stop - self._slabs[slab].start

    def part(self, start: int, stop: int) -> ListedPairs:
        """Return some of the pairs, those from `start` up to `stop`."""
        pairs = self._pairs
        some = replace(pairs, rows=pairs.rows[start:stop], columns=pairs.columns[start:stop])
        return ListedPairs(some, *self._lengths, triangular=self._triangular)

    def shard(self, shard: Shard) -> tuple[ListedPairs, list[Pairs]]:
        """Return the pairs of a shard, one piece of the list, and which of all they are."""
        number, shards = shard
        rows, columns = map(weigh_residues, self._lengths)
        cells = np.cumsum(rows[self._pairs.rows] * columns[self._pairs.columns])
        costs = np.concatenate([[0], cells + PAIR_CELLS * np.arange(1, len(self) + 1)])
        cuts = [int(costs[-1]) * k // shards for k in (number - 1, number)]
        start, stop = np.searchsorted(costs, cuts).tolist()
        return self.part(start, stop), [Pairs(start, stop - start)] if start < stop else []

    def mask_of(self, slab: Window) -> Bools | None:
        """Return which pairs of a slab's rectangle are in the list; None: all."""
        part = self._slabs[slab]
        if part.stop - part.start == slab.pairs:
            return None
        which = slice(part.start, part.stop)
        return mask_pairs(slab, self._pairs.rows[which], self._pairs.columns[which])

    def split(
        self, pair_bytes: int, residue_bytes: float, limit: int, most_cells: int = UNLIMITED
    ) -> list[Window]:
        """Cut the list into slabs of whole rows of windows whose results fit some memory.

        Parameters
        ----------
        pair_bytes, residue_bytes, limit, most_cells
            As for `pairalign.pairs.windows.split_rows`.
        """
        self._slabs = {}
        if not len(self):
            return []
        ends = np.cumsum(pair_bytes + residue_bytes * self._residues)
        for index, (start, stop) in enumerate(self._cuts(ends, limit, most_cells)):
            rows, columns = self._pairs.rows[start:stop], self._pairs.columns[start:stop]
            slab = Window(
                index,
                int(rows[0]),
                int(rows[-1]) + 1,
                int(columns.min()),
                int(columns.max()) + 1,
                self._triangular,
            )
            cells = int(self._cells_before[stop] - self._cells_before[start])
            self._slabs[slab] = _Slab(start, stop, cells)
        return list(self._slabs)

    def _cuts(self, ends: Doubles, limit: int, most_cells: int) -> Iterator[tuple[int, int]]:
        """Yield the first pair of each slab and that after its last one."""
        rows, size = self._pairs.rows, self._pairs.window
        window = (rows // size).astype(np.int64) << 32 | (self._pairs.columns // size)
        new_window = np.flatnonzero(np.diff(window)) + 1
        new_row = np.flatnonzero((np.diff(window) != 0) | (np.diff(rows) != 0)) + 1
        # Where a slab may end: after the last pair of a row of a window.
        stops = np.append(new_row, len(rows))
        last_rows = rows[stops - 1]
        window_stops = np.append(new_window, len(rows))
        columns = int(self._pairs.columns.max()) + 1
        most_rows = max(1, _MOST_IN_RECTANGLE // min(size, columns))
        start, at = 0, 0
        while start < len(rows):
            done = float(ends[start - 1]) if start else 0.0
            window_stop = int(window_stops[np.searchsorted(window_stops, start, side="right")])
            after = int(np.searchsorted(stops, window_stop)) + 1
            fitting = int(np.searchsorted(ends[stops[at:after] - 1], done + limit, side="right"))
            cells = min(int(self._cells_before[start]) + most_cells, UNLIMITED)
            soon = int(np.searchsorted(self._cells_before[stops[at:after]], cells, side="right"))
            near = int(np.searchsorted(last_rows[at:after], rows[start] + most_rows))
            at += max(1, min(fitting, soon, near))
            stop = int(stops[at - 1])
            yield start, stop
            start = stop


class _Chosen(Protocol):
    """Knows which pairs of a slab are aligned."""

    def mask_of(self, slab: Window) -> Bools | None:
        """Return which pairs of a slab; None: all."""


class ListedEngine(WrappedEngine):
    """An engine that aligns those pairs of a slab which were chosen.

    Parameters
    ----------
    chosen : ListedPairs or PairsOfQueries
    nothing : callable (Detail) -> Alignments
        Makes alignments of no pair.
    """

    def __init__(
        self, engine: Engine, chosen: _Chosen, nothing: Callable[[Detail], Alignments]
    ) -> None:
        super().__init__(engine)
        self._chosen = chosen
        self._nothing = nothing

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the chosen pairs of a slab; `pair_mask` is None."""
        assert pair_mask is None
        mask = self._chosen.mask_of(window)
        if mask is not None and not mask.any():
            return self._nothing(want.detail)
        return self._engine.align(window, want, mask)
