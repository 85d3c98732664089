"""What overlaps say of each read: how deep it is covered, where overlaps end suddenly, its kind.

An overlap ends suddenly where both reads go on and are no longer alike. Where many overlaps of a
read do so at one place, and hardly any goes on across it, the read is to blame: an adapter near
its end, or a chimera.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Doubles, Int32s, Int64s, UInt8s
from pairalign.base.texts import quoted
from pairalign.formats.names import table_format
from pairalign.formats.output import open_table
from pairalign.reads.overlap_kinds import CONTAINED, CONTAINS, DOVETAIL, INTERNAL, overhangs
from pairalign.sequences.sets import SequenceSet

READ_KINDS = ("isolated", "internal", "dovetail", "contained")
"""What a read is: contained in another; else with dovetails; else with internal overlaps only."""

BEYOND = 50
"""Residues that both reads have beyond the end of an overlap that ends suddenly."""
ENDING = 20
"""Residues that both reads have at most beyond an overlap that ends with both of them."""
WITHIN = 100
"""Residues within which ends are at one place."""
FEWEST, CROSSING_SHARE = 3, 0.25
"""Fewest overlaps that end there, and the most that go on across it, by those that end."""
ADAPTER = 300
"""Residues that an adapter has at most: sudden ends farther from the read's end are a chimera's."""

Codes = UInt8s
_SUDDEN, _WITH_BOTH = 1, 2
"""How an overlap ends on a side: both reads go on, or both end. 0: one of them does."""

_COLUMNS = (
    *("read", "length", "overlaps", "kind", "min_depth", "median_depth", "uncovered"),
    *("flags", "sudden_ends"),
)


@dataclass(frozen=True)
class SuddenEnd:
    """A place in a read at which many overlaps end though both reads go on.

    Attributes
    ----------
    position : int
        Median of theirs, counted from 0 along the read as it is.
    begins : bool
        Whether overlaps begin there; else they end there.
    overlaps : int
        How many.
    """

    position: int
    begins: bool
    overlaps: int

    def __str__(self) -> str:
        return f"{'begin' if self.begins else 'end'}:{self.position}:{self.overlaps}"


@dataclass(frozen=True, eq=False)
class ReadReport:
    """A row a read, in the order of the input.

    Attributes
    ----------
    overlaps : ndarray of int32, shape (reads,)
        In which the read is.
    kind_codes : ndarray of uint8, shape (reads,)
        Index into `READ_KINDS`.
    min_depth : ndarray of int32, shape (reads,)
        Fewest overlaps that cover a residue.
    median_depth : ndarray of float64, shape (reads,)
    uncovered : ndarray of int32, shape (reads,)
        Residues that no overlap covers.
    sudden_ends : list of tuples of SuddenEnd
        By position.
    """

    reads: SequenceSet
    overlaps: Int32s
    kind_codes: UInt8s
    min_depth: Int32s
    median_depth: Doubles
    uncovered: Int32s
    sudden_ends: list[tuple[SuddenEnd, ...]]

    @property
    def kind(self) -> npt.NDArray[np.str_]:
        """``contained``, ``dovetail``, ``internal`` or ``isolated``, a read each."""
        return np.array(READ_KINDS)[self.kind_codes]

    @property
    def flags(self) -> list[tuple[str, ...]]:
        """``adapter`` and ``chimera`` where sudden ends say so, a tuple a read."""
        lengths = self.reads.lengths.tolist()
        return [
            tuple(sorted({_flag(end, length) for end in ends}))
            for ends, length in zip(self.sudden_ends, lengths, strict=True)
        ]

    def columns(self) -> dict[str, list[object]]:
        """Return what a table of reads shows besides their names, a list a column."""
        return {
            "overlaps": self.overlaps.tolist(),
            "kind": [READ_KINDS[code] for code in self.kind_codes.tolist()],
            "least depth": self.min_depth.tolist(),
            "median depth": self.median_depth.tolist(),
            "uncovered": self.uncovered.tolist(),
            "flags": [", ".join(flags) for flags in self.flags],
            "sudden ends": [", ".join(map(str, ends)) for ends in self.sudden_ends],
        }

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write a table, with tabs.

        Parameters
        ----------
        path : str or path
            ``.gz`` compresses. The file appears when it is complete.

        Raises
        ------
        OutputError
        """
        output = open_table(path, table_format(path))
        try:
            output.write(("\t".join(_COLUMNS) + "\n").encode())
            for number, flags in enumerate(self.flags):
                output.write(self._line(number, flags).encode())
            output.close()
        finally:
            output.abort()

    def _line(self, number: int, flags: tuple[str, ...]) -> str:
        ends = self.sudden_ends[number]
        values = (
            quoted(self.reads.names[number]),
            int(self.reads.lengths[number]),
            int(self.overlaps[number]),
            READ_KINDS[self.kind_codes[number]],
            int(self.min_depth[number]),
            f"{self.median_depth[number]:g}",
            int(self.uncovered[number]),
            ",".join(flags) or ".",
            ",".join(map(str, ends)) or ".",
        )
        return "\t".join(map(str, values)) + "\n"


class ReadCollector:
    """Collects overlaps for a `ReadReport`.

    Notes
    -----
    Holds 22 bytes an overlap and read.
    """

    def __init__(self, reads: SequenceSet) -> None:
        self._reads = reads
        self._kinds = np.zeros(len(reads), np.uint8)
        self._parts: list[tuple[npt.NDArray[np.integer], ...]] = []

    def add(self, alignments: Alignments, kinds: UInt8s) -> None:
        """Take in some more overlaps.

        Parameters
        ----------
        alignments : Alignments
            With spans.
        kinds : ndarray of uint8
            See `pairalign.reads.overlap_kinds.classify`.
        """
        aligned = np.flatnonzero(kinds)
        alignments, kinds = alignments.take(aligned), kinds[aligned]
        query_left, query_right, target_left, target_right = overhangs(alignments)
        left, right = _end_of(query_left, target_left), _end_of(query_right, target_right)
        self._parts.append(_sides(alignments, "target", left, right))
        if alignments.strand is not None:
            minus = alignments.strand < 0
            left, right = np.where(minus, right, left), np.where(minus, left, right)
        self._parts.append(_sides(alignments, "query", left, right))
        for kind, query, target in (
            (INTERNAL, 1, 1),
            (DOVETAIL, 2, 2),
            (CONTAINED, 3, 2),
            (CONTAINS, 2, 3),
        ):
            which = kinds == kind
            np.maximum.at(self._kinds, alignments.query[which], np.uint8(query))
            np.maximum.at(self._kinds, alignments.target[which], np.uint8(target))

    def report(self) -> ReadReport:
        """Make the report of all that was added."""
        empty = tuple(np.empty(0, np.int32) for _ in range(5))
        columns = [np.concatenate(parts) for parts in zip(empty, *self._parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        read, *columns = (column[order] for column in columns)
        bounds = np.searchsorted(read, np.arange(len(self._reads) + 1)).tolist()
        depths, ends = [], []
        for number, length in enumerate(self._reads.lengths.tolist()):
            rows = slice(bounds[number], bounds[number + 1])
            starts, stops, begins, finishes = (column[rows] for column in columns)
            depths.append(_depth(starts, stops, length))
            sudden = _sudden(starts, begins, starts, stops, begins_there=True)
            sudden += _sudden(stops, finishes, starts, stops, begins_there=False)
            ends.append(tuple(sorted(sudden, key=lambda end: (end.position, end.begins))))
        table = np.array(depths, np.float64).reshape(-1, 3)
        return ReadReport(
            self._reads,
            np.diff(bounds).astype(np.int32),
            self._kinds,
            table[:, 0].astype(np.int32),
            table[:, 1].copy(),
            table[:, 2].astype(np.int32),
            ends,
        )


def report_reads(alignments: Alignments, kinds: UInt8s) -> ReadReport:
    """Make the report of some overlaps.

    Parameters
    ----------
    alignments : Alignments
        Of one set, with spans.
    """
    collector = ReadCollector(alignments.queries)
    collector.add(alignments, kinds)
    return collector.report()


def _end_of(query: Int64s, target: Int64s) -> Codes:
    """Say how overlaps end on one side, by the residues that both reads have beyond it."""
    ends = np.where(np.minimum(query, target) > BEYOND, _SUDDEN, 0)
    both: Codes = np.where(np.maximum(query, target) <= ENDING, _WITH_BOTH, ends).astype(np.uint8)
    return both


def _sides(
    overlaps: Alignments, side: str, begins: Codes, ends: Codes
) -> tuple[npt.NDArray[np.integer], ...]:
    """Return the reads of one side of overlaps, their spans, and how they begin and end there."""
    spans = overlaps.field(f"{side}_start"), overlaps.field(f"{side}_end")
    return getattr(overlaps, side), *spans, begins, ends


def _depth(starts: Int32s, stops: Int32s, length: int) -> tuple[int, float, int]:
    """Least depth, median depth, and how many residues have none."""
    if not length:
        return 0, 0.0, 0
    steps = np.bincount(starts, minlength=length + 1) - np.bincount(stops, minlength=length + 1)
    depth = np.cumsum(steps[:length])
    return int(depth.min()), float(np.median(depth)), int(np.count_nonzero(depth == 0))


def _sudden(
    places: Int32s, ways: Codes, starts: Int32s, stops: Int32s, *, begins_there: bool
) -> list[SuddenEnd]:
    """Find where many overlaps begin, or end, at one place that hardly any goes on across.

    Parameters
    ----------
    places : ndarray of int32, shape (n,)
        Either `starts` or `stops`.
    ways : ndarray of uint8, shape (n,)
        How overlaps begin, or end, there. Those that do so with both reads may hold the adapters of
        both: they do not count as going on.
    starts, stops : ndarray of int32, shape (n,)
    begins_there : bool
        Whether `places` are `starts`.
    """
    sudden_ends = []
    left = np.sort(places[ways == _SUDDEN])
    starts, stops = starts[ways != _WITH_BOTH], stops[ways != _WITH_BOTH]
    while len(left) >= FEWEST:
        counts = np.searchsorted(left, left + WITHIN, "right") - np.arange(len(left))
        at = int(counts.argmax())
        count = int(counts[at])
        if count < FEWEST:
            break
        position = int(np.median(left[at : at + count]))
        across = np.count_nonzero((starts < position - WITHIN) & (stops > position + WITHIN))
        if across <= CROSSING_SHARE * count:
            sudden_ends.append(SuddenEnd(position, begins_there, count))
        left = np.delete(left, np.arange(at, at + count))
    return sudden_ends


def _flag(end: SuddenEnd, length: int) -> str:
    """Say what a sudden end makes of its read."""
    beyond = end.position if end.begins else length - end.position
    return "adapter" if beyond <= ADAPTER else "chimera"
