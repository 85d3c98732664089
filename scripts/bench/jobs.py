"""Whole commands as users type them, from the shell's prompt to the last byte of the output.

``scripts/benchmark.py jobs --folder DATA --device cuda``: each command is run several times in a
process of its own; the table has the median, the range, the time of the engines alone (the same
pairs, results dropped) and the goal. ``--against CHECKOUT`` runs another version of pairalign in
turns with this one. ``--cold`` adds one run with an empty cache of kernels. Results go to
``/dev/null``, so that the disk does not decide.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.report import Row

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXAMPLE = ROOT / "examples" / "cytochrome_p450.fasta"


@dataclass(frozen=True)
class WholeCommand:
    """A command and what it should take on one GPU and on two.

    Attributes
    ----------
    name : str
    data : str
        Beginning of the name of a FASTA or FASTQ file in the folder of data; "" is the example.
    sequences : int
        Sequences from the beginning of the file; 0: all.
    arguments : tuple of str
        The command and its options; input, output and device are added.
    output : str
        Ending of the output, which decides the format.
    goals : tuple of float
        Seconds on one GPU, on two.
    engine : tuple of (str, str) or None
        Mode and detail of the engines' run to compare with; None: not comparable.
    """

    name: str
    data: str
    sequences: int
    arguments: tuple[str, ...]
    output: str
    goals: tuple[float, ...] = ()
    engine: tuple[str, str] | None = None


SHORT = ("overlap", "--preset", "short")
COMMANDS = (
    WholeCommand("demo", "", 0, ("align",), "paf", (0.6,)),
    WholeCommand("human paf", "human_18k", 0, ("align",), "paf", (16, 9.5), ("global", "cigar")),
    WholeCommand(
        "human scores",
        "human_18k",
        0,
        ("align", "--score-only"),
        "tsv",
        (9.5, 5.5),
        ("global", "score"),
    ),
    WholeCommand(
        "human distances", "human_18k", 0, ("distance",), "npy", (15, 8.5), ("global", "stats")
    ),
    WholeCommand(
        "mean 1103 tsv", "mean1103", 0, ("align",), "tsv", (0.9, 0.8), ("global", "cigar")
    ),
    WholeCommand(
        "16S scores",
        "16s_v4_50k",
        20000,
        ("align", "--score-only"),
        "tsv",
        (1.5,),
        ("global", "score"),
    ),
    WholeCommand(
        "16S scores, 210",
        "16s_v4_50k",
        20000,
        ("align", "--score-only", "--min-score", "210"),
        "tsv",
        (1.5,),
    ),
    WholeCommand(
        "16S paf, 210", "16s_v4_50k", 20000, ("align", "--min-score", "210"), "paf", (1.5,)
    ),
    WholeCommand(
        "50,000 16S, 215",
        "16s_v4_50k",
        50000,
        ("align", "--score-only", "--min-score", "215"),
        "tsv",
        (5.5,),
    ),
    WholeCommand("16S overlaps", "16s_v4_50k", 20000, SHORT, "paf", (2,)),
    WholeCommand(
        "human local, 100",
        "human_18k",
        0,
        ("align", "--mode", "local", "--min-score", "100"),
        "paf",
        (6.5,),
        ("local", "score"),
    ),
    WholeCommand("HiFi overlaps", "reads", 0, ("overlap", "--preset", "hifi"), "paf", (0.8,)),
    WholeCommand("ONT overlaps", "barcode03", 0, ("overlap", "--preset", "ont"), "paf", (0.8,)),
)


@dataclass
class Timed:
    """Seconds of each run, by version."""

    here: list[float] = field(default_factory=list)
    there: list[float] = field(default_factory=list)
    cold: float | None = None


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``jobs`` to the benchmark's commands."""
    jobs = commands.add_parser("jobs", help="whole commands, against the engines alone")
    jobs.add_argument("--folder", type=Path, required=True, help="where the data files are")
    jobs.add_argument("--device", default="cuda", help="as for pairalign (cuda)")
    jobs.add_argument("--gpus", type=int, default=1, help="which goals to compare with (1)")
    jobs.add_argument("--repeat", type=int, default=3, help="runs of each command (3)")
    jobs.add_argument("--only", nargs="+", metavar="NAME", help="only these commands")
    jobs.add_argument(
        "--against", type=Path, help="another checkout, run in rounds interleaved with this one"
    )
    jobs.add_argument("--warm-up", type=int, default=1, help="runs that do not count, first (1)")
    jobs.add_argument("--cold", action="store_true", help="and one run without compiled kernels")
    jobs.add_argument("--no-engines", action="store_true", help="leave out the engines alone")
    jobs.add_argument("--markdown", type=Path, help="write the table here as well")
    jobs.set_defaults(run=run)


def run(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Time the commands whose data is there."""
    chosen = [one for one in COMMANDS if not options.only or one.name in options.only]
    rows = []
    with tempfile.TemporaryDirectory(prefix="pairalign-benchmark-") as folder:
        for command in chosen:
            data = find_data(command, options.folder, Path(folder))
            if data is None:
                print(f"{command.name}: no {command.data}* in {options.folder}", file=sys.stderr)
                continue
            timed = time_command(command, data, options)
            alone = None
            if command.engine is not None and not options.no_engines:
                alone = engine_seconds(data, *command.engine, options.device)
            rows += rows_of(command, timed, alone, options)
            print(rows[-1], file=sys.stderr, flush=True)
    return rows, [f"device {options.device}, output to /dev/null, {options.repeat} runs"]


def find_data(command: WholeCommand, folder: Path, scratch: Path) -> Path | None:
    """Return the file to align, cut to as many sequences as the command wants."""
    if not command.data:
        return EXAMPLE
    found = sorted(folder.resolve().rglob(f"{command.data}*.f*"))  # runs have a folder of their own
    if not found or not command.sequences:
        return found[0] if found else None
    cut = scratch / f"{command.data}-{command.sequences}.fa"
    if not cut.exists():
        cut.write_text("".join(first_records(found[0], command.sequences)))
    return cut


def first_records(path: Path, number: int) -> Iterator[str]:
    """Yield the lines of the first records of a FASTA file."""
    seen = 0
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            seen += line.startswith(">")
            if seen > number:
                return
            yield line


def time_command(command: WholeCommand, data: Path, options: argparse.Namespace) -> Timed:
    """Run the command and that of the other checkout, interleaved; first some that do not count."""
    timed = Timed()
    if options.cold:
        with tempfile.TemporaryDirectory(prefix="pairalign-cache-") as cache:
            timed.cold = seconds_of(command, data, options.device, ROOT, cache)
    versions = [(ROOT, timed.here)]
    if options.against:
        versions.append((options.against.resolve(), timed.there))
    for root, _ in versions * options.warm_up:
        seconds_of(command, data, options.device, root)
    for _ in range(options.repeat):
        for root, seconds in versions:
            seconds.append(seconds_of(command, data, options.device, root))
    return timed


def seconds_of(
    command: WholeCommand, data: Path, device: str, root: Path, cache: str | None = None
) -> float:
    """Run ``pairalign`` of a checkout once; end the benchmark when it fails."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(root), *sys.path[2:]]))
    if cache is not None:
        environment["PAIRALIGN_CACHE"] = cache
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, f"out.{command.output}")
        out.symlink_to(os.devnull)
        name = command.arguments[0]
        arguments = [name, str(data), *command.arguments[1:], "-o", str(out), "--device", device]
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "pairalign", *arguments, "--quiet"],
            env=environment,
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"pairalign {' '.join(arguments)} ({root}): {done.stderr}")
    return seconds


def engine_seconds(data: Path, mode: str, detail: str, device: str) -> float:
    """Seconds from the first window to the last result, dropped; in a process of its own."""
    program = shutil.which(sys.executable) or sys.executable
    done = subprocess.run(
        [program, str(HERE / "jobs_engine.py"), str(data), mode, detail, device],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), *sys.path[2:]])),
    )
    return float(json.loads(done.stdout)["seconds"])


def rows_of(
    command: WholeCommand, timed: Timed, alone: float | None, options: argparse.Namespace
) -> list[Row]:
    """Return the command's rows: against the engines alone, the goal, the other checkout."""
    median = statistics.median(timed.here)
    goals = command.goals if options.device.startswith("cuda") else ()
    goal = goals[options.gpus - 1] if len(goals) >= options.gpus else None
    span = f"{median:.2f} s ({min(timed.here):.2f}-{max(timed.here):.2f})"
    rows = [
        Row(
            command.name,
            span,
            "" if alone is None else "engines alone",
            "" if alone is None else f"{alone:.2f} s",
            "" if alone is None else f"{median / alone:.2f}",
            "" if goal is None else f"{goal:g} s",
            None if goal is None else median <= goal,
        )
    ]
    if timed.there:
        before = statistics.median(timed.there)
        other = f"{before:.2f} s ({min(timed.there):.2f}-{max(timed.there):.2f})"
        rows.append(Row(command.name, span, options.against.name, other, f"{median / before:.2f}"))
    if timed.cold is not None:
        rows.append(Row(f"{command.name}, cold", f"{timed.cold:.2f} s", "", "", ""))
    return rows
