"""The command ``pairalign pack``."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from pairalign.cli.files import check_files
from pairalign.cli.lines import Lines, say_summary
from pairalign.cli.planning import choose_output, read_sequences, rules_of
from pairalign.formats.names import choose_format
from pairalign.formats.output import check_writable
from pairalign.formats.pairset import SUFFIXES, pack


def run_pack(options: argparse.Namespace) -> None:
    """Carry out ``pairalign pack``."""
    choose_output(options)
    choose_format(options.output, options.format, SUFFIXES, "a store of sequences")
    check_files(options)
    check_writable(options.output)
    started = time.perf_counter()
    rules = replace(rules_of(options), qualities=True)
    sequences, _ = read_sequences(options, rules)
    pack(sequences, options.output)
    lines = Lines()
    lines.add_sets(sequences)
    if sequences.qualities is not None:
        lines.add("qualities", "kept")
    lines.add_time(time.perf_counter() - started)
    lines.add_outputs([options.output])
    say_summary(options, lines)
