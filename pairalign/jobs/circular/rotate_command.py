"""The command ``pairalign rotate``."""

from __future__ import annotations

import time

from pairalign.formats.names import FASTA, choose_format
from pairalign.formats.output import check_writable, open_output
from pairalign.jobs.circular.rotate import rotate_set
from pairalign.jobs.circular.rotate_request import RotateOptions
from pairalign.jobs.commands.planning import read_problem, with_output
from pairalign.jobs.commands.summary import Lines, say_summary
from pairalign.jobs.run.file_checks import check_files
from pairalign.jobs.run.inputs import check_scoring

_SUFFIXES = {"fasta": (".fasta", ".fa", ".fas", ".fna", ".faa")}


def run_rotate(request: RotateOptions) -> None:
    """Carry out ``pairalign rotate``."""
    request = with_output(request)
    choose_format(request.writing.output, request.writing.format, _SUFFIXES, "sequences")
    check_files(request)
    check_scoring(request)
    check_writable(request.writing.output)
    problem, resources = read_problem(request), request.resources
    FASTA.check(problem.queries)
    started = time.perf_counter()
    records = rotate_set(problem, request.to, request.strand, resources)
    seconds = time.perf_counter() - started
    with open_output(request.writing.output, threads=resources.used_threads) as output:
        for record in records:
            output.write(f">{record.description}\n{record.residues}\n".encode())
    lines = Lines()
    lines.add_problem(problem)
    lines.add("rotated to", request.to)
    lines.add_time(seconds)
    lines.add_outputs([request.writing.output])
    say_summary(request, lines)
