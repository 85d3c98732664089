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
from typing import TYPE_CHECKING, Literal

import numpy as np

from pairalign.base.choices import WEIGHTS
from pairalign.base.declaration import make
from pairalign.base.error_types import UsageError
from pairalign.base.function_options import takes
from pairalign.base.option_kinds import NUMBER
from pairalign.formats import open_writer
from pairalign.jobs.estimate.rates import FILTERS, Devices, parse_devices
from pairalign.jobs.estimate.work import (
    Work,
    draw_left,
    filter_sample,
    work_of_list,
    work_of_sample,
)
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.align_all import plan_given
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.run.inputs import AnyScoring, Sequences
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.run_request import AlignmentPlan, plan_alignment
from pairalign.jobs.run.table import Table, table_of
from pairalign.jobs.stages.threshold_engine import Steps
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail
from pairalign.requests.estimate_request import EstimateArguments, EstimateOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

START_SECONDS = 20.0
"""That a task takes to start on a cluster: an assumption."""
_SEED = 1
_DETAILS = ("cigar", "score")
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
    price : float or None
        Of an hour of one device.
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
    price: float | None = None

    @property
    def device_hours(self) -> float:
        """Hours by devices."""
        return self.seconds / 3600 * self.devices.count

    @property
    def cost(self) -> float | None:
        """What it costs, where the price of a device is known."""
        return None if self.price is None else self.device_hours * self.price


@takes(EstimateArguments, EstimateOptions)
def estimate(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    scoring: AnyScoring | None = None,
    mode: Literal["global", "semiglobal", "local"] | None = None,
    detail: Literal["cigar", "score"] = "cigar",
    format: str = "paf",
    columns: str | None = None,
    weight: str = WEIGHTS[0],
    progress: Progress = False,
    **options: Unpack[EstimateArguments],
) -> Estimate:
    """Say what aligning would take: pairs, cells, hours, bytes and cost.

    Parameters
    ----------
    sequences, targets, scoring, mode
        As for `pairalign.align`.
    detail : {"cigar", "score"}
        What would be written: alignments, or scores alone.
    format : str
        Of the file that would be written, as ``--format`` names it.
    columns : str, optional
        Of a table, as ``--columns`` has them.
    weight : str
        Of the edges of a network.
    progress : bool or "lines"
        Show how far the sample is.

    Returns
    -------
    Estimate

    Raises
    ------
    DeviceError
        There are no measured rates of such a device.
    UsageError
        There is no such detail or price.
    FastaError, AlphabetError, ScoringError, PairListError, FormatError
        See `pairalign.errors`.
    """
    if detail not in _DETAILS:
        raise UsageError(f"detail {detail!r}: expected one of {', '.join(_DETAILS)}")
    call = Call(
        estimate, options, sequences, targets, scoring=scoring, mode=mode, progress=progress
    )
    shown = {"format": format, "columns": columns, "weight": weight}
    given = {**options, **shown, "mode": call.known_mode, "output": "-"}
    asked = make(EstimateOptions, {**given, "score_only": detail == "score"})
    _check_price(asked.price)
    parse_devices(asked.devices)  # before anything is read
    table = table_of(asked)
    run = table.run_request(asked, call.resources)
    return estimate_run(plan_given(asked, call, run), asked, table)


def _check_price(price: float | str | None) -> None:
    try:
        NUMBER.read("0" if price is None else str(price))
    except (ValueError, ArithmeticError):
        raise UsageError(f"price {price!r}: expected {NUMBER.expected}") from None


def estimate_run(plan: AlignmentPlan, asked: EstimateOptions, table: Table) -> Estimate:
    """Estimate what a planned run takes.

    Parameters
    ----------
    plan : AlignmentPlan
    asked : EstimateOptions
        With the devices, and how many pairs are aligned here at most.
    table : Table
        What would be written.
    """
    devices, sample = parse_devices(asked.devices), asked.sample
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
        kept, size, steps = _write_sample(plan, listed, table)
        share *= kept / len(listed)
    if job.pair_list is not None and steps is not None:
        work = work_of_list(steps, job, costs)
    written = share * job.pairs
    if isinstance(job, HitsJob):
        written = min(written, job.most_results)
        share = written / job.pairs
    bytes_ = round(size / max(kept, 1) * written)
    time = _time(job, devices, work, share)
    price = None if asked.price is None else float(asked.price)
    return Estimate(job.pairs, job.cells, devices, *time, sampled, share, bytes_, price)


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
    plan: AlignmentPlan, listed: PairList, table: Table
) -> tuple[int, int, Steps | None]:
    """Align some pairs and write them.

    Returns
    -------
    kept, size : int
        Pairs that passed, and bytes without the header.
    steps : Steps or None
        What filters have left.
    """
    request = plan.request.of_pairs(listed)
    run = replace(plan.run, shard=None)
    job = plan_alignment(request, plan.job.problem, run).job
    sets = job.queries, job.problem.others, job.scoring, job.want.detail
    kept = 0
    sizes = []
    with tempfile.TemporaryDirectory(prefix="pairalign-estimate-") as folder:
        for name, results in (("none", ()), ("some", job)):
            path = os.path.join(folder, name)
            with open_writer(
                path,
                table.writer_type.name,
                *sets,
                threads=job.threads,
                shown=table.shown,
                significance=plan.significance,
            ) as writer:
                for found in results:
                    kept += len(found)
                    writer.write(found)
            sizes.append(os.path.getsize(path))
    return kept, sizes[1] - sizes[0], job.steps
