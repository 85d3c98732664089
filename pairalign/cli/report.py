"""``--report`` on the command line: an HTML file beside the results."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pairalign.cli.console import log
from pairalign.cli.planning import plan_run
from pairalign.errors import FormatError
from pairalign.formats.output import check_writable
from pairalign.pairs.want import Detail

if TYPE_CHECKING:  # what makes reports is loaded where one is wanted
    from pairalign.formats.report import Table
    from pairalign.jobs.report.report import ReportCollector
    from pairalign.scoring.scoring import Scoring
    from pairalign.sequences.sets import SequenceSet
    from pairalign.trees.distance_matrix import DistanceMatrix


def make_collector(
    options: argparse.Namespace,
    queries: SequenceSet,
    targets: SequenceSet | None,
    whole: bool = False,
) -> ReportCollector | None:
    """Return what collects a report of a run; None where none is wanted.

    `whole`: whether all pairs of the sets will come.
    """
    if options.report is None:
        return None
    from pairalign.jobs.report.report import ReportCollector

    return ReportCollector(queries, queries if targets is None else targets, whole)


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
    for name in ("shard", "resume", "cluster"):
        if getattr(options, name, None):
            raise FormatError(f"a report needs all pairs of a run: leave --{name} out")
    from pairalign.formats.report import check_jinja

    check_jinja()
    check_writable(options.report)


def report_distances(
    options: argparse.Namespace,
    matrix: DistanceMatrix,
    sequences: SequenceSet,
    scoring: Scoring,
    summary: str,
) -> None:
    """Write the report of distances; the closest pairs are aligned again for it."""
    from pairalign.jobs.report.report import DistanceCollector, closest_pairs

    collector = DistanceCollector(sequences, sequences, matrix=matrix)
    pairs = closest_pairs(matrix)
    plan = plan_run(options, sequences, None, scoring, Detail.CIGAR, pair_list=pairs)
    for found in plan.job:
        collector.add(found)
    collector.pairs = len(matrix.condensed)
    finish_report(options, collector, summary)


def finish_report(
    options: argparse.Namespace,
    collector: ReportCollector | None,
    summary: str,
    tables: Sequence[Table] = (),
) -> None:
    """Write the report, if one is wanted.

    Parameters
    ----------
    options : argparse.Namespace
    collector : ReportCollector or None
        None: no report is wanted.
    summary : str
        The lines of the summary, "title  text" each.
    tables : sequence of Table
        Shown besides.
    """
    if collector is None:
        return
    from pairalign.base.version import __version__  # looks the version up
    from pairalign.formats.report import Report, write_report
    from pairalign.jobs.report.report import pair_rows

    inputs = [path for path in (options.input, getattr(options, "input2", None)) if path]
    names = " and ".join("standard input" if path == "-" else path for path in inputs)
    facts = [
        ("command", shlex.join(["pairalign", *_command(options)])),
        ("version", __version__),
        ("device", options.device),
    ]
    for line in summary.splitlines():
        title, _, text = line.strip().partition("  ")
        facts.append((title, text.strip()))
    alphabet = collector.queries.alphabet
    picture = collector.picture()
    if picture is None:
        log.warning("%s: no heat map: %s", options.report, collector.no_picture)
    report = Report(
        title=f"pairalign: {names}",
        facts=facts,
        histograms=collector.histograms(),
        pairs=pair_rows(collector.best),
        all_pairs=collector.pairs,
        definite=alphabet.letters[: alphabet.definite],
        picture=picture,
        no_picture=collector.no_picture,
        tables=tables,
    )
    write_report(options.report, report)


def _command(options: argparse.Namespace) -> list[str]:
    given = getattr(options, "given", None)
    return list(given) if given else sys.argv[1:]
