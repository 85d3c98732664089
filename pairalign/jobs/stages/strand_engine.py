"""Both strands of DNA: each pair is aligned on the strand on which it scores more.

`StrandEngine` wraps an engine and is one itself, so that thresholds, E-values and suboptimal
alignments are those of that strand.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate, no_alignments
from pairalign.base.arrays import Bools, Int64s
from pairalign.engines.cpu.cpu_pair_filter import PairFilter, PairsLeft
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Demand, Detail, Want
from pairalign.pairs.windows import Window


class StrandEngine(WrappedEngine):
    """Scores the pairs of a window on both strands and aligns each on the better one.

    Of equal scores it is the plus strand. Results have a field `strand`.
    """

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of `window`, which is of strand 1; see `pairalign.engines.Engine`."""
        assert window.strand == 1
        windows = window, replace(window, strand=-1)
        plus, minus = (
            self._engine.align(strand_window, Want(Detail.SCORE), pair_mask)
            for strand_window in windows
        )
        is_minus = minus.raw_score > plus.raw_score
        best = replace(
            plus,
            raw_score=np.where(is_minus, minus.raw_score, plus.raw_score),
            strand=np.where(is_minus, -1, 1).astype(np.int8),
        )
        passes = best.raw_score >= want.least_raw_score
        if want.detail == Detail.SCORE:
            return best if passes.all() else best.take(passes)
        numbers = np.arange(window.pairs) if pair_mask is None else np.flatnonzero(pair_mask)
        chosen = [numbers[passes & ~is_minus], numbers[passes & is_minus]]
        parts = [
            self._aligned(strand_window, want.detail, which)
            for strand_window, which in zip(windows, chosen, strict=True)
            if len(which)
        ]
        if not parts:
            return no_alignments(plus.queries, plus.targets, plus.scoring, want.detail)
        return concatenate(parts).take(np.argsort(np.concatenate(chosen), kind="stable"))

    def _aligned(self, window: Window, detail: Detail, numbers: Int64s) -> Alignments:
        """Align pairs of some numbers, which ascend."""
        mask = np.zeros(window.pairs, np.bool_)
        mask[numbers] = True
        alignments = self._engine.align(window, Want(detail), None if mask.all() else mask)
        return replace(alignments, strand=np.full(len(alignments), window.strand, np.int8))


class BothStrandsFilter:
    """Drops pairs that cannot pass on either strand.

    Parameters
    ----------
    plus, minus : PairFilter
        Of the sequences as read, and of the queries with the reverse complements of the targets.

    Attributes
    ----------
    gram : int
        Residues of the q-grams that are compared.
    """

    def __init__(self, plus: PairFilter, minus: PairFilter) -> None:
        self._filters = plus, minus
        self.gram = plus.gram
        self.index = None

    def choose(
        self, window: Window, pair_mask: Bools | None = None, demand: Demand | None = None
    ) -> PairsLeft:
        """Drop pairs of a window as `PairFilter.choose` does.

        What the q-grams of both strands leave is not known: `PairsLeft.sharing` is what is left.
        """
        first, second = (each.choose(window, pair_mask, demand) for each in self._filters)
        mask = first.mask | second.mask
        left = int(np.count_nonzero(mask))
        least = [each.min_raw_score for each in (first, second) if each.left]
        scores = [score for score in least if score is not None]
        says = bool(scores) and len(scores) == len(least)
        possible = max(first.possible, second.possible)
        score = min(scores) if says else None
        looked_at, unwanted = first.looked_at, first.unwanted
        return PairsLeft(mask, looked_at, possible, left, left, score, unwanted=unwanted)

    def close(self) -> None:
        """Free what the filters hold."""
        for pair_filter in self._filters:
            pair_filter.close()
