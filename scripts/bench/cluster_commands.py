"""Whole commands that cluster, in interleaved rounds on a core: CPU seconds, memory, clusters.

Where more sequences are asked for than a file has, copies follow, each of the file's in turn, in
which every residue is another one with a probability of 1%.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pairalign.sequences.reading import read_fasta
from pairalign.sequences.sets import SequenceSet

_CHANGED = 0.01


@dataclass(frozen=True)
class Run:
    """What a command took: CPU seconds of it and its children, memory; and its clusters."""

    seconds: float
    gigabytes: float
    clusters: int


def add_command(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "cluster-commands", help="CPU seconds of cluster beside vsearch, CD-HIT and MMseqs2"
    )
    parser.add_argument("--data", type=Path, required=True, nargs="+", help="FASTA files")
    parser.add_argument("--sequences", type=int, nargs="*", default=[10_000], help="the first ones")
    parser.add_argument("--min-identity", default="0.97")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("options", nargs="*", help="more options of pairalign cluster, after --")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print a line for each program, of each file and number of sequences."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for path in options.data:
        every = read_fasta(path)
        for number in options.sequences:
            print(f"\n{path.name}: the first {number:,}, {options.min_identity}")
            with tempfile.TemporaryDirectory(prefix="pairalign-benchmark-") as name:
                folder = Path(name)
                with (folder / "in.fa").open("w") as file:
                    file.writelines(records(every, number))
                compare(folder, programs(every.alphabet.name, options), options.rounds)


def records(every: SequenceSet, number: int) -> Iterator[str]:
    """FASTA records of the first sequences, and of copies of them with other residues."""
    drawn = random.Random(1)
    symbols = "ACGT" if every.alphabet.name == "dna" else "ARNDCQEGHILKMFPSTWYV"
    for k in range(number):
        name, letters = every.names[k % len(every)], every[k % len(every)].letters
        if k >= len(every):
            name += f".{k // len(every)}"
            letters = "".join(
                drawn.choice(symbols) if drawn.random() < _CHANGED else one for one in letters
            )
        yield f">{name}\n{letters}\n"


def compare(folder: Path, known: dict[str, Program], rounds: int) -> None:
    """Run all programs in interleaved rounds."""
    runs: dict[str, list[Run]] = {name: [] for name in known}
    for _ in range(rounds):
        for name, program in known.items():
            runs[name].append(measure(folder, program))
    for name, some in runs.items():
        seconds = sorted(one.seconds for one in some)
        print(
            f"{name:34} {statistics.median(seconds):7.2f} s ({seconds[0]:.2f}-{seconds[-1]:.2f})"
            f"  {max(one.gigabytes for one in some):5.2f} GB  {some[0].clusters:7,} clusters",
            flush=True,
        )


Program = tuple[Sequence[str], Callable[[Path], int]]


def measure(folder: Path, program: Program) -> Run:
    """Run a command in a folder and look at what it took."""
    arguments, count = program
    with (folder / "said.txt").open("w") as said:
        process = subprocess.Popen(arguments, cwd=folder, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)}: {(folder / 'said.txt').read_text()[-500:]}")
    return Run(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6, count(folder))


def programs(alphabet: str, options: argparse.Namespace) -> dict[str, Program]:
    """Commands that cluster by an identity, and what counts their clusters, by name."""
    least, is_dna = options.min_identity, alphabet == "dna"
    ours = ("cluster", "in.fa", "-o", "out.uc", "--min-identity", least, "--threads", "1", "-q")
    known: dict[str, Program] = {
        " ".join(["pairalign cluster", *options.options]): (
            (sys.executable, "-m", "pairalign", *ours, *options.options),
            lambda folder: count_lines(folder / "out.uc", "S"),
        )
    }
    if is_dna:
        vsearch = ("--id", least, "--iddef", "1", "--uc", "v.uc", "--minseqlength", "1")
        known["vsearch --cluster_fast --iddef 1"] = (
            ("vsearch", "--cluster_fast", "in.fa", *vsearch, "--qmask", "none", "--threads", "1"),
            lambda folder: count_lines(folder / "v.uc", "S"),
        )
    words = next(n for share, n in ((0.7, 5), (0.6, 4), (0.5, 3), (0, 2)) if float(least) >= share)
    cdhit = ("cd-hit-est", "-r", "0") if is_dna else ("cd-hit", "-n", str(words))
    known[cdhit[0]] = (
        (
            *cdhit,
            "-i",
            "in.fa",
            "-o",
            "c",
            "-c",
            least,
            "-d",
            "0",
            "-l",
            "10",
            "-M",
            "0",
            "-T",
            "1",
        ),
        lambda folder: count_lines(folder / "c.clstr", ">"),
    )
    mmseqs = ("--min-seq-id", least, "-c", "0.8", "--threads", "1")
    workflow = "easy-linclust" if is_dna else "easy-cluster"
    known[f"mmseqs {workflow} -c 0.8"] = (
        ("mmseqs", workflow, "in.fa", "m", "tmp", *mmseqs),
        lambda folder: count_lines(folder / "m_rep_seq.fasta", ">"),
    )
    return {name: one for name, one in known.items() if shutil.which(one[0][0])}


def count_lines(path: Path, start: str) -> int:
    """Count the lines that begin so."""
    with path.open() as file:
        return sum(line.startswith(start) for line in file)
