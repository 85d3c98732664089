"""Pairs, cells, hours, bytes and cost of a run: from lengths, a sample, and measured rates.

Pairs and cells are exact. How many bytes a pair has in the output, and how many pairs pass
thresholds, is told by pairs drawn at random, which are aligned here and written. Time is cells by
the rate of a device (`pairalign.jobs.estimate.rates`): of CIGARs where most pairs are wanted with
one, else of scores. Where filters may skip pairs, a sample goes through them: its share of cells
and what filters take is what is foretold (`pairalign.jobs.estimate.work`).
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairalign.formats import open_writer
from pairalign.jobs.estimate.rates import FILTERS, Devices
from pairalign.jobs.estimate.work import (
    Work,
    draw_left,
    filter_sample,
    work_of_list,
    work_of_sample,
)
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.run.request import AlignmentPlan, plan_alignment
from pairalign.jobs.run.resources import Resources
from pairalign.jobs.stages.threshold_engine import Steps
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail

START_SECONDS = 20.0
"""That a task takes to start on a cluster: an assumption."""
_SEED = 1
_TWO_STAGES = 0.1
"""Of pairs that pass; below it few of the cells are those of alignments."""

_WORTH_CHOOSING = 0.9
"""Of cells that a least score leaves; of more, engines score all."""


@dataclass(frozen=True)
class Estimate:
    """What a run is expected to take.

    Attributes
    ----------
    pairs, cells : int
    devices : Devices
    gcups : float
        10^9 cells a second of all devices.
    seconds : float
        Of aligning and a start.
    work : Work or None
        What filters leave, as a sample says; None: nothing is filtered.
    sampled : int
        Pairs that were aligned, or that filters dropped, to find out the next two.
    share : float
        Of pairs that are in the output.
    bytes : int
        Of the output.
    """

    pairs: int
    cells: int
    devices: Devices
    gcups: float
    seconds: float
    work: Work | None
    sampled: int
    share: float
    bytes: int

    @property
    def device_hours(self) -> float:
        """Hours by devices."""
        return self.seconds / 3600 * self.devices.count


def estimate_run(
    plan: AlignmentPlan,
    devices: Devices,
    *,
    format: str,
    sample: int,
    shown: dict[str, Any] | None = None,
    resources: Resources | None = None,
) -> Estimate:
    """Estimate what a planned run takes on some devices.

    Parameters
    ----------
    plan : AlignmentPlan
    devices : Devices
    format : str
        Of the output.
    sample : int
        Pairs to align here at most.
    shown : dict, optional
        What `pairalign.formats.open_writer` is told besides.
    resources : Resources, optional
        For the sample.
    """
    job, costs = plan.job, FILTERS[devices.kind]
    left = filter_sample(job)
    if left is None:
        listed = draw_pairs(plan, sample)
        share, sampled, work = 1.0, len(listed), None
    else:
        listed, work = draw_left(left, sample), work_of_sample(left, costs)
        share = work.pairs / job.pairs
        sampled = round(work.sampled * len(listed) / max(1, len(left.rows))) or work.sampled
    kept, size, steps = 0, 0, None
    if len(listed):
        kept, size, steps = _write_sample(plan, listed, format, shown or {}, resources)
        share *= kept / len(listed)
    if job.pair_list is not None and steps is not None:
        work = work_of_list(steps, job, costs)
    written = share * job.pairs
    if isinstance(job, HitsJob):
        written = min(written, len(job.queries) * job.max_hits)
        share = written / job.pairs
    bytes_ = round(size / max(kept, 1) * written)
    time = _time(job, devices, work, share)
    return Estimate(job.pairs, job.cells, devices, *time, sampled, share, bytes_)


def _time(
    job: AlignmentJob, devices: Devices, work: Work | None, share: float
) -> tuple[float, float, Work | None]:
    """Return GCUPS, seconds, and the work that is left, if looking for it takes less than all."""
    length = (job.cells / max(job.pairs, 1)) ** 0.5
    scores, cigars = (devices.gcups(job.scoring.mode, kind, length) for kind in (False, True))
    is_traced = job.want.detail == Detail.CIGAR
    gcups = cigars if is_traced and share > _TWO_STAGES else scores
    seconds = job.cells / gcups / 1e9
    if work is not None:
        passing = share * job.cells if is_traced else 0
        by_filters = ((work.cells + work.filtering) / scores + passing / cigars) / 1e9
        skips = by_filters < seconds and work.cells < _WORTH_CHOOSING * job.cells
        if skips or job.pair_thresholds:
            return scores, by_filters + START_SECONDS, work
    return gcups, seconds + START_SECONDS, None


def draw_pairs(plan: AlignmentPlan, count: int) -> PairList:
    """Draw different pairs of the job at random, always the same ones."""
    job = plan.job
    rng = np.random.default_rng(_SEED)
    if job.pair_list is not None:
        listed = job.pair_list
        some = rng.permutation(len(listed))[:count]
        return replace(listed, first=listed.first[some], second=listed.second[some])
    rows, columns = len(job.queries), len(job.problem.others)
    first, second = rng.integers(rows, size=count), rng.integers(columns, size=count)
    if job.problem.is_one_set:
        first, second = np.minimum(first, second), np.maximum(first, second)
    numbers = np.unique(first * np.int64(columns) + second)
    first, second = np.divmod(numbers, columns)
    if job.problem.is_one_set:
        first, second = first[first != second], second[first != second]
    return PairList(first.astype(np.int32), second.astype(np.int32))


def _write_sample(
    plan: AlignmentPlan,
    listed: PairList,
    format: str,
    shown: dict[str, Any],
    resources: Resources | None,
) -> tuple[int, int, Steps | None]:
    """Align some pairs and write them.

    Returns
    -------
    kept, size : int
        Pairs that passed, and bytes without the header.
    steps : Steps or None
        What filters have left.
    """
    request = replace(plan.request, pairs=listed, max_hits=None, rank=None)
    run = replace(plan.run, shard=None, resources=resources or Resources())
    job = plan_alignment(request, plan.job.problem, run).job
    sets = job.queries, job.problem.others, job.scoring, job.want.detail
    kept = 0
    sizes = []
    with tempfile.TemporaryDirectory(prefix="pairalign-estimate-") as folder:
        for name, results in (("none", ()), ("some", job)):
            path = os.path.join(folder, name)
            with open_writer(
                path, format, *sets, threads=job.threads, significance=plan.significance, **shown
            ) as writer:
                for found in results:
                    kept += len(found)
                    writer.write(found)
            sizes.append(os.path.getsize(path))
    return kept, sizes[1] - sizes[0], job.steps
