"""E-values as thresholds of scores: pairs are scored, and those that pass are traced."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from pairalign.alignments.alignments import Alignments, no_alignments
from pairalign.base.arrays import Bools
from pairalign.engines import Engine
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, mask_pairs
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.significance import EvalueFilter

_PART_PAIRS = 1 << 12
"""Pairs that a thread finds E-values of at a time."""


class EvalueEngine(WrappedEngine):
    """Wraps an engine: returns the pairs of a window whose E-values are small enough.

    The engine is given the least raw score that any pair of the window has to reach. As windows
    hold sequences of about one length, and E-values depend on the lengths, that is nearly the
    threshold of each pair.

    Parameters
    ----------
    targets : SequenceSet or None
        None for every pair of `queries`.
    threads : int
        That find E-values.
    """

    def __init__(
        self,
        engine: Engine,
        kept: EvalueFilter,
        queries: SequenceSet,
        targets: SequenceSet | None,
        threads: int = 1,
    ) -> None:
        super().__init__(engine)
        self._filter = kept
        self._threads = threads
        sets = queries, queries if targets is None else targets
        self._orders = [sequences.order for sequences in sets]
        self._places = [sequences.positions for sequences in sets]
        self._one_set = targets is None

    def least_raw_score(self, window: Window) -> int:
        """Return a raw score that every pair of a window that passes has."""
        rows = self._orders[0][window.row_start : window.row_stop]
        columns = self._orders[1][window.column_start : window.column_stop]
        least = self._filter.least_raw_score(rows, columns)
        if self._one_set:  # either sequence of a pair may be the query
            least = min(least, self._filter.least_raw_score(columns, rows))
        return least

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of `window`; see `pairalign.engines.Engine`."""
        least = max(self.least_raw_score(window), want.least_raw_score)
        if want.detail == Detail.SCORE or self._filter.needs_cigars:
            alignments = self._engine.align(window, replace(want, min_raw_score=least), pair_mask)
            return self._passing(alignments)
        scored = self._engine.align(window, Want(Detail.SCORE, least), pair_mask)
        mask = self._mask_of(window, self._passing(scored))
        if not mask.any():
            return no_alignments(scored.queries, scored.targets, scored.scoring, want.detail)
        return self._engine.align(window, Want(want.detail), None if mask.all() else mask)

    def _passing(self, alignments: Alignments) -> Alignments:
        """Return those that pass: E-values of many pairs take as long as their scores on a GPU."""
        starts = range(0, len(alignments), _PART_PAIRS)
        if len(starts) < 2:
            return self._filter.passing(alignments)
        parts = (alignments[start : start + _PART_PAIRS] for start in starts)
        with ThreadPoolExecutor(self._threads) as pool:
            passes = np.concatenate(list(pool.map(self._filter.passes, parts)))
        return alignments.take(passes)

    def _mask_of(self, window: Window, alignments: Alignments) -> Bools:
        """Return which pairs of a window were found."""
        rows, columns = (
            places[inputs]
            for places, inputs in zip(
                self._places, (alignments.query, alignments.target), strict=True
            )
        )
        if self._one_set:
            rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
        return mask_pairs(window, rows, columns)
