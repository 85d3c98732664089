"""T-Coffee with our libraries of exact alignments and with its own: Q of reference alignments."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.msa_score import read_alignment, score

SUM_LIBRARIES = Path(__file__).parents[2] / "examples" / "sum_libraries.py"
MODES = ("global", "semiglobal", "local")
OWN = {
    "t_coffee, slow_pair and lalign_id_pair": ["-method=slow_pair,lalign_id_pair"],
    "t_coffee, proba_pair (its default)": [],
}


def add_command(commands: Any) -> None:
    parser = commands.add_parser("tcoffee", help="multiple alignments of T-Coffee by our libraries")
    parser.add_argument("--data", type=Path, required=True, help="a folder with in/ and ref/")
    parser.add_argument("--families", type=int, default=18)
    parser.add_argument("--most-sequences", type=int, default=20)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    families = [
        path
        for path in sorted((options.data / "in").iterdir())
        if 3 <= path.read_text().count(">") <= options.most_sequences
    ]
    chosen = families[:: max(1, len(families) // options.families)][: options.families]
    scores: dict[str, list[float]] = {}
    seconds: dict[str, float] = {}
    for family in chosen:
        for name, (rows, spent) in _align(family.resolve()).items():
            reference = read_alignment(options.data / "ref" / family.name)
            scores.setdefault(name, []).append(score(rows, reference).pairs)
            seconds[name] = seconds.get(name, 0) + spent
    print(f"{len(chosen)} families of {options.data}")
    for name, values in scores.items():
        print(f"{name:45} Q {np.mean(values):.3f}, {seconds[name]:.1f} s of one core")


def _align(family: Path) -> dict[str, tuple[dict[str, str], float]]:
    """Rows of each alignment of a family, and the seconds that it took."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        libraries = [f"{mode}.tc_lib" for mode in MODES]
        spent = 0.0
        for mode, library in zip(MODES, libraries, strict=True):
            command = ["pairalign", "align", str(family), "--mode", mode, "-o", library, "-q"]
            spent += _seconds(command, folder)
        with open(Path(folder) / "all.tc_lib", "wb") as file:
            command = [sys.executable, SUM_LIBRARIES, *libraries]
            file.write(subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout)
        ours = ["t_coffee", "-lib", "all.tc_lib"]
        own = {name: ["t_coffee", "-in", f"S{family}", *more] for name, more in OWN.items()}
        for name, command in {"t_coffee, pairalign's libraries": ours, **own}.items():
            taken = _seconds(
                [*command, "-output=fasta_aln", "-outfile=out.fa", "-n_core=1"], folder
            )
            found[name] = read_alignment(Path(folder) / "out.fa"), taken
        first = next(iter(found))
        found[first] = found[first][0], found[first][1] + spent
    return found


def _seconds(command: list[str], folder: str) -> float:
    """Run a command; return the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
