"""The command ``pairalign align``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pairalign.alignments.fields import Field, parse_fields
from pairalign.base.choices import MASKS, RANKS
from pairalign.base.errors import FormatError
from pairalign.base.native import keep_freed_memory
from pairalign.cli.console import log, say
from pairalign.cli.dask_cluster import check_cluster, run_on_cluster
from pairalign.cli.files import check_files
from pairalign.cli.going_on import Going
from pairalign.cli.lines import say_summary, written_pairs
from pairalign.cli.networks import OF_STATISTICS, check_hits, check_hits_once, check_weight
from pairalign.cli.parts import PartPlace, choose_part
from pairalign.cli.planning import (
    check_scoring,
    choose_output,
    read_problem,
    resources_of,
    result_seconds,
)
from pairalign.cli.report import check_report, finish_report, make_collector, realign_with
from pairalign.cli.summary import Summary, describe_steps
from pairalign.cli.tags import tags_of
from pairalign.cli.thresholds import thresholds_of
from pairalign.formats import (
    NETWORK_FORMATS,
    Writer,
    check_both_ways,
    check_columns,
    check_detail,
    check_strands,
    find_format,
    open_writer,
)
from pairalign.formats.output import check_writable
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.run.request import AlignmentPlan, AlignRequest, plan_alignment
from pairalign.pairs.lists import read_pair_list
from pairalign.pairs.want import Detail
from pairalign.statistics.statements import describe_statistics

if TYPE_CHECKING:
    from pairalign.jobs.report.report import ReportCollector


@dataclass(frozen=True)
class _Table:
    """What is written: the format, and what it shows."""

    writer_type: type[Writer]
    fields: tuple[Field, ...]
    detail: Detail
    tags: frozenset[str]

    @property
    def shown_fields(self) -> tuple[Field, ...]:
        return self.fields or self.writer_type.default_fields or ()


def run_align(options: argparse.Namespace) -> None:
    """Carry out ``pairalign align``."""
    choose_output(options)
    table, place = _check(options)  # wrong usage is said before anything is read
    request, plan = _plan(options, table)
    run = plan.job
    _say_plan(options, plan)
    started = time.perf_counter()
    decided = {"columns": [field.name for field in table.fields], "both_ways": options.both_ways}
    decided |= {"max_evalue": options.max_evalue, "db_size": options.db_size}
    decided |= {"comp_based_stats": options.comp_based_stats, "space": options.search_space}
    decided |= {"mask": options.mask}
    decided |= {"tags": sorted(table.tags), "weight": options.weight}
    if options.dask is not None:
        run_on_cluster(options, run, table.writer_type, **decided)
        say_summary(options, written_pairs("alignments", run.pairs, options.output))
        return
    join = table.writer_type.join if table.writer_type.joined else None
    going = Going(options, run, table.writer_type.name, place, join=join, **decided)
    run = going.job
    summary = _summary_of(options, run)
    collector = make_collector(options, run.problem, plan.significance)
    if not going.is_done:
        shown: dict[str, Any] = {"fields": table.fields, "both_ways": options.both_ways}
        keep_freed_memory(run.memory_bytes)
        shown |= {"significance": plan.significance, "tags": table.tags}
        shown |= {"weight": options.weight}
        with going.held():
            _write(options, run, going, summary, collector, shown)
    going.finish()
    if options.explain:
        say(describe_steps(run.steps, run.pairs))
    lines = summary.lines(time.perf_counter() - started, options.output)
    realign = realign_with(request, run.problem)
    facts = lines.text()
    if plan.significance is not None:
        facts += f"\nE-values  {describe_statistics(plan.significance, run.scoring)}"
    finish_report(options, collector, facts, devices=run.devices, realign=realign)
    say_summary(options, lines)


def _check(options: argparse.Namespace) -> tuple[_Table, PartPlace | None]:
    """Find out what is written, and where if it is a part; refuse what cannot be."""
    writer_type = find_format(options.output, options.format)
    check_hits(options)
    if writer_type.pairs_once:
        check_hits_once(options, writer_type.name)
    _check_hsps(options, writer_type.name)
    _check_mask(options)
    fields = () if options.columns is None else parse_fields(options.columns)
    detail = _detail(options, writer_type, fields)
    tags = tags_of(options, writer_type, detail, options.hsps)
    table = _Table(writer_type, fields, detail, tags)
    check_detail(writer_type, table.detail)
    check_columns(writer_type, fields, table.detail)
    check_both_ways(writer_type, options.both_ways)
    check_weight(options, writer_type.name)
    check_strands(writer_type, options.strand)
    check_files(options)
    check_cluster(options)
    check_scoring(options)
    check_report(options)
    place = choose_part(options, writer_type.suffixes[0])
    check_writable(options.output)
    return table, place


def _check_hsps(options: argparse.Namespace, format: str) -> None:
    """Refuse several alignments of a pair where they cannot be, before anything is read."""
    if options.hsps > 1 and options.mode != "local":
        raise FormatError(f"--hsps needs --mode local, but the mode is {options.mode}")
    if options.max_evalue is not None and options.mode != "local":
        raise FormatError(f"--max-evalue needs --mode local, but the mode is {options.mode}")
    if options.hsps > 1 and format in NETWORK_FORMATS:
        raise FormatError(f"{format} has an edge a pair: leave --hsps out, or write another format")


def _check_mask(options: argparse.Namespace) -> None:
    """Refuse a mask where E-values are not of whole alignments, before anything is read."""
    if options.mask == MASKS[0]:
        return
    if options.mode != "local":
        raise FormatError(f"--mask needs --mode local, but the mode is {options.mode}")
    if options.hsps > 1 or options.max_hits is not None:
        raise FormatError("--mask looks at whole alignments: leave --hsps and --max-hits out")


def _plan(options: argparse.Namespace, table: _Table) -> tuple[AlignRequest, AlignmentPlan]:
    """Read the sequences and the list of pairs, and plan the run."""
    problem = read_problem(options)
    pair_list = None
    if options.pairs is not None:
        pair_list = read_pair_list(options.pairs, problem.queries, problem.targets)
    request = AlignRequest(
        detail=table.detail,
        min_score=options.min_score,
        strand=options.strand,
        pair_list=pair_list,
        hsps=options.hsps,
        window=options.window,
        shard=options.shard,
        result_seconds=result_seconds(options),
        resources=resources_of(options),
        thresholds=thresholds_of(options),
        max_evalue=options.max_evalue,
        max_hits=options.max_hits,
        rank=options.rank or RANKS[0],
        once=table.writer_type.pairs_once,
        both_ways=options.both_ways,
        statistics=options.weight in OF_STATISTICS
        or (options.report is not None and problem.scoring.mode == "local")
        or any(field.of_statistics for field in table.shown_fields),
        db_size=options.db_size,
        search_space=options.search_space,
        comp_based_stats=options.comp_based_stats,
        mask=options.mask,
    )
    return request, plan_alignment(request, problem)


def _say_plan(options: argparse.Namespace, plan: AlignmentPlan) -> None:
    """Say what E-values are made of, and which listed pairs were left out."""
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


def _summary_of(options: argparse.Namespace, run: AlignmentJob) -> Summary:
    return Summary(
        run.problem,
        pairs=run.pairs_ranked if isinstance(run, HitsJob) else run.pairs,
        cells=run.cells,
        min_score=options.min_score,
        thresholds=run.pair_thresholds,
        hsps=run.hsps,
        max_hits=options.max_hits,
        max_evalue=options.max_evalue,
    )


def _write(
    options: argparse.Namespace,
    run: AlignmentJob,
    going: Going,
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
            piece=going.piece,
            output=going.output,
            **shown,
        ) as writer,
    ):
        for alignments in results:
            writer.write(alignments)
            summary.add(alignments)
            if collector is not None:
                collector.add(alignments)
            del alignments  # or they would stay in memory while the next ones are waited for
            going.wrote(writer)
        going.wrote_all(writer)


def _detail(options: argparse.Namespace, writer: type[Writer], fields: tuple[Field, ...]) -> Detail:
    """How much must be computed: of chosen columns, no more than they show."""
    if options.score_only:
        return Detail.SCORE
    if writer.name in NETWORK_FORMATS:
        return Detail.STATS
    fields = fields or writer.default_fields or ()
    return max([writer.needs, *(field.detail for field in fields)]) if fields else Detail.CIGAR
