"""The command ``pairalign align``."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pairalign.base.choices import ORIENTS
from pairalign.base.console import say
from pairalign.base.declaration import decided_by
from pairalign.base.dry_run import begin
from pairalign.base.native import keep_freed_memory
from pairalign.formats import FORMATS
from pairalign.jobs.commands.planning import read_problem, report_of, with_output
from pairalign.jobs.commands.summary import Lines, Summary, describe_steps, say_plan, say_summary
from pairalign.jobs.run.destination import open_destination, prepare_output
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import check_scoring
from pairalign.jobs.run.run_request import AlignmentPlan, plan_alignment
from pairalign.jobs.run.table import Table, confidence_of, content_of, table_of
from pairalign.requests.align_request import AlignOptions
from pairalign.statistics.statements import describe_statistics

if TYPE_CHECKING:
    from pairalign.jobs.report.report_option import RunReport
    from pairalign.jobs.run.forecast import Work


def run_align(request: AlignOptions) -> None:
    """Carry out ``pairalign align``."""
    request = with_output(request, FORMATS)
    table = table_of(request)  # wrong usage is said before anything is read
    check_files(request)
    check_scoring(request)
    report = report_of(request, request.input, request.input2)
    prepare_output(request.writing)
    rules = replace(request.reading, qualities=table.writer_type.shows_qualities)
    problem = read_problem(request, rules)
    if request.orient == ORIENTS[1]:
        problem = problem.in_order(problem.queries.canonical_order())
    plan = plan_alignment(request, problem, table.run_request(request))
    say_plan(plan, quiet=request.messages.quiet)
    begin(partial(_work_of, plan, table))
    say_summary(request, _carry_out(request, plan, table, report))


def _work_of(plan: AlignmentPlan, table: Table) -> Work:
    """Return what a dry run foretells."""
    from pairalign.jobs.run.forecast import POSTERIOR_CELLS, work_of, write_as

    write = write_as(table.writer_type.name, partial(content_of, table, plan))
    confidence = confidence_of(table, plan, plan.job)
    has_posteriors = plan.request.is_by_accuracy or confidence is not None
    return work_of(plan.job, write, POSTERIOR_CELLS if has_posteriors else 1)


def _carry_out(
    request: AlignOptions, plan: AlignmentPlan, table: Table, report: RunReport | None
) -> Lines:
    """Align, and write; return the summary."""
    run, started = plan.job, time.perf_counter()
    decided, of_block = decided_by(request), table.writer_type.of_block
    destination = open_destination(request, run, of_block=of_block, **decided)
    summary = Summary(run.problem, request, pairs=run.pairs_ranked, cells=run.cells)
    for before in destination.before:
        summary.go_on(before)
    destination.summary = summary.leave
    run = destination.job
    are_known = not (destination.is_done or (destination.is_resumed and request.has_hits))
    computed = run.cells if are_known else 0
    collector = None if report is None else report.collector(run.problem, plan.significance)
    if not destination.is_done:
        keep_freed_memory(run.memory_bytes)
        content = content_of(table, plan, run, destination.piece)
        see = [summary.add] if collector is None else [summary.add, collector.add]
        with (
            destination.held(),
            run.open() as results,
            destination.open_writer(content) as writer,
        ):
            destination.write(results, writer, *see)
    destination.finish()
    if request.explain and not destination.is_done:
        say(describe_steps(run.steps, run.pairs))
    lines = summary.lines(time.perf_counter() - started, destination.path, computed)
    if report is not None:
        assert collector is not None
        facts = lines.text()
        if plan.significance is not None:
            facts += f"\nE-values  {describe_statistics(plan.significance, run.scoring)}"
        report.write(collector, facts, devices=run.devices, realign=plan.realign)
    return lines
