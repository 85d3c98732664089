"""The best rotation of a circular target: searched, with bounds of many rotations at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s, Int64s
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.scoring.end_gaps import EndGaps, GapCost
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

_FIRST_PARTS, _PARTS = 8, 4
"""Ranges that all rotations, and later each range that is left, are cut into."""

_MOST_RANGES = 4
"""Of a circle, that may be left. With more, as of unrelated sequences, the search ends."""

_RESIDUES_AT_ONCE = 1 << 22
"""Of circles; times what their ranges are, they are held."""


class RotationSearch:
    """Finds the rotations of targets that score most with queries, by branch and bound.

    What a range of rotations scores at most is the score of the query with the part of the doubled
    circle that they cover, whose ends are free. Ranges that exceed the best rotation known are cut
    into smaller ones, down to single rotations (Peris and Marzal 2002, for edit distances).

    Parameters
    ----------
    problem : Problem
        Whose queries and scoring, of mode global, are used.
    set_of : callable
        Makes a set of texts.
    queries : ndarray of int32, shape (n,)
        Input indices: pair k has the k-th.

    Attributes
    ----------
    scores : ndarray of int64, shape (n,)
        Raw: of the best rotation of each pair.
    circles, cuts : ndarray of int64, shape (n,)
        The circle that is rotated, and where it begins then.
    is_best : ndarray of bool, shape (n,)
        Whether no rotation of any of the pair's circles scores more.

    References
    ----------
    G. Peris, A. Marzal: Fast cyclic edit distance computation with weighted edit costs in
    classification. ICPR 2002.
    """

    def __init__(
        self,
        problem: Problem,
        set_of: Callable[[list[bytes]], SequenceSet],
        queries: Int32s,
        resources: Resources,
    ) -> None:
        self._problem, self._set_of = problem, set_of
        self._queries, self._resources = queries, resources
        count = len(queries)
        self.scores = np.full(count, np.iinfo(np.int64).min)
        self.circles, self.cuts = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.is_best = np.zeros(count, np.bool_)

    def try_rotations(self, pairs: Int64s, circles: list[bytes], cuts: Int64s) -> None:
        """Score rotations of all circles.

        Parameters
        ----------
        pairs : ndarray of int64, shape (m,)
            The pair of each circle.
        cuts : ndarray of int64, shape (ways, m)
            Of equals the first circle counts, then the first way.
        """
        every = np.arange(len(circles))
        tried = [np.stack((every, cuts[0]))]
        for way in range(1, len(cuts)):
            tried.append(np.stack((every, cuts[way]))[:, cuts[way] != cuts[0]])
        which, where = np.concatenate(tried, axis=1)
        order = np.argsort(which, kind="stable")
        self._score_rotations(pairs, circles, which[order], where[order])

    def improve(self, pairs: Int64s, circles: list[bytes], bounds: Int64s) -> None:
        """Look for rotations that score more, where the bounds of circles leave room for them.

        Parameters
        ----------
        pairs, circles
            As for `try_rotations`.
        bounds : ndarray of int64, shape (m,)
            What no rotation of a circle exceeds.
        """
        self.is_best[:] = True
        lengths = np.array([len(text) for text in circles], np.int64)
        left = np.flatnonzero(bounds > self.scores[pairs])
        block = np.cumsum(lengths[left]) // _RESIDUES_AT_ONCE
        for number in np.unique(block):
            some = left[block == number]
            zero = np.zeros(len(some), np.int64)
            self._search(pairs, circles, _cut(some, zero, lengths[some], _FIRST_PARTS))

    def _search(
        self, pairs: Int64s, circles: list[bytes], ranges: tuple[Int64s, Int64s, Int64s]
    ) -> None:
        """Cut ranges of rotations (circle, start, stop) until none is left."""
        while len(ranges[0]):
            circle, start, stop = ranges
            single = stop - start == 1
            self._score_rotations(pairs, circles, circle[single], start[single])
            circle, start, stop = (values[~single] for values in ranges)
            texts = [
                (2 * circles[k])[a : b - 1 + len(circles[k])]
                for k, a, b in zip(circle.tolist(), start.tolist(), stop.tolist(), strict=True)
            ]
            bounds = self._score(pairs[circle], texts, free_target_ends(self._problem.scoring))
            kept = bounds > self.scores[pairs[circle]]
            many = np.bincount(circle[kept], minlength=len(circles)) > _MOST_RANGES
            self.is_best[pairs[many]] = False
            kept &= ~many[circle]
            ranges = _cut(circle[kept], start[kept], stop[kept], _PARTS)

    def _score_rotations(
        self, pairs: Int64s, circles: list[bytes], which: Int64s, cuts: Int64s
    ) -> None:
        """Score rotations; of each pair the first of the best is kept, if it scores more."""
        texts = [
            rotated(circles[k], cut) for k, cut in zip(which.tolist(), cuts.tolist(), strict=True)
        ]
        pair = pairs[which]
        scores = self._score(pair, texts, self._problem.scoring)
        for k in np.lexsort((np.arange(len(pair)), -scores)).tolist():
            if scores[k] > self.scores[pair[k]]:
                self.scores[pair[k]] = scores[k]
                self.circles[pair[k]], self.cuts[pair[k]] = which[k], cuts[k]

    def _score(self, pairs: Int64s, texts: list[bytes], scoring: Scoring) -> Int64s:
        if not texts:
            return np.empty(0, np.int64)
        problem = Problem(self._problem.queries, self._set_of(texts), scoring)
        listed = PairList(self._queries[pairs], np.arange(len(texts), dtype=np.int32))
        alignments = align_list(problem, listed, Detail.SCORE, self._resources)
        return alignments.raw_score.astype(np.int64)


def _cut(circle: Int64s, start: Int64s, stop: Int64s, parts: int) -> tuple[Int64s, Int64s, Int64s]:
    """Cut ranges into as many parts, or into single rotations."""
    edges = start + (stop - start) * np.arange(parts + 1)[:, None] // parts
    starts, stops = edges[:-1].T, edges[1:].T
    there = stops > starts
    return np.repeat(circle, parts)[there.ravel()], starts[there], stops[there]


def rotated(text: bytes, cut: int) -> bytes:
    """Return a circle that begins at another residue."""
    return text[cut:] + text[:cut]


def free_target_ends(scoring: Scoring) -> Scoring:
    """Return a scoring of mode global with free ends of the target."""
    internal, free = GapCost(scoring.gap_open, scoring.gap_extend), GapCost(0, 0)
    ends = EndGaps(internal, internal, internal, internal)
    ends = replace(ends, target_start=free, target_end=free)
    return replace(scoring, mode=ends.mode(internal), end_gaps=ends)


def align_list(
    problem: Problem, pairs: PairList, detail: Detail, resources: Resources
) -> Alignments:
    """Align listed pairs; return them in the order of the list."""
    run = RunRequest(detail=detail, resources=resources)
    alignments = concatenate(list(plan_alignment(AlignRequest(pairs=pairs), problem, run).job))
    wide = np.int64(len(problem.others))
    listed = pairs.first * wide + pairs.second
    order = np.empty(len(listed), np.int64)
    order[np.argsort(listed, kind="stable")] = np.argsort(
        alignments.query * wide + alignments.target, kind="stable"
    )
    return alignments.take(order)
