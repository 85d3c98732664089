"""The command ``pairalign pack``."""

from __future__ import annotations

import time
from dataclasses import replace

from pairalign.formats.names import choose_format
from pairalign.formats.output import check_writable
from pairalign.formats.pairset import SUFFIXES, pack
from pairalign.jobs.commands.planning import read_sequences, with_output
from pairalign.jobs.commands.summary import Lines, say_summary
from pairalign.jobs.run.file_checks import check_files
from pairalign.requests.files_request import PackOptions


def run_pack(request: PackOptions) -> None:
    """Carry out ``pairalign pack``."""
    request = with_output(request)
    choose_format(request.writing.output, request.writing.format, SUFFIXES, "a store of sequences")
    check_files(request)
    check_writable(request.writing.output)
    started = time.perf_counter()
    rules = replace(request.reading, qualities=True)
    sequences, _ = read_sequences(request, rules)
    pack(sequences, request.writing.output)
    lines = Lines()
    lines.add_sets(sequences)
    if sequences.qualities is not None:
        lines.add("qualities", "kept")
    lines.add_time(time.perf_counter() - started)
    lines.add_outputs([request.writing.output])
    say_summary(request, lines)
