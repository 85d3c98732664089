"""What a run takes here: pairs, cells, time and bytes, foretold before it is begun.

Pairs and cells are exact. The work is done for a sample, random sequences with each other or random
pairs of a list, on the devices of the run, into a file that is removed. That says how many pairs
filters leave, how many pass, how long it takes, and how long the text of those is.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from math import isqrt, sqrt
from typing import Any

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s
from pairalign.formats import open_writer
from pairalign.formats.writer import Content
from pairalign.jobs.run.align import AlignmentJob, Job
from pairalign.jobs.run.hits import HitsJob
from pairalign.pairs.want import Detail
from pairalign.pairs.windows import cells_of_all
from pairalign.sequences.sets import SequenceSet

_SEED = 1
_PAIRS, _CELLS = 500_000, 2 * 10**10
"""Of a sample, about."""
POSTERIOR_CELLS = 1000
"""Cells of scores in the time of one of posteriors, about."""


@dataclass(frozen=True)
class Sample:
    """What was done of some work.

    Attributes
    ----------
    pairs, cells : int
    passed : int or None
        Pairs that are written; None: what is written is not of pairs.
    left : int or None
        Pairs that filters have left; None: nothing was filtered.
    devices : tuple of str
    seconds : float
    bytes : int
        That were written.
    """

    pairs: int = 0
    cells: int = 0
    passed: int | None = None
    left: int | None = None
    devices: tuple[str, ...] = ()
    seconds: float = 0.0
    bytes: int = 0


Do = Callable[[float, str], Sample]
"""Does about a part of some work, from 0 to 1, and writes the results of that into a file."""
Write = Callable[[str, Job, Iterable[Alignments]], None]
"""Writes results of a job into a file."""


@dataclass(frozen=True)
class Work:
    """Something that is done with pairs.

    Attributes
    ----------
    pairs, cells : int
    do : callable
    cell_cost : int
        How many cells of scores take the time of one of its cells, about.
    rank : callable or None
        Does what all pairs need, where only those that are written are aligned.
    each, most : int
        How often a pair that passes is written with `rank`, and how many are, at most.
    at_most : bool
        Whether the whole may well take less time than a sample says.
    what : str
        What the pairs are of, where that is a part of what the command does.
    whole : (int, int)
        Pairs and cells that `do` does of all, where these are more: a shard's sample, or one of new
        pairs, is of all pairs.
    written : int
        Pairs in the output, where these are more: others were known.
    """

    pairs: int
    cells: int
    do: Do
    cell_cost: int = 1
    rank: Do | None = None
    each: int = 1
    most: int = 0
    at_most: bool = False
    what: str = ""
    whole: tuple[int, int] = (0, 0)
    written: int = 0


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
        Pairs of the sample.
    share : float or None
        Of the pairs, how many are in the output; None: that is not of pairs.
    bytes : int or None
        Of the output; None: not known.
    at_most, what
        As of `Work`.
    """

    pairs: int
    cells: int
    seconds: float = 0.0
    devices: tuple[str, ...] = ()
    pairs_left: float | None = None
    sampled: int = 0
    share: float | None = 0.0
    bytes: int | None = 0
    at_most: bool = False
    what: str = ""


def work_of(job: Job, write: Write | None = None, cell_cost: int = 1) -> Work:
    """Return what a job does; `write` writes its results, where pairs are written."""
    do = partial(_align_some, job, type(job), write)
    every = job.problem.pairs if job.pair_list is None else len(job.pair_list)
    whole = every, job.cells * every // max(1, job.pairs_ranked)
    if not isinstance(job, HitsJob):
        return Work(job.pairs, job.cells, do, cell_cost, whole=whole)
    detail = Detail.STATS if job.ranking.by == "identity" else Detail.SCORE
    want = replace(job.want, detail=min(detail, job.want.detail))
    rank = partial(_align_some, job, AlignmentJob, _drop, want=want)
    pairs, each = job.pairs_ranked, job.pairs // max(1, job.pairs_ranked)
    return Work(pairs, job.cells, do, cell_cost, rank, each, job.most_results, whole=whole)


def write_as(format: str, content_of: Callable[[Job], Content]) -> Write:
    """Return what writes results of a job in a format; `content_of` says what is written of it."""

    def write(path: str, job: Job, results: Iterable[Alignments]) -> None:
        with open_writer(path, format, content_of(job), threads=job.threads) as writer:
            for alignments in results:
                writer.write(alignments)

    return write


def work_with(
    problem: Problem,
    do: Callable[[Problem, str], Sample],
    pairs: int | None = None,
    cells: int | None = None,
    cell_cost: int = 1,
) -> Work:
    """Return what is done with pairs of a problem.

    Parameters
    ----------
    do : callable
        Does it with all pairs of another problem, and writes what comes of it into a file; what it
        returns need not say how many pairs these are.
    pairs, cells : int, optional
        Default: those of all pairs.
    """

    def do_some(share: float, path: str) -> Sample:
        some = _some_of(problem, share)
        sample = do(some, path)
        return replace(sample, pairs=some.pairs, cells=sample.cells or _cells_of(some))

    whole = problem.pairs, _cells_of(problem)
    return Work(
        whole[0] if pairs is None else pairs,
        whole[1] if cells is None else cells,
        do_some,
        cell_cost,
        whole=whole,
    )


def foretell(begun: object, suffix: str = "") -> Forecast:
    """Say what some work takes; a sample of it is done.

    Parameters
    ----------
    begun : Work, Job or None
        What a dry run has come to; None: there is nothing to align.
    suffix : str
        Of the output's name, if that says that it is compressed.
    """
    work = work_of(begun) if isinstance(begun, Job) else begun
    assert work is None or isinstance(work, Work)
    if work is None:
        return Forecast(0, 0, share=None, bytes=None)
    if not work.pairs:
        return Forecast(0, 0, share=None)
    pairs, cells = map(max, (work.pairs, work.cells), work.whole)
    share = min(work.pairs, _PAIRS) / pairs
    share = min(share, _CELLS / max(1, cells * work.cell_cost))
    with tempfile.TemporaryDirectory(prefix="pairalign-dry-run-") as folder:
        do = partial(_timed, work.do, os.path.join(folder, f"some{suffix}"))
        sample, least, start = do(0), Sample(passed=0), 0.0
        if share * pairs > sample.pairs:
            start = sample.seconds  # of the devices, too
            least, sample = do(0), do(share)
        rank = None if work.rank is None else _timed(work.rank, os.devnull, share)
    written, size = _written(work, sample, least, rank)
    left = None if sample.left is None else sample.left / sample.pairs * work.pairs
    return Forecast(
        work.pairs,
        work.cells,
        start + _seconds(work, sample, least, rank, written),
        sample.devices,
        left,
        sample.pairs,
        None if written is None else written / work.pairs,
        size,
        work.at_most,
        work.what,
    )


def _timed(do: Do, path: str, share: float) -> Sample:
    started = time.perf_counter()
    sample = do(share, path)
    seconds = time.perf_counter() - started
    size = os.path.getsize(path) if os.path.exists(path) else 0
    return replace(sample, seconds=seconds, bytes=size)


def _written(
    work: Work, sample: Sample, least: Sample, rank: Sample | None
) -> tuple[float | None, int | None]:
    """Return how many pairs are written, if any are, and the bytes."""
    if sample.passed is None:
        written_pairs = max(work.pairs, work.written)
        return None, round(sample.bytes / sample.pairs * written_pairs) if sample.bytes else None
    passing = (rank or sample).passed or 0
    written = passing / sample.pairs * work.pairs
    if rank is not None:
        written = min(work.each * written, work.most)
    if sample.passed <= (least.passed or 0):
        least = replace(least, passed=0, bytes=0)
    more = sample.passed - (least.passed or 0)
    return written, round((sample.bytes - least.bytes) / max(1, more) * written)


def _seconds(
    work: Work, sample: Sample, least: Sample, rank: Sample | None, written: float | None
) -> float:
    """Return the seconds of the whole: they grow with cells, those of hits with their number."""
    each, by_cells = 0.0, sample.seconds - least.seconds
    if rank is not None and written is not None:
        each = max(0.0, by_cells - rank.seconds) / max(1, sample.passed or 0)
        by_cells = min(by_cells, rank.seconds)
    cells = max(1, sample.cells - least.cells)
    return max(0.0, by_cells) / cells * work.cells + each * (written or 0)


def _align_some(
    job: Job,
    kind: type[Job],
    write: Write | None,
    share: float,
    path: str,
    **changes: Any,
) -> Sample:
    """Align about a part of the pairs of a job, and write what passes."""
    some, passed = _part_of(job, kind, share, changes), 0

    def counted(results: Iterable[Alignments]) -> Iterable[Alignments]:
        nonlocal passed
        for alignments in results:
            passed += len(alignments)
            yield alignments

    with some.open() as results:
        (write or _drop)(path, some, counted(results))
    left = None if some.steps is None else some.steps.common
    passing = None if write is None else passed
    return Sample(some.pairs_ranked, some.cells, passing, left, some.devices)


def _drop(path: str, job: Job, results: Iterable[Alignments]) -> None:
    for _ in results:
        pass


def _part_of(job: Job, kind: type[Job], share: float, changes: dict[str, Any]) -> Job:
    """Return the job of some pairs of the whole, which is no part of one."""
    changes |= {"only": None, "demand": None}
    changes["resources"] = replace(job.resources, progress=False)
    if job.pair_list is not None:
        listed = job.pair_list
        count = max(1, round(share * len(listed)))
        some = np.random.default_rng(_SEED).permutation(len(listed))[:count]
        listed = replace(listed, first=listed.first[some], second=listed.second[some])
        return kind.like(job, pair_list=listed, **changes)
    problem = _some_of(job.problem, share)
    return kind.like(job, queries=problem.queries, targets=problem.targets, **changes)


def _some_of(problem: Problem, share: float) -> Problem:
    """Return the problem of random sequences, with about a part of the pairs, and one at least."""
    pairs = max(1, round(share * problem.pairs))
    count, rng = len(problem.queries), np.random.default_rng(_SEED)
    if problem.is_one_set:
        return replace(problem, queries=_draw(problem.queries, isqrt(2 * pairs) + 1, rng))
    rows = min(count, max(1, round(count * sqrt(share))))
    queries, targets = _draw(problem.queries, rows, rng), _draw(problem.others, pairs // rows, rng)
    return replace(problem, queries=queries, targets=targets)


def _draw(sequences: SequenceSet, count: int, rng: np.random.Generator) -> SequenceSet:
    """Draw some sequences, one at least; all stay as they are."""
    if count >= len(sequences):
        return sequences
    some: Int32s = np.sort(rng.permutation(len(sequences))[: max(1, count)]).astype(np.int32)
    return sequences.reordered(some)


def _cells_of(problem: Problem) -> int:
    """Return the cells of the matrices of all pairs."""
    targets = None if problem.targets is None else problem.targets.lengths
    return cells_of_all(problem.queries.lengths, targets)
