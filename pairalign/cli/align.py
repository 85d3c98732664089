"""The command ``pairalign align``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pairalign.base.choices import RANKS
from pairalign.base.native import keep_freed_memory
from pairalign.cli.align_table import Table, table_of
from pairalign.cli.confidence import confidence_of
from pairalign.cli.console import log, say
from pairalign.cli.dask_cluster import check_cluster, run_on_cluster
from pairalign.cli.destination import Destination
from pairalign.cli.files import check_files
from pairalign.cli.lines import say_summary, written_pairs
from pairalign.cli.networks import OF_STATISTICS
from pairalign.cli.parts import choose_part
from pairalign.cli.planning import (
    check_scoring,
    choose_output,
    read_problem,
    resources_of,
    result_seconds,
)
from pairalign.cli.report import check_report, finish_report, make_collector
from pairalign.cli.summary import Summary, describe_steps
from pairalign.cli.thresholds import thresholds_of
from pairalign.formats import (
    open_writer,
)
from pairalign.formats.output import check_writable
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.run.request import AlignmentPlan, AlignRequest, plan_alignment
from pairalign.pairs.lists import read_pair_list
from pairalign.statistics.statements import describe_mask, describe_statistics

if TYPE_CHECKING:
    from pairalign.jobs.report.report import ReportCollector


def run_align(options: argparse.Namespace) -> None:
    """Carry out ``pairalign align``."""
    choose_output(options)
    table = table_of(options)  # wrong usage is said before anything is read
    check_files(options)
    check_cluster(options)
    check_report(options)
    check_scoring(options)
    place = choose_part(options, table.writer_type.suffixes[0])
    check_writable(options.output)
    plan = plan_of(options, table)
    run = plan.job
    started = time.perf_counter()
    decided = decided_by(options, table)
    if options.dask is not None:
        run_on_cluster(options, run, table.writer_type, **decided)
        say_summary(options, written_pairs("alignments", run.pairs, options.output))
        return
    destination = Destination(
        options, run, table.writer_type.name, place, join=table.join, **decided
    )
    run = destination.job
    summary = _summary_of(plan.request, run)
    collector = None
    if options.report is not None:
        collector = make_collector(run.problem, plan.significance)
    if not destination.is_done:
        keep_freed_memory(run.memory_bytes)
        shown = {**table.shown(), "significance": plan.significance}
        shown["confidence"] = confidence_of(options, table, run)
        with destination.held():
            _write(options, run, destination, summary, collector, shown)
    destination.finish()
    if options.explain:
        say(describe_steps(run.steps, run.pairs))
    lines = summary.lines(time.perf_counter() - started, options.output)
    if collector is not None:
        facts = lines.text()
        if plan.significance is not None:
            facts += f"\nE-values  {describe_statistics(plan.significance, run.scoring)}"
        finish_report(options, collector, facts, devices=run.devices, realign=plan.realign)
    say_summary(options, lines)


def decided_by(options: argparse.Namespace, table: Table) -> dict[str, Any]:
    """Return what decides the bytes besides the job, see `describe_run`."""
    decided = table.decided()
    decided |= {"max_evalue": options.max_evalue, "db_size": options.db_size}
    decided |= {"comp_based_stats": options.comp_based_stats, "space": options.search_space}
    decided |= {"mask": options.mask, "mask_scores": options.mask_scores}
    return decided | {"objective": options.objective}


def plan_of(options: argparse.Namespace, table: Table) -> AlignmentPlan:
    """Read the sequences and the list of pairs, and plan the run."""
    problem = read_problem(options)
    if options.orient == "canonical":
        problem = problem.in_order(problem.queries.canonical_order())
    request = AlignRequest(
        result_seconds=result_seconds(options),
        resources=resources_of(options),
        thresholds=thresholds_of(options),
        pair_list=None if options.pairs is None else read_pair_list(options.pairs, *problem.sets),
        detail=table.detail,
        min_score=options.min_score,
        strand=options.strand,
        objective=options.objective,
        hsps=options.hsps,
        window=options.window,
        shard=options.shard,
        max_evalue=options.max_evalue,
        max_hits=options.max_hits,
        rank=options.rank or RANKS[0],
        once=table.writer_type.pairs_once,
        both_ways=options.both_ways,
        statistics=options.weight in OF_STATISTICS
        or (options.report is not None and problem.scoring.mode == "local")
        or table.shows_statistics,
        db_size=options.db_size,
        search_space=options.search_space,
        comp_based_stats=options.comp_based_stats,
        mask=options.mask,
        mask_scores=options.mask_scores,
    )
    plan = plan_alignment(request, problem)
    if options.mask_scores and not options.quiet:
        say(describe_mask(problem, plan.job.problem, options.mask))
    if plan.statistics.reason is not None:
        log.warning("evalue and bits are nan: %s", plan.statistics.reason)
    if plan.statistics.are_shown and plan.significance is not None and not options.quiet:
        say(f"E-values: {describe_statistics(plan.significance, plan.job.scoring)}")
    if plan.job.left_out:
        log.warning(
            "%s: %s pairs left out, which came again or were sequences with themselves",
            options.pairs,
            f"{plan.job.left_out:,}",
        )
    return plan


def _summary_of(request: AlignRequest, run: AlignmentJob) -> Summary:
    return Summary(
        run.problem,
        pairs=run.pairs_ranked if isinstance(run, HitsJob) else run.pairs,
        cells=run.cells,
        min_score=request.min_score,
        thresholds=request.thresholds,
        hsps=request.hsps,
        max_hits=request.max_hits,
        max_evalue=request.max_evalue,
    )


def _write(
    options: argparse.Namespace,
    run: AlignmentJob,
    destination: Destination,
    summary: Summary,
    collector: ReportCollector | None,
    shown: Mapping[str, Any],
) -> None:
    """Align and write what is kept; `shown` is what else `open_writer` is told of the format."""
    with (
        run.open() as results,
        open_writer(
            options.output,
            options.format,
            run.queries,
            run.problem.others,
            run.scoring,
            run.want.detail,
            threads=run.threads,
            piece=destination.piece,
            output=destination.output,
            **shown,
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
