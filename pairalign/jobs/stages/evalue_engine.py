"""E-values as thresholds of scores: what no query of a slab could accept is not traced."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.engines import Engine
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.significance import EvalueFilter


class EvalueEngine:
    """Wraps an engine: returns the pairs of a window whose E-values are small enough.

    The engine is given the least raw score that any pair of the window has to reach. As windows
    hold sequences of about one length, and E-values depend on the lengths, that is nearly the
    threshold of each pair.

    Parameters
    ----------
    engine : Engine
    kept : EvalueFilter
    queries : SequenceSet
    targets : SequenceSet or None
        None for every pair of `queries`.
    """

    def __init__(
        self,
        engine: Engine,
        kept: EvalueFilter,
        queries: SequenceSet,
        targets: SequenceSet | None,
    ) -> None:
        self.name = engine.name
        self.is_gpu = engine.is_gpu
        self._engine = engine
        self._filter = kept
        self._orders = queries.order, (queries if targets is None else targets).order
        self._one_set = targets is None

    def least_raw_score(self, window: Window) -> int:
        """Return a raw score that every pair of a window that passes has."""
        rows = self._orders[0][window.row_start : window.row_stop]
        columns = self._orders[1][window.column_start : window.column_stop]
        least = self._filter.least_raw_score(rows, columns)
        if self._one_set:  # either sequence of a pair may be the query
            least = min(least, self._filter.least_raw_score(columns, rows))
        return least

    def align(
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Align the pairs of `window`; see `pairalign.engines.Engine`."""
        least = max(self.least_raw_score(window), want.least_raw_score)
        found = self._engine.align(window, replace(want, min_raw_score=least), pair_mask)
        return self._filter.passing(found)

    def cancel(self) -> None:
        """Make a running `align` return early by raising."""
        self._engine.cancel()

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()
