"""What to give miniasm along with overlaps, from what the overlaps are like.

miniasm drops overlaps shorter than its minimum span before it does anything else, and takes what
hangs over by less than its maximum for the same place.

References
----------
H. Li: Minimap and miniasm: fast mapping and de novo assembly for noisy long sequences.
Bioinformatics 32(14):2103-2110, 2016.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.spelling import spelled
from pairalign.jobs.overlaps.string_graph import find_mutual
from pairalign.reads.overlap_kinds import overhangs
from pairalign.sequences.sets import SequenceSet

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
        shares: npt.NDArray[np.float64] = self._reached / self._count
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
