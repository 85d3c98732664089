"""The string graph of overlaps: weak and transitive ones and contained reads, to be left out.

A read is two vertices, one for each direction in which it can be walked through. A dovetail is two
edges, from the end of one read on to the residues that the other adds, and the same backwards. An
edge's length is how many residues that is.

References
----------
E. W. Myers: The fragment assembly string graph. Bioinformatics 21 (Suppl. 2):ii79-ii85, 2005.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Int64s
from pairalign.base.choices import MUTUAL
from pairalign.reads.overlap_kinds import CONTAINED, CONTAINS, DOVETAIL, classify, overhangs

Mask = npt.NDArray[np.bool_]

WEAK, ENOUGH_DEPTH = 0.6, 10.0
"""Overlaps less identical are weak; not needed where reads are covered so deep by others."""
MUTUAL_END = 50
"""Residues that both reads have at most beyond each end of an alignment of both of them whole."""
_STEPS_AT_A_TIME = 1 << 21


@dataclass(frozen=True)
class Reduction:
    """What is left out of overlaps, in this order.

    Attributes
    ----------
    weak : bool
        Overlaps that are little alike, see `find_weak`.
    mutual : {"keep", "drop", "one"}
        Where reads are contained in each other: keep their overlaps, drop them, or keep one read,
        see `find_representatives`.
    contained : bool
        Reads that are contained in others, see `find_kept`.
    transitive : bool
        Dovetails that two others make superfluous, see `find_transitive`.
    """

    weak: bool = False
    mutual: str = MUTUAL[0]
    contained: bool = False
    transitive: bool = False

    def apply(
        self, alignments: Alignments, max_overhang: int, tolerance: int
    ) -> tuple[Alignments, npt.NDArray[np.uint8], Mask | None]:
        """Return what is left, with its kinds, and the reads that are; None: all.

        Parameters
        ----------
        alignments : Alignments
            All of one set, with spans.
        max_overhang : int
            See `pairalign.reads.overlap_kinds.classify`.
        tolerance : int
            See `find_transitive`.
        """
        kept: Mask | None = None
        if self.weak:
            alignments = alignments.take(~find_weak(alignments))
        if self.mutual != MUTUAL[0]:
            mutual = find_mutual(alignments)
            if self.mutual == "one":
                kept = find_representatives(alignments, mutual)
                mutual = ~(kept[alignments.query] & kept[alignments.target])
            alignments = alignments.take(~mutual)
        kinds = classify(alignments, max_overhang)
        if self.contained:
            left = find_kept(alignments, kinds)
            chosen = np.flatnonzero(left[alignments.query] & left[alignments.target])
            alignments, kinds = alignments.take(chosen), kinds[chosen]
            kept = left if kept is None else kept & left
        if self.transitive:
            needed = ~find_transitive(alignments, kinds, tolerance)
            alignments, kinds = alignments.take(needed), kinds[needed]
        return alignments, kinds, kept


@dataclass(frozen=True)
class Edges:
    """Edges of the string graph.

    Attributes
    ----------
    tail, head : ndarray of int64, shape (2 n,)
        Vertices: ``2 * read`` for the read as it is, one more for its reverse complement.
    length : ndarray of int64, shape (2 n,)
        Residues that the head has beyond the tail's end, at least 1.
    overlap : ndarray of int64, shape (2 n,)
        Number of the overlap.
    """

    tail: Int64s
    head: Int64s
    length: Int64s
    overlap: Int64s


def make_edges(alignments: Alignments, kinds: npt.NDArray[np.uint8]) -> Edges:
    """Make the edges of all dovetails, each both ways.

    Parameters
    ----------
    alignments : Alignments
        Of one set, with spans.
    kinds : ndarray of uint8, shape (n,)
        See `pairalign.reads.overlap_kinds.classify`.
    """
    numbers = np.flatnonzero(kinds == DOVETAIL)
    query_left, query_right, target_left, target_right = (
        side[numbers] for side in overhangs(alignments)
    )
    query = 2 * alignments.query[numbers].astype(np.int64)
    if alignments.strand is not None:
        query += alignments.strand[numbers] < 0
    target = 2 * alignments.target[numbers].astype(np.int64)
    query_first = query_left > target_left
    first, second = np.where(query_first, (query, target), (target, query))
    added = np.where(query_first, target_right - query_right, query_right - target_right)
    added_back = np.where(query_first, query_left - target_left, target_left - query_left)
    return Edges(
        np.concatenate((first, second ^ 1)),
        np.concatenate((second, first ^ 1)),
        np.concatenate((added, added_back)),
        np.concatenate((numbers, numbers)),
    )


def find_weak(alignments: Alignments, depth: float = ENOUGH_DEPTH) -> Mask:
    """Say which overlaps are little alike and not needed.

    Parameters
    ----------
    alignments : Alignments
        All of one set, with spans.
    depth : float
        What others must cover reads with, in the mean.

    Returns
    -------
    ndarray of bool, shape (n,)
        Whether an overlap is less identical than `WEAK`, and than the most alike overlaps that
        cover all reads `depth` times, in the mean. Those that are equally alike stay together.

    Notes
    -----
    Reads that are bad at their ends overlap there with others like them. To an assembler such ends
    are covered and so taken for good: they stand in the way of better overlaps.
    """
    identity = alignments.identity
    spans = alignments.field("query_end").astype(np.int64) - alignments.field("query_start")
    spans += alignments.field("target_end") - alignments.field("target_start")
    order = np.argsort(-identity, kind="stable")
    enough = depth * alignments.queries.total_residues
    last = int(np.searchsorted(np.cumsum(spans[order]), enough))
    if last == len(alignments):
        return np.zeros(len(alignments), np.bool_)
    weak: Mask = identity < min(WEAK, float(identity[order[last]]))
    return weak


def find_mutual(alignments: Alignments) -> Mask:
    """Say which overlaps reach both ends of both reads: each read is contained in the other.

    Parameters
    ----------
    alignments : Alignments
        Of one set, with spans.

    Returns
    -------
    ndarray of bool, shape (n,)
        Whether no read has more than `MUTUAL_END` residues beyond either end.
    """
    mutual: Mask = np.max(overhangs(alignments), axis=0, initial=0) <= MUTUAL_END
    return mutual


def find_representatives(alignments: Alignments, mutual: Mask) -> Mask:
    """Say which reads stand for others that they are mutually contained with.

    Parameters
    ----------
    alignments : Alignments
        Of one set.
    mutual : ndarray of bool, shape (n,)
        See `find_mutual`.

    Returns
    -------
    ndarray of bool, shape (reads,)
        Longest first, of equals the earliest in the input: a read is kept unless it is mutually
        contained with one that is.
    """
    partners: dict[int, list[int]] = {}
    for query, target in zip(
        alignments.query[mutual].tolist(), alignments.target[mutual].tolist(), strict=True
    ):
        partners.setdefault(query, []).append(target)
        partners.setdefault(target, []).append(query)
    kept = np.ones(len(alignments.queries), np.bool_)
    decided: set[int] = set()
    for read in alignments.queries.order.tolist():
        if read in partners:
            kept[read] = not any(other in decided for other in partners[read])
            if kept[read]:
                decided.add(read)
    return kept


def find_transitive(alignments: Alignments, kinds: npt.NDArray[np.uint8], tolerance: int) -> Mask:
    """Say which dovetails two others make superfluous.

    Parameters
    ----------
    kinds : ndarray of uint8, shape (n,)
    tolerance : int
        Residues.

    Returns
    -------
    ndarray of bool, shape (n,)
        Whether one of the overlap's two edges, from v to x, is transitive: there is a vertex w with
        edges from v to w and from w to x whose lengths together differ from that of the edge by at
        most `tolerance`. All edges count as such steps, also those that are transitive themselves.

    Notes
    -----
    As in Myers 2005, but the length of the edge itself counts, not that of the vertex's longest
    one: a pair may have several overlaps. Time is proportional to the number of two steps.
    """
    edges = make_edges(alignments, kinds)
    order = np.lexsort((edges.length, edges.head, edges.tail))
    tail, head, length = (column[order] for column in (edges.tail, edges.head, edges.length))
    vertices = 2 * len(alignments.queries)
    starts = np.searchsorted(tail, np.arange(vertices + 1))
    ways, way = np.unique(tail * vertices + head, return_inverse=True)
    room = 2 * int(length.max(initial=0)) + tolerance + 1
    places = way * room + length  # ascending
    marks = np.zeros(len(tail) + 1, np.int64)
    for first, second in _two_steps(head, starts):
        key = tail[first] * vertices + head[second]
        at = np.minimum(np.searchsorted(ways, key), max(0, len(ways) - 1))
        there = ways[at] == key
        base = at[there] * room
        both = (length[first] + length[second])[there]
        low = np.searchsorted(places, base + np.maximum(both - tolerance, 0))
        high = np.searchsorted(places, base + np.minimum(both + tolerance, room - 1), "right")
        np.add.at(marks, low, 1)
        np.add.at(marks, high, -1)
    transitive = np.zeros(len(alignments), np.bool_)
    transitive[edges.overlap[order[np.cumsum(marks[:-1]) > 0]]] = True
    return transitive


def _two_steps(head: Int64s, starts: Int64s) -> Iterator[tuple[Int64s, Int64s]]:
    """Yield the numbers of edges that follow one another, some at a time."""
    following = starts[head + 1] - starts[head]
    before = np.concatenate((np.zeros(1, np.int64), np.cumsum(following)))
    start = 0
    while start < len(head):
        stop = int(np.searchsorted(before, before[start] + _STEPS_AT_A_TIME, "right")) - 1
        stop = max(start + 1, min(stop, len(head)))
        counts = following[start:stop]
        first = np.repeat(np.arange(start, stop), counts)
        ranks = np.arange(len(first)) - np.repeat(before[start:stop] - before[start], counts)
        yield first, starts[head[first]] + ranks
        start = stop


def find_kept(alignments: Alignments, kinds: npt.NDArray[np.uint8]) -> Mask:
    """Say which reads are left when contained ones are removed.

    Parameters
    ----------
    alignments : Alignments
        Of one set.
    kinds : ndarray of uint8, shape (n,)

    Returns
    -------
    ndarray of bool, shape (reads,)
        Every read that is removed is contained in one that is kept, or in a removed one that is,
        and so on. Where reads are contained in one another all round, which tolerated overhangs
        make possible, and in no others, the longest is kept, of equals the earliest in the input.
    """
    inside, outside = alignments.query.astype(np.int64), alignments.target.astype(np.int64)
    turned = kinds == CONTAINS
    inside, outside = np.where(turned, (outside, inside), (inside, outside))
    which = turned | (kinds == CONTAINED)
    inside, outside = inside[which], outside[which]
    kept = np.ones(len(alignments.queries), np.bool_)
    kept[inside] = False
    settled = _leading_to(kept, inside, outside)
    rank = np.empty(len(kept), np.int64)
    rank[alignments.queries.order] = np.arange(len(kept))
    while not settled.all():
        left = ~settled[inside]
        around = _all_round(inside[left], outside[left])
        kept[min(around, key=lambda read: int(rank[read]))] = True
        settled = _leading_to(kept, inside, outside)
    return kept


def _leading_to(kept: Mask, inside: Int64s, outside: Int64s) -> Mask:
    """Return the reads that are kept, or from which containers lead to one that is."""
    settled: Mask = kept.copy()
    while (new := settled[outside] & ~settled[inside]).any():
        settled[inside[new]] = True
    return settled


def _all_round(inside: Int64s, outside: Int64s) -> set[int]:
    """Return reads that are contained in one another all round, and in no others."""
    containers: dict[int, list[int]] = {}
    for contained, container in zip(inside.tolist(), outside.tolist(), strict=True):
        containers.setdefault(contained, []).append(container)

    def above(read: int) -> set[int]:
        seen, waiting = {read}, [read]
        while waiting:
            for larger in containers[waiting.pop()]:
                if larger not in seen:
                    seen.add(larger)
                    waiting.append(larger)
        return seen

    around = above(int(inside[0]))
    while True:
        smaller = next(
            (up for read in sorted(around) if len(up := above(read)) < len(around)), None
        )
        if smaller is None:
            return around
        around = smaller
