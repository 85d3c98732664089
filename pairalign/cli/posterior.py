"""The command ``pairalign posterior``."""

from __future__ import annotations

import argparse
import time

from pairalign.base.choices import POSTERIOR_SUFFIXES
from pairalign.cli.files import check_files
from pairalign.cli.kept_results import kept_results
from pairalign.cli.lines import Lines, say_summary
from pairalign.cli.planning import choose_output, progress_of, read_sequences
from pairalign.formats.names import choose_format
from pairalign.formats.output import check_writable, open_output
from pairalign.formats.posteriors import WRITERS, check_format
from pairalign.jobs.posterior.posterior import PosteriorJob


def run_posterior(options: argparse.Namespace) -> None:
    """Carry out ``pairalign posterior``."""
    choose_output(options)
    format = choose_format(options.output, options.format, POSTERIOR_SUFFIXES, "posteriors")
    check_format(format, options.output)
    check_files(options)
    check_writable(options.output)
    sequences, _ = read_sequences(options)
    started = time.perf_counter()
    decided = {"sequences": sequences, "threshold": options.threshold}
    with kept_results(options, "posteriors", **decided) as kept:
        job = PosteriorJob(
            sequences,
            threshold=options.threshold,
            device=options.device,
            threads=options.threads,
            memory_bytes=options.memory,
            progress=progress_of(options),
            kept=kept,
        )
        entries = _write(options, format, job)
    lines = Lines()
    lines.add_sets(sequences)
    lines.add(
        "posteriors",
        f"{entries:,} of {job.pairs:,} pairs, {job.threshold:g} or more",
        posteriors=entries,
        pairs=job.pairs,
        threshold=job.threshold,
    )
    lines.add_time(time.perf_counter() - started, job.cells)
    lines.add_outputs([options.output])
    say_summary(options, lines)


def _write(options: argparse.Namespace, format: str, job: PosteriorJob) -> int:
    """Compute and write; return the number of entries."""
    entries = 0
    writer = WRITERS[format](open_output(options.output), job.sequences, job.threshold)
    try:
        for piece in job:
            writer.write(piece)
            entries += len(piece.rows)
        writer.close()
    except BaseException:
        writer.abort()
        raise
    return entries
