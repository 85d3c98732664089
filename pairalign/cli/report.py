"""``--report`` on the command line: an HTML file beside the results."""

from __future__ import annotations

import argparse
import datetime
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pairalign.base.errors import FormatError
from pairalign.cli.console import log
from pairalign.formats.output import check_writable
from pairalign.jobs.run.request import AlignRequest, plan_alignment

if TYPE_CHECKING:  # what makes reports is loaded where one is wanted
    from pairalign.alignments.alignments import Alignments
    from pairalign.alignments.problem import Problem
    from pairalign.formats.report import Table
    from pairalign.jobs.report.report import Realign, ReportCollector
    from pairalign.pairs.lists import PairList
    from pairalign.statistics.significance import Significance
    from pairalign.trees.distance_matrix import DistanceMatrix
    from pairalign.trees.tree import GuideTree


def make_collector(
    problem: Problem, significance: Significance | None = None, no_map: str = ""
) -> ReportCollector:
    """Return what collects a report of a run.

    `no_map`: why there is no heat map, if there is to be none.
    """
    from pairalign.jobs.report.report import ReportCollector

    return ReportCollector(problem.queries, problem.others, significance, no_map)


def check_report(options: argparse.Namespace) -> None:
    """Refuse, before any work, a report that cannot be made or written.

    Raises
    ------
    FormatError
        Jinja2 is missing, or the run does not see all pairs.
    OutputError
        The file cannot be written.
    """
    if options.report is None:
        return
    for name in ("shard", "resume", "dask"):
        if getattr(options, name, None):
            raise FormatError(f"a report needs all pairs of a run: leave --{name} out")
    from pairalign.formats.report import check_jinja

    check_jinja()
    check_writable(options.report)


def report_distances(
    options: argparse.Namespace,
    matrix: DistanceMatrix,
    problem: Problem,
    request: AlignRequest,
    summary: str,
    tree: GuideTree | None = None,
    devices: Sequence[str] = (),
) -> None:
    """Write the report of distances; the closest pairs are aligned again for it."""
    from pairalign.jobs.report.report import DistanceCollector

    collector = DistanceCollector(problem.queries, problem.scoring, matrix, tree)

    def realign(pairs: PairList) -> Iterable[Alignments]:
        return plan_alignment(request.again(pairs), problem).job

    finish_report(options, collector, summary, devices=devices, realign=realign)


def finish_report(
    options: argparse.Namespace,
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
    options : argparse.Namespace
    collector : ReportCollector
    summary : str
        The lines of the summary, "title  text" each.
    tables : sequence of Table
        Shown besides.
    devices : sequence of str
        On which pairs were aligned.
    realign : callable, optional
        See `pairalign.jobs.report.report.ReportCollector.offered`.
    reads : dict of lists, optional
        See `pairalign.jobs.report.page.page_data`.
    """
    from pairalign.formats.report import Report, write_report
    from pairalign.jobs.report.page import page_data

    files = options.input, *options.also, getattr(options, "input2", None)
    inputs = [path for path in files if path]
    names = " and ".join("standard input" if path == "-" else path for path in inputs)
    heat_map = collector.heat_map()
    if collector.no_map:
        log.warning("%s: no heat map: %s", options.report, collector.no_map)
    report = Report(
        title=f"pairalign: {names}",
        facts=_facts(options, devices, summary),
        data=page_data(collector, collector.offered(realign), heat_map, reads),
        tables=tables,
    )
    write_report(options.report, report)


def _facts(
    options: argparse.Namespace, devices: Sequence[str], summary: str
) -> list[tuple[str, str]]:
    """Return titles and texts of what was run."""
    from pairalign.base.version import __version__  # looks the version up

    now = datetime.datetime.now().astimezone()
    facts = [
        ("command", shlex.join(["pairalign", *_command(options)])),
        ("version", __version__),
        ("date", f"{now:%Y-%m-%d %H:%M:%S %z}"),
        ("device", ", ".join(devices) or options.device),
    ]
    for line in summary.splitlines():
        title, _, text = line.strip().partition("  ")
        facts.append((title, text.strip()))
    return facts


def _command(options: argparse.Namespace) -> list[str]:
    given = getattr(options, "given", None)
    return list(given) if given else sys.argv[1:]
