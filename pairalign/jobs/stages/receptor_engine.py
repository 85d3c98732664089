"""TCRdist of the pairs of a job, in the place of alignments: their raw scores are the distances."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.engines import Engine
from pairalign.engines.cpu.tcrdist import TcrDistances
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window


class ReceptorEngine(WrappedEngine):
    """Measures the pairs of windows; the engine that it wraps does nothing.

    Parameters
    ----------
    problem : Problem
        Its sets are `pairalign.sequences.receptors.ReceptorSet` or blocks of one.
    """

    def __init__(self, engine: Engine, problem: Problem, threads: int) -> None:
        super().__init__(engine)
        self._problem = problem
        self._distances = TcrDistances(problem.queries, problem.targets, threads)

    def align(
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Measure the pairs of `window`; see `pairalign.engines.Engine`."""
        problem, values = self._problem, self._distances.of_window(window)
        rows, columns = window.positions()
        if pair_mask is not None:
            rows, columns, values = rows[pair_mask], columns[pair_mask], values[pair_mask]
        query, target = problem.queries.order[rows], problem.others.order[columns]
        if problem.is_one_set:
            query, target = np.minimum(query, target), np.maximum(query, target)
        return Alignments(
            queries=problem.queries,
            targets=problem.others,
            scoring=problem.scoring,
            query=query,
            target=target,
            raw_score=values,
        )
