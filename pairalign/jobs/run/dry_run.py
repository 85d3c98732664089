"""What a run takes here: pairs, cells, time and bytes, foretold before it is begun.

Pairs and cells are exact. Where filters may skip pairs, a sample goes through them and says how
many are left. Some of these, drawn at random, are aligned on the devices of the run and written to
a file that is removed: they say how many pass, how long that takes, and how long their text is.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.formats import open_writer
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.run.procedure import requirement_of
from pairalign.jobs.run.run_request import AlignmentPlan, plan_alignment
from pairalign.jobs.run.table import Table, confidence_of, content_of
from pairalign.jobs.run.work_sample import Left, WorkSample
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail

_SEED = 1
_PAIRS, _CELLS = 20_000, 2 * 10**10
"""Of a sample that is aligned, at most."""
_POSTERIOR = 1000
"""Cells of scores in the time of one of posteriors, about."""


@dataclass(frozen=True)
class Forecast:
    """What a run is expected to take.

    Attributes
    ----------
    seconds : float
        On the devices.
    devices : tuple of str
        Which the sample used.
    pairs_left : float or None
        That filters leave; None: nothing is filtered.
    sampled : int
        Pairs that were aligned, or that filters dropped.
    share : float
        Of the pairs, how many are in the output.
    bytes : int
        Of the output.
    """

    pairs: int
    cells: int
    seconds: float
    devices: tuple[str, ...]
    pairs_left: float | None
    sampled: int
    share: float
    bytes: int


@dataclass
class _Sample:
    """Pairs that were aligned: how many passed, their bytes, and the seconds."""

    passed: int = 0
    bytes: int = 0
    start: float = 0
    seconds: float = 0
    devices: tuple[str, ...] = ()


def foretell(plan: AlignmentPlan, table: Table) -> Forecast:
    """Say what a planned run takes; some pairs are aligned for it.

    Parameters
    ----------
    table : Table
        What would be written.
    """
    job = plan.job
    pairs = job.pairs_ranked if isinstance(job, HitsJob) else job.pairs
    before = time.perf_counter()
    left, skipping, looked = _filter_sample(job), 0.0, 1.0
    if left is not None:
        of = int(left.pairs.sum())
        looked = left.scaled(left.left) / left.whole.sum()
        skipping = (time.perf_counter() - before) * pairs / of
    count = _count(plan, table)
    listed = _draw_pairs(job, count) if left is None else _draw_left(left, count)
    sample = _write_sample(plan, listed, table) if len(listed) else _Sample()
    sampled = max(1, len(listed))
    share = looked * sample.passed / sampled
    aligned, each = looked * pairs, sample.seconds / sampled
    if isinstance(job, HitsJob) and len(listed):  # all pairs are ranked, the hits aligned
        written = min(share * job.pairs, job.most_results)
        share = written / max(1, job.pairs)
        seconds = _scoring_seconds(plan, listed) / sampled * aligned + each * written
    else:
        written, seconds = share * pairs, each * aligned
    return Forecast(
        job.pairs,
        job.cells,
        sample.start + skipping + seconds,
        sample.devices,
        None if left is None else aligned,
        len(listed) if left is None else _tried(left, listed),
        share,
        round(sample.bytes / max(sample.passed, 1) * written),
    )


def _filter_sample(job: AlignmentJob) -> Left | None:
    """Send pairs of a job through its filters; None: it has no filter, or pairs of a list."""
    chooses = job.procedure.chooses(job) and job.procedure.is_by_pair
    if not chooses or job.pair_list is not None or job.only is not None:
        return None
    sample = WorkSample(job.problem, job.window)
    return sample.filter(requirement_of(job)) if sample.is_little else None


def _tried(left: Left, listed: PairList) -> int:
    """Return for how many pairs some stand that filters have left."""
    of = int(left.pairs.sum())
    return round(of * len(listed) / len(left.rows)) if len(listed) else of


def _count(plan: AlignmentPlan, table: Table) -> int:
    """Return how many pairs a sample has at most, always the same for a job."""
    job, device = plan.job, plan.run.resources.device
    has_posteriors = plan.request.is_by_accuracy
    has_posteriors |= confidence_of(table, plan.request, device, job) is not None
    cells = _CELLS // (_POSTERIOR if has_posteriors else 1)
    return int(min(_PAIRS, max(1, cells * job.pairs // max(1, job.cells))))


def _draw_left(left: Left, count: int) -> PairList:
    """Draw some of the sampled pairs that filters leave."""
    some = np.random.default_rng(_SEED).permutation(len(left.rows))[:count]
    return PairList(left.rows[some], left.columns[some])


def _draw_pairs(job: AlignmentJob, count: int) -> PairList:
    """Draw different pairs of a job."""
    rng = np.random.default_rng(_SEED)
    if job.pair_list is not None:
        listed = job.pair_list
        some = rng.permutation(len(listed))[:count]
        return replace(listed, first=listed.first[some], second=listed.second[some])
    rows, columns = len(job.queries), len(job.problem.others)
    first, second = rng.integers(rows, size=count), rng.integers(columns, size=count)
    if job.problem.is_one_set:
        second = (first + 1 + rng.integers(rows - 1, size=count)) % rows  # another one
        first, second = np.minimum(first, second), np.maximum(first, second)
    first, second = np.divmod(np.unique(first * np.int64(columns) + second), columns)
    return PairList(first.astype(np.int32), second.astype(np.int32))


def _scoring_seconds(plan: AlignmentPlan, listed: PairList) -> float:
    """Align some pairs as far as ranking needs it."""
    detail = Detail.STATS if plan.request.ranking.rank == "identity" else Detail.SCORE
    job = _job_of(plan, listed, min(detail, plan.run.detail))
    with job.open() as results:
        started = time.perf_counter()
        for _ in results:
            pass
        return time.perf_counter() - started


def _job_of(plan: AlignmentPlan, listed: PairList, detail: Detail) -> AlignmentJob:
    run = replace(plan.run, shard=None, detail=detail)
    return plan_alignment(plan.request.of_pairs(listed), plan.job.problem, run).job


def _write_sample(plan: AlignmentPlan, listed: PairList, table: Table) -> _Sample:
    """Align some pairs and write them."""
    job = _job_of(plan, listed, plan.run.detail)
    sample = _Sample()
    started = time.perf_counter()
    with (
        tempfile.TemporaryDirectory(prefix="pairalign-dry-run-") as folder,
        job.open() as results,
    ):
        sample.start = time.perf_counter() - started
        header = _write(os.path.join(folder, "none"), (), job, plan, table)
        started = time.perf_counter()
        path = os.path.join(folder, "some")
        size = _write(path, _counted(results, sample), job, plan, table)
        sample.seconds = time.perf_counter() - started
    sample.bytes, sample.devices = size - header, job.devices
    return sample


def _counted(results: Iterable[Alignments], sample: _Sample) -> Iterable[Alignments]:
    for alignments in results:
        sample.passed += len(alignments)
        yield alignments


def _write(
    path: str, results: Iterable[Alignments], job: AlignmentJob, plan: AlignmentPlan, table: Table
) -> int:
    """Write some results; return the bytes."""
    content = content_of(table, plan, job, plan.run.resources.device)
    with open_writer(path, table.writer_type.name, content, threads=job.threads) as writer:
        for alignments in results:
            writer.write(alignments)
    return os.path.getsize(path)
