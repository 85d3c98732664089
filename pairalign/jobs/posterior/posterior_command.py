"""The command ``pairalign posterior``."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from pairalign.alignments.problem import Problem
from pairalign.base.choices import POSTERIOR_SUFFIXES
from pairalign.base.declaration import changed
from pairalign.base.dry_run import begin
from pairalign.base.texts import counted
from pairalign.formats.names import choose_format
from pairalign.formats.output import check_writable
from pairalign.jobs.commands.planning import read_sequences, with_output
from pairalign.jobs.commands.summary import Lines, say_summary
from pairalign.jobs.posterior.posterior import PosteriorJob
from pairalign.jobs.posterior.posterior_files import check_format, open_posteriors
from pairalign.jobs.posterior.posterior_request import PosteriorOptions
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.kept_results import kept_results
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.jobs.run.forecast import Work


def run_posterior(request: PosteriorOptions) -> None:
    """Carry out ``pairalign posterior``."""
    request = with_output(request)
    format = choose_format(
        request.writing.output, request.writing.format, POSTERIOR_SUFFIXES, "posteriors"
    )
    check_format(format, request.writing.output)
    check_files(request)
    check_writable(request.writing.output)
    sequences, _ = read_sequences(request)
    started = time.perf_counter()
    decided = {"sequences": sequences, "threshold": request.threshold}
    begin(partial(_work_of, request, format, sequences))
    with kept_results(request.writing, "posteriors", **decided) as kept:
        job = PosteriorJob(sequences, request.resources, threshold=request.threshold, kept=kept)
        entries = _write(request, format, job)
    lines = Lines()
    lines.add_sets(sequences)
    lines.add(
        "posteriors",
        f"{entries:,} of {counted(job.pairs, 'pair')}, {job.threshold:g} or more",
        posteriors=entries,
        pairs=job.pairs,
        threshold=job.threshold,
    )
    lines.add_time(time.perf_counter() - started, job.cells)
    lines.add_outputs([request.writing.output])
    say_summary(request, lines)


def _work_of(request: PosteriorOptions, format: str, sequences: SequenceSet) -> Work:
    """Return what a dry run foretells."""
    from pairalign.jobs.run.forecast import POSTERIOR_CELLS, Sample, work_with

    def do(some: Problem, path: str) -> Sample:
        threshold = request.threshold
        job = PosteriorJob(some.queries, request.resources, threshold=threshold)
        _write(changed(request, output=path), format, job)
        return Sample()

    PosteriorJob(sequences, request.resources, threshold=request.threshold)  # or says what is wrong
    problem = Problem(sequences, None, make_scoring(sequences.alphabet))
    return work_with(problem, do, cell_cost=POSTERIOR_CELLS)


def _write(request: PosteriorOptions, format: str, job: PosteriorJob) -> int:
    """Compute and write; return the number of entries."""
    entries = 0
    writer = open_posteriors(request.writing.output, format, job.sequences, job.threshold)
    try:
        for piece in job:
            writer.write(piece)
            entries += len(piece.rows)
        writer.close()
    except BaseException:
        writer.abort()
        raise
    return entries
