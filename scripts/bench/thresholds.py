"""The subcommand `thresholds`: pairs that are alike, with and without bounds, and vsearch.

Verifies first: with thresholds the rows are those of a table of all pairs that reach them. Then the
whole commands are timed in turns, in wall and processor time, and the pairs that vsearch
(``--allpairs_global --iddef 1``, which counts matches by columns as we do) finds are compared with
ours. Both have a match of 2, a mismatch of -4 and gaps of 22 and 2 a letter; vsearch's end gaps
cost 3 and 1, and it needs not be optimal, so pairs near the threshold differ.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

from pairalign.sequences import read_fasta

SCORING = ["--match", "2", "--mismatch", "-4", "--gap-open", "22", "--gap-extend", "2"]
PAIRALIGN = [sys.executable, "-m", "pairalign", "align"]


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    """Add `thresholds` to the program's subcommands."""
    parser = commands.add_parser("thresholds", help="pairs that are alike, and vsearch")
    parser.add_argument("--data", type=Path, required=True, help="reads, a FASTA file")
    parser.add_argument("--sequences", type=int, default=2000, help="the first so many (2000)")
    parser.add_argument("--identity", nargs="+", default=["0.99", "0.97", "0.9"])
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=3)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Verify, then time; print a table."""
    with tempfile.TemporaryDirectory() as folder:
        reads = Path(folder, "reads.fa")
        some = read_fasta(options.data)
        with open(reads, "w") as file:
            for index in range(min(options.sequences, len(some))):
                file.write(f">{some.names[index]}\n{some[index].letters}\n")
        ours = [*PAIRALIGN, str(reads), *SCORING, "--quiet", "--format", "tsv"]
        ours += ["--threads", str(options.threads), "--device", options.device, "-o"]
        every = f"{folder}/all.tsv"
        seconds, processor = timed([*ours, every])
        print("| identity | pairs | ours: s, processor s | vsearch | its pairs | of them ours |")
        print("|---|---|---|---|---|---|")
        print(f"| all pairs | {len(rows_of(every)):,} | {seconds:.2f}, {processor:.1f} | | | |")
        for identity in options.identity:
            print(compare(options, ours, reads, folder, identity, rows_of(every)))


def compare(
    options: Namespace,
    ours: Sequence[str],
    reads: Path,
    folder: str,
    identity: str,
    every: list[str],
) -> str:
    """Verify and time one threshold; return a row of the table."""
    found, theirs = f"{folder}/found.tsv", f"{folder}/vsearch.tsv"
    commands = {"ours": [*ours, found, "--min-identity", identity]}
    if shutil.which("vsearch"):
        commands["vsearch"] = [
            *("vsearch", "--allpairs_global", str(reads), "--id", identity, "--iddef", "1"),
            *("--threads", str(options.threads), "--minseqlength", "1", "--quiet"),
            *("--userout", theirs, "--userfields", "query+target"),
        ]
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, command in commands.items():
            rounds[name].append(timed(command))
    rows = rows_of(found)
    if rows != [row for row in every if reaches(row, Fraction(identity))]:
        sys.exit(f"identity {identity}: not the rows that a table of all pairs has")
    cells = [
        ", ".join(f"{median(times):.2f}" for times in zip(*rounds[name], strict=True))
        for name in commands
    ]
    if "vsearch" in commands:
        pairs = {frozenset(row.split("\t")[:2]) for row in rows}
        other = {frozenset(row.split("\t")[:2]) for row in Path(theirs).read_text().splitlines()}
        cells += [f"{len(other):,}", f"{len(pairs & other):,}"]
    return f"| {identity} | {len(rows):,} | " + " | ".join(cells) + " |"


def reaches(row: str, identity: Fraction) -> bool:
    """Whether a row of a table has matches enough for its columns."""
    columns, matches = row.split("\t")[4:6]
    return int(matches) >= identity * int(columns)


def rows_of(path: str) -> list[str]:
    """Rows of a table without its header."""
    return [row for row in Path(path).read_text().splitlines()[1:] if not row.startswith("#")]


def timed(command: Sequence[str]) -> tuple[float, float]:
    """Run a command; return its wall and processor seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - started, used
