"""The subcommand `trees`: do aligners align better along our guide trees than along their own?

Families with a reference alignment are aligned by Clustal Omega, MAFFT, FAMSA and MUSCLE 3, each
with its own tree and with ours. Each result is a line of a JSON file that later runs go on from.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.msa_score import read_alignment, score
from pairalign.base.choices import MODES, TREE_METHODS
from pairalign.jobs.distances.distance import distance
from pairalign.jobs.distances.guide_tree import tree as make_tree
from pairalign.jobs.distances.measures import MEASURES
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree

COLLECTIONS = ("bali3", "ox")
OWN = "own"
TREES = [f"{name} {method}" for name, m in MEASURES.items() if m.alphabet in (None, PROTEIN)
         for method in TREE_METHODS]  # fmt: skip
# How each is run: options are those of its manual for a progressive alignment of a few sequences.
COMMANDS = {
    "clustalo": ("clustalo", "-i {fasta} -o {out} --force --threads 1", "--guidetree-in {newick}"),
    "mafft": ("mafft", "--quiet --thread 1 {tree} {fasta}", "--treein {mafft}"),
    "famsa": ("famsa", "-t 1 {tree} {fasta} {out}", "-gt import {newick}"),
    "muscle3": ("muscle3", "-quiet -in {fasta} -out {out}", "-usetree_nowarn {newick}"),
}
KEYS = ("collection", "family", "program", "tree")
Line = dict[str, Any]


def add_command(commands: Any) -> None:
    """Add `trees` to the command line."""
    parser = commands.add_parser("trees", help="quality of alignments along our guide trees")
    parser.add_argument(
        "--reference", type=Path, required=True, help="folder with Edgar's bali3 and ox"
    )
    parser.add_argument(
        "--results", type=Path, required=True, help="JSON lines, which a later run goes on from"
    )
    parser.add_argument("--families", type=int, help="only N of each collection, drawn")
    parser.add_argument("--mode", choices=MODES, default="global", help="of our alignments")
    parser.add_argument("--trees", nargs="*", metavar="TREE", default=["score upgma"],
                        help='(score upgma); "all"')  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="alignments at a time (1)")
    parser.add_argument("--famsa", type=Path, help="FAMSA's program (scripts/build_famsa.py)")
    parser.set_defaults(run=run_trees)


def run_trees(options: Namespace) -> None:
    """Align families along all trees, as far as the results are not there; print the tables."""
    lines = options.results.read_text().splitlines() if options.results.exists() else []
    known = {tuple(one[key] for key in KEYS): one for one in map(json.loads, lines)}
    found = {name: shutil.which(COMMANDS[name][0]) for name in COMMANDS}
    found |= {"famsa": str(options.famsa)} if options.famsa else {}
    programs = {name: path for name, path in found.items() if path}
    chosen = TREES if options.trees == ["all"] else options.trees
    trees = [OWN, *(f"{tree} {options.mode}" for tree in chosen)]
    with (
        tempfile.TemporaryDirectory() as folder,
        options.results.open("a") as results,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        tasks = [
            pool.submit(family.measure, program, path, tree)
            for family in families_of(options, Path(folder))
            for program, path in programs.items()
            for tree in trees
            if (family.collection, family.name, program, tree) not in known
        ]
        for done in as_completed(tasks):
            line = done.result()
            results.write(json.dumps(line) + "\n")
            results.flush()
            known[tuple(line[key] for key in KEYS)] = line
    for collection in COLLECTIONS:
        print(table(collection, known, list(programs), trees))


@dataclass
class Family:
    """Sequences with a reference alignment, under names that every program can read."""

    collection: str
    name: str
    reference: Path
    folder: Path

    def __post_init__(self) -> None:
        given = read_alignment(self.reference / self.collection / "in" / self.name)
        self.names = {name: f"s{k}" for k, name in enumerate(given)}
        self.rows = {self.names[name]: row for name, row in given.items()}

    def tree(self, name: str) -> GuideTree | None:
        """Our tree of a measure, a method and a mode; None for the program's own."""
        if name == OWN:
            return None
        measure, method, mode = name.split()
        sequences = SequenceSet.from_strings(self.rows, alphabet=PROTEIN)
        matrix = distance(sequences, measure=measure, mode=mode, device="cpu", threads=1)
        return make_tree(matrix, method=method)

    def measure(self, program: str, executable: str, tree: str) -> Line:
        """Align along a tree; return what is kept of it."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            fasta = Path(folder) / "in.fasta"
            fasta.write_text("".join(f">{name}\n{row}\n" for name, row in self.rows.items()))
            aligned = align(executable, program, fasta, self.tree(tree), Path(folder))
        reference = read_alignment(self.reference / self.collection / "ref" / self.name)
        test = {name: aligned[short] for name, short in self.names.items() if name in reference}
        found = score(test, reference)
        line = dict(zip(KEYS, (self.collection, self.name, program, tree), strict=True))
        return {**line, "q": found.pairs, "tc": found.columns}


def families_of(options: Namespace, folder: Path) -> list[Family]:
    """The families asked for, of at least three sequences."""
    found = []
    for collection in COLLECTIONS:
        names = sorted(path.name for path in (options.reference / collection / "ref").iterdir())
        order = np.random.default_rng(1).permutation(len(names))[: options.families]
        found += [Family(collection, names[k], options.reference, folder) for k in order]
    return [family for family in found if len(family.rows) >= 3]


def align(
    executable: str, program: str, fasta: Path, tree: GuideTree | None, folder: Path
) -> dict[str, str]:
    """Align a file along a tree, or along the program's own if there is none."""
    files = {name: folder / f"run.{name}" for name in ("newick", "mafft", "out")}
    _, arguments, with_tree = COMMANDS[program]
    if tree is not None:
        files["newick"].write_text(tree.newick())
        files["mafft"].write_text(tree.mafft())
        if "{tree}" not in arguments:
            arguments += " {tree}"
    words = arguments.replace("{tree}", with_tree if tree is not None else "").split()
    command = [word.format(fasta=fasta, **files) for word in words]
    done = subprocess.run([executable, *command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{program} {' '.join(command)}: {done.stderr[-500:]}")
    if program == "mafft":
        files["out"].write_text(done.stdout)
    return read_alignment(files["out"])


def table(
    collection: str, known: dict[tuple[str, ...], Line], programs: list[str], trees: list[str]
) -> str:
    """Mean Q / TC in percent, and Q minus that of the program's own tree with its standard error.

    Of the families that have all results.
    """
    families = {key[1] for key in known if key[0] == collection}
    complete = [
        one
        for one in sorted(families)
        if all((collection, one, program, tree) in known for program in programs for tree in trees)
    ]
    lines = [f"\n{collection}: {len(complete)} families", "| tree | " + " | ".join(programs) + " |"]
    lines.append("|---|" + "---|" * len(programs))
    for tree in trees if complete else ():
        cells = []
        for program in programs:
            q, tc, own = (
                100 * np.array([known[collection, one, program, of][what] for one in complete])
                for what, of in (("q", tree), ("tc", tree), ("q", OWN))
            )
            error = (q - own).std(ddof=1) / len(q) ** 0.5 if len(q) > 1 else float("nan")
            apart = "" if tree == OWN else f" ({(q - own).mean():+.2f} +- {error:.2f})"
            cells.append(f"{q.mean():.2f} / {tc.mean():.2f}{apart}")
        lines.append(f"| {tree} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
