"""The subcommand `msa-large`: large multiple alignments beside other programs, as one table.

Families are simulated (`msa-families`); those of even number are for tuning, those of odd number
for judging. With `--references` there are families of real sequences as well: those of reference
alignments among simulated descendants, scored by the real ones alone. Programs that are not there
are left out.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from bench.msa import COMMANDS, HALVES, align_all, is_there, table
from bench.msa_families import simulate, write_around, write_family

PROGRAMS = ["pairalign", "famsa", "mafft", "clustalo", "super5"]
SIZES = {100: 20, 1000: 5, 10000: 1}
SCORED = 1000
"""Members that are in the reference of a simulated family; a table of all would fill the memory."""

LENGTH, DEPTH = 170, 1.2
DESCENDANTS_DEPTH = 0.2


def add_command(commands: Any) -> None:
    """Add `msa-large` to the command line."""
    parser = commands.add_parser("msa-large", help="large multiple alignments, as one table")
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES), help="(all three)")
    parser.add_argument("--families", type=int, help="of each size (20, 5, 1)")
    parser.add_argument("--first", type=int, default=0, help="families that are passed by (0)")
    parser.add_argument("--half", choices=["tuning", "judging"], default="tuning", help="(tuning)")
    parser.add_argument("--programs", nargs="*", default=PROGRAMS, choices=list(COMMANDS))
    parser.add_argument("--references", type=Path, help="a folder with ref/, such as Edgar's bali3")
    parser.add_argument("--named", default="BB11", help="references whose names begin so (BB11)")
    parser.set_defaults(run=run_msa_large)


def run_msa_large(options: Namespace) -> None:
    """Align with each program that is there, and print a table a size."""
    programs = [program for program in options.programs if is_there(program)]
    for size in options.sizes:
        count = options.families or SIZES.get(size, 1)
        with tempfile.TemporaryDirectory() as folder:
            print(f"\n{size:,} sequences, simulated; the {options.half} half", flush=True)
            data = _folders(Path(folder, "simulated"))
            for number in range(options.first, options.first + count):
                _simulate(data, size, 2 * number + (options.half == "judging"))
            _print_table(programs, data)
            if options.references is None:
                continue
            print(f"\n{size:,} sequences, {options.named} among descendants", flush=True)
            data = _folders(Path(folder, "references"))
            paths = sorted((options.references / "ref").glob(f"{options.named}*"))
            chosen = paths[HALVES[options.half]][options.first : options.first + count]
            for number, path in enumerate(chosen):
                write_around(data, path, size, DESCENDANTS_DEPTH, options.first + number)
            _print_table(programs, data)


def _folders(data: Path) -> Path:
    for name in ("in", "ref"):
        (data / name).mkdir(parents=True)
    return data


def _simulate(data: Path, size: int, number: int) -> None:
    random = np.random.default_rng([size, number])
    family = simulate(random, size, LENGTH, DEPTH)
    write_family(data, f"SIM{size}_{number}", *family, SCORED)


def _print_table(programs: list[str], data: Path) -> None:
    names = sorted(path.name for path in (data / "in").iterdir())
    results = {program: align_all(program, data, names) for program in programs}
    print("\n".join(table(results, names)), flush=True)
