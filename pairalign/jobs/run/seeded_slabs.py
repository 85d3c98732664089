"""Slabs of a job whose pairs an index of seeds finds: windows of the same rows, joined.

A row's words are looked up once a slab, however many columns this has. So windows of the same rows
are joined as far as the pairs that a sample of rows lets expect fit the memory, and the mask of
all their pairs does. `JoinedEngine` puts what is found into the order of the windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools
from pairalign.engines import Engine
from pairalign.jobs.run.slabs import cut_windows
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Lengths, Window
from pairalign.sequences.block_set import BlockSet
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.engines.cpu.seed_index import SeedIndex

_MOST_MASKED = 1 << 25
"""Pairs of a slab: a byte is held for each."""

_SAMPLED_ROWS = 8
_MORE_THAN_EXPECTED = 4
"""Room is left for more pairs than the sample lets expect by this factor."""


def cut_seeded(
    windows: Iterable[Window],
    index: SeedIndex,
    lengths: tuple[Lengths, Lengths],
    result_bytes: tuple[int, float],
    limit: int,
    *,
    first_alone: bool,
) -> Iterator[Window]:
    """Cut windows into slabs whose results probably take at most `limit` bytes.

    Parameters
    ----------
    windows : iterable of Window
        In the order of output.
    lengths : two ndarray of int, shape (sequences,)
        Of rows and columns, by sorted position.
    result_bytes : int and float
        What a pair's results take, and each residue of both.
    first_alone : bool
        Whether a window of the diagonal is not joined: what is found there may make rows useless.

    Yields
    ------
    Window
        One after the other they hold the windows' pairs; each window is in one slab, or alone.
    """
    pair_bytes, residue_bytes = result_bytes
    for _, same_rows in groupby(windows, lambda window: (window.row_start, window.row_stop)):
        strip = list(same_rows)
        residues = int(lengths[0][strip[0].row_start] + lengths[1][strip[0].column_start])
        shares = _shares_found(strip, index)
        needed = [
            window.pairs * share * (pair_bytes + residue_bytes * residues)
            for window, share in zip(strip, shares, strict=True)
        ]
        for start, stop in _joins(strip, needed, limit, first_alone=first_alone):
            if stop - start > 1 or needed[start] <= limit:
                yield replace(strip[start], column_stop=strip[stop - 1].column_stop)
                continue
            expected_bytes = ceil(shares[start] * pair_bytes), shares[start] * residue_bytes
            yield from cut_windows(strip[start:stop], *lengths, *expected_bytes, limit)


def _shares_found(strip: Sequence[Window], index: SeedIndex) -> list[float]:
    """How many of each window's pairs may be found, at most 1, as a sample of rows has it.

    Windows that a run has begun are asked for one by one, others of the same rows at once.
    """
    width = strip[0].column_stop - strip[0].column_start
    starts = [strip[0].column_start + place * width for place in range(len(strip))]
    request: list[list[Window]] = [[window] for window in strip]
    if [window.column_start for window in strip] == starts:
        request = [list(strip)]
    step = max(1, (strip[0].row_stop - strip[0].row_start) // _SAMPLED_ROWS)
    shares = []
    for windows in request:
        joined = replace(windows[0], column_stop=windows[-1].column_stop)
        counts = index.count(joined, step, width if len(windows) > 1 else joined.column_stop)
        for window, count in zip(windows, counts.tolist(), strict=True):
            pairs = _MORE_THAN_EXPECTED * step * max(1, count)
            shares.append(min(1.0, pairs / max(1, window.pairs)))
    return shares


def _joins(
    strip: Sequence[Window], needed: Sequence[float], limit: int, *, first_alone: bool
) -> Iterator[tuple[int, int]]:
    """Yield which windows of the same rows are joined: from one up to another."""
    start, total, pairs = 0, 0.0, 0
    for place, window in enumerate(strip):
        is_first = first_alone and place == 1 and strip[0].row_stop > strip[0].column_start
        is_neighbour = place > 0 and strip[place - 1].column_stop == window.column_start
        too_many = total + needed[place] > limit or pairs + window.pairs > _MOST_MASKED
        if place > start and (is_first or not is_neighbour or too_many):
            yield start, place
            start, total, pairs = place, 0.0, 0
        total += needed[place]
        pairs += window.pairs
    yield start, len(strip)


class JoinedEngine(WrappedEngine):
    """Aligns joined windows and gives results in the order of the windows.

    Parameters
    ----------
    sets : two SequenceSets
        The second is None for every pair of the first.
    width : int
        Columns of a window.
    """

    def __init__(
        self, engine: Engine, sets: tuple[SequenceSet, SequenceSet | None], width: int
    ) -> None:
        super().__init__(engine)
        columns = sets[0] if sets[1] is None else sets[1]
        self._positions = columns.positions
        self._is_one_set = sets[1] is None
        places = np.arange(len(columns))
        if isinstance(columns, BlockSet):
            places = columns.positions_in_whole
        self._windows = places // width

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of joined windows; `pair_mask` is None."""
        alignments = self._engine.align(window, want, pair_mask)
        first, last = self._windows[[window.column_start, window.column_stop - 1]]
        if first == last or not len(alignments):
            return alignments
        columns = self._positions[alignments.target]
        if self._is_one_set:
            columns = np.maximum(columns, self._positions[alignments.query])
        return alignments.take(np.argsort(self._windows[columns], kind="stable"))


def join_results(
    engines: Iterable[Engine], sets: tuple[SequenceSet, SequenceSet | None], width: int
) -> list[Engine]:
    """Wrap engines in `JoinedEngine`."""
    return [JoinedEngine(engine, sets, width) for engine in engines]
