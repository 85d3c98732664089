"""Alignments of the highest expected accuracy instead of the highest score.

They are made of posteriors of pairs (`pairalign.engines.posterior_engines`), which know nothing of
the scoring: an alignment by posteriors is found first, then given the score that its columns have.

References
----------
Do CB, Mahabhashyam MSP, Brudno M, Batzoglou S. ProbCons: probabilistic consistency-based multiple
sequence alignment. Genome Res 15:330-340, 2005.
"""

from __future__ import annotations

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate, no_alignments
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Bools
from pairalign.engines import Engine
from pairalign.engines.cpu.cpu_posterior import align_by_posteriors
from pairalign.engines.posterior_engines import PairPosteriors
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window


class AccuracyEngine(WrappedEngine):
    """Aligns pairs with the highest expected accuracy; the engine that it wraps does nothing.

    Parameters
    ----------
    posteriors : PairPosteriors
        Closed with this.
    problem : Problem
        Global.
    thresholds : PairThresholds
        Pairs whose alignments do not pass are left out.
    """

    def __init__(
        self,
        engine: Engine,
        posteriors: PairPosteriors,
        problem: Problem,
        thresholds: PairThresholds,
    ) -> None:
        assert problem.scoring.mode == "global"
        super().__init__(engine)
        self.is_gpu = False  # windows are not joined
        self._posteriors = posteriors
        self._problem = problem
        self._thresholds = thresholds

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of `window`; see `pairalign.engines.Engine`."""
        if pair_mask is None:
            rows, columns = window.positions()
        else:
            rows, columns = window.positions_of(np.flatnonzero(pair_mask))
        queries, targets, scoring = (
            self._problem.queries,
            self._problem.others,
            self._problem.scoring,
        )
        query, target = queries.order[rows], targets.order[columns]
        if window.triangular or self._problem.is_one_set:
            query, target = np.minimum(query, target), np.maximum(query, target)
        fitting = self._thresholds.fitting((query, target), (queries, targets))
        query, target = query[fitting], target[fitting]
        parts = [no_alignments(queries, targets, scoring, Detail.CIGAR)]
        for numbers, posteriors in self._posteriors.pieces(query, target):
            pairs = query[numbers], target[numbers]
            sets = queries, targets, scoring
            aligned = align_by_posteriors(posteriors, *sets, *pairs, self._posteriors.threads)
            parts.append(self._passing(aligned, want))
        whole = concatenate(parts)
        return whole.without(stats=want.detail == Detail.SCORE, cigar=want.detail < Detail.CIGAR)

    def _passing(self, aligned: Alignments, want: Want) -> Alignments:
        if want.min_raw_score is not None:
            aligned = aligned.take(aligned.raw_score >= want.min_raw_score)
        if self._thresholds and len(aligned):
            aligned = aligned.take(self._thresholds.passing(aligned))
        return aligned

    def cancel(self) -> None:
        """Make a running `align` return early by raising."""
        self._posteriors.cancel()
        super().cancel()

    def close(self) -> None:
        """Close both engines."""
        self._posteriors.close()
        super().close()
