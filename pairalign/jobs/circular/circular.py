"""Global alignments of circular sequences, which may begin anywhere, and on either strand.

1. The query is aligned with the target twice in a row, whose ends are free. Every rotation of the
   target is a part of that, so none scores more.
2. The query is aligned, in mode global, with the target rotated to begin where that alignment
   begins or, if that scores more, to end where it ends. If both score less than 1., rotations that
   may score more are searched (`RotationSearch`), with bounds of many rotations at a time.
3. Both are rotated to the middle of the longest run of matches of that alignment, and aligned
   once more: no gap is cut in two where the query happens to begin, so where the files begin does
   not matter.

Ties: the original strand before the other; the rotation by the start before that by the end;
of equal runs the first; of equal alignments as ever (docs/conventions.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Bools, Int32s, Int64s, UInt32s
from pairalign.base.choices import STRANDS
from pairalign.base.error_types import ScoringError
from pairalign.jobs.run.inputs import check_strand
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.results.alignment_result import Alignment
from pairalign.scoring.cigars import DELETION, INSERTION
from pairalign.scoring.end_gaps import EndGaps, GapCost
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import complement_of
from pairalign.sequences.sequence_records import join_records
from pairalign.sequences.sets import SequenceSet

MATCH = 7
_BLOCK_RESIDUES = 1 << 25
"""Residues of rotated targets that are held at a time."""


@dataclass(frozen=True)
class CircularAlignments:
    """Alignments of some pairs with rotated targets.

    Attributes
    ----------
    found : Alignments
        A row a pair, in their order; queries and targets are sets of their own, pair k's the k-th
        of each, rotated to begin where they are alike.
    reversed : ndarray of bool, shape (n,)
        Whether the target is aligned on the other strand, seen from the query.
    is_best : ndarray of bool, shape (n,)
        Whether it is proven that no rotation of the target scores more with the query as it was
        read. It is not for some unrelated sequences.
    """

    found: Alignments
    reversed: Bools
    is_best: Bools


def align_circular(
    problem: Problem,
    queries: Int32s,
    targets: Int32s,
    *,
    both_strands: bool,
    detail: Detail = Detail.CIGAR,
    resources: Resources | None = None,
) -> Iterator[CircularAlignments]:
    """Align pairs of a set whose targets are circular, block by block.

    Parameters
    ----------
    problem : Problem
        Of one set; mode global.
    queries, targets : ndarray of int32, shape (n,)
        Input indices.
    both_strands : bool
        Of DNA: the strand on which a pair scores more.
    detail : Detail
        At least STATS.

    Raises
    ------
    ScoringError
        The mode is not global, or end gaps have costs of their own.
    AlphabetError
        Both strands of proteins.
    CapacityError
        A pair needs more memory than allowed.
    """
    check_circular(problem.scoring)
    used = Resources() if resources is None else resources
    used = replace(used, progress=False)
    check_strand(STRANDS[both_strands], problem.queries, problem.scoring)
    strands = Strands.of(problem.queries, both_strands)
    lengths = problem.queries.lengths[targets].astype(np.int64)
    block = np.cumsum(lengths) // _BLOCK_RESIDUES
    for number in np.unique(block):
        part = np.flatnonzero(block == number)
        yield _align_block(problem, strands, queries[part], targets[part], detail, used)


def check_circular(scoring: Scoring) -> None:
    """Raise ScoringError for a scoring by which no circles are aligned."""
    if scoring.mode != "global":
        raise ScoringError(f"circular sequences are aligned in mode global, not {scoring.mode}")


@dataclass(frozen=True)
class Strands:
    """The residues of a set, of one strand or of two.

    Attributes
    ----------
    residues : tuple of list of bytes
        Of the original strand and, with both, of the other: each sequence.
    table : bytes or None
        Complement of each byte.
    """

    sequences: SequenceSet
    residues: tuple[list[bytes], ...]
    table: bytes | None

    @classmethod
    def of(cls, sequences: SequenceSet, both: bool) -> Strands:
        """Read the sequences; AlphabetError for both strands of proteins."""
        offsets = sequences.offsets.tolist()
        plus = sequences.residues.tobytes()
        texts = [plus[a:b] for a, b in pairwise(offsets)]
        if not both:
            return cls(sequences, (texts,), None)
        alphabet = sequences.alphabet
        complement = complement_of(alphabet, sequences.source)
        shown = np.frombuffer(alphabet.letters.encode(), np.uint8)
        table = shown[complement[alphabet.encoding % len(complement)] % len(shown)].tobytes()
        return cls(sequences, (texts, [text[::-1].translate(table) for text in texts]), table)

    def other(self, text: bytes) -> bytes:
        """Return the reverse complement of a sequence."""
        assert self.table is not None
        return text[::-1].translate(self.table)

    def set_of(self, texts: list[bytes]) -> SequenceSet:
        """Return a set of such sequences, named by their numbers."""
        names = [str(number) for number in range(len(texts))]
        records = join_records(names, names, texts)
        return SequenceSet(records, alphabet=self.sequences.alphabet, source=self.sequences.source)


def _align_block(
    problem: Problem,
    strands: Strands,
    queries: Int32s,
    targets: Int32s,
    detail: Detail,
    resources: Resources,
) -> CircularAlignments:
    """Find the rotations of some pairs, then align them."""
    count = len(queries)
    circles = [texts[k] for texts in strands.residues for k in targets.tolist()]
    numbers = np.tile(np.arange(count), len(strands.residues))
    bounds, cuts = _align_with_doubled(problem, strands, queries, targets, resources)
    search = RotationSearch(problem, strands.set_of, queries, resources)
    search.try_rotations(numbers, circles, cuts)
    search.improve(numbers, circles, bounds)
    texts = [
        rotated(circles[circle], cut)
        for circle, cut in zip(search.circles.tolist(), search.cuts.tolist(), strict=True)
    ]
    again = Problem(problem.queries, strands.set_of(texts), problem.scoring)
    pairs = PairList(queries, np.arange(count, dtype=np.int32))
    last = _align_again(
        problem, strands, align_list(again, pairs, Detail.CIGAR, resources), detail, resources
    )
    return CircularAlignments(last, search.circles >= count, search.is_best)


def _align_with_doubled(
    problem: Problem, strands: Strands, queries: Int32s, targets: Int32s, resources: Resources
) -> tuple[Int64s, Int64s]:
    """Align queries with targets twice in a row.

    Returns
    -------
    bounds : ndarray of int64, shape (strands * n,)
        Raw scores, which no rotation exceeds.
    cuts : ndarray of int64, shape (2, strands * n)
        The rotations that begin where the alignments begin, and those that end where they end.
    """
    kinds = len(strands.residues)
    target_numbers, place = np.unique(targets, return_inverse=True)
    doubled = strands.set_of(
        [2 * texts[k] for texts in strands.residues for k in target_numbers.tolist()]
    )
    pairs = PairList(
        np.tile(queries, kinds),
        np.concatenate([place + len(target_numbers) * strand for strand in range(kinds)]).astype(
            np.int32
        ),
    )
    scoring = free_target_ends(problem.scoring)
    alignments = align_list(
        Problem(problem.queries, doubled, scoring), pairs, Detail.STATS, resources
    )
    lengths = np.tile(problem.queries.lengths[targets], kinds).astype(np.int64)
    start = alignments.field("target_start").astype(np.int64)
    end = alignments.field("target_end").astype(np.int64)
    cuts = np.stack((start % lengths, (end - lengths) % lengths))
    return alignments.raw_score.astype(np.int64), cuts


def _align_again(
    problem: Problem, strands: Strands, alignments: Alignments, detail: Detail, resources: Resources
) -> Alignments:
    """Rotate both sequences of each pair to the middle of its longest run of matches, and align.

    Of DNA, both are on the strand on which the residues of that run come first.
    """
    pairs = []
    for alignment in (Alignment(alignments, number) for number in range(len(alignments))):
        pair = alignment.query.residues.encode(), alignment.target.residues.encode()
        starts, length = _longest_run(alignment.runs)
        run = pair[0][starts[0] : starts[0] + length].upper()
        if strands.table is not None and run[::-1].translate(strands.table) < run:
            pair = strands.other(pair[0]), strands.other(pair[1])
            starts = tuple(
                len(text) - start - length for text, start in zip(pair, starts, strict=True)
            )
        pairs.append(
            [rotated(text, at + length // 2) for text, at in zip(pair, starts, strict=True)]
        )
    queries, targets = (strands.set_of([pair[side] for pair in pairs]) for side in (0, 1))
    numbers = np.arange(len(pairs), dtype=np.int32)
    again = Problem(queries, targets, problem.scoring)
    return align_list(again, PairList(numbers, numbers), detail, resources)


def _longest_run(runs: UInt32s) -> tuple[tuple[int, ...], int]:
    """Return where the longest run of matches begins in query and target, and its length."""
    operation, length = runs & 15, (runs >> 4).astype(np.int64)
    matched = np.where(operation == MATCH, length, 0)
    run = int(np.argmax(matched))
    before, kinds = length[:run], operation[:run]
    starts = tuple(int(before[kinds != gap].sum()) for gap in (DELETION, INSERTION))
    return starts, int(matched[run])


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
