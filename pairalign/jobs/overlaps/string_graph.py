"""The string graph of overlaps: weak and transitive ones and contained reads, to be left out.

A read is two vertices, one for each direction in which it can be walked through. A dovetail is two
edges, from the end of one read on to the residues that the other adds, and the same backwards. An
edge's length is how many residues that is.

What to give miniasm along with overlaps follows from what they are like. miniasm drops overlaps
shorter than its minimum span before it does anything else, and takes what hangs over by less than
its maximum for the same place.

References
----------
E. W. Myers: The fragment assembly string graph. Bioinformatics 21 (Suppl. 2):ii79-ii85, 2005.

H. Li: Minimap and miniasm: fast mapping and de novo assembly for noisy long sequences.
Bioinformatics 32(14):2103-2110, 2016.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Doubles, Int64s, UInt8s
from pairalign.base.choices import MUTUAL
from pairalign.base.spelling import spelled
from pairalign.reads.overlap_kinds import CONTAINED, CONTAINS, DOVETAIL, classify, overhangs
from pairalign.sequences.sets import SequenceSet

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
    ) -> tuple[Alignments, UInt8s, Bools | None]:
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
        kept: Bools | None = None
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


def make_edges(alignments: Alignments, kinds: UInt8s) -> Edges:
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


def find_weak(alignments: Alignments, depth: float = ENOUGH_DEPTH) -> Bools:
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
    weak: Bools = identity < min(WEAK, float(identity[order[last]]))
    return weak


def find_mutual(alignments: Alignments) -> Bools:
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
    mutual: Bools = np.max(overhangs(alignments), axis=0, initial=0) <= MUTUAL_END
    return mutual


def find_representatives(alignments: Alignments, mutual: Bools) -> Bools:
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


def find_transitive(alignments: Alignments, kinds: UInt8s, tolerance: int) -> Bools:
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


def find_kept(alignments: Alignments, kinds: UInt8s) -> Bools:
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


def _leading_to(kept: Bools, inside: Int64s, outside: Int64s) -> Bools:
    """Return the reads that are kept, or from which containers lead to one that is."""
    settled: Bools = kept.copy()
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


SPANS = (2000, 1000, 500, 200, 100)
"""Minimum spans, the first miniasm's own; the first that overlaps reach is advised."""
REACHED, MOSTLY = 0.5, 0.9
"""Share of overlaps that reach miniasm's own span, or else another one is advised that this share
of them reaches."""
LOW_DEPTH = 10.0
"""Where overlaps cover reads less deep, one is enough for a base: miniasm asks for three."""
OLD_READS, OLD_OVERHANG = 0.8, 300
"""Where the best partners of reads are less identical, ends of reads are bad, too: less may hang
over."""


_HANGING = 1000
"""Residues beyond an overlap that do not keep it from being a dovetail."""
SUBREAD = re.compile(r"(\S+/\d+)/\d+_\d+\Z")
"""PacBio's names of subreads: movie, well, span."""


def reads_round_a_circle(alignments: Alignments) -> list[tuple[int, int]]:
    """Find reads that are longer than the circle that they come from.

    Parameters
    ----------
    alignments : Alignments
        Of one set, the overlaps of a pair one after the other.

    Returns
    -------
    list of (int, int)
        Reads, which may come again, and residues of the circle: two dovetails of a pair, one at
        each end, hold all of the other read.
    """
    alignments = _of_pairs_with_several(alignments)
    query_left, query_right, target_left, target_right = overhangs(alignments)
    query_first = (query_left > target_left) & (target_right > query_right)
    target_first = (target_left > query_left) & (query_right > target_right)
    hanging = np.minimum(query_left, target_left) + np.minimum(query_right, target_right)
    lengths = alignments.queries.lengths
    both: dict[tuple[int, int, int], list[int]] = {}
    strands = np.ones(len(alignments), np.int8) if alignments.strand is None else alignments.strand
    keys = zip(alignments.query.tolist(), alignments.target.tolist(), strands.tolist(), strict=True)
    for k, key in enumerate(keys):
        if hanging[k] <= _HANGING:
            both.setdefault(key, []).append(k)
    spans = alignments.field("query_end").astype(np.int64) - alignments.field("query_start")
    result = []
    for (query, target, _), numbers in both.items():
        firsts = [k for k in numbers if query_first[k]]
        seconds = [k for k in numbers if target_first[k]]
        if not firsts or not seconds:
            continue
        shared = int(max(spans[firsts]) + max(spans[seconds]))
        query_length, target_length = int(lengths[query]), int(lengths[target])
        result += [
            (read, query_length + target_length - shared)
            for read, partner in ((query, target_length), (target, query_length))
            if shared >= partner
        ]
    return result


def _of_pairs_with_several(overlaps: Alignments) -> Alignments:
    """Return the overlaps of pairs that have several; of many sets of reads that is none."""
    if len(overlaps) < 2:
        return overlaps[:0]
    alike = (overlaps.query[1:] == overlaps.query[:-1]) & (
        overlaps.target[1:] == overlaps.target[:-1]
    )
    return overlaps.take(np.append(alike, False) | np.append(False, alike))


def _subreads(names: Sequence[str]) -> int:
    """Count the molecules of which several reads are there."""
    wells = Counter(match[1] for name in names if (match := SUBREAD.match(name)))
    return sum(count > 1 for count in wells.values())


class AssemblyAdvice:
    """Looks at overlaps as they come; says what assembles them best."""

    def __init__(self, reads: SequenceSet) -> None:
        self._best = np.zeros(len(reads))
        self._reached = np.zeros(len(SPANS), np.int64)
        self._count = 0
        self._bases = 0
        self._total = reads.total_residues
        self._reads = reads
        self._mutual = np.zeros(len(reads), np.bool_)
        self._round: dict[int, int] = {}

    def add(self, alignments: Alignments) -> None:
        """Take more overlaps; with spans and counts."""
        field = alignments.field
        of_query = field("query_end").astype(np.int64) - field("query_start")
        of_target = field("target_end").astype(np.int64) - field("target_start")
        spans = np.minimum(of_query, of_target)
        self._bases += int(of_query.sum() + of_target.sum())
        self._count += len(alignments)
        self._reached += [np.count_nonzero(spans >= span) for span in SPANS]
        mutual = find_mutual(alignments)
        self._mutual[alignments.query[mutual]] = self._mutual[alignments.target[mutual]] = True
        for read, bases in reads_round_a_circle(alignments):
            self._round[read] = bases
        identity = alignments.identity
        for indices in (alignments.query, alignments.target):
            np.maximum.at(self._best, indices, identity)

    @property
    def best_identity(self) -> float:
        """Median of the identities of reads with their best partners; 1 without overlaps."""
        return float(np.median(self._best[self._best > 0])) if self._best.any() else 1.0

    @property
    def are_old(self) -> bool:
        """Whether reads are so bad that weak overlaps mislead an assembler."""
        return self.best_identity < OLD_READS

    def warnings(self) -> list[tuple[str, str]]:
        """Return what stands in the way of an assembly, and what to do, each with a title."""
        warnings = []
        mutual = int(self._mutual.sum())
        if mutual:
            several = _subreads(self._reads.names)
            names = f"; {several:,} molecules have several subreads" if several else ""
            text = f"{mutual:,} reads are contained in each other, and miniasm deletes both{names}"
            warnings.append(("mutual", f"{text}: give {spelled('mutual', 'one')}"))
        if self._round:
            bases = int(np.median(list(self._round.values())))
            warnings.append(
                (
                    "circle",
                    f"{len(self._round):,} reads go all the way round about {bases:,} bases; if "
                    "miniasm gives nothing, take one of them, cut it there, and correct it (racon)",
                )
            )
        return warnings

    def miniasm(self) -> str:
        """Return the options of miniasm, or that its defaults fit, and why; empty: no overlaps."""
        if not self._count:
            return ""
        shares: Doubles = self._reached / self._count
        options, reasons = [], [f"{100 * shares[0]:.0f}% of overlaps reach its -s {SPANS[0]}"]
        if shares[0] < REACHED:
            enough = np.flatnonzero(shares >= MOSTLY)
            options.append(f"-s {SPANS[enough[0] if len(enough) else -1]}")
        depth = self._bases / self._total
        if depth < LOW_DEPTH:
            options.append("-c 1")
            reasons.append(f"they cover reads {depth:.1f} times")
        if self.are_old:
            options.append(f"-h {OLD_OVERHANG}")
            reasons.append(f"best partners are {100 * self.best_identity:.0f}% identical")
        return f"{' '.join(options) or 'defaults'} ({'; '.join(reasons)})"
