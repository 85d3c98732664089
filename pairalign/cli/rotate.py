"""The command ``pairalign rotate``."""

from __future__ import annotations

import argparse
import time

from pairalign.base.errors import FormatError
from pairalign.cli.files import check_files
from pairalign.cli.lines import Lines, say_summary
from pairalign.cli.planning import (
    check_scoring,
    choose_output,
    read_problem,
    resources_of,
)
from pairalign.formats.names import choose_format
from pairalign.formats.output import check_writable, open_output
from pairalign.jobs.run.rotate import rotate_set

_SUFFIXES = {"fasta": (".fasta", ".fa", ".fas", ".fna", ".faa")}


def run_rotate(options: argparse.Namespace) -> None:
    """Carry out ``pairalign rotate``."""
    choose_output(options)
    choose_format(options.output, options.format, _SUFFIXES, "sequences")
    if options.mode not in (None, "global"):
        raise FormatError(f"circles are rotated in mode global, not in mode {options.mode}")
    check_files(options)
    check_scoring(options)
    check_writable(options.output)
    problem, resources = read_problem(options), resources_of(options)
    started = time.perf_counter()
    found = rotate_set(problem, options.to, options.strand, resources)
    seconds = time.perf_counter() - started
    with open_output(options.output, threads=resources.used_threads) as output:
        for one in found:
            output.write(f">{one.description}\n{one.letters}\n".encode())
    lines = Lines()
    lines.add_problem(problem)
    lines.add("rotated to", options.to)
    lines.add_time(seconds)
    lines.add_outputs([options.output])
    say_summary(options, lines)
