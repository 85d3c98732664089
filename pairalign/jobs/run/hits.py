"""The best hits of each query: all pairs are ranked first, then those that are kept are aligned.

A hit of a query is a pair that passes the thresholds; in mode local it scores more than 0. Of a set
with itself each pair counts for both of its sequences. `ranking` says what the best is; ties are
in `pairalign.alignments.best_hits`. Results come query by query in the order of the input, each
with its hits, best first.

Ranking takes scores alone, or spans and counts where identities are ranked. Each query has a heap
of hits in memory, so queries come in blocks whose heaps fit: nearly always all in one. A shard has
consecutive queries; of a set with itself, pairs of two shards are ranked in both.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate, no_alignments
from pairalign.alignments.best_hits import (
    BestHits,
    are_first,
    hit_bytes,
    number_pairs,
    pairs_of_numbers,
    take_pairs,
)
from pairalign.alignments.strands import exchange
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arguments import check_shard
from pairalign.base.arrays import Bools, Doubles, Int32s, Int64s
from pairalign.base.choices import LIST_WINDOW, RANKS_OF_STATISTICS
from pairalign.base.error_types import CapacityError, PartsError
from pairalign.base.spelling import spelled
from pairalign.jobs.run.align import AlignmentJob, Job
from pairalign.jobs.run.blocks import Pairs
from pairalign.jobs.run.procedure import PlainProcedure
from pairalign.jobs.run.progress import show_progress
from pairalign.jobs.run.query_slices import (
    can_be_cut,
    cells_of_queries,
    in_whole,
    job_of_list,
    jobs_of_queries,
    lengths_of,
    pairs_of_queries,
)
from pairalign.jobs.run.slabs import cut_queries, result_bytes, slab_cells
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail, Want
from pairalign.requests.shared import Ranking

if TYPE_CHECKING:
    from pairalign.statistics.significance import EvalueFilter, Significance

_LEAST_SCORE = -(2**31)
_SLICES, _LEAST_SLICE = 16, 1 << 22  # residues: as many as bytes are that part of the memory


@dataclass
class HitsJob(Job):
    """A planned search for the best hits of each query; iterate over it for the results.

    Attributes
    ----------
    ranking : Ranking
        How many hits a query has at most, and what the best are the best by.
    significance : Significance or None
        What bits and E-values are made of, where they rank.
    once : bool
        Each pair comes once, with the earlier sequence as the query, also where it is a hit of
        both: for networks.

    Raises
    ------
    CapacityError
        Hits that are to come once each do not fit the memory; or see `Job`.
    """

    ranking: Ranking = field(kw_only=True)
    significance: Significance | None = None
    once: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._whole = AlignmentJob.like(self, **self._changes_to_rank())
        self._first, self._stop = 0, len(self.queries)
        if self.shard is not None:
            sets = self.queries, self.problem.others
            self._first, self._stop = cut_queries(*sets, check_shard(self.shard))
        others = len(self.problem.others) - self._one_set
        self.ranking = self.ranking.at_most(others)
        self.pieces = [Pairs(self._pairs_before(self._first), self.pairs)]
        self._slice_residues = max(_LEAST_SLICE, self.memory_bytes // _SLICES)
        # Queries whose hits fit a quarter of the memory.
        self._block_queries = max(1, self.memory_bytes // 4 // hit_bytes(self.ranking.most))
        self._block = self._scored = 0
        self._written = self._first
        self._best: BestHits | None = None
        if self.once and self._one_set and len(self._blocks) > 1:
            count, most = len(self.queries), self.ranking.most
            needed_bytes = hit_bytes(most) * count
            raise CapacityError(
                f"{most:,} hits of {count:,} sequences, each pair once, take {needed_bytes:,} "
                f"bytes, over a quarter of the memory: raise {spelled('memory')}, or take PAF"
            )

    @property
    def _is_one_a_pair(self) -> bool:
        """Whether a pair has one alignment, so that one that has passed is not looked at again."""
        return self.procedure.most_of_pair == 1

    @property
    def _one_set(self) -> bool:
        return self.problem.is_one_set

    @property
    def _covers_one_way(self) -> bool:
        """Whether a pair may reach the coverage as a hit of one of its sequences alone."""
        return self._one_set and self.pair_thresholds.covers_one_way

    def _pairs_before(self, query: int) -> int:
        """Count the pairs of all queries before one."""
        if self.pair_list is None:
            return query * (len(self.problem.others) - self._one_set)
        return int(self._ends[query])

    @cached_property
    def _ends(self) -> Int64s:
        """Pairs of the list before each query, int64 of shape (queries + 1,)."""
        assert self.pair_list is not None
        count = len(self.queries)
        pairs = np.bincount(self.pair_list.first, minlength=count)
        if self._one_set:
            pairs = pairs + np.bincount(self.pair_list.second, minlength=count)
        return np.concatenate(([0], np.cumsum(pairs, dtype=np.int64)))

    @property
    def _blocks(self) -> range:
        """The first of the queries whose hits are ranked at a time."""
        return range(self._first, self._stop, self._block_queries)

    def _block_of(self, number: int) -> tuple[int, int]:
        """Return the range of queries of a block."""
        start = self._blocks[number]
        return start, min(start + self._block_queries, self._stop)

    @property
    def most_results(self) -> int:
        """Number of hits of all queries, or a shard's, if each has as many as it may."""
        return (self._stop - self._first) * self.ranking.most

    @property
    def pairs(self) -> int:
        """Number of pairs of a query and a target."""
        return self._pairs_before(self._stop) - self._pairs_before(self._first)

    @property
    def pairs_ranked(self) -> int:
        """Number of pairs that are ranked, each once where all are."""
        return self._whole.pairs if self.shard is None else self.pairs

    @property
    def left_out(self) -> int:
        """Pairs of the list that came again, and sequences with themselves."""
        return self._whole.left_out

    @cached_property
    def cells(self) -> int:
        """Cells of all matrices that are filled to rank pairs."""
        blocks = map(self._block_of, range(len(self._blocks)))
        return sum(self._pairs_and_cells(*block)[1] for block in blocks)

    def _pairs_and_cells(self, start: int, stop: int) -> tuple[int, int]:
        """Count pairs that are looked at to rank those of some queries, and their cells."""
        if self._in_slices(start, stop):
            cells = self._fills * cells_of_queries(self.problem, start, stop)
            return pairs_of_queries(self.problem, start, stop), cells
        job = self._ranking((start, stop))
        return (0, 0) if job is None else (job.pairs, job.cells)

    def _in_slices(self, start: int, stop: int) -> bool:
        """Whether the others of a block of queries come in slices: a shard's, or little memory."""
        are_some = (start, stop) != (0, len(self.queries))
        return are_some and self.pair_list is None and can_be_cut(self)

    def leave(self) -> dict[str, Any]:
        """Return how far the search has come, and the hits of the block of queries in hand."""
        hits = "" if self._best is None else self._best.packed()
        at = {"block": self._block, "ranked": self._scored, "written": self._written}
        sizes = {"queries": self._block_queries, "slice": self._slice_residues}
        return {**at, **sizes, "hits": hits}

    def after(self, pairs: int, left: Mapping[str, Any] | None = None) -> HitsJob:
        """Return the job that begins where a run of this one was, see `Job.after`.

        Blocks and slices are those of that run, whatever the memory is now.

        Raises
        ------
        PartsError
            `left` makes no sense.
        """
        rest = copy(self)
        rest.pairs_done = pairs
        if not left:
            return rest
        try:
            rest._block, rest._scored = left["block"], left["ranked"]
            rest._written, rest._slice_residues = left["written"], left["slice"]
            rest._block_queries = left["queries"]
            if left["hits"]:  # else between two blocks
                rest._best = rest._load_best(rest._block, rest._written, left["hits"])
        except (ValueError, LookupError) as error:
            raise PartsError("its hits make no sense") from error
        return rest

    def _load_best(self, block: int, written: int, hits: str) -> BestHits:
        """Return the hits of a block of queries as `leave` has given them."""
        start, stop = self._block_of(block)
        if not start <= written <= stop:
            raise ValueError(written)
        best = self._open_best(start, stop)
        best.unpack(hits, len(self.problem.others))
        return best

    @contextmanager
    def open(self) -> Iterator[Iterator[Alignments]]:
        """Search, in a ``with`` block, in which the results come; leaving it ends the work.

        Yields
        ------
        iterator of Alignments
            The results in the order of output, some queries at a time. Some are empty where they
            are to come often: what `leave` returns has changed.
        """
        with closing(self._search()) as results:
            yield results

    def _search(self) -> Generator[Alignments, None, None]:
        yield self._nothing()
        for number in range(self._block, len(self._blocks)):
            start, stop = self._block_of(number)
            if self._best is None:
                self._block, self._scored, self._written = number, 0, start
                self._best = self._open_best(start, stop)
            yield from self._rank(self._best, start, stop)
            self._best.sort()
            yield from self._align(self._best, stop)
            self._best, self._block = None, number + 1

    def _nothing(self) -> Alignments:
        return no_alignments(self.queries, self.targets, self.scoring, self.want.detail)

    def _open_best(self, start: int, stop: int) -> BestHits:
        least = _LEAST_SCORE
        if self.scoring.mode == "local":
            least = max(1, self.want.least_raw_score)
        return BestHits(start, stop, self.ranking.most, least, self._order)

    @cached_property
    def _order(self) -> Int32s:
        """Targets, which of equally good ones comes first."""
        return self.problem.others.canonical_order()

    def _ranking(self, block: tuple[int, int]) -> AlignmentJob | None:
        """Return the job that ranks the pairs of a block of queries; None if it has none."""
        if block == (0, len(self.queries)):
            return copy(self._whole)
        if self.pair_list is None:
            return replace(self._whole, only=block)
        first, second = self.pair_list.first, self.pair_list.second
        inside = (first >= block[0]) & (first < block[1])
        if self._one_set:
            inside |= (second >= block[0]) & (second < block[1])
            inside &= first != second
        if not inside.any():
            return None
        some = replace(self.pair_list, first=first[inside], second=second[inside], may_repeat=True)
        return replace(self._whole, pair_list=some)

    def _changes_to_rank(self) -> dict[str, Any]:
        """Return what a job that ranks pairs has otherwise than this one."""
        request, by_identity = self.pair_thresholds, self.ranking.by == "identity"
        detail = request.detail_of_identity(self.scoring.mode) if by_identity else Detail.SCORE
        silent = replace(self.resources, progress=False)
        changes: dict[str, Any] = {"procedure": PlainProcedure(), "resources": silent}
        if self._covers_one_way:  # looked at in `_passing`
            detail = max(detail, request.detail(self.scoring.mode))
            changes["pair_thresholds"] = replace(request, min_coverage=None)
        return {**changes, "want": replace(self.want, detail=detail)}

    def _rank(self, best: BestHits, start: int, stop: int) -> Iterator[Alignments]:
        """Rank the pairs of a block of queries."""
        before = self._pairs_before(start) - self._pairs_before(self._first)
        pairs = self._pairs_before(stop) - self._pairs_before(start)
        (whole, cells), before_job = self._pairs_and_cells(start, stop), 0
        with show_progress(cells, self.resources.progress) as meter:
            for job in self._jobs(start, stop):
                count, done = job.pairs, max(self._scored - before_job, 0)
                if done < count:
                    rest = job.after(done) if done else job
                    with rest.open() as results:
                        for alignments in results:
                            self._add(best, alignments, job)
                            del alignments
                            meter.update(job.cells * (rest.pairs_done - done) // count)
                            done = rest.pairs_done
                            self._scored = before_job + done
                            self.pairs_done = before + pairs * self._scored // whole
                            if self.result_seconds is not None:
                                yield self._nothing()
                    self._ended(rest)
                before_job += count
        self.pairs_done = before + pairs

    def _jobs(self, start: int, stop: int) -> Iterator[AlignmentJob]:
        """Yield jobs that rank the pairs of a block of queries."""
        if self._in_slices(start, stop):
            request = start, stop, self._slice_residues
            yield from jobs_of_queries(self, *request, **self._changes_to_rank())
        elif (job := self._ranking((start, stop))) is not None:
            yield job

    def _ended(self, job: AlignmentJob) -> None:
        """Take over what a job has counted."""
        self.devices = job.devices
        if self.steps is None or job.steps is None:
            self.steps = self.steps or job.steps
        else:
            self.steps = self.steps + job.steps

    def _add(self, best: BestHits, alignments: Alignments, job: AlignmentJob) -> None:
        """Take in some pairs; of a set with itself each as a hit of both of its sequences."""
        whole = alignments if job.queries is self.queries else in_whole(alignments, self.problem)
        pair = whole.query, whole.target, whole.raw_score
        for exchanged, rank in enumerate(self._ranks(alignments)):
            passes = self._passes(alignments, whole, bool(exchanged), job.evalue_filter)
            query, target, raw_score = (
                values if passes is None else values[passes] for values in pair
            )
            sides = (target, query) if exchanged else (query, target)
            best.add(*sides, raw_score, rank if rank is None or passes is None else rank[passes])

    def _passes(
        self,
        alignments: Alignments,
        whole: Alignments,
        exchanged: bool,
        evalue_filter: EvalueFilter | None,
    ) -> Bools | None:
        """Return which pairs pass with that sequence as the query; None: all.

        `alignments` are of the sets of the filter, `whole` the same of all sequences.
        """
        passes = None
        if self._covers_one_way:
            turned = exchange(whole, np.full(len(whole), exchanged))
            passes = np.zeros(len(alignments), np.bool_)
            passes[self.pair_thresholds.passing(turned)] = True
        if evalue_filter is not None and self._one_set:
            others = evalue_filter.passes_one_way(alignments, exchanged=exchanged)
            passes = others if passes is None else passes & others
        return passes

    def _ranks(self, alignments: Alignments) -> Sequence[Doubles | None]:
        """Return pairs' ranks, higher ones better, each way that they count; None: raw scores."""
        ways = 2 if self._one_set else 1
        if self.ranking.by == "identity":
            shares = np.divide(*self.pair_thresholds.count_identity(alignments))
            return [np.where(alignments.columns > 0, shares, -1.0)] * ways
        if self.ranking.by not in RANKS_OF_STATISTICS:
            return [None] * ways
        assert self.significance is not None
        significance = self.significance
        if alignments.queries is not self.queries:
            significance = significance.of_sets(alignments.queries, alignments.targets)
        if self.ranking.by == "bits":
            return [significance.bits(alignments)] * ways
        if ways == 1:
            return [-significance.log_evalues(alignments)]
        return [-log_evalues for log_evalues in significance.log_evalues_each_way(alignments)]

    def _align(self, best: BestHits, stop: int) -> Iterator[Alignments]:
        """Align the hits of a block of queries, some queries at a time."""
        every = best.pairs_of(best.first, stop)
        pair_mask = are_first(*every[:2]) if self.once and self._one_set else None
        ends = self._cuts(*every[:2], best.first, stop)
        for end in ends[np.searchsorted(ends, self._written, side="right") :].tolist():
            query, target, raw_score = best.pairs_of(self._written, end)
            if pair_mask is not None:
                some = pair_mask[slice(*np.searchsorted(every[0], (self._written, end)).tolist())]
                query, target, raw_score = query[some], target[some], raw_score[some]
            self._written = end
            if len(query):
                yield self._alignments_of(query, target, raw_score)
        self._written = stop

    def _cuts(self, query: Int32s, target: Int32s, start: int, stop: int) -> Int64s:
        """Return where queries are cut, so that results fit the memory and come often enough."""
        rows = lengths_of(self.queries, query)
        columns = lengths_of(self.problem.others, target)
        pair_bytes, residue_bytes = result_bytes(self.want.detail, self.procedure.most_of_pair)
        most_cells = slab_cells(self.result_seconds, False, self.threads, rows, columns)
        # Results are there twice while they are put in order.
        shares = (pair_bytes + residue_bytes * (rows + columns)) / max(1, self.memory_bytes // 16)
        shares = np.maximum(shares, rows.astype(np.float64) * columns / most_cells)
        sums = np.cumsum(np.bincount(query - start, shares, stop - start))
        parts = np.flatnonzero(np.diff(np.floor(sums), append=np.inf)) + 1
        return np.asarray(start + parts, np.int64)

    def _alignments_of(self, query: Int32s, target: Int32s, raw_score: Int32s) -> Alignments:
        """Align some hits, in order."""
        turned = (query > target) & self._one_set
        first, second = np.where(turned, target, query), np.where(turned, query, target)
        if self.want.detail == Detail.SCORE and self._is_one_a_pair:
            if self.once:
                query, target = first, second
            return replace(self._nothing(), query=query, target=target, raw_score=raw_score)
        alignments = self._aligned(first, second)
        alignments, counts = take_pairs(alignments, number_pairs(first, second))
        if self.once:
            return alignments
        alignments = exchange(alignments, np.repeat(turned, counts))
        if self.evalue_filter is None or self._is_one_a_pair:
            return alignments
        passes = self.evalue_filter.passes_one_way(alignments)
        return alignments if passes.all() else alignments.take(passes)

    def _aligned(self, first: Int32s, second: Int32s) -> Alignments:
        """Align pairs that have passed; suboptimal alignments of a pair must pass, too."""
        listed = pairs_of_numbers(np.unique(number_pairs(first, second)))
        changes: dict[str, Any] = {
            "window": LIST_WINDOW,
            "resources": replace(self.resources, progress=False),
        }
        changes["result_seconds"] = None
        if self._is_one_a_pair:
            changes |= {"want": Want(self.want.detail), "evalue_filter": None}
            changes |= {"pair_thresholds": PairThresholds()}
        if not self._in_slices(*self._block_of(self._block)):
            return concatenate(
                list(AlignmentJob.like(self, **changes, pair_list=PairList(*listed)))
            )
        job = job_of_list(self, *listed, **changes)
        return in_whole(concatenate(list(job)), self.problem)
