"""Hits of shuffled proteins by their E-values, ours and other programs', on the same sets."""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pairalign import SequenceSet, read_fasta

LIMITS = (10, 1, 0.1, 0.01, 0.001)
_OUT = "hits.tsv"
_OURS = (
    f"{sys.executable} -m pairalign align q.fa t.fa --device cpu -q -t 1 -o {_OUT} --mode local "
    "--gap-open 12 --gap-extend 1 --max-evalue 10 --format blast6 --columns query,target,evalue"
)
PROGRAMS = {
    "pairalign, default": [_OURS],
    "pairalign --comp-based-stats 0": [f"{_OURS} --comp-based-stats 0"],
    "pairalign --mask tantan": [f"{_OURS} --mask tantan"],
    "pairalign --mask seg": [f"{_OURS} --mask seg"],
    "pairalign --mask seg --mask-scores": [f"{_OURS} --mask seg --mask-scores"],
    "blastp, default": [
        "blastp -query q.fa -subject t.fa -evalue 10 -max_target_seqs 5000 "
        f"-outfmt '6 qseqid sseqid evalue' -out {_OUT}"
    ],
    "ssearch36, default": ["ssearch36 -q -m 8 -E 10 -T 1 q.fa t.fa"],
    "mmseqs -s 7.5": [
        f"mmseqs easy-search q.fa t.fa {_OUT} tmp -e 10 -s 7.5 -v 1 --max-seqs 5000 --threads 1 "
        "--format-output query,target,evalue"
    ],
    "diamond --ultra-sensitive": [
        "diamond makedb --in t.fa -d t -p 1 --quiet",
        "diamond blastp -q q.fa -d t -e 10 -k 0 -p 1 --quiet --ultra-sensitive "
        f"-f 6 qseqid sseqid evalue -o {_OUT}",
    ],
}
"""Commands of each program; what it prints stands for a file that it does not write."""


def compare_programs(options: argparse.Namespace) -> None:
    """Print a table of hits by what is expected, a line a program that is installed."""
    with tempfile.TemporaryDirectory() as folder:
        count = _write_sets(Path(folder), options)
        shown = " | ".join(f"E <= {limit:g}" for limit in LIMITS)
        queries = "reversed" if options.reversed else "shuffled"
        what = "real queries: hits" if options.real else f"{queries} queries: hits by expected"
        print(f"{options.data}: {count} {what}")
        print(f"| program | {shown} | hits at 0.001 | CPU s |")
        print(f"|---|{'---|' * (len(LIMITS) + 2)}")
        for name, commands in PROGRAMS.items():
            if shutil.which(commands[0].split()[0]) is None:
                print(f"| {name} | not installed |")
                continue
            before = _seconds()
            evalues = np.array(list(_best(Path(folder), commands).values()))
            hits = [int((evalues <= limit).sum()) for limit in LIMITS]
            expected = [1 if options.real else limit * count for limit in LIMITS]
            by = [f"{hit / one:.{0 if options.real else 2}f}"
                  for hit, one in zip(hits, expected, strict=True)]  # fmt: skip
            columns = " | ".join(map(str, (*by, hits[-1], f"{_seconds() - before:.1f}")))
            print(f"| {name} | {columns} |", flush=True)


def _write_sets(folder: Path, options: argparse.Namespace) -> int:
    """Write queries (shuffled each for itself, reversed, or as they are), and all as targets."""
    rng = np.random.default_rng(options.seed[0])
    every = read_fasta(options.data)
    usable = np.flatnonzero((every.lengths > 20) & (every.lengths <= options.longest))
    chosen = rng.permutation(usable)[: options.sequences]
    letters = [every[int(k)].residues for k in chosen]
    if options.reversed:
        letters = [one[::-1] for one in letters]
    elif not options.real:
        letters = ["".join(rng.permutation(list(one))) for one in letters]
    _write(folder / "q.fa", [f"q{k}" for k in chosen], letters)
    _write(folder / "t.fa", [f"t{k}" for k in range(len(every))], _residues(every))
    return len(chosen)


def _residues(sequences: SequenceSet) -> list[str]:
    return [sequences[k].residues for k in range(len(sequences))]


def _write(path: Path, names: list[str], letters: list[str]) -> None:
    path.write_text("".join(f">{n}\n{one}\n" for n, one in zip(names, letters, strict=True)))


def _best(folder: Path, commands: list[str]) -> dict[tuple[str, str], float]:
    """Run commands; return the least E-value of each pair that is not a sequence with itself."""
    (folder / _OUT).unlink(missing_ok=True)
    shutil.rmtree(folder / "tmp", ignore_errors=True)
    paths = {**os.environ, "PYTHONPATH": os.getcwd()}
    for command in commands:
        done = subprocess.run(
            shlex.split(command), cwd=folder, env=paths, check=True, capture_output=True, text=True
        )
    text = (folder / _OUT).read_text() if (folder / _OUT).exists() else done.stdout
    found: dict[tuple[str, str], float] = {}
    for query, target, evalue in _rows(text):
        if query[1:] != target[1:]:
            found[query, target] = min(evalue, found.get((query, target), np.inf))
    return found


def _rows(text: str) -> Iterator[tuple[str, str, float]]:
    for line in text.splitlines():
        columns = line.split("\t")
        if not line.startswith("#") and len(columns) >= 3:  # of twelve columns the last but one
            yield columns[0], columns[1], float(columns[2] if len(columns) == 3 else columns[-2])


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
