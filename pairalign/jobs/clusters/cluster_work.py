"""The stages of clustering sequences that are in canonical order: leaders, medoids, alignments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.passes import place_in_triangle
from pairalign.alignments.strands import exchange
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.choices import DEFAULT_WINDOW, LIST_WINDOW, STRANDS
from pairalign.base.dry_run import begin
from pairalign.clusters.edge_clustering import GreedyLinkage, SingleLinkage
from pairalign.engines.cpu.cpu_engine import CpuEngine
from pairalign.jobs.clusters.greedy import GreedyClustering, may_be_greedy
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.memory import PAIR_BYTES, distance_bytes
from pairalign.pairs.copies import group_copies
from pairalign.pairs.lists import PairList, pairs_within
from pairalign.pairs.want import Demand, Detail, Want
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.significance import EvalueFilter
from pairalign.trees.distance_matrix import first_place, number_of_pairs
from pairalign.trees.tree_joining import average_clusters, cut_tree
from pairalign.trees.tree_joining import cluster as join_closest

if TYPE_CHECKING:
    from pairalign.jobs.run.forecast import Work
    from pairalign.jobs.stages.threshold_engine import Steps


_TRIANGLE_PAIR_BYTES = PAIR_BYTES + 8  # and the doubles of the linkage
_AVERAGE_PAIR_BYTES = 40  # of two counts, what is sorted of them, whole distances and their sums
_TOO_FAR = 2.0  # the distance of pairs that complete linkage must not join
_MEDOID_PLACES = 9  # sums of identities that agree so far are equal
_LISTED_PAIRS = 1 << 20  # at a time


@dataclass
class ClusterWork:
    """Aligns sequences, longest first and else in canonical order, and clusters them.

    Attributes
    ----------
    sequences : SequenceSet
        In canonical order: places are input indices and sorted positions at once.
    thresholds, linkage, strand, keep_edges, resources
        As for `ClusterRequest`, where `keep_edges` is `edges`.
    ranks : ndarray of int32, shape (n,), or None
        The order in which sequences become representatives of greedy linkage, by place; None:
        that of places.
    known : ndarray of int32, shape (n,), or None
        Single linkage: the earlier cluster of each place, -1: it is new.
    evalues : EvalueFilter or None
        Pairs with larger E-values do not attain the thresholds.
    steps : Steps or None
        How many pairs each step of the thresholds has left, after `find_leaders`.
    devices : tuple of str
        Those that aligned, after `find_leaders`.
    """

    sequences: SequenceSet
    scoring: Scoring
    thresholds: PairThresholds
    linkage: str
    keep_edges: bool
    strand: str
    resources: Resources
    ranks: Int32s | None = None
    known: Int32s | None = None
    evalues: EvalueFilter | None = None
    steps: Steps | None = field(default=None, init=False)
    devices: tuple[str, ...] = field(default=(), init=False)

    def find_leaders(self) -> tuple[Int32s, Alignments | None]:
        """Return the first sequence of each one's cluster, and the edges if they are wanted."""
        count = len(self.sequences)
        if count > 1:
            begin(self._work)
        kept: list[Alignments] | None = [] if self.keep_edges else None
        if count == 1:
            leaders = np.zeros(1, np.int32)
        elif (leaders_of_copies := self._cluster_distinct()) is not None:
            leaders = leaders_of_copies
        elif self.linkage == "complete":
            leaders = self._join_closest(kept)
        elif self.linkage == "average":
            leaders = self._join_by_means(kept)
        elif (leaders_by_bound := self._align_best_first()) is not None:
            leaders = leaders_by_bound
        elif self.ranks is not None:
            leaders = self._join_by_rank(self.ranks, kept)
        else:
            clustering = SingleLinkage(count) if self.linkage == "single" else GreedyLinkage(count)
            leaders = self._stream(clustering, kept)
        if kept is None:
            return leaders, None
        return leaders, concatenate(kept) if kept else _no_pairs(self.sequences, self.scoring)

    def _cluster_distinct(self) -> Int32s | None:
        """Cluster one of all copies each; None where a copy is no more than another sequence."""
        is_plain = self.known is None and self.ranks is None and not self.keep_edges
        if not is_plain or self.linkage in ("complete", "average"):
            return None
        groups = group_copies(self.sequences)
        if groups is None:
            return None
        firsts = np.unique(groups, return_index=True)[1].astype(np.int32)
        distinct = self.sequences.reordered(firsts)
        evalues = self.evalues and self.evalues.of_sets(distinct, distinct)
        work = replace(self, sequences=distinct, evalues=evalues)
        leaders, _ = work.find_leaders()
        may_stand_alone = leaders == np.arange(len(leaders))
        if self.linkage == "single":
            may_stand_alone &= np.bincount(leaders, minlength=len(leaders))[leaders] == 1
        may_stand_alone[groups[self._passing_with_copies(groups)]] = False
        self.steps = _with_copies(work.steps, len(groups), len(firsts))
        self.devices = work.devices or self.devices
        leaders_of_all: Int32s = firsts[leaders][groups]
        return np.where(
            may_stand_alone[groups], np.arange(len(groups), dtype=np.int32), leaders_of_all
        )

    def _passing_with_copies(self, groups: Int32s) -> Int32s:
        """Return the first of all copies each that is similar enough to the next one."""
        is_second = (np.diff(groups) == 0) & (np.diff(groups[:-1], prepend=-1) > 0)
        firsts = np.flatnonzero(is_second).astype(np.int32)
        resources = replace(self.resources, progress=False)
        passing = self._passing(self._plan(resources=resources, pairs=PairList(firsts, firsts + 1)))
        return np.concatenate([alignments.query for alignments in passing] or [firsts[:0]])

    def _align_best_first(self) -> Int32s | None:
        """Cluster greedily with an index of the representatives; None where that is of no use."""
        is_plain = self.linkage == "greedy" and not self.keep_edges and self.strand == STRANDS[0]
        if (
            self.evalues is not None
            or not is_plain
            or not may_be_greedy(self.sequences, self.thresholds, self.resources)
        ):
            return None
        greedy = GreedyClustering(
            self.sequences,
            self.scoring,
            self.thresholds,
            self._detail,
            self.resources,
            None if self.ranks is None else np.argsort(self.ranks).astype(np.int32),
        )
        leaders = greedy.find_leaders()
        if leaders is not None:
            self.steps, self.devices = greedy.steps, (CpuEngine.name,)
        return leaders

    def _stream(
        self, clustering: GreedyLinkage | SingleLinkage, kept: list[Alignments] | None
    ) -> Int32s:
        """Cluster the pairs that pass as they come: row by row, the longest first."""
        demand = clustering if kept is None else None
        pairs = None
        if self.known is not None:
            nothing = np.zeros(0, np.int64)
            clustering.add(*_edges_of(self.known), nothing, nothing)
            pairs = _new_pairs(self.known < 0)
            if not len(pairs):
                return clustering.leaders()
        for passing in self._passing(self._plan(demand=demand, pairs=pairs)):
            parts, wholes = self.thresholds.count_identity(passing)
            clustering.add(passing.query, passing.target, parts, wholes)
            if kept is not None:
                kept.append(passing.without(cigar=True))
        return clustering.leaders()

    def _join_by_rank(self, ranks: Int32s, kept: list[Alignments] | None) -> Int32s:
        """Cluster greedily in an order of its own: pairs that pass are held and sorted by it."""
        edges: list[tuple[Int32s, Int32s, Int64s, Int64s]] = []
        for passing in self._passing(self._plan()):
            ends = ranks[passing.query], ranks[passing.target]
            edges.append(
                (np.minimum(*ends), np.maximum(*ends), *self.thresholds.count_identity(passing))
            )
            if kept is not None:
                kept.append(passing.without(cigar=True))
        clustering = GreedyLinkage(len(ranks))
        if edges:
            first, second, parts, wholes = map(np.concatenate, zip(*edges, strict=True))
            order = np.argsort(first, kind="stable")
            clustering.add(first[order], second[order], parts[order], wholes[order])
        places = np.argsort(ranks).astype(np.int32)
        return places[clustering.leaders()[ranks]]

    def _join_closest(self, kept: list[Alignments] | None) -> Int32s:
        """Cluster by complete linkage, by the distances of the pairs that pass."""
        count = len(self.sequences)
        held_bytes = self._held_bytes(_TRIANGLE_PAIR_BYTES)
        condensed = np.full(number_of_pairs(count), _TOO_FAR, np.float32)
        for alignments in self._passing(self._plan(held_bytes=held_bytes)):
            parts, wholes = self.thresholds.count_identity(alignments)
            place_in_triangle(
                alignments.query, alignments.target, 1 - parts / wholes, count, condensed
            )
            if kept is not None:
                kept.append(alignments.without(cigar=True))
        tree = join_closest(condensed, np.arange(count, dtype=np.int32), "complete")
        return cut_tree(tree, 1.0)

    def _join_by_means(self, kept: list[Alignments] | None) -> Int32s:
        """Cluster by average linkage, by the distances of all pairs, as fractions."""
        count = len(self.sequences)
        held_bytes = self._held_bytes(_AVERAGE_PAIR_BYTES)
        all_pairs = replace(self.thresholds, min_identity=None)
        apart, columns = np.ones((2, number_of_pairs(count)), np.int32)
        starts = np.array([first_place(row, count) for row in range(count)])
        for alignments in self._passing(self._plan(thresholds=all_pairs, held_bytes=held_bytes)):
            parts, wholes = self.thresholds.count_identity(alignments)
            places = starts[alignments.query] + alignments.target - alignments.query - 1
            columns[places] = np.maximum(wholes, 1)  # nothing is aligned: an identity of 0
            apart[places] = columns[places] - parts
            if kept is not None:
                passing = alignments.take(self.thresholds.passing(alignments))
                kept.append(passing.without(cigar=True))
        return average_clusters(apart, columns, count, 1 - self.thresholds.least_identity)

    def _work(self) -> Work:
        """Return what a dry run foretells."""
        from pairalign.jobs.run.forecast import work_of

        new = None if self.known is None else _new_pairs(self.known < 0)
        return replace(work_of(self._plan(pairs=new)), at_most=self.linkage == "greedy")

    def _held_bytes(self, pair_bytes: int) -> int:
        """Return what is held of all pairs while they are aligned."""
        return distance_bytes(len(self.sequences), self.resources.memory_bytes, pair_bytes)

    @property
    def _detail(self) -> Detail:
        """What identities are counted of."""
        return self.thresholds.detail_of_identity(self.scoring.mode)

    def _passing(self, job: AlignmentJob) -> Iterator[Alignments]:
        """Align; yield what attains the thresholds of a job, as far as there is a demand."""
        with job.open() as results:
            self.steps, self.devices = job.steps, job.devices
            yield from results

    def _plan(
        self,
        *,
        thresholds: PairThresholds | None = None,
        resources: Resources | None = None,
        demand: Demand | None = None,
        pairs: PairList | None = None,
        held_bytes: int = 0,
    ) -> AlignmentJob:
        """Plan the alignment of pairs; thresholds and resources are its own by default."""
        least = None if self.evalues is None else self.evalues.min_raw_score
        return AlignmentJob(
            self.sequences,
            None,
            self.scoring,
            Want(self._detail, least),
            window=DEFAULT_WINDOW,
            strand=self.strand,
            pair_thresholds=self.thresholds if thresholds is None else thresholds,
            pair_list=pairs,
            demand=demand,
            evalue_filter=self.evalues,
            resources=resources or self.resources,
            held_bytes=held_bytes,
        )

    def find_medoids(self, labels: Int64s, first: Int32s) -> Int32s:
        """Return the sequence of each cluster with the highest mean identity with the others."""
        sums = np.zeros(len(labels))
        for pairs in pairs_within(labels, _LISTED_PAIRS):
            for alignments in self._align_list(pairs, self._detail):
                parts, wholes = self.thresholds.count_identity(alignments)
                np.add.at(sums, alignments.query, parts / wholes)
                np.add.at(sums, alignments.target, parts / wholes)
        best = np.lexsort((np.arange(len(labels)), -np.round(sums, _MEDOID_PLACES), labels))
        return best[np.searchsorted(labels[best], np.arange(len(first)))].astype(np.int32)

    def align_with(self, representatives: Int32s) -> Alignments:
        """Align each sequence, the query, with its representative, unless it is one itself."""
        members = np.flatnonzero(representatives != np.arange(len(representatives)))
        if not len(members):
            return _no_pairs(self.sequences, self.scoring, Detail.CIGAR)
        pairs = PairList(members.astype(np.int32), representatives[members].astype(np.int32))
        alignments = concatenate(list(self._align_list(pairs, Detail.CIGAR)))
        return exchange(alignments, representatives[alignments.query] == alignments.query)

    def _align_list(self, pairs: PairList, detail: Detail) -> Iterator[Alignments]:
        """Align some pairs, with the shorter one of each as target."""
        yield from AlignmentJob(
            self.sequences,
            None,
            self.scoring,
            Want(detail),
            window=LIST_WINDOW,
            strand=self.strand,
            pair_list=pairs,
            resources=replace(self.resources, progress=False),
        )


def _with_copies(steps: Steps | None, count: int, distinct: int) -> Steps:
    """Return the steps of distinct sequences with the pairs of others, which are of no use."""
    from pairalign.jobs.stages.threshold_engine import Steps

    steps = steps or Steps()
    more = number_of_pairs(count) - number_of_pairs(distinct)
    steps.pairs += more
    steps.unwanted += more
    return steps


def _edges_of(labels: Int32s) -> tuple[Int32s, Int32s]:
    """Return edges between the first place of each cluster and its others."""
    places = np.flatnonzero(labels >= 0).astype(np.int32)
    _, first, inverse = np.unique(labels[places], return_index=True, return_inverse=True)
    firsts = places[first][inverse]
    others = firsts != places
    return firsts[others], places[others]


def _new_pairs(is_new: Bools) -> PairList:
    """Return the pairs that have a new sequence, the lower place first."""
    count, new = len(is_new), np.flatnonzero(is_new).astype(np.int32)
    first, second = np.repeat(new, count), np.tile(np.arange(count, dtype=np.int32), len(new))
    kept = (first != second) & (~is_new[second] | (first < second))
    return PairList(np.minimum(first, second)[kept], np.maximum(first, second)[kept])


def _no_pairs(
    sequences: SequenceSet, scoring: Scoring, detail: Detail = Detail.STATS
) -> Alignments:
    columns: dict[str, Any] = dict.fromkeys(
        (
            *("query", "target", "raw_score", "query_start", "query_end", "target_start"),
            *("target_end", "matches", "mismatches", "gap_openings", "gap_residues"),
        ),
        np.zeros(0, np.int32),
    )
    if detail == Detail.CIGAR:
        columns.update(cigar=np.zeros(0, np.uint32), cigar_offsets=np.zeros(1, np.int64))
    return Alignments(queries=sequences, targets=sequences, scoring=scoring, **columns)
