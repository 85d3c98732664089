"""The best hits of each query: all pairs are ranked first, then those that are kept are aligned.

A hit of a query is a pair that passes the thresholds; in mode local it scores more than 0. Of a set
with itself each pair counts for both of its sequences. What is the best is said by `rank`; ties are
in `pairalign.alignments.best_hits`. Results come query by query in the order of the input, each
with its hits, best first.

Ranking takes scores alone, or spans and counts where identities are ranked. As a heap a query has
hits in memory, queries come in blocks whose heaps fit: nearly always one. A shard has consecutive
queries, so that of a set with itself pairs of two shards are ranked in both.
"""

from __future__ import annotations

import base64
import zlib
from bisect import bisect_left
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, concatenate, no_alignments
from pairalign.alignments.best_hits import BestHits, hit_bytes, number_pairs, pairs_of_numbers
from pairalign.alignments.exchange import exchange
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arguments import check_shard
from pairalign.base.arrays import Int32s
from pairalign.base.choices import LIST_WINDOW, RANKS
from pairalign.base.errors import CapacityError, PartsError, ScoringError
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.blocks import Pairs
from pairalign.jobs.run.problem_checks import whole_number
from pairalign.jobs.run.shards import PAIR_CELLS, weigh_letters
from pairalign.jobs.run.slabs import result_bytes, slab_cells
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail, Want
from pairalign.statistics.significance import Significance

OF_STATISTICS = ("bits", "evalue")
"""Ranks that need what bit scores and E-values are made of."""

_LEAST_SCORE = -(2**31)
_ONE_WAY = ("query", "target")
"""Coverages that another sequence of a pair may not have."""


@dataclass
class HitsJob(AlignmentJob):
    """A planned search for the best hits of each query; iterate over it for the results.

    Attributes
    ----------
    max_hits : int
        Hits of a query at most.
    rank : {"score", "bits", "evalue", "identity"}
        What the best hits are the best by.
    significance : Significance or None
        What bits and E-values are made of, where they rank.
    once : bool
        Each pair comes once, with the earlier sequence as the query, also where it is a hit of
        both: for networks.

    Raises
    ------
    ScoringError
        Several alignments of a pair, with a coverage of query or target, of a set with itself.
    ValueError
        `max_hits` is not positive; or see `AlignmentJob`.
    """

    max_hits: int = 1
    rank: str = RANKS[0]
    significance: Significance | None = None
    once: bool = False

    def __post_init__(self) -> None:
        shard, self.shard = self.shard, None
        super().__post_init__()
        self.shard = shard
        if self._covers_one_way and self.hsps > 1:
            raise ScoringError(
                f"hsps {self.hsps} of hits with a coverage of the "
                f"{self.pair_thresholds.coverage_of}: of a set with itself each sequence is the "
                "query of its hits; take the coverage of both, shorter or aligned"
            )
        others = len(self.problem.others) - self._one_set
        self.max_hits = min(whole_number("max_hits", self.max_hits, others), others)
        self._first, self._stop = self._range_of_shard()
        self.pieces = [Pairs(int(self._ends[self._first]), self.pairs)]
        self._block = self._scored = 0
        self._written = self._first
        self._best: BestHits | None = None
        if self.once and self._one_set and len(self._blocks) > 1:
            raise CapacityError(
                f"{self.max_hits:,} hits of {len(self.queries):,} sequences, each pair once, take "
                f"{hit_bytes(self.max_hits) * len(self.queries):,} bytes, which is more than a "
                "quarter of the memory; raise --memory, or write another format"
            )

    @property
    def _one_set(self) -> bool:
        return self.problem.is_one_set

    @property
    def _covers_one_way(self) -> bool:
        """Whether a pair may reach the coverage as a hit of one of its sequences alone."""
        asked = self.pair_thresholds
        return self._one_set and asked.min_coverage > 0 and asked.coverage_of in _ONE_WAY

    @cached_property
    def _ends(self) -> npt.NDArray[np.int64]:
        """Pairs of all queries before each one, int64 of shape (queries + 1,)."""
        count = len(self.queries)
        if self.pair_list is None:
            others = len(self.problem.others) - self._one_set
            return np.arange(count + 1, dtype=np.int64) * others
        pairs = np.bincount(self.pair_list.first, minlength=count)
        if self._one_set:
            pairs = pairs + np.bincount(self.pair_list.second, minlength=count)
        return np.concatenate(([0], np.cumsum(pairs, dtype=np.int64)))

    def _range_of_shard(self) -> tuple[int, int]:
        """Return the queries of the shard; shards have about the same cells."""
        if self.shard is None:
            return 0, len(self.queries)
        number, shards = check_shard(self.shard)
        others = self.problem.others
        letters = int(weigh_letters(others.lengths).sum())
        cells = np.concatenate(([0], np.cumsum(weigh_letters(self.queries.lengths)))).tolist()
        costs = [letters * c + PAIR_CELLS * len(others) * k for k, c in enumerate(cells)]
        cuts = [bisect_left(costs, costs[-1] * k // shards) for k in (number - 1, number)]
        return cuts[0], cuts[1]

    @cached_property
    def _blocks(self) -> list[tuple[int, int]]:
        """Ranges of queries whose hits fit a quarter of the memory."""
        most = max(1, self.memory_bytes // 4 // hit_bytes(self.max_hits))
        starts = range(self._first, self._stop, most)
        return [(start, min(start + most, self._stop)) for start in starts]

    @property
    def pairs(self) -> int:
        """Number of pairs of a query and a target."""
        return int(self._ends[self._stop] - self._ends[self._first])

    @property
    def pairs_ranked(self) -> int:
        """Number of pairs that are ranked, each once where all are."""
        return len(self._planned) if self.shard is None else self.pairs

    @cached_property
    def cells(self) -> int:
        """Cells of all matrices that are filled to rank pairs."""
        return sum(job.cells for job in map(self._ranking, self._blocks) if job is not None)

    def leave(self) -> dict[str, Any]:
        """Return how far the search has come, and the hits of the block of queries in hand."""
        hits = ""
        if self._best is not None:
            hits = base64.b64encode(zlib.compress(self._best.dump(), 1)).decode()
        at = {"block": self._block, "scored": self._scored, "written": self._written}
        return {**at, "hits": hits}

    def after(self, pairs: int, left: Mapping[str, Any] | None = None) -> HitsJob:
        """Return the job that begins where a run of this one was, see `AlignmentJob.after`.

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
            rest._block, rest._scored = left["block"], left["scored"]
            rest._written = left["written"]
            if left["hits"]:  # else between two blocks
                rest._best = self._load_best(rest._block, rest._written, left["hits"])
        except (ValueError, IndexError, zlib.error) as error:
            raise PartsError(
                "the journal is damaged: its hits make no sense; leave --resume out to begin anew"
            ) from error
        return rest

    def _load_best(self, block: int, written: int, hits: str) -> BestHits:
        """Return the hits of a block of queries as `leave` has given them."""
        start, stop = self._blocks[block]
        if not start <= written <= stop:
            raise ValueError(written)
        best = self._open_best(start, stop)
        packed = base64.b64decode(hits, validate=True)
        # No number in the journal decides how much memory is taken.
        dumped = zlib.decompressobj().decompress(packed, best.dumped_bytes + 1)
        best.load(dumped, len(self.problem.others))
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
            start, stop = self._blocks[number]
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
        return BestHits(start, stop, self.max_hits, least)

    def _part(self, **changes: Any) -> AlignmentJob:
        """Return a job that does a part of this one."""
        kept = {one.name: getattr(self, one.name) for one in fields(AlignmentJob) if one.init}
        return AlignmentJob(**{**kept, "shard": None, **changes})

    def _ranking(self, block: tuple[int, int]) -> AlignmentJob | None:
        """Return the job that ranks the pairs of a block of queries; None if it has none."""
        changes = self._changes_to_rank()
        if block == (0, len(self.queries)):
            return self._part(**changes)
        if self.pair_list is None:
            return self._part(**changes, only=block)
        first, second = self.pair_list.first, self.pair_list.second
        inside = (first >= block[0]) & (first < block[1])
        if self._one_set:
            inside |= (second >= block[0]) & (second < block[1])
            inside &= first != second
        if not inside.any():
            return None
        some = replace(self.pair_list, first=first[inside], second=second[inside], may_repeat=True)
        return self._part(**changes, pair_list=some)

    def _changes_to_rank(self) -> dict[str, Any]:
        """Return what a job that ranks pairs has otherwise than this one."""
        detail = Detail.STATS if self.rank == "identity" else Detail.SCORE
        changes: dict[str, Any] = {"hsps": 1}
        if self._covers_one_way:  # looked at in `_passing`
            asked = self.pair_thresholds
            detail = max(detail, asked.detail(self.scoring.mode))
            changes["pair_thresholds"] = replace(asked, min_coverage=Fraction(0))
        return {**changes, "want": replace(self.want, detail=detail)}

    def _rank(self, best: BestHits, start: int, stop: int) -> Iterator[Alignments]:
        """Rank the pairs of a block of queries."""
        job = self._ranking((start, stop))
        before = int(self._ends[start] - self._ends[self._first])
        pairs = int(self._ends[stop] - self._ends[start])
        if job is not None and self._scored < job.pairs:
            whole = job.pairs
            job = job.after(self._scored)
            with job.open() as results:
                for found in results:
                    self._add(best, found)
                    del found
                    self._scored = job.pairs_done
                    self.pairs_done = before + pairs * self._scored // whole
                    if self.result_seconds is not None:
                        yield self._nothing()
            self.steps, self.devices = job.steps, job.devices
        self.pairs_done = before + pairs

    def _add(self, best: BestHits, found: Alignments) -> None:
        """Take in some pairs; of a set with itself each as a hit of both of its sequences."""
        pair = found.query, found.target, found.raw_score
        for exchanged, rank in enumerate(self._ranks(found)):
            passes = self._passes(found, bool(exchanged))
            query, target, raw_score = (one if passes is None else one[passes] for one in pair)
            sides = (target, query) if exchanged else (query, target)
            best.add(*sides, raw_score, rank if rank is None or passes is None else rank[passes])

    def _passes(self, found: Alignments, exchanged: bool) -> npt.NDArray[np.bool_] | None:
        """Return which pairs pass with that sequence as the query; None: all."""
        passes = None
        if self._covers_one_way:
            turned = exchange(found, np.full(len(found), exchanged))
            passes = np.zeros(len(found), np.bool_)
            passes[self.pair_thresholds.passing(turned)] = True
        if self.evalue_filter is not None and self._one_set:
            others = self.evalue_filter.passes_one_way(found, exchanged=exchanged)
            passes = others if passes is None else passes & others
        return passes

    def _ranks(self, found: Alignments) -> Sequence[npt.NDArray[np.float64] | None]:
        """Return the ranks of pairs, higher ones better, for each way that they count.

        None: the raw scores rank.
        """
        ways = 2 if self._one_set else 1
        if self.rank == "identity":
            return [np.nan_to_num(found.identity, nan=-1.0)] * ways
        if self.rank not in OF_STATISTICS:
            return [None] * ways
        assert self.significance is not None
        if self.rank == "bits":
            return [self.significance.bits(found)] * ways
        if ways == 1:
            return [-self.significance.log_evalues(found)]
        return [-one for one in self.significance.log_evalues_each_way(found)]

    def _align(self, best: BestHits, stop: int) -> Iterator[Alignments]:
        """Align the hits of a block of queries, some queries at a time."""
        every = best.pairs_of(best.first, stop)
        wanted = self._wanted(*every[:2])
        ends = self._cuts(*every[:2], best.first, stop)
        for end in ends[np.searchsorted(ends, self._written, side="right") :].tolist():
            query, target, raw_score = best.pairs_of(self._written, end)
            if wanted is not None:
                some = wanted[slice(*np.searchsorted(every[0], (self._written, end)).tolist())]
                query, target, raw_score = query[some], target[some], raw_score[some]
            self._written = end
            if len(query):
                yield self._alignments_of(query, target, raw_score)
        self._written = stop

    def _wanted(self, query: Int32s, target: Int32s) -> npt.NDArray[np.bool_] | None:
        """Return which hits of a block of queries are given; None: all."""
        if not (self.once and self._one_set):
            return None
        known, others = np.sort(number_pairs(query, target)), number_pairs(target, query)
        places = np.minimum(np.searchsorted(known, others), len(known) - 1)
        wanted: npt.NDArray[np.bool_] = (query < target) | (known[places] != others)
        return wanted

    def _cuts(self, query: Int32s, target: Int32s, start: int, stop: int) -> npt.NDArray[np.int64]:
        """Return where queries are cut, so that results fit the memory and come often enough."""
        lengths = self.queries.lengths, self.problem.others.lengths
        rows, columns = (
            one[k].astype(np.float64) for one, k in zip(lengths, (query, target), strict=True)
        )
        pair_bytes, letter_bytes = result_bytes(self.want.detail, self.hsps)
        most_cells = slab_cells(self.result_seconds, False, self.threads, *lengths)
        # Results are there twice while they are put in order.
        shares = (pair_bytes + letter_bytes * (rows + columns)) / max(1, self.memory_bytes // 16)
        shares = np.maximum(shares, rows * columns / most_cells)
        sums = np.cumsum(np.bincount(query - start, shares, stop - start))
        parts = np.flatnonzero(np.diff(np.floor(sums), append=np.inf)) + 1
        return np.asarray(start + parts, np.int64)

    def _alignments_of(self, query: Int32s, target: Int32s, raw_score: Int32s) -> Alignments:
        """Align some hits, in order."""
        turned = (query > target) & self._one_set
        first, second = np.where(turned, target, query), np.where(turned, query, target)
        if self.want.detail == Detail.SCORE and self.hsps == 1:
            if self.once:
                query, target = first, second
            return replace(self._nothing(), query=query, target=target, raw_score=raw_score)
        found = self._aligned(first, second)
        numbers = number_pairs(found.query, found.target)
        order = np.argsort(numbers, kind="stable")
        wanted = number_pairs(first, second)
        starts, ends = (np.searchsorted(numbers[order], wanted, side) for side in ("left", "right"))
        counts = ends - starts
        assert counts.all(), "a hit has no alignment"
        inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        found = found.take(order[np.repeat(starts, counts) + inside])
        if self.once:
            return found
        found = exchange(found, np.repeat(turned, counts))
        if self.evalue_filter is None or self.hsps == 1:
            return found
        passes = self.evalue_filter.passes_one_way(found)
        return found if passes.all() else found.take(passes)

    def _aligned(self, first: Int32s, second: Int32s) -> Alignments:
        """Align pairs that have passed; further alignments of a pair must pass, too."""
        pairs = np.unique(number_pairs(first, second))
        listed = PairList(*pairs_of_numbers(pairs))
        changes: dict[str, Any] = {"pair_list": listed, "window": LIST_WINDOW, "progress": False}
        if self.hsps == 1:
            changes |= {"want": Want(self.want.detail), "evalue_filter": None}
            changes |= {"pair_thresholds": PairThresholds()}
        return concatenate(list(self._part(**changes, result_seconds=None)))
