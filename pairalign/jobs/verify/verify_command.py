"""The command ``pairalign verify``."""

from __future__ import annotations

import time

from pairalign.alignments.problem import Problem
from pairalign.base.choices import TABLE_ENDINGS
from pairalign.base.console import log
from pairalign.base.error_types import PairalignError, cut_name, shown_name
from pairalign.formats.names import check_ending, table_format
from pairalign.formats.output import check_writable, open_table
from pairalign.jobs.commands.planning import read_problem, with_output
from pairalign.jobs.commands.summary import Lines, say_summary
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import check_scoring
from pairalign.jobs.run.progress import show_progress
from pairalign.jobs.verify.verification import plan_verification
from pairalign.jobs.verify.verify import Totals, VerifyJob
from pairalign.jobs.verify.verify_request import VerifyOptions
from pairalign.statistics.statements import describe_scoring

_MOST_MESSAGES = 10

_OTHER_COSTS = ", by their scores alone: give the matrix and costs that they were made with"


class IllegalRecordsError(PairalignError):
    """Some records are illegal; what they are has been said."""


def run_verify(request: VerifyOptions) -> None:
    """Carry out ``pairalign verify``."""
    request = with_output(request)
    check_files(request)
    if request.writing.format is None:
        check_ending(request.writing.output, TABLE_ENDINGS, "verdicts are written as a table")
    check_scoring(request)
    check_writable(request.writing.output)
    problem = read_problem(request)
    job = plan_verification(request, problem, request.resources, request.has_mode)
    started = time.perf_counter()
    _write(request, job)
    lines = _summary(job, problem, time.perf_counter() - started)
    lines.add_outputs([request.writing.output])
    say_summary(request, lines)
    if job.totals.better:
        raise PairalignError(
            f"{job.totals.better:,} records score more than the optimum, which cannot be: "
            "please report this"
        )
    if job.totals.illegal:
        records = f"{job.totals.illegal:,} of {job.totals.records:,} records"
        hint = _OTHER_COSTS if _all_scores_differ(job.totals) else ""
        raise IllegalRecordsError(f"{job.reader.source}: {records} are illegal{hint}")


def _all_scores_differ(totals: Totals) -> bool:
    """Whether nothing but the scores is wrong, and that of nearly every record."""
    return set(totals.faults) == {"score"} and 10 * totals.illegal > 9 * totals.scored


def _write(request: VerifyOptions, job: VerifyJob) -> None:
    """Check; write the table, and the first messages."""
    said = 0
    format = request.writing.format or table_format(request.writing.output)
    with (
        open_table(request.writing.output, format, threads=job.threads) as output,
        job.open() as results,
        show_progress(job.reader.size, request.resources.progress, "bytes", "checking") as meter,
    ):
        output.write(("\t".join(job.columns) + "\n").encode())
        done = 0
        for checked in results:
            for message in checked.messages(_MOST_MESSAGES - said):
                said += 1
                log.warning("%s: %s", job.reader.source, message)
            shown = checked.suspicious() if request.illegal else checked
            output.write(shown.lines(job.scoring))
            meter.update(job.reader.position - done)
            done = job.reader.position
        output.close()
    if job.reader.unknown:
        names = ", ".join(map(shown_name, job.reader.unknown))
        log.warning("%s: columns of no known name, not looked at: %s", job.reader.source, names)
    for side in job.reader.unplaced:
        what = f"no column says where the {side} begins: it is expected whole"
        log.warning("%s: %s", job.reader.source, what)
    left = job.totals.illegal - said
    if left > 0:
        log.warning("%s: %s more illegal records", job.reader.source, f"{left:,}")


def _summary(job: VerifyJob, problem: Problem, seconds: float) -> Lines:
    totals: Totals = job.totals
    mode, _, costs = describe_scoring(job.scoring).partition(", ")
    legal = totals.records - totals.illegal
    unmapped = f", and {totals.others:,} entries without one" if totals.others else ""
    lines = Lines()
    lines.add_sets(*problem.sets)
    lines.add("scoring", f"{mode if job.mode else 'no mode'}, {costs}")
    lines.add("records", f"{totals.records:,}{unmapped}", records=totals.records)
    lines.add("legal", f"{legal:,}", legal=legal)
    lines.add("illegal", f"{totals.illegal:,}", illegal=totals.illegal, faults=totals.faults)
    for name, count in totals.faults.items():
        lines.rows.append((name, f"{count:,}"))
    lines.add("scored", f"{totals.scored:,}", scored=totals.scored)
    if names := job.not_checked:
        shown = ", ".join(cut_name(name) for name in names)
        lines.add("not checked", shown, not_checked=names)
    if totals.compared:
        share = 100 * totals.optimal / totals.compared
        mean = totals.missing / job.scoring.scale / totals.compared
        lines.add(
            "optimal",
            f"{totals.optimal:,} of {totals.compared:,} ({share:.2f}%); on average {mean:.4g} "
            "below the optimum",
            optimal=totals.optimal,
            compared=totals.compared,
            mean_below_optimum=mean,
        )
    lines.add_time(seconds)
    return lines
