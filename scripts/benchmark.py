"""Measure pairalign against other programs and against itself. Verifies first, then times.

    python scripts/benchmark.py verify --data proteins.fa.gz --sequences 201
    python scripts/benchmark.py cpu --data proteins.fa.gz --markdown cpu.md
    python scripts/benchmark.py gpu --data by-length/*.fa.gz

Needs a build of pairalign and `pip install parasail pyopal stringzilla stringzillas-cpus`; a peer
that is not there is left out. Everything that is compared runs in interleaved rounds within one
process, and the ratios are of the same rounds, so that a busy machine disturbs both sides alike.
The exit code is 0 whether goals are met or not, and 1 when scores differ."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from bench import (  # noqa: E402
    commands,
    cpu,
    gpu,
    msa,
    msa_families,
    msa_large,
    msa_outliers,
    posterior,
    reads,
    report,
    similar,
    statistics,
)

MODULES = (commands, gpu, similar, statistics, reads, msa, msa_families, msa_large, msa_outliers,
           posterior)  # fmt: skip
"""Each adds a command with `add_command`."""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line; a module of `bench` adds each command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    add_cpu_commands(subparsers)
    for module in MODULES:
        module.add_command(subparsers)
    options = parser.parse_args(arguments)
    options.mode = getattr(options, "mode", None) or list(cpu.MODES)
    if getattr(options, "pairs", None):
        options.sequences = int((2 * options.pairs) ** 0.5) + 1
    return options


def add_cpu_commands(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add what is measured on a sample of proteins, without a GPU."""
    common = sample_options()
    verify = subparsers.add_parser(
        "verify", parents=[common], help="scores against parasail and Biopython, CIGARs rescored"
    )
    verify.set_defaults(run=cpu.run_verify)

    timed = subparsers.add_parser("cpu", parents=[common], help="the CPU engine: verify, then time")
    timed.add_argument("--repeat", type=int, default=7, help="rounds of each comparison (7)")
    timed.add_argument("--threads", type=int, default=os.cpu_count(), help="of the command")
    timed.add_argument(
        "--sets", type=int, nargs="+", metavar="N", help="samples of these sizes, peers alone"
    )
    timed.add_argument("--no-command", action="store_true", help="leave out FASTA to PAF")
    timed.add_argument("--rounds-of-command", type=int, default=3, metavar="N")
    timed.add_argument(
        "--clock", choices=cpu.CLOCKS, default="wall", help="for what has one thread (wall)"
    )
    timed.set_defaults(run=cpu.run_cpu)


def sample_options() -> argparse.ArgumentParser:
    """Make the options that say which pairs are measured."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", type=Path, required=True, help="proteins, a FASTA file")
    common.add_argument("--sequences", type=int, default=150, help="size of the sample (150)")
    common.add_argument("--pairs", type=int, help="a sample that makes about this number of pairs")
    common.add_argument(
        "--mode", action="append", choices=cpu.MODES, help="only this mode; may be repeated"
    )
    common.add_argument("--markdown", type=Path, help="write the table here as well")
    return common


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    result = options.run(options)
    if result is None:  # it has printed tables of its own
        return
    rows, notes = result
    notes.insert(0, report.machine())
    print("\n".join(notes) + "\n\n" + report.as_text(rows))
    if options.markdown:
        options.markdown.write_text(report.as_markdown(rows, notes))


if __name__ == "__main__":
    main()
