"""The stages of clustering sequences that are in canonical order: leaders, medoids, alignments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments, concatenate
from pairalign.cluster_edges import EdgeClustering, GreedyLinkage, SingleLinkage
from pairalign.distance_matrix import number_of_pairs
from pairalign.identities import Similarity
from pairalign.jobs.align import AlignmentJob
from pairalign.jobs.memory import PAIR_BYTES, bytes_beside_distances, default_bytes
from pairalign.jobs.progress import Progress
from pairalign.pair_fields import place_in_triangle
from pairalign.pair_lists import PairList
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet
from pairalign.trees.linkage import cluster as join_closest
from pairalign.want import Detail, Want
from pairalign.windows import DEFAULT_WINDOW, LIST_WINDOW

Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

_TRIANGLE_METHODS = {"complete": "complete", "average": "upgma"}
_TRIANGLE_PAIR_BYTES = PAIR_BYTES + 8  # and the doubles of the linkage
_TOO_FAR = 2.0  # the distance of pairs that complete linkage must not join
_ROUNDING = 1e-6  # distances are float32
_MEDOID_PLACES = 9  # sums of identities that agree so far are equal
_LISTED_PAIRS = 1 << 20  # at a time


@dataclass(frozen=True)
class ClusterWork:
    """Aligns sequences, longest first and else in canonical order, and clusters them.

    Attributes
    ----------
    sequences : SequenceSet
        In canonical order: places are input indices and sorted positions at once.
    scoring, similarity, linkage, keep_edges
    device, threads, memory_bytes, progress, kernel
        As for `pairalign.jobs.clusters.ClusterJob`.
    """

    sequences: SequenceSet
    scoring: Scoring
    similarity: Similarity
    linkage: str
    keep_edges: bool
    device: str
    threads: int
    memory_bytes: int | None
    progress: Progress
    kernel: str | None

    def find_leaders(self) -> tuple[Ints, Alignments | None]:
        """Return the first sequence of each one's cluster, and the edges if they are wanted."""
        count = len(self.sequences)
        kept: list[Alignments] | None = [] if self.keep_edges else None
        if count == 1:
            leaders = np.zeros(1, np.int32)
        elif self.linkage in _TRIANGLE_METHODS:
            leaders = self._join_closest(kept)
        else:
            clustering = (SingleLinkage if self.linkage == "single" else GreedyLinkage)(count)
            leaders = self._stream(clustering, kept)
        if kept is None:
            return leaders, None
        return leaders, concatenate(kept) if kept else _no_pairs(self.sequences, self.scoring)

    def _stream(self, clustering: EdgeClustering, kept: list[Alignments] | None) -> Ints:
        """Cluster the pairs that pass as they come: row by row, the longest first."""
        least = least_raw_score(self.sequences, self.scoring, self.similarity)
        with self._alignment_job(least, self.memory_bytes or default_bytes()).open() as results:
            for found in results:
                passing = found.take(self.similarity.passing(found))
                parts, wholes = self.similarity.identity_of(passing)
                clustering.add(passing.query, passing.target, parts, wholes)
                if kept is not None:
                    kept.append(passing.without(cigar=True))
        return clustering.leaders()

    def _join_closest(self, kept: list[Alignments] | None) -> Ints:
        """Cluster by the distances of all pairs."""
        count, is_complete = len(self.sequences), self.linkage == "complete"
        memory = bytes_beside_distances(count, self.memory_bytes, _TRIANGLE_PAIR_BYTES)
        condensed = np.empty(number_of_pairs(count), np.float32)
        with self._alignment_job(None, memory).open() as results:
            for found in results:
                parts, wholes = self.similarity.identity_of(found)
                passes = self.similarity.passing(found)
                distances = 1 - parts / wholes
                if is_complete:
                    distances = np.where(passes, distances, _TOO_FAR)
                elif self.similarity.min_coverage:
                    covered = replace(self.similarity, min_identity=Fraction(0)).passing(found)
                    distances = np.where(covered, distances, 1.0)
                place_in_triangle(found.query, found.target, distances, count, condensed)
                if kept is not None:
                    kept.append(found.take(passes).without(cigar=True))
        method = _TRIANGLE_METHODS[self.linkage]
        tree = join_closest(condensed, np.arange(count, dtype=np.int32), method)
        farthest = 1.0 if is_complete else float(1 - self.similarity.min_identity) + _ROUNDING
        return _cut(tree, farthest)

    def _alignment_job(self, least: int | None, memory_bytes: int) -> AlignmentJob:
        return AlignmentJob(
            self.sequences,
            None,
            self.scoring,
            Want(self.similarity.detail(self.scoring.mode), least),
            device=self.device,
            threads=self.threads,
            window=DEFAULT_WINDOW,
            memory_bytes=memory_bytes,
            progress=self.progress,
            kernel=self.kernel,
        )

    def find_medoids(self, labels: npt.NDArray[np.int64], first: Ints) -> Ints:
        """Return the sequence of each cluster with the highest mean identity with the others."""
        sums = np.zeros(len(labels))
        detail = self.similarity.detail(self.scoring.mode)
        for pairs in _pairs_within(labels):
            for found in self._align_list(pairs, detail):
                parts, wholes = self.similarity.identity_of(found)
                np.add.at(sums, found.query, parts / wholes)
                np.add.at(sums, found.target, parts / wholes)
        best = np.lexsort((np.arange(len(labels)), -np.round(sums, _MEDOID_PLACES), labels))
        return best[np.searchsorted(labels[best], np.arange(len(first)))].astype(np.int32)

    def align_with(self, representatives: Ints) -> Alignments:
        """Align each sequence, the query, with its representative, unless it is one itself."""
        members = np.flatnonzero(representatives != np.arange(len(representatives)))
        if not len(members):
            return _no_pairs(self.sequences, self.scoring, Detail.CIGAR)
        pairs = PairList(members.astype(np.int32), representatives[members].astype(np.int32))
        found = concatenate(list(self._align_list(pairs, Detail.CIGAR)))
        return exchange(found, representatives[found.query] == found.query)

    def _align_list(self, pairs: PairList, detail: Detail) -> Iterator[Alignments]:
        """Align some pairs, with the shorter one of each as target."""
        yield from AlignmentJob(
            self.sequences,
            None,
            self.scoring,
            Want(detail),
            device=self.device,
            threads=self.threads,
            window=LIST_WINDOW,
            memory_bytes=self.memory_bytes or default_bytes(),
            kernel=self.kernel,
            pair_list=pairs,
        )


def _pairs_within(labels: npt.NDArray[np.int64]) -> Iterator[PairList]:
    """All pairs of sequences of one cluster, some at a time."""
    one: list[Ints] = []
    other: list[Ints] = []
    held = 0
    by_label = np.argsort(labels, kind="stable").astype(np.int32)
    stops = np.searchsorted(labels[by_label], labels[by_label], side="right")
    for place, stop in enumerate(stops):
        later = by_label[place + 1 : stop]
        if len(later):
            one.append(np.full(len(later), by_label[place], np.int32))
            other.append(later)
            held += len(later)
        if held >= _LISTED_PAIRS or (held and place + 1 == len(stops)):
            yield PairList(np.concatenate(one), np.concatenate(other))
            one, other, held = [], [], 0


def _cut(tree: npt.NDArray[np.float64], farthest: float) -> Ints:
    """Return the first sequence of each one's cluster when a tree is cut above a distance."""
    count = len(tree) + 1
    firsts = np.arange(2 * count - 1, dtype=np.int32)
    sets = SingleLinkage(count)
    nothing = np.zeros(0, np.int64)
    for k, (one, other, distance, _) in enumerate(tree):
        ends = firsts[[int(one), int(other)]]
        firsts[count + k] = ends.min()
        if distance <= farthest:
            sets.add(ends[:1], ends[1:], nothing, nothing)
    return sets.leaders()


def _no_pairs(
    sequences: SequenceSet, scoring: Scoring, detail: Detail = Detail.STATS
) -> Alignments:
    columns: dict[str, Any] = dict.fromkeys(
        (
            *("query", "target", "raw_score", "query_start", "query_end", "target_start"),
            *("target_end", "matches", "mismatches", "gap_openings", "gap_letters"),
        ),
        np.zeros(0, np.int32),
    )
    if detail == Detail.CIGAR:
        columns.update(cigar=np.zeros(0, np.uint32), cigar_offsets=np.zeros(1, np.int64))
    return Alignments(queries=sequences, targets=sequences, scoring=scoring, **columns)


def least_raw_score(sequences: SequenceSet, scoring: Scoring, similarity: Similarity) -> int | None:
    """Return a raw score that all pairs that are similar enough attain; None: any score will do.

    Notes
    -----
    An alignment of c columns with identity x has at least x c matches, of which each scores no less
    than the worst of the letters there are with themselves; each other column costs no more than
    the worst mismatch or the opening of a gap. Globally c is at least the length of the longer
    sequence, and else what coverage demands of it.
    """
    if similarity.identity != "columns":
        return None
    definite = np.unique(sequences.codes)
    definite = definite[definite < sequences.alphabet.definite]
    if not len(definite):
        return None
    worst_match = int(np.diagonal(scoring.matrix)[definite].min())
    present = np.unique(sequences.codes)
    worst_other = max(
        int(scoring.gap_open), -int(scoring.matrix[np.ix_(present, present)].min()), 0
    )
    share = similarity.min_identity
    a_column = worst_match * share - worst_other * (1 - share)
    if worst_match <= 0 or a_column <= 0:
        return None
    covered = Fraction(1) if scoring.mode == "global" else similarity.min_coverage
    columns = math.ceil(covered * int(np.sort(sequences.lengths)[1]))
    return math.floor(a_column * columns) or None


def exchange(found: Alignments, turned: Mask) -> Alignments:
    """Exchange query and target of some alignments of a set with itself.

    Parameters
    ----------
    found : Alignments
        Of strand 1.
    turned : ndarray of bool, shape (n,)
    """
    assert found.queries is found.targets
    columns: dict[str, Any] = {}
    for one, other in (
        ("query", "target"),
        ("query_start", "target_start"),
        ("query_end", "target_end"),
    ):
        a, b = getattr(found, one), getattr(found, other)
        if a is not None:
            columns[one], columns[other] = np.where(turned, b, a), np.where(turned, a, b)
    if found.cigar is not None and found.cigar_offsets is not None:
        start, stop = found.cigar_offsets[0], found.cigar_offsets[-1]
        runs = found.cigar[start:stop]
        of_turned = np.repeat(turned, np.diff(found.cigar_offsets))
        is_gap = (runs & 15) <= 2  # I is 1, D is 2
        columns["cigar"] = np.where(of_turned & is_gap, runs ^ np.uint32(3), runs)
        columns["cigar_offsets"] = found.cigar_offsets - start
    return replace(found, **columns)
