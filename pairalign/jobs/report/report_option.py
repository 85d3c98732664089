"""``--report`` on the command line: an HTML file beside the results."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.base.console import log
from pairalign.base.version import __version__
from pairalign.formats.output import check_writable
from pairalign.jobs.report.page import Report, Table, check_jinja, page_data, write_report
from pairalign.jobs.report.report_collector import DistanceCollector, Realign, ReportCollector
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.pairs.lists import PairList
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.sequences.input_rules import InputRules
from pairalign.statistics.significance import Significance
from pairalign.trees.distance_matrix import DistanceMatrix
from pairalign.trees.tree import GuideTree


@dataclass(frozen=True)
class RunReport:
    """A report of a command.

    Attributes
    ----------
    path : str
        Where it is written.
    files : tuple of str
        What the command reads.
    command_line : tuple of str
        The program's arguments.
    """

    path: str
    files: tuple[str, ...]
    command_line: tuple[str, ...]
    resources: Resources

    def collector(
        self, problem: Problem, significance: Significance | None = None, no_map: str | None = ""
    ) -> ReportCollector:
        """Return what collects a report of a run.

        `no_map`: why there is no heat map, if there is to be none; None: the page has no place for
        it.
        """
        return ReportCollector(problem.queries, problem.others, significance, no_map)

    def write_distances(
        self,
        matrix: DistanceMatrix,
        problem: Problem,
        request: AlignRequest,
        summary: str,
        tree: GuideTree | None = None,
        devices: Sequence[str] = (),
    ) -> None:
        """Write the report of distances; the closest pairs are aligned again for it."""
        collector = DistanceCollector(problem.queries, problem.scoring, matrix, tree)

        def realign(pairs: PairList) -> Iterable[Alignments]:
            return plan_alignment(
                request.again(pairs), problem, RunRequest(resources=self.resources)
            ).job

        self.write(collector, summary, devices=devices, realign=realign)

    def write(
        self,
        collector: ReportCollector,
        summary: str,
        tables: Sequence[Table] = (),
        *,
        devices: Sequence[str] = (),
        realign: Realign | None = None,
        reads: Mapping[str, Sequence[object]] | None = None,
    ) -> None:
        """Write the report.

        Parameters
        ----------
        summary : str
            The lines of the summary, "title  text" each.
        tables : sequence of Table
            Shown besides.
        devices : sequence of str
            On which pairs were aligned.
        realign : callable, optional
            See `pairalign.jobs.report.report_collector.ReportCollector.offered`.
        reads : dict of lists, optional
            See `pairalign.jobs.report.page.page_data`.
        """
        names = " and ".join("standard input" if path == "-" else path for path in self.files)
        heat_map = collector.heat_map()
        if collector.no_map:
            log.warning("%s: no heat map: %s", self.path, collector.no_map)
        report = Report(
            title=f"pairalign: {names}",
            facts=_facts(self, devices, summary),
            data=page_data(collector, collector.offered(realign), heat_map, reads),
            tables=tables,
        )
        write_report(self.path, report)


class ReportedCommand(Protocol):
    """The request of a command that may write a report."""

    @property
    def report(self) -> str | None:
        """Where it is written; None: there is to be none."""

    @property
    def reading(self) -> InputRules:
        """How sequences are read."""

    @property
    def command_line(self) -> tuple[str, ...]:
        """The program's arguments."""

    @property
    def resources(self) -> Resources:
        """What may be used for it."""


def open_report(request: ReportedCommand, *inputs: str | None) -> RunReport:
    """Return the report of a command; refuse, before any work, what cannot be made or written.

    Parameters
    ----------
    request : ReportedCommand
        With a report.
    inputs : str or None
        The files that the command reads, besides those of ``--also``.

    Raises
    ------
    FormatError
        Jinja2 is missing.
    OutputError
        The file cannot be written.
    """
    check_jinja()
    assert request.report is not None
    check_writable(request.report)
    named = (*inputs, *request.reading.also)
    files = tuple(str(path) for path in named if path)
    return RunReport(request.report, files, request.command_line, request.resources)


def _facts(request: RunReport, devices: Sequence[str], summary: str) -> list[tuple[str, str]]:
    """Return titles and texts of what was run."""
    now = datetime.datetime.now().astimezone()
    facts = [
        ("command", shlex.join(["pairalign", *request.command_line])),
        ("version", __version__),
        ("date", f"{now:%Y-%m-%d %H:%M:%S %z}"),
        ("device", ", ".join(devices) or request.resources.device),
    ]
    for line in summary.splitlines():
        title, _, text = line.strip().partition("  ")
        facts.append((title, text.strip()))
    return facts
