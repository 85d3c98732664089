"""The command ``pairalign overlap``."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.alignments.alignments import concatenate
from pairalign.base.console import log
from pairalign.base.dry_run import begin, dry_run
from pairalign.base.native import keep_freed_memory
from pairalign.formats import OVERLAP_FORMATS, Writer, check_shown
from pairalign.formats.names import FASTA
from pairalign.formats.writer import Content, Shown
from pairalign.jobs.commands.planning import read_sequences, report_of, with_output
from pairalign.jobs.commands.summary import Lines, say_summary
from pairalign.jobs.overlaps.overlap import OverlapJob, plan_overlap_job
from pairalign.jobs.overlaps.overlap_graph import OverlapWatcher, check_graph
from pairalign.jobs.overlaps.overlap_plan import check_costs
from pairalign.jobs.overlaps.overlap_request import OverlapOptions, OverlapRequest
from pairalign.jobs.overlaps.seeded_candidates import MAPPY, SEEDS, check_mappy, recall_of
from pairalign.jobs.overlaps.trimming import Trimmed, candidates_of, trim_reads
from pairalign.jobs.run.align import Job
from pairalign.jobs.run.destination import Destination, open_destination, prepare_output
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.progress import ALIGN, FILTER, SCORE, SUBOPTIMAL
from pairalign.jobs.run.run_request import RunRequest
from pairalign.jobs.run.table import tags_of
from pairalign.pairs.want import Detail
from pairalign.reads.overlap_kinds import CONTAINED, CONTAINS, DOVETAIL, INTERNAL
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.statements import describe_scoring

if TYPE_CHECKING:
    from pairalign.jobs.report.report_option import RunReport
    from pairalign.jobs.run.forecast import Work


_KINDS = {None: "none", SEEDS: SEEDS, MAPPY: MAPPY}
_FEW = 0.5
"""A warning when a smaller share of the reads has an overlap."""


@dataclass(frozen=True)
class _Command:
    """What is asked, and what has been found out about where results go."""

    request: OverlapOptions
    run: RunRequest
    writer_type: type[Writer]
    shown: Shown
    report: RunReport | None

    def decided(self, job: OverlapJob, overhang: int) -> dict[str, Any]:
        """Return what decides the bytes besides the job, see `describe_run`."""
        return {
            "max_overhang": overhang,
            "dual": self.request.dual,
            "cigars": not self.request.no_cigar,
            "tags": sorted(self.shown.tags),
            "thresholds": job.thresholds,
            "candidates": _KINDS.get(self.request.candidates, "a file"),
            "pairs": job.candidates,
        }


def run_overlap(request: OverlapOptions) -> None:
    """Carry out ``pairalign overlap``."""
    request = with_output(request, OVERLAP_FORMATS)
    writer_type = OVERLAP_FORMATS[request.writing.known_format]
    shown = Shown(both_ways=request.dual, tags=tags_of(request.shown), strands=True)
    check_shown(
        writer_type, Detail.STATS if request.no_cigar else Detail.CIGAR, shown, overlaps=True
    )
    check_files(request)
    check_costs(request)
    check_graph(request, writer_type)
    report = report_of(request, request.input)
    writing = request.writing
    prepare_output(writing)
    command = _Command(
        request,
        RunRequest(
            shard=writing.shard,
            result_seconds=writing.result_seconds,
            resources=request.resources,
        ),
        writer_type,
        shown,
        report,
    )
    say_summary(request, _carry_out(command))


def _carry_out(command: _Command) -> Lines:
    """Find overlaps, and write them; return the summary."""
    request = command.request
    if request.candidates == MAPPY:
        check_mappy()
    rules = replace(request.reading, qualities=command.writer_type.shows_qualities)
    reads, _ = read_sequences(request, rules)
    if request.trimmed is not None:
        FASTA.check(reads)
    started = time.perf_counter()
    with dry_run(False):  # what is asked for depends on overlaps of some reads
        run = _plan(request, reads, command.run)
    overhang = run.preset.max_overhang
    begin(partial(_work_of, command, run))
    if request.cuts:
        run, trimmed = _trim(request, run, command.run)
        reads = trimmed.reads
        if request.trimmed is not None:
            trimmed.write(request.trimmed, request.input, *request.reading.also)
    job, decided = run.alignment, command.decided(run, overhang)
    destination = open_destination(request, job, **decided)
    seen = OverlapWatcher(request, job.problem, overhang, command.report)
    before = np.zeros(INTERNAL + 1, np.int64)
    for one in destination.before:
        kinds = np.array(one.get("kinds", []), np.int64)[: len(before)]
        before[: len(kinds)] += kinds
    counts, writing = before, 0.0
    keep_freed_memory(job.memory_bytes)
    if not destination.is_done:
        with destination.held():
            counts, writing = _write(command, destination, overhang, seen, before)
    seconds = time.perf_counter() - started
    destination.finish()
    seen.write_reads()
    computed = 0 if destination.is_done else destination.job.cells
    lines = _summary(request, run, counts, (seconds, writing, computed), destination.path)
    if request.removes:
        lines.add("left", seen.describe_left(int(counts.sum())))
    if not destination.is_resumed and request.writing.shard is None:
        _warn_of_few(seen.overlapping)
        if counts.sum() and run.preset.mode == "local" and not request.is_reduced:
            for title, advice in seen.describe_advice():
                lines.add(title, advice)
    if command.report is not None and seen.report is not None:
        reports = seen.read_report.columns()
        devices = destination.job.devices
        command.report.write(seen.report, lines.text(), devices=devices, reads=reports)
    return lines


def _plan(request: OverlapRequest, reads: SequenceSet, run: RunRequest) -> OverlapJob:
    return plan_overlap_job(request, reads, run, lambda message: log.warning("%s", message))


def _trim(request: OverlapRequest, job: OverlapJob, run: RunRequest) -> tuple[OverlapJob, Trimmed]:
    """Find all overlaps, cut the reads, and plan the alignment of those that overlap."""
    with job.alignment.open() as results:
        overlaps = concatenate(list(results))
    trimmed = trim_reads(overlaps, job.preset.max_overhang)
    if not len(overlaps):
        return job, trimmed
    log.info("%s of %s reads are cut", f"{trimmed.cut:,}", f"{len(trimmed.reads):,}")
    limits = job.thresholds
    chosen = replace(
        request,
        preset=job.preset.name,
        min_overlap=limits.min_overlap,
        min_identity=limits.min_identity,
        min_score=job.alignment.scoring.format_score(limits.min_raw_score),
        max_false=None,
        max_overlaps=limits.max_overlaps,
        candidates=candidates_of(overlaps),
    )
    return _plan(chosen, trimmed.reads, run), trimmed


def _write(
    command: _Command,
    destination: Destination,
    overhang: int,
    seen: OverlapWatcher,
    before: np.ndarray,
) -> tuple[np.ndarray, float]:
    """Find and write; return how many there are of each kind, and seconds of writing.

    `before` says how many runs before have written.
    """
    run, writing = destination.job, 0.0
    with run.open() as results:
        watched = seen.watch(results)
        if command.request.removes:  # nothing can be written before everything is known
            if command.request.unitigs:
                return seen.write_unitigs(watched, destination.path), writing
            watched = seen.reduce(watched)
        content = _content(command, run, overhang, kept=seen.kept, piece=destination.piece)
        with destination.open_writer(content) as writer:
            destination.summary = partial(_left, before, writer)
            for alignments in watched:
                started = time.perf_counter()
                writer.write(alignments)
                writing += time.perf_counter() - started
                del alignments  # or they would stay in memory while the next are waited for
                destination.wrote(writer)
    return before + writer.kind_counts, writing


def _work_of(command: _Command, run: OverlapJob) -> Work:
    """Return what a dry run foretells."""
    from pairalign.jobs.run.forecast import work_of, write_as

    if command.request.removes:
        return work_of(run.alignment)
    content_of = partial(_content, command, overhang=run.preset.max_overhang)
    return work_of(run.alignment, write_as(command.writer_type.name, content_of))


def _content(command: _Command, job: Job, overhang: int, **more: Any) -> Content:
    """Return what is written of a job."""
    detail = Detail.STATS if command.request.no_cigar else Detail.CIGAR
    sets = job.queries, job.queries
    return Content(
        *(*sets, job.scoring, detail), shown=command.shown, max_overhang=overhang, **more
    )


def _left(before: np.ndarray, writer: Writer) -> dict[str, Any]:
    """Return what a summary has to know, see `pairalign.formats.schemas.SUMMARY_LEFT`."""
    kinds = (before + writer.kind_counts).tolist()
    return {"kept": sum(kinds), "kinds": kinds}


def _warn_of_few(overlapping: np.ndarray) -> None:
    """Warn when few of the reads have an overlap."""
    count, reads = int(overlapping.sum()), len(overlapping)
    if not count:
        log.warning("no overlap passed; try another --preset or lower thresholds")
    elif count < _FEW * reads:
        log.warning(
            "only %s of %s reads (%d%%) have an overlap: too few reads for their genome, or they "
            "need another --preset or lower thresholds",
            f"{count:,}",
            f"{reads:,}",
            100 * count // reads,
        )


def _summary(
    request: OverlapRequest,
    run: OverlapJob,
    counts: np.ndarray,
    work: tuple[float, float, int],
    output: str,
) -> Lines:
    """Return what each stage did, and what came of it.

    `work`: seconds of everything, those of writing, and cells that were computed.
    """
    job, lines = run.alignment, Lines()
    lines.add_sets(job.queries, title="reads")
    preset = run.preset.name
    lines.add("scoring", f"{describe_scoring(job.scoring)} (preset {preset})", preset=preset)
    strands = "both" if run.candidates is None else "their"
    lines.add("pairs", f"{job.pairs:,}, on {strands} strands", pairs=job.pairs)
    _add_stages(lines, request, run)
    kinds = {
        "dovetails": int(counts[DOVETAIL]),
        "containments": int(counts[CONTAINED] + counts[CONTAINS]),
    }
    if job.scoring.mode == "local":
        kinds["internal"] = int(counts[INTERNAL])
    text = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    total = int(counts.sum())
    lines.add("overlaps", f"{total:,}: {text}", overlaps=total, kinds=kinds)
    lines.add_time(work[0], work[2], f", {work[1]:.2f} of it writing")
    lines.add_outputs([output])
    return lines


def _add_stages(lines: Lines, request: OverlapRequest, run: OverlapJob) -> None:
    """Add how many alignments each stage made, in how long, and how many passed."""
    limits, stages = run.thresholds, run.stages
    least = run.alignment.scoring.format_score(limits.min_raw_score)
    identity = float(100 * limits.min_identity)
    passing = {
        FILTER: ("filtered", "pass"),
        SCORE: ("scored", f"reach {least}"),
        ALIGN: ("aligned", f"have {limits.min_overlap:,} bases at {identity:g}% identity"),
        SUBOPTIMAL: ("again", "suboptimal overlaps"),
    }
    candidates = run.candidates
    if candidates is not None and candidates.seconds:
        count = len(candidates.first)
        text = f"{count:,} in {candidates.seconds:.2f} s"
        if candidates.source == SEEDS:
            text += f" of {2 * run.alignment.problem.pairs:,}: {recall_of(limits, request)}"
        lines.add("candidates", text, candidates=count)
    for name, (title, what) in passing.items():
        stage = stages[name]
        is_said = run.candidates is None if name == SCORE else bool(stage.alignments)
        if is_said or name == ALIGN:
            text = f"{stage.alignments:,} in {stage.seconds:.2f} s, {stage.passed:,} {what}"
            facts = {"alignments": stage.alignments, "passed": stage.passed}
            lines.add(title, text, **{title: facts})
