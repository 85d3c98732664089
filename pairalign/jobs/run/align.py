"""The main job: every pair of a set, or of one set against another, aligned."""

from __future__ import annotations

import logging
import pickle
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, closing, contextmanager
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from pairalign.alignments.alignments import Alignments, concatenate, no_alignments
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arguments import Shard, check_shard, whole_number
from pairalign.base.choices import DEFAULT_WINDOW, STRANDS
from pairalign.base.dry_run import begin
from pairalign.base.error_types import WrongTypeError
from pairalign.engines import Engine, EngineRequest
from pairalign.engines.selection import open_engines
from pairalign.jobs.run import schedule
from pairalign.jobs.run.all_pairs import AllPairs, PairsOfQueries, PlannedPairs
from pairalign.jobs.run.blocks import Pairs
from pairalign.jobs.run.inputs import check_problem
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.procedure import PlainProcedure, Procedure
from pairalign.jobs.run.progress import show_progress
from pairalign.jobs.run.slabs import (
    expected_bytes,
    result_bytes,
    slab_bytes,
    slab_cells,
    slabs_ahead,
    waiting_bytes,
)
from pairalign.pairs.want import Demand, Detail, Want
from pairalign.pairs.windows import UNLIMITED, Lengths, Window, WindowGrid
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.jobs.stages.threshold_engine import Steps
    from pairalign.pairs.lists import PairList
    from pairalign.statistics.significance import EvalueFilter

log = logging.getLogger("pairalign")

_Job = TypeVar("_Job", bound="Job")

_OF_SETS = ("evalue_filter", "significance")
"""Fields of jobs that say something of their sets."""
_MOST_THREADS = 4096
_MOST_ROWS = 2**31 - 1


@dataclass
class Job(ABC):
    """A planned job: what is aligned with what, on what; iterate over it for the results.

    Attributes
    ----------
    queries, targets : SequenceSet
        `targets` is None for every pair of `queries`.
    window : int
        Rows and columns of a window; it decides the order of the results.
    resources : Resources
        Devices, threads and memory that may be used, and whether progress is shown.
    held_bytes : int
        Memory that is held meanwhile, of what may be used.
    threads, memory_bytes : int
        What is used of them.
    pair_list : PairList or None
        Only these pairs are aligned.
    shard : (int, int) or None
        ``(3, 64)``: only the third of 64 parts, which take about the same time; each touches some
        rows and some columns of the pair matrix, see `pairalign.jobs.run.blocks`.
    pieces : list of Pairs
        Which pairs of the whole the shard has, in the order of output; of the whole, all.
    pairs_done : int
        Pairs of those planned whose results have been given.
    pair_thresholds : PairThresholds
        Identity and coverage that a pair must reach.
    result_seconds : float or None
        Interval at which some results should come, where whole rows of windows allow that. None:
        as memory decides.
    steps : Steps or None
        How many pairs each step has left, of a job with thresholds or a least score.
    devices : tuple of str
        Those that were opened: ``cpu``, ``cuda:0``, ...
    evalue_filter : EvalueFilter or None
        Only pairs that pass are given.
    only : (int, int) or None
        Half-open range of queries: only their pairs; of one set those with either sequence among
        them. Without a list of pairs.
    strand : {"plus", "both"}
        Both: each pair is aligned on the strand of DNA on which it scores more, of equals plus; see
        `pairalign.jobs.stages.strand_engine`.
    demand : Demand or None
        Of a job with thresholds: which pairs are still of use. The results may lack others.
    procedure : Procedure
        What engines do with the pairs: what the fields here say, or what `overlaps` does.

    Raises
    ------
    FastaError
        There is no pair.
    PairListError
        `pair_list` has a pair twice, or a sequence with itself.
    AlphabetError, ScoringError
        The sequences cannot be scored, or have no other strand, or their scores would not fit.
    UsageError
        `threads`, `window`, `memory` is not positive, or there is no such shard;
        TypeError: it is no whole number.

    Notes
    -----
    A ``for`` loop that is left early stops the work when Python deletes its iterator; ``with
    run.open() as results`` says when.
    """

    queries: SequenceSet
    targets: SequenceSet | None
    scoring: Scoring
    want: Want = field(default_factory=Want)
    window: int = DEFAULT_WINDOW
    resources: Resources = field(default_factory=Resources)
    held_bytes: int = 0
    pair_list: PairList | None = None
    shard: Shard | None = None
    pair_thresholds: PairThresholds = field(default_factory=PairThresholds)
    result_seconds: float | None = None
    evalue_filter: EvalueFilter | None = None
    demand: Demand | None = None
    only: tuple[int, int] | None = None
    strand: str = STRANDS[0]
    procedure: Procedure = field(default_factory=PlainProcedure)
    pieces: list[Pairs] = field(init=False)
    steps: Steps | None = field(default=None, init=False)
    devices: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        resources = self.resources
        self.threads = whole_number("threads", resources.used_threads, most=_MOST_THREADS)
        self.window = whole_number("window", self.window, most=_MOST_ROWS)
        self.memory_bytes = whole_number("memory", bytes_of(resources, self.held_bytes))
        check_problem(self.problem, self._detail, self.strand)
        self.pairs_done = 0

    @classmethod
    def like(cls: type[_Job], job: Job, **changes: Any) -> _Job:
        """Return a job of this kind that does what another does, of no shard, but for changes.

        With other `queries` and `targets`, what is known of the sets is so of these.
        """
        names = [one.name for one in fields(cls) if one.init and one.name not in changes]
        kept = {name: getattr(job, name) for name in names}
        if "queries" in changes:
            queries, targets = changes["queries"], changes["targets"]
            for name in _OF_SETS:
                if kept.get(name) is not None:
                    kept[name] = kept[name].of_sets(
                        queries, queries if targets is None else targets
                    )
        return cls(**kept | {"shard": None} | changes)

    @cached_property
    def problem(self) -> Problem:
        """What is aligned with what."""
        return Problem(self.queries, self.targets, self.scoring)

    @property
    @abstractmethod
    def pairs(self) -> int:
        """Number of pairs."""

    @property
    @abstractmethod
    def pairs_ranked(self) -> int:
        """Number of pairs that are looked at, whatever results there are."""

    @property
    @abstractmethod
    def left_out(self) -> int:
        """Pairs of the list that came again, and sequences with themselves."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """Cells of all dynamic programming matrices."""

    def leave(self) -> dict[str, Any]:
        """Return what a run that goes on must know besides `pairs_done`.

        Returns
        -------
        dict
            As JSON has it; here empty.
        """
        return {}

    @abstractmethod
    def after(self, pairs: int, left: Mapping[str, Any] | None = None) -> Job:
        """Return the job that begins where a run of this one was.

        Parameters
        ----------
        pairs : int
            Its `pairs_done`.
        left : dict, optional
            What its `leave` returned.

        Raises
        ------
        PartsError
            `left` makes no sense.
        """

    def of_block(self) -> Job:
        """Return the job of the sequences alone that the windows of a shard touch.

        Its `queries` and `targets` are those of its results: indices are others than those of the
        whole, and what is written of the pairs is the same.

        Returns
        -------
        Job
            The job itself where there is no shard of all pairs.
        """
        return self

    @abstractmethod
    def open(self) -> AbstractContextManager[Iterator[Alignments]]:
        """Begin the work for a ``with`` block, in which the results come as from `__iter__`.

        Leaving the block, by an error too, ends the work.

        Yields
        ------
        iterator of Alignments
            The results in the order of output, some pairs at a time.
        """

    def __iter__(self) -> Iterator[Alignments]:
        """Align; yield the results in the order of output, some pairs at a time."""
        with self.open() as results:
            yield from results

    @property
    def _detail(self) -> Detail:
        return self.procedure.detail(self.want.detail, self.pair_thresholds, self.scoring.mode)

    @property
    def _fills(self) -> int:
        return self.procedure.fills(self)


class AlignmentJob(Job):
    """The pairs of a job, or of its list, aligned in the order of windows."""

    def __post_init__(self) -> None:
        super().__post_init__()
        sets = self.queries, self.problem.others
        self._planned = self._plan(*(sequences.sorted_lengths for sequences in sets))
        self.pieces = [Pairs(0, len(self._planned))]
        if self.shard is not None:
            self._planned, self.pieces = self._planned.shard(check_shard(self.shard))

    def _plan(self, rows: Lengths, columns: Lengths) -> PlannedPairs:
        """Return the pairs of the list, or all; lengths are by sorted position."""
        if self.pair_list is not None:
            from pairalign.jobs.run.listed_pairs import ListedPairs
            from pairalign.pairs.lists import sort_pairs

            pairs = sort_pairs(self.pair_list, self.queries, self.targets, self.window)
            return ListedPairs(pairs, rows, columns, triangular=self.problem.is_one_set)
        targets = None if self.targets is None else len(self.targets)
        windows = WindowGrid(len(self.queries), targets, self.window)
        if self.only is None:
            sets = self.queries, self.problem.others
            between = sets[0].lengths_between, sets[1].lengths_between
            return AllPairs(windows, rows, columns, between)
        start, stop = self.only
        are_queries = (self.queries.order >= start) & (self.queries.order < stop)
        return PairsOfQueries(windows, rows, columns, are_queries)

    def after(self, pairs: int, left: Mapping[str, Any] | None = None) -> AlignmentJob:
        """Return the job that begins where a run of this one was, see `Job.after`."""
        rest = copy(self)
        rest._planned = self._planned.part(pairs, self.pairs)
        rest.pairs_done = pairs
        return rest

    def of_block(self) -> AlignmentJob:
        """Return the job of the sequences alone that its windows touch, see `Job.of_block`."""
        if self.shard is None or type(self._planned) is not AllPairs:
            return self
        block = self._planned.of_block(self.problem)
        if block is None:
            return self
        rest = copy(self)
        problem, rest._planned = block
        rest.queries, rest.targets = problem.queries, problem.targets
        if self.evalue_filter is not None:
            rest.evalue_filter = self.evalue_filter.of_sets(problem.queries, problem.others)
        for name in ("problem", "_result_bytes"):
            vars(rest).pop(name, None)
        return rest

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self._planned)

    @property
    def pairs_ranked(self) -> int:
        """Number of pairs that are looked at, whatever results there are."""
        return self.pairs

    @property
    def left_out(self) -> int:
        """Pairs of the list that came again, and sequences with themselves."""
        return self._planned.left_out

    @property
    def cells(self) -> int:
        """Cells of all dynamic programming matrices."""
        return self._fills * self._planned.cells

    @contextmanager
    def open(self) -> Iterator[Iterator[Alignments]]:
        """Open the engines for a ``with`` block, in which the results come, see `Job.open`."""
        engines = self._open_engines()
        try:
            with closing(self._run(list(engines))) as results:
                yield results
        finally:
            self._close_engines(engines)

    def hand_out(self, use: Callable[[Alignments], None]) -> None:
        """Align; hand all results to `use`, on threads beside those of the engines.

        Parameters
        ----------
        use : callable
            Takes some pairs at a time, each pair once, in any order and from several threads at
            once. What it raises ends the work and is raised here.
        """
        from pairalign.jobs.run.schedule import Consumers, HandingEngine

        engines = self._open_engines()
        try:
            with Consumers(use) as users:
                handing = [HandingEngine(engine, users) for engine in engines]
                with closing(self._run(list(handing), in_order=False)) as results:
                    for _ in results:
                        pass
        finally:
            self._close_engines(engines)

    def _close_engines(self, engines: Iterable[Engine]) -> None:
        for engine in engines:
            engine.close()
        self.procedure.close()

    def _open_engines(self) -> Sequence[Engine]:
        begin(lambda: self)
        _ = self._result_bytes  # which takes a while: GPUs may still be starting
        request = EngineRequest(
            self.problem,
            threads=self.threads,
            memory_bytes=self.memory_bytes,
            device_bytes=self.resources.memory_bytes,
            kernel=self.resources.kernel,
            detail=self._detail,
            per_device=self.procedure.engines_per_gpu(self),
        )
        engines = open_engines(self.resources.device, request)
        self.devices = tuple(dict.fromkeys(engine.name for engine in engines))
        log.debug("aligning on %s", ", ".join(self.devices))
        try:
            return self._wrap_engines(engines)
        except BaseException:
            self._close_engines(engines)
            raise

    def _wrap_engines(self, engines: Sequence[Engine]) -> Sequence[Engine]:
        """Have engines do what is asked of pairs, and skip those that are not in the list."""
        from pairalign.jobs.stages.copies_engine import align_copies_once

        copies_once = align_copies_once(engines, self.queries, self.targets, self.scoring)
        engines, self.steps = self.procedure.wrap(copies_once, self)
        if self.pair_list is None and self.only is None:
            return engines
        from pairalign.jobs.run.listed_pairs import ListedEngine, ListedPairs

        assert isinstance(self._planned, (ListedPairs, PairsOfQueries))
        nothing = partial(no_alignments, self.queries, self.targets, self.scoring)
        return [ListedEngine(engine, self._planned, nothing) for engine in engines]

    def _run(
        self, engines: list[Engine], *, in_order: bool = True
    ) -> Generator[Alignments, None, None]:
        on_gpu = any(engine.is_gpu for engine in engines)
        limit = slab_bytes(on_gpu, self.threads, self.memory_bytes, self.procedure.chooses(self))
        most_cells = self._slab_cells(on_gpu)
        slabs = self._cut(limit, most_cells)
        if on_gpu:
            cells_of = self._planned.cells_of
            slabs = self.procedure.join(
                slabs, len(engines), lambda joined: cells_of(joined) <= most_cells, self
            )
        ahead = slabs_ahead(len(engines), self.memory_bytes, limit) if in_order else UNLIMITED
        if self.demand is not None and self.procedure.index is not None:
            ahead = 1  # what a slab finds tells what the next one need not look at
        room = self._room_for_waiting(len(engines), limit)
        with (
            show_progress(self.cells, self.resources.progress) as meter,
            closing(schedule.run(engines, slabs, self.want, self._cost, ahead, room)) as results,
        ):
            for slab, result in results:
                self.pairs_done += self._planned.pairs_of(slab)
                yield result
                del result  # or it would stay in memory while the next one is waited for
                meter.update(self._cost(slab))

    def _cut(self, limit: int, most_cells: int) -> Iterable[Window]:
        """Cut the pairs into slabs; those that an index finds take little time, however many."""
        index = self.procedure.index
        if index is None or not isinstance(self._planned, AllPairs):
            return self._planned.split(*self._result_bytes, limit, most_cells)
        first_alone = self.demand is not None
        return self._planned.split_seeded(index, self._result_bytes, limit, first_alone=first_alone)

    def _room_for_waiting(self, engines: int, limit: int) -> schedule.Room | None:
        """Return what room there is for results that wait, of slabs of at most `limit` bytes.

        None where it is not known what results take, or nobody overtakes.
        """
        if self.procedure.chooses(self) or engines == 1:
            return None
        pair_bytes, residue_bytes = self._result_bytes
        residues = sum(
            int(sequences.sorted_lengths[0]) for sequences in (self.queries, self.problem.others)
        )
        most = pair_bytes + residue_bytes * residues

        def needed_by(slab: Window) -> int:
            return min(limit, int(self._planned.pairs_of(slab) * most))

        return schedule.Room(waiting_bytes(engines, self.memory_bytes), needed_by)

    def _slab_cells(self, on_gpu: bool) -> int:
        """Return how many cells a slab may have."""
        lengths = self.queries.sorted_lengths, self.problem.others.sorted_lengths
        return slab_cells(self.result_seconds, on_gpu, self.threads, *lengths)

    @cached_property
    def _result_bytes(self) -> tuple[int, float]:
        """What results are expected to take: of a pair, and of a residue of both sequences."""
        if self.pair_list is not None:
            return result_bytes(self._detail, self.procedure.most_of_pair)
        request = self._detail, self.procedure.most_of_pair
        return expected_bytes(*request, self.queries, self.targets, self.pairs)

    def _cost(self, slab: Window) -> int:
        return self._fills * self._planned.cells_of(slab)


MOST_TASKS = 64

_SHARED = ("queries", "targets", "scoring", "significance")

_Columns = dict[str, Any]  # arrays, and None


def align_on(executor: Executor, job: Job) -> list[Alignments]:
    """Align on an executor: threads, processes, or those of a cluster.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        Each task takes the sequences along, in a pickle, and opens engines of its own.
    job : Job

    Returns
    -------
    list of Alignments
        In the order of output: what iterating over the job gives, cut elsewhere.
    """
    if not hasattr(executor, "submit"):
        raise WrongTypeError(f"executor {executor!r}: expected a concurrent.futures.Executor")
    pickled = pickle.dumps(job)
    tasks = min(MOST_TASKS, job.pairs)
    waiting = [executor.submit(_align_shard, pickled, (k, tasks)) for k in range(1, tasks + 1)]
    try:
        pieces = [piece for task in waiting for piece in task.result()]
        return [
            Alignments(
                queries=job.queries, targets=job.problem.others, scoring=job.scoring, **columns
            )
            for _, columns in sorted(pieces, key=lambda piece: piece[0])
        ]
    finally:
        for task in waiting:
            task.cancel()


def _align_shard(pickled: bytes, shard: Shard) -> list[tuple[int, _Columns]]:
    """Align a shard; return its pieces, and where each begins, without sequences."""
    job: Job = replace(pickle.loads(pickled), shard=shard)
    ends = list(accumulate(piece.pairs for piece in job.pieces))
    parts: dict[int, list[Alignments]] = {}
    for block in job:
        start = job.pieces[bisect_left(ends, job.pairs_done)].start
        parts.setdefault(start, []).append(block)
    return [(start, _columns_of(concatenate(some))) for start, some in parts.items()]


def _columns_of(alignments: Alignments) -> _Columns:
    return {
        field.name: getattr(alignments, field.name)
        for field in fields(alignments)
        if field.name not in _SHARED
    }
