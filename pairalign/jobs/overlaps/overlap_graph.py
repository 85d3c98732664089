"""``overlap``: what needs all overlaps at once: reduced graphs, and reports on reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Bools, Int64s
from pairalign.base.declaration import changed, check
from pairalign.formats.output import check_writable, open_output
from pairalign.formats.writer import Writer
from pairalign.jobs.overlaps.overlap_request import OverlapOptions
from pairalign.jobs.overlaps.string_graph import AssemblyAdvice
from pairalign.reads.overlap_kinds import classify, classify_and_count, mark_indices

if TYPE_CHECKING:
    from pairalign.jobs.overlaps.read_report import ReadCollector, ReadReport
    from pairalign.jobs.report.report_option import RunReport


def check_graph(request: OverlapOptions, writer_type: type[Writer]) -> None:
    """Refuse, before any work, what cannot be done or written.

    Raises
    ------
    UsageError
        The format has no unitigs, see `OverlapOptions`.
    OutputError
        The table, or the reads that are cut, cannot be written.
    """
    check(changed(request, format=writer_type.name))
    for path in (request.read_report, request.trimmed):
        if path is not None:
            check_writable(path)


class OverlapWatcher:
    """Sees all overlaps of a run: marks reads that have any, collects reports, reduces the graph.

    Parameters
    ----------
    problem : Problem
        Of one set, the reads.
    overhang : int
        See `pairalign.reads.overlap_kinds.classify`; and the tolerance of transitive overlaps.

    Attributes
    ----------
    overlapping : ndarray of bool, shape (reads,)
    advice : AssemblyAdvice
        Of the overlaps that are written.
    report : ReportCollector or None
        Of ``--report``.
    kept : ndarray of bool, shape (reads,), or None
        Reads that are left, after `reduce`; None: all.
    """

    def __init__(
        self,
        request: OverlapOptions,
        problem: Problem,
        overhang: int,
        report: RunReport | None,
    ) -> None:
        reads = problem.queries
        self.overlapping = np.zeros(len(reads), np.bool_)
        self.advice = AssemblyAdvice(reads)
        self.report = None if report is None else report.collector(problem, no_map=None)
        self.kept: Bools | None = None
        self._asked = request
        self._overhang = overhang
        self._found = 0
        self._reads: ReadCollector | None = None
        if request.read_report is not None or report is not None:
            from pairalign.jobs.overlaps.read_report import ReadCollector

            self._reads = ReadCollector(reads)

    def watch(self, results: Iterable[Alignments]) -> Iterator[Alignments]:
        """Give overlaps on as they come."""
        for overlaps in results:
            self._found += len(overlaps)
            for indices in (overlaps.query, overlaps.target):
                mark_indices(indices, self.overlapping)
            if self.report is not None:
                self.report.add(overlaps)
            if self._reads is not None:
                self._reads.add(overlaps, classify(overlaps, self._overhang))
            if not self._asked.removes:
                self.advice.add(overlaps)
            yield overlaps
            del overlaps  # or they would stay in memory while the next ones are waited for

    def reduce(self, results: Iterable[Alignments]) -> Iterator[Alignments]:
        """Return what is left of all overlaps; `kept` is known then."""
        from pairalign.jobs.overlaps.string_graph import Reduction

        rules = self._asked
        overlaps, _, self.kept = Reduction(
            rules.remove_weak, rules.mutual, rules.drops_contained, rules.drops_transitive
        ).apply(concatenate(list(results)), self._overhang, self._overhang)
        self.advice.add(overlaps)
        return iter([overlaps])

    def write_unitigs(self, results: Iterable[Alignments], path: str) -> Int64s:
        """Write the unitigs of what is left; return how many overlaps of each kind that is."""
        from pairalign.jobs.overlaps.unitigs import make_unitigs, write_unitigs

        (overlaps,) = self.reduce(results)
        kinds, counts = classify_and_count(overlaps, self._overhang)
        output = open_output(path)
        try:
            write_unitigs(output, make_unitigs(overlaps, kinds), overlaps.queries)
        finally:
            output.abort()
        return counts

    def describe_left(self, written: int) -> str:
        """Say how much was removed, of which `written` overlaps are left."""
        reads = len(self.overlapping)
        kept = reads if self.kept is None else int(self.kept.sum())
        return f"{kept:,} of {reads:,} reads, {written:,} of {self._found:,} overlaps"

    def describe_advice(self) -> list[tuple[str, str]]:
        """Return lines of the summary: what to give miniasm, and what to leave out before."""
        lines = [("miniasm", self.advice.miniasm())]
        if self.advice.are_old and not self._asked.remove_weak:
            lines.append(("weak", "--remove-weak leaves out what misleads an assembler"))
        return [*lines, *self.advice.warnings()]

    @cached_property
    def read_report(self) -> ReadReport:
        """What the overlaps say of each read."""
        assert self._reads is not None
        return self._reads.report()

    def write_reads(self) -> None:
        """Write the report on reads, if one is wanted."""
        if self._asked.read_report is not None:
            self.read_report.write(self._asked.read_report)
