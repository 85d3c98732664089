"""The subcommand `trees`: do the aligners align better along our guide trees than along their own?

Families with a reference alignment are aligned by Clustal Omega, MAFFT, FAMSA and MUSCLE 3, each
with its own tree and with ours, of every measure and method. Each result is a line of a JSON file
that later runs go on from, so that the table can be made a part at a time.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from bench.msa_score import published, read_alignment, score
from bench.trees_tables import COLLECTIONS, OWN, tables
from pairalign.base.choices import MODES, TREE_METHODS
from pairalign.jobs.distances.distances import distances
from pairalign.jobs.distances.guide_tree import guide_tree
from pairalign.jobs.distances.measures import MEASURES
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree

TREES = [f"{name} {method}" for name, m in MEASURES.items() if m.alphabet in (None, PROTEIN)
         for method in TREE_METHODS]  # fmt: skip
# How each is run: options are those of its manual for a progressive alignment of a few sequences.
COMMANDS = {
    "clustalo": ("clustalo", "-i {fasta} -o {out} --force --threads 1", "--guidetree-in {newick}"),
    "mafft": ("mafft", "--quiet --thread 1 {tree} {fasta}", "--treein {mafft}"),
    "famsa": ("famsa", "-t 1 {tree} {fasta} {out}", "-gt import {newick}"),
    "muscle3": ("muscle3", "-quiet -in {fasta} -out {out}", "-usetree_nowarn {newick}"),
}


def add_command(commands: Any) -> None:
    """Add `trees` to the command line."""
    parser = commands.add_parser("trees", help="quality of alignments along our guide trees")
    parser.add_argument(
        "--reference", type=Path, required=True, help="folder with Edgar's bali3 and ox"
    )
    parser.add_argument(
        "--results", type=Path, required=True, help="JSON lines, which a later run goes on from"
    )
    parser.add_argument(
        "--add", type=Path, nargs="*", default=[], help="files of results to take over first"
    )
    parser.add_argument("--families", type=int, help="only N, spread over all")
    parser.add_argument(
        "--only", type=Path, metavar="FILE", help="only the families of its lines: bali3/BB11001"
    )
    parser.add_argument("--letters", type=int, help="only families of N residues at most")
    parser.add_argument(
        "--smallest-first", action="store_true", help="instead of an order that is a sample"
    )
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="global",
        help="of the alignments; other modes' trees are rows of their own (global)",
    )
    parser.add_argument("--trees", nargs="*", metavar="TREE", help='only these: "score upgma"')
    parser.add_argument("--minutes", type=float, help="start no alignment after N minutes")
    parser.add_argument("--jobs", type=int, default=1, help="alignments at a time (1)")
    parser.add_argument("--famsa", type=Path, help="FAMSA's program (scripts/build_famsa.py)")
    parser.add_argument(
        "--check-every", type=int, default=9, metavar="N", help="of the families (9)"
    )
    parser.set_defaults(run=run_trees)


def run_trees(options: Namespace) -> None:
    """Align families along all trees, as far as the results are not there; print the tables."""
    known = _read_results(options.results)
    programs = {name: path for name in COMMANDS if (path := _find(name, options))}
    trees = options.trees or [OWN, *TREES]
    if options.mode != "global":
        trees = [f"{tree} {options.mode}" for tree in trees if tree != OWN]
    deadline = time.perf_counter() + 60 * (options.minutes or float("inf"))
    with (
        tempfile.TemporaryDirectory() as folder,
        options.results.open("a") as results,
        ThreadPoolExecutor(options.jobs) as pool,
    ):

        def keep(line: dict[str, object]) -> None:
            results.write(json.dumps(line) + "\n")
            results.flush()
            known[tuple(str(line[key]) for key in KEYS)] = line

        for path in options.add:
            for key, line in _read_results(path).items():
                if key not in known:
                    keep(line)
        missing = [
            (family, program, tree)
            for family in _families(options, Path(folder))
            for program in programs
            for tree in trees
            if (family.collection, family.name, program, tree) not in known
        ]

        def run(task: tuple[Family, str, str]) -> dict[str, object] | None:
            family, program, tree = task
            if time.perf_counter() > deadline:
                return None
            return family.measure(program, programs[program], tree)

        for done in as_completed([pool.submit(run, task) for task in missing]):
            if line := done.result():
                keep(line)
    print("\n\n".join([_check_scorer(options), *tables(known, list(COMMANDS), _groups())]))


KEYS = ("collection", "family", "program", "tree")


def _find(name: str, options: Namespace) -> str | None:
    if name == "famsa" and options.famsa:
        return str(options.famsa)
    return shutil.which(COMMANDS[name][0])


def _read_results(path: Path) -> dict[tuple[str, ...], dict[str, object]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {tuple(line[key] for key in KEYS): line for line in lines}


@dataclass
class Family:
    """Sequences with a reference alignment, and our trees of them, each made when asked for."""

    collection: str
    name: str
    reference: Path
    folder: Path

    def __post_init__(self) -> None:
        given = read_alignment(self.reference / self.collection / "in" / self.name)
        # Names that every program can read.
        self.names = {name: f"s{k}" for k, name in enumerate(given)}
        self.rows = {self.names[name]: row for name, row in given.items()}
        self.letters = sum(map(len, given.values()))
        self._trees: dict[str, GuideTree] = {}
        self._lock = Lock()

    def tree(self, name: str) -> GuideTree | None:
        """Our tree of a measure and a method; None for the program's own."""
        if name == OWN:
            return None
        with self._lock:
            if name not in self._trees:
                measure, method, *mode = name.split()
                sequences = SequenceSet.from_strings(self.rows, alphabet=PROTEIN)
                matrix = distances(
                    sequences,
                    measure=measure,
                    mode=mode[0] if mode else "global",
                    device="cpu",
                    threads=1,
                )
                self._trees[name] = guide_tree(matrix, method=method)
            return self._trees[name]

    def measure(self, program: str, executable: str, tree: str) -> dict[str, object]:
        """Align along a tree; return what is kept of it."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            fasta = Path(folder) / "in.fasta"
            fasta.write_text("".join(f">{name}\n{row}\n" for name, row in self.rows.items()))
            guide = self.tree(tree)
            start = time.perf_counter()
            aligned = align(executable, program, fasta, guide, Path(folder))
            seconds = time.perf_counter() - start
        reference = read_alignment(self.reference / self.collection / "ref" / self.name)
        test = {name: aligned[short] for name, short in self.names.items() if name in reference}
        found = score(test, reference)
        return {
            "collection": self.collection,
            "family": self.name,
            "program": program,
            "tree": tree,
            "sequences": len(self.rows),
            "letters": self.letters,
            "q": found.pairs,
            "tc": found.columns,
            "seconds": round(seconds, 3),
        }


def _families(options: Namespace, folder: Path) -> list[Family]:
    """The families asked for; unless smallest first, any beginning is a sample of all."""
    found = []
    for collection in COLLECTIONS:
        names = sorted(path.name for path in (options.reference / collection / "ref").iterdir())
        order = np.random.default_rng(1).permutation(len(names))
        found += [(place / len(names), collection, names[k]) for place, k in enumerate(order)]
    chosen = [(collection, name) for _, collection, name in sorted(found)[: options.families]]
    if options.only:
        only = {tuple(line.split("/")) for line in options.only.read_text().split()}
        chosen = [one for one in chosen if one in only]
    families = [Family(*one, options.reference, folder) for one in chosen]
    families = [
        family
        for family in families
        if len(family.rows) >= 3 and family.letters <= (options.letters or family.letters)
    ]
    return sorted(families, key=lambda one: one.letters) if options.smallest_first else families


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
    files["out"].unlink(missing_ok=True)
    done = subprocess.run([executable, *command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{program} {' '.join(command)}: {done.stderr[-500:]}")
    if program == "mafft":
        files["out"].write_text(done.stdout)
    return read_alignment(files["out"])


def _groups() -> list[list[str]]:
    """What is compared in one table: all trees; those of another mode and of global alignments."""
    others = ([tree for one in TREES for tree in (one, f"{one} {mode}")] for mode in MODES[1:])
    return [[OWN, *TREES], *([OWN, *trees] for trees in others)]


def _check_scorer(options: Namespace) -> str:
    """Score PROBCONS 1.12, which qscore was run on, and compare with what qscore found."""
    probcons = shutil.which("probcons")
    if probcons is None:
        return "scorer: not checked, PROBCONS 1.12 is not there"
    checked = wrong = 0
    for collection in COLLECTIONS:
        folder = options.reference / collection
        expected = published(folder / "qscore" / "pc1.12")
        for path in sorted((folder / "in").iterdir())[:: options.check_every]:
            given = read_alignment(path)
            if path.name not in expected or sum(map(len, given.values())) > 1500:
                continue
            done = subprocess.run([probcons, path], capture_output=True, text=True, check=True)
            with tempfile.NamedTemporaryFile("w", suffix=".fasta") as file:
                file.write(done.stdout)
                file.flush()
                test = read_alignment(Path(file.name))
            found = score(test, read_alignment(folder / "ref" / path.name))
            printed = expected[path.name]
            differences = found.pairs - printed.pairs, found.columns - printed.columns
            checked += 1
            wrong += max(map(abs, differences)) > 0.00051
    return f"scorer: {checked} alignments by PROBCONS 1.12, {wrong} differ from qscore's figures"
