"""The command ``pairalign align``."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pairalign.base.console import say
from pairalign.base.declaration import decided_by
from pairalign.base.native import keep_freed_memory
from pairalign.formats import FORMATS, open_writer
from pairalign.formats.writer import Content
from pairalign.jobs.commands.dask_cluster import WorkersRequest, run_on_cluster, workers_of
from pairalign.jobs.commands.planning import (
    named_output_of,
    report_of,
    with_output,
)
from pairalign.jobs.commands.summary import Summary, describe_steps, say_plan
from pairalign.jobs.commands.summary_lines import Lines, say_summary, written_pairs
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.destination import Destination, OutputRequest, open_destination
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import ProblemRequest, check_scoring
from pairalign.jobs.run.run_request import RunRequest, plan_of_files
from pairalign.jobs.run.table import Table, content_of, table_of
from pairalign.requests.align_request import AlignOptions, AlignRequest
from pairalign.statistics.statements import describe_statistics

if TYPE_CHECKING:
    from pairalign.jobs.report.report_collector import ReportCollector
    from pairalign.jobs.report.report_option import RunReport


@dataclass(frozen=True)
class _Command:
    """What is asked, and what has been found out about where results go."""

    request: AlignOptions
    problem: ProblemRequest
    run: RunRequest
    table: Table
    output: OutputRequest
    workers: WorkersRequest | None
    report: RunReport | None


def run_align(request: AlignOptions) -> None:
    """Carry out ``pairalign align``."""
    if request.dry_run and request.output is None:
        request = replace(request, output="-")
    request = with_output(request, FORMATS)
    table = table_of(request)  # wrong usage is said before anything is read
    check_files(request)
    check_scoring(request)
    writer = table.writer_type
    problem = ProblemRequest(
        request.input,
        request.input2,
        reading=replace(request.reading, qualities=writer.shows_qualities),
        scoring=request.scoring,
    )
    if request.dry_run:
        say_summary(request, _foretell(request, table, problem))
        return
    workers, report = workers_of(request), report_of(request, request.input, request.input2)
    command = _Command(
        request,
        problem,
        table.run_request(request, request.resources),
        table,
        named_output_of(request, writer.name),
        workers,
        report,
    )
    say_summary(request, _carry_out(command))


def _foretell(request: AlignOptions, table: Table, problem: ProblemRequest) -> Lines:
    """Plan a run, and return what it would take."""
    from pairalign.cli.dry_run_lines import lines_of
    from pairalign.jobs.run.dry_run import foretell

    resources = replace(request.resources, progress=False)
    plan = plan_of_files(problem, request, table.run_request(request, resources))
    say_plan(plan, quiet=False)
    return lines_of(foretell(plan, table))


def _carry_out(command: _Command) -> Lines:
    """Align, and write; return the summary."""
    request, output, table = command.request, command.output, command.table
    plan = plan_of_files(command.problem, request, command.run)
    say_plan(plan, quiet=request.messages.quiet)
    run, started = plan.job, time.perf_counter()
    decided = decided_by(request)
    if command.workers is not None:
        run_on_cluster(command.workers, output.path, run, table.writer_type, **decided)
        return written_pairs("alignments", run.pairs, output.path)
    destination = open_destination(output, run, of_block=table.writer_type.of_block, **decided)
    summary = _summary_of(request, run)
    summary.go_on(destination.before)
    destination.summary = summary.leave
    run, computed = destination.job, _cells_left(destination, request)
    collector = None
    if command.report is not None:
        collector = command.report.collector(run.problem, plan.significance)
    if not destination.is_done:
        keep_freed_memory(run.memory_bytes)
        content = content_of(table, plan, run, request.resources.device, destination.piece)
        with destination.held():
            _write(run, content, destination, summary, collector)
    destination.finish()
    if destination.is_done and not destination.before:  # update has made the part
        return written_pairs("alignments", run.pairs, output.path)
    if request.explain:
        say(describe_steps(run.steps, run.pairs))
    lines = summary.lines(time.perf_counter() - started, output.path, computed)
    if command.report is not None:
        assert collector is not None
        facts = lines.text()
        if plan.significance is not None:
            facts += f"\nE-values  {describe_statistics(plan.significance, run.scoring)}"
        command.report.write(collector, facts, devices=run.devices, realign=plan.realign)
    return lines


def _cells_left(destination: Destination, request: AlignRequest) -> int:
    """Return how many cells are to be computed; 0 where that is not known."""
    run, is_cut = destination.job, destination.is_resumed
    return 0 if destination.is_done or (is_cut and request.has_hits) else run.cells


def _summary_of(request: AlignRequest, run: AlignmentJob) -> Summary:
    return Summary(run.problem, request, pairs=run.pairs_ranked, cells=run.cells)


def _write(
    run: AlignmentJob,
    content: Content,
    destination: Destination,
    summary: Summary,
    collector: ReportCollector | None,
) -> None:
    """Align and write what is kept."""
    with (
        run.open() as results,
        open_writer(
            destination.path,
            destination.format,
            content,
            threads=run.threads,
            output=destination.output,
        ) as writer,
    ):
        for alignments in results:
            writer.write(alignments)
            summary.add(alignments)
            if collector is not None:
                collector.add(alignments)
            del alignments  # or they would stay in memory while the next ones are waited for
            destination.wrote(writer)
        destination.wrote_all(writer)
