"""``--report`` on the command line: an HTML file beside the results."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pairalign.base.console import log
from pairalign.formats.output import check_writable
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources

if TYPE_CHECKING:  # what makes reports is loaded where one is wanted
    from pairalign.alignments.alignments import Alignments
    from pairalign.alignments.problem import Problem
    from pairalign.jobs.report.report_collector import Realign, ReportCollector
    from pairalign.jobs.report.report_file import Table
    from pairalign.pairs.lists import PairList
    from pairalign.statistics.significance import Significance
    from pairalign.trees.distance_matrix import DistanceMatrix
    from pairalign.trees.tree import GuideTree


@dataclass(frozen=True)
class ReportRequest:
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


def make_collector(
    problem: Problem, significance: Significance | None = None, no_map: str | None = ""
) -> ReportCollector:
    """Return what collects a report of a run.

    `no_map`: why there is no heat map, if there is to be none; None: the page has no place for it.
    """
    from pairalign.jobs.report.report_collector import ReportCollector

    return ReportCollector(problem.queries, problem.others, significance, no_map)


def report_of(options: Any, *inputs: str | None) -> ReportRequest | None:
    """Return the report that is asked for; refuse, before any work, what cannot be made or written.

    Parameters
    ----------
    options : of a command with ``--report``
    inputs : str or None
        The files that the command reads, besides those of ``--also``.

    Raises
    ------
    FormatError
        Jinja2 is missing.
    OutputError
        The file cannot be written.
    """
    if options.report is None:
        return None
    from pairalign.jobs.report.report_file import check_jinja

    check_jinja()
    check_writable(options.report)
    named = (*inputs, *options.reading.also)
    files = tuple(str(path) for path in named if path)
    return ReportRequest(options.report, files, options.command_line, options.resources)


def report_distances(
    options: ReportRequest,
    matrix: DistanceMatrix,
    problem: Problem,
    request: AlignRequest,
    resources: Resources,
    summary: str,
    tree: GuideTree | None = None,
    devices: Sequence[str] = (),
) -> None:
    """Write the report of distances; the closest pairs are aligned again for it."""
    from pairalign.jobs.report.report_collector import DistanceCollector

    collector = DistanceCollector(problem.queries, problem.scoring, matrix, tree)

    def realign(pairs: PairList) -> Iterable[Alignments]:
        return plan_alignment(request.again(pairs), problem, RunRequest(resources=resources)).job

    finish_report(options, collector, summary, devices=devices, realign=realign)


def finish_report(
    request: ReportRequest,
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
    from pairalign.jobs.report.page import page_data
    from pairalign.jobs.report.report_file import Report, write_report

    names = " and ".join("standard input" if path == "-" else path for path in request.files)
    heat_map = collector.heat_map()
    if collector.no_map:
        log.warning("%s: no heat map: %s", request.path, collector.no_map)
    report = Report(
        title=f"pairalign: {names}",
        facts=_facts(request, devices, summary),
        data=page_data(collector, collector.offered(realign), heat_map, reads),
        tables=tables,
    )
    write_report(request.path, report)


def _facts(request: ReportRequest, devices: Sequence[str], summary: str) -> list[tuple[str, str]]:
    """Return titles and texts of what was run."""
    from pairalign.base.version import __version__  # looks the version up

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
