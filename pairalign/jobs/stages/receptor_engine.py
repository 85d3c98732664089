"""TCRdist of the pairs of a job, in the place of alignments: their raw scores are the distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.engines import Engine
from pairalign.engines.cpu.tcrdist import TcrDistances
from pairalign.jobs.run.procedure import PlainProcedure, PlannedJob
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window

if TYPE_CHECKING:
    from pairalign.jobs.stages.threshold_engine import Steps


class ReceptorProcedure(PlainProcedure):
    """Measures receptors instead of aligning them."""

    def wrap(
        self, engines: Sequence[Engine], job: PlannedJob
    ) -> tuple[Sequence[Engine], Steps | None]:
        """Put one engine that measures in the place of all."""
        for one in engines[1:]:
            one.close()
        return [ReceptorEngine(engines[0], job)], None


class ReceptorEngine(WrappedEngine):
    """Measures the pairs of windows; the engine that it wraps does nothing.

    Parameters
    ----------
    engine : Engine
    job : PlannedJob
        Its sets are `pairalign.sequences.receptors.ReceptorSet` or blocks of one.
    """

    def __init__(self, engine: Engine, job: PlannedJob) -> None:
        super().__init__(engine)
        self._job = job
        self._distances = TcrDistances(job.queries, job.targets, job.threads)

    def align(
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Measure the pairs of `window`; see `pairalign.engines.Engine`."""
        job, values = self._job, self._distances.of_window(window)
        targets = job.queries if job.targets is None else job.targets
        rows, columns = window.positions()
        if pair_mask is not None:
            rows, columns, values = rows[pair_mask], columns[pair_mask], values[pair_mask]
        query, target = job.queries.order[rows], targets.order[columns]
        if job.targets is None:
            query, target = np.minimum(query, target), np.maximum(query, target)
        return Alignments(
            queries=job.queries,
            targets=targets,
            scoring=job.scoring,
            query=query,
            target=target,
            raw_score=values,
        )
