"""What filters leave to do of a job, told by pairs that go through them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.work_sample import Asked, FilterCosts, Left, WorkSample
from pairalign.jobs.stages.threshold_engine import Steps
from pairalign.pairs.lists import PairList

_SEED = 2


@dataclass(frozen=True)
class Work:
    """What filters leave of a job.

    Attributes
    ----------
    pairs, cells : float
        That are left.
    filtering : float
        Cells that could be scored while filters look at all pairs.
    sampled : int
        Pairs of the sample that says so.
    """

    pairs: float
    cells: float
    filtering: float
    sampled: int


def filter_sample(job: AlignmentJob) -> Left | None:
    """Send pairs of a job through its filters; None: it has no filter, or pairs of a list."""
    chooses = job.procedure.chooses(job) and job.procedure.is_by_pair
    if not chooses or job.pair_list is not None or job.only is not None:
        return None
    sample = WorkSample(job.problem, job.window)
    return sample.filter(Asked.of(job)) if sample.is_little else None


def work_of_sample(left: Left, costs: FilterCosts) -> Work:
    """Return what a sample says of the whole."""
    filtering = left.scaled(left.filtering(costs))
    pairs, cells = left.scaled(left.left), left.scaled(left.cells_left)
    return Work(pairs, cells, filtering, int(left.pairs.sum()))


def work_of_list(steps: Steps, job: AlignmentJob, costs: FilterCosts) -> Work:
    """Return what some pairs of a list say of all, by what a job has counted of them."""
    scale, cells = job.pairs / steps.pairs, job.cells / job.pairs
    possible = steps.possible if steps.gram else 0
    sharing = steps.sharing if steps.common < steps.sharing else 0
    looked = costs.of(steps.pairs, steps.common, possible, sharing, int(cells))
    pairs = steps.common * scale
    return Work(pairs, pairs * cells, looked * scale, steps.pairs)


def draw_left(left: Left, count: int) -> PairList:
    """Draw some of the sampled pairs that filters leave, always the same ones."""
    rows, columns = left.rows, left.columns
    if len(rows) > count:
        some = np.random.default_rng(_SEED).choice(len(rows), count, replace=False)
        rows, columns = rows[some], columns[some]
    return PairList(rows, columns)
