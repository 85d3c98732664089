"""Pairs, cells, hours, bytes and cost of a run: from lengths, a sample, and measured rates.

Pairs and cells are exact. How many bytes a pair has in the output, and how many pairs pass
thresholds, is told by pairs drawn at random, which are aligned here and written. Time is cells by
the rate of a device (`pairalign.jobs.estimate.rates`): of CIGARs where most pairs are wanted with
one, else of scores. Filters may make a run with thresholds faster; nothing is assumed of them.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairalign.formats import open_writer
from pairalign.jobs.estimate.rates import Devices
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.run.request import AlignmentPlan, plan_alignment
from pairalign.jobs.run.resources import Resources
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail

START_SECONDS = 20.0
"""That a task takes to start on a cluster: an assumption."""
_SEED = 1
_TWO_STAGES = 0.1
"""Of pairs that pass; below it few of the cells are those of alignments."""


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
    sampled : int
        Pairs that were aligned to find out the next two.
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
    job = plan.job
    listed = draw_pairs(plan, sample)
    kept, size = _write_sample(plan, listed, format, shown or {}, resources or Resources())
    sampled = len(listed)
    share = kept / sampled
    bytes_of_pair = size / max(kept, 1)
    written = share * job.pairs
    if isinstance(job, HitsJob):
        written = min(written, len(job.queries) * job.max_hits)
        share = written / job.pairs
    cigars = job.want.detail == Detail.CIGAR and share > _TWO_STAGES
    length = (job.cells / max(job.pairs, 1)) ** 0.5
    gcups = devices.gcups(job.scoring.mode, cigars, length)
    seconds = job.cells / gcups / 1e9 + START_SECONDS
    bytes_ = round(bytes_of_pair * written)
    return Estimate(job.pairs, job.cells, devices, gcups, seconds, sampled, share, bytes_)


def draw_pairs(plan: AlignmentPlan, count: int) -> PairList:
    """Draw different pairs of the sets at random, always the same ones."""
    job = plan.job
    rng = np.random.default_rng(_SEED)
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
    resources: Resources,
) -> tuple[int, int]:
    """Align some pairs and write them; return how many passed, and bytes without the header."""
    request = replace(plan.request, pairs=listed, max_hits=None, rank=None)
    run = replace(plan.run, shard=None, resources=resources)
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
    return kept, sizes[1] - sizes[0]
