"""The subcommand `msa`: multiple alignments against reference alignments, beside other programs.

Families are in two halves: those of even number in the order of their names are for tuning, those
of odd number for judging; nothing may be chosen by the second half. Where the data have qscore's
tables, as published for other programs, these are lines as well. "PROGRAM, our tree" aligns along
ours.
"""

from __future__ import annotations

import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.msa_score import Score, published, read_alignment, score
from pairalign.jobs.distances.distance import distance
from pairalign.jobs.distances.guide_tree import tree as make_tree
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.set_reading import read_fasta

HALVES = {"tuning": slice(0, None, 2), "judging": slice(1, None, 2), "all": slice(None)}

# One thread each; {fasta} in, {out} or standard output out.
OURS = f"{sys.executable} -m pairalign msa -o {{out}} --format fasta -t 1 -q"
ALL_AT_ONCE = "pairalign, one run"
"""Families that one process aligns, each into a file of a folder."""
COMMANDS = {
    "pairalign": f"{OURS} {{fasta}}",
    ALL_AT_ONCE: OURS,
    "linsi": "mafft --localpair --maxiterate 1000 --quiet --thread 1 {fasta}",
    "mafft": "mafft --auto --quiet --thread 1 {fasta}",
    "fftns": "mafft --quiet --thread 1 {fasta}",
    "muscle": "muscle -align {fasta} -output {out} -threads 1",
    "super5": "muscle -super5 {fasta} -output {out} -threads 1",
    "muscle3": "muscle3 -quiet -in {fasta} -out {out}",
    "clustalo": "clustalo -i {fasta} -o {out} --force --threads 1",
    "probcons": "probcons {fasta}",
    "kalign": "kalign -i {fasta} -o {out} -n 1",
    "t_coffee": "t_coffee -seq {fasta} -output fasta_aln -outfile {out} -n_core 1 -quiet",
    "famsa": "famsa -t 1 {fasta} {out}",
}
OUR_TREE = ", our tree"
ALONG = {
    "clustalo": "--guidetree-in {newick}",
    "fftns": "--treein {mafft}",
    "famsa": "-gt import {newick}",
    "muscle3": "-usetree_nowarn {newick}",
}
COMMANDS |= {
    name + OUR_TREE: COMMANDS[name].replace(" ", f" {option} ", 1) for name, option in ALONG.items()
}

PUBLISHED_MEANS = {
    ("bali3", "BB11"): (70.3, 48.5),
    ("bali3", "BBS11"): (81.8, 64.5),
    ("ox", ""): (90.5, 82.6),
}
"""Q and TC of MLProbs (Kuang et al., IEEE/ACM Trans Comput Biol Bioinform 20:524, 2023) over all
families of a collection; scores of single families were not published."""


@dataclass
class Result:
    """A program's alignments: the score of each family, and the seconds of all."""

    scores: dict[str, Score]
    seconds: float


def add_command(commands: Any) -> None:
    """Add `msa` to the command line."""
    parser = commands.add_parser("msa", help="multiple alignments against reference alignments")
    parser.add_argument(
        "--data", type=Path, required=True, help="a folder with in/ and ref/, such as Edgar's bali3"
    )
    parser.add_argument("--families", default="", help="only those whose names begin so: BB11")
    parser.add_argument("--half", choices=HALVES, default="tuning", help="(tuning)")
    parser.add_argument("--most", type=int, help="only the first N")
    usual = [name for name in COMMANDS if name.removesuffix(OUR_TREE) not in ALONG]
    parser.add_argument("--programs", nargs="*", default=usual, choices=list(COMMANDS))
    parser.add_argument("--json", type=Path, help="write the scores of all families here as well")
    parser.set_defaults(run=run_msa)


def run_msa(options: Namespace) -> None:
    """Align with each program that is there, and print the table."""
    names = sorted(
        path.name
        for path in (options.data / "in").iterdir()
        if path.name.startswith(options.families) and (options.data / "ref" / path.name).exists()
    )
    names = names[HALVES[options.half]][: options.most]
    results = {}
    for program in options.programs:
        if not is_there(program):
            print(f"{program}: not there")
            continue
        results[program] = align_all(program, options.data, names)
    for path in sorted((options.data / "qscore").glob("*")):
        scores = published(path)
        if scores.keys() >= set(names):
            results[f"{path.name}, published"] = Result(scores, float("nan"))
    for line in table(results, names):
        print(line)
    whole = options.half == "all" and options.most is None
    means = PUBLISHED_MEANS.get((options.data.name, options.families)) if whole else None
    if means is not None:
        print(f"| MLProbs, published | {means[0]:.2f} | {means[1]:.2f} | | | |")
    if options.json is not None:
        scores = {
            program: {name: [one.pairs, one.columns] for name, one in result.scores.items()}
            for program, result in results.items()
            if program in COMMANDS
        }
        options.json.write_text(json.dumps(scores, indent=1))


def is_there(program: str) -> bool:
    """Tell whether a program can be run."""
    return shutil.which(COMMANDS[program].split()[0]) is not None


def align_all(program: str, data: Path, names: list[str]) -> Result:
    """Align families of a folder, one after the other, and score them."""
    result = Result({}, 0.0)
    for some in [names] if program == ALL_AT_ONCE else [[name] for name in names]:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder, "out")
            if program == ALL_AT_ONCE:
                out.mkdir()
            result.seconds += _run(program, [data / "in" / name for name in some], out, folder)
            for name in some:
                made = read_alignment(out / f"{name}.afa" if program == ALL_AT_ONCE else out)
                result.scores[name] = score(made, read_alignment(data / "ref" / name))
    return result


def _run(program: str, files: list[Path], out: Path, folder: str) -> float:
    """Align a family, or several at once; return the CPU seconds."""
    paths = [str(path.resolve()) for path in files]
    named = {
        "fasta": paths[0],
        "out": out,
        **{one: f"{folder}/{one}" for one in ("newick", "mafft")},
    }
    if program.endswith(OUR_TREE):
        tree = make_tree(
            distance(
                read_fasta(files[0], alphabet=PROTEIN), measure="score", device="cpu", threads=1
            )
        )
        Path(named["newick"]).write_text(tree.newick())
        Path(named["mafft"]).write_text(tree.mafft())
    command = [part.format(**named) for part in COMMANDS[program].split()]
    command += paths if program == ALL_AT_ONCE else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not out.exists():
        out.write_bytes(done.stdout)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(results: dict[str, Result], names: list[str]) -> list[str]:
    """Make the table: means, and what pairalign is better by, with standard errors."""
    lines = [
        f"{len(names)} families; Q and TC in per cent; pairalign less the other (our tree less its "
        "own) +- standard error",
        "| program | Q | TC | dQ | dTC | CPU s |",
        "|---|---|---|---|---|---|",
    ]
    ours = results.get("pairalign")
    for program, result in results.items():
        q, tc = (_values(result, names, what) for what in ("pairs", "columns"))
        apart = ["", ""]
        along = results.get(program.removesuffix(OUR_TREE)) if program.endswith(OUR_TREE) else None
        if along is not None or (ours is not None and program != "pairalign"):
            other, sign = (along, 1) if along is not None else (ours, -1)
            apart = [
                _difference(sign * (values - _values(other, names, what)))
                for what, values in (("pairs", q), ("columns", tc))
            ]
        lines.append(
            f"| {program} | {q.mean():.2f} | {tc.mean():.2f} | {' | '.join(apart)} "
            f"| {'' if math.isnan(result.seconds) else f'{result.seconds:.1f}'} |"
        )
    return lines


def _values(result: Result, names: list[str], what: str) -> np.ndarray:
    return np.array([100 * getattr(result.scores[name], what) for name in names])


def _difference(values: np.ndarray) -> str:
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return f"{values.mean():+.2f} +- {error:.2f}"
