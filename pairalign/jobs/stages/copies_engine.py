"""Copies are aligned once: pairs of the same two sequences share one alignment.

A pair's alignment depends on the codes of its two sequences and the scoring alone. Copies are
neighbours in the sorted order, so the pairs of a window that share an alignment are a block of it.
`CopiesEngine` wraps an engine and is one itself: it has the first pair of each block aligned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.strands import exchange
from pairalign.base.arrays import Bools
from pairalign.base.choices import TIES
from pairalign.engines import Engine
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.copies import Blocks, Copies, find_copies
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet


class CopiesEngine(WrappedEngine):
    """Aligns one pair of each block of a window, and gives its result to all.

    Parameters
    ----------
    engine : Engine
        What it gives of a pair depends on codes alone.
    sets : two SequenceSets
        The second is None for every pair of the first.

    Attributes
    ----------
    on_device : OnDevice or None
        That of `engine`: what goes past this has the same results, of every pair.
    worth_choosing : float
        Share of a window's pairs up to which the first ones of blocks are aligned alone; tests set
        another.
    """

    worth_choosing = 0.7

    def __init__(
        self, engine: Engine, copies: Copies, sets: tuple[SequenceSet, SequenceSet | None]
    ) -> None:
        super().__init__(engine)
        self.on_device = engine.on_device
        self._copies = copies
        self._is_one_set = sets[1] is None
        self._positions = sets[0].positions, (sets[0] if sets[1] is None else sets[1]).positions

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of `window`; see `pairalign.engines.Engine`."""
        # A GPU aligns a pair as soon as it is sorted.
        blocks = self._copies.blocks_of(window, None if self.is_gpu else pair_mask)
        if blocks is None:
            return self._engine.align(window, want, pair_mask)
        if pair_mask is not None:
            pair_mask = np.ascontiguousarray(pair_mask, np.bool_)
        chosen, count = blocks.choose(pair_mask)
        pairs = window.pairs if pair_mask is None else int(np.count_nonzero(pair_mask))
        if count > self.worth_choosing * pairs:
            return self._engine.align(window, want, pair_mask)
        return self._spread(blocks, self._engine.align(window, want, chosen), pair_mask)

    def _spread(
        self, blocks: Blocks, alignments: Alignments, pair_mask: Bools | None
    ) -> Alignments:
        """Give what was found of the first pairs of blocks to all pairs of these."""
        if not len(alignments):
            return alignments
        rows, columns = self._positions[0][alignments.query], self._positions[1][alignments.target]
        both, turned = alignments, np.zeros(len(alignments), np.bool_)
        if self._is_one_set:
            turned = rows > columns
            rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
            if not blocks.by_side:
                both = _both_ways(alignments, turned, blocks.window.strand)
        blocks.number(rows, columns, turned)
        numbers, query, target = blocks.spread(pair_mask, len(alignments))
        return replace(both.take(numbers), query=query, target=target)


def _both_ways(alignments: Alignments, turned: Bools, strand: int) -> Alignments:
    """Return alignments with the row sequence as the query, then with that of the column."""
    if strand < 0:
        alignments = replace(alignments, strand=np.full(len(alignments), strand, np.int8))
    by_row = exchange(alignments, turned)
    by_column = exchange(by_row, np.ones(len(alignments), np.bool_))
    return replace(concatenate([by_row, by_column]), strand=None)


def either_is_query(scoring: Scoring) -> bool:
    """Whether a pair's alignment is the same, whichever of its sequences is the query."""
    ends = scoring.end_gaps
    return ends is None or (ends.is_symmetric and ends.ties == TIES[0])


def align_copies_once(
    engines: Sequence[Engine],
    queries: SequenceSet,
    targets: SequenceSet | None,
    scoring: Scoring,
) -> Sequence[Engine]:
    """Wrap engines in `CopiesEngine` where a set has copies."""
    by_side = targets is None and not either_is_query(scoring)
    copies = find_copies(queries, targets, by_side=by_side)
    if copies is None:
        return engines
    return [CopiesEngine(engine, copies, (queries, targets)) for engine in engines]
