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
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.msa_score import Score, published, read_alignment, score
from pairalign.distances import MEASURES, distances
from pairalign.guide_tree import METHODS, guide_tree
from pairalign.sequences import PROTEIN, SequenceSet
from pairalign.tree import GuideTree

OWN = "own"
TREES = [f"{name} {method}" for name, m in MEASURES.items() if m.alphabet in (None, PROTEIN)
         for method in METHODS]  # fmt: skip

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
    parser.add_argument("--families", type=int, help="only so many, spread over all")
    parser.add_argument("--letters", type=int, help="only families of so many letters at most")
    parser.add_argument("--minutes", type=float, help="start no family after so many")
    parser.add_argument("--famsa", type=Path, help="FAMSA's program (scripts/build_famsa.py)")
    parser.add_argument(
        "--check-every", type=int, default=9, metavar="N", help="of the families (9)"
    )
    parser.set_defaults(run=run_trees)


def run_trees(options: Namespace) -> None:
    """Align families along all trees, as far as the results are not there; print the tables."""
    known = _read_results(options.results)
    programs = {name: path for name in COMMANDS if (path := _find(name, options))}
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, options.results.open("a") as results:
        for collection, family in _families(options):
            if options.minutes and time.perf_counter() - started > 60 * options.minutes:
                break
            wanted = [
                (program, tree)
                for program in programs
                for tree in (OWN, *TREES)
                if (collection, family, program, tree) not in known
            ]
            for line in _run_family(options, collection, family, wanted, programs, Path(folder)):
                results.write(json.dumps(line) + "\n")
                results.flush()
                known[tuple(line[key] for key in KEYS)] = line
    print("\n\n".join([_check_scorer(options), *tables(known)]))


KEYS = ("collection", "family", "program", "tree")


def _find(name: str, options: Namespace) -> str | None:
    if name == "famsa" and options.famsa:
        return str(options.famsa)
    return shutil.which(COMMANDS[name][0])


def _read_results(path: Path) -> dict[tuple[str, ...], dict[str, object]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {tuple(line[key] for key in KEYS): line for line in lines}


def _families(options: Namespace) -> Iterator[tuple[str, str]]:
    """All families with a reference, spread over the collections: any beginning is a sample."""
    found = []
    for collection in ("bali3", "ox"):
        names = sorted(path.name for path in (options.reference / collection / "ref").iterdir())
        order = np.random.default_rng(1).permutation(len(names))
        found += [(place / len(names), collection, names[k]) for place, k in enumerate(order)]
    for _, collection, name in sorted(found)[: options.families]:
        yield collection, name


def _run_family(
    options: Namespace,
    collection: str,
    family: str,
    wanted: list[tuple[str, str]],
    programs: dict[str, str],
    folder: Path,
) -> Iterator[dict[str, object]]:
    given = read_alignment(options.reference / collection / "in" / family)
    reference = read_alignment(options.reference / collection / "ref" / family)
    letters = sum(map(len, given.values()))
    if not wanted or len(given) < 3 or letters > (options.letters or letters):
        return
    # Names that nobody stumbles over.
    names = {name: f"s{k}" for k, name in enumerate(given)}
    fasta = folder / "in.fasta"
    fasta.write_text("".join(f">{names[name]}\n{row}\n" for name, row in given.items()))
    sequences = SequenceSet.from_strings(
        {names[name]: row for name, row in given.items()}, alphabet=PROTEIN
    )
    trees: dict[str, GuideTree] = {}
    for program, tree in wanted:
        if tree != OWN and tree not in trees:
            measure, method = tree.split()
            matrix = distances(sequences, measure=measure)
            trees[tree] = guide_tree(matrix, method=method)
        start = time.perf_counter()
        aligned = align(programs[program], program, fasta, trees.get(tree), folder)
        seconds = time.perf_counter() - start
        test = {name: aligned[short] for name, short in names.items() if name in reference}
        found = score(test, reference)
        yield {
            "collection": collection,
            "family": family,
            "program": program,
            "tree": tree,
            "sequences": len(given),
            "q": found.pairs,
            "tc": found.columns,
            "seconds": round(seconds, 3),
        }


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


def tables(known: dict[tuple[str, ...], dict[str, object]]) -> Iterator[str]:
    """One table a collection: mean Q and TC of families that all of it has, in percent."""
    for collection in ("bali3", "ox"):
        lines = [line for line in known.values() if line["collection"] == collection]
        if not lines:
            continue
        programs = [name for name in COMMANDS if any(line["program"] == name for line in lines)]
        cells: dict[tuple[object, object], dict[object, Score]] = defaultdict(dict)
        for line in lines:
            one = Score(line["q"], line["tc"])  # type: ignore[arg-type]
            cells[line["program"], line["tree"]][line["family"]] = one
        complete = set.intersection(
            *(set(cells[program, tree]) for program in programs for tree in (OWN, *TREES))
        )
        yield f"{collection}: {len(complete)} families, mean Q / TC in percent\n\n" + "\n".join(
            _table(cells, programs, complete)
        )


def _table(
    cells: dict[tuple[object, object], dict[object, Score]],
    programs: list[str],
    families: set[object],
) -> Iterable[str]:
    yield "| tree | " + " | ".join(programs) + " | mean |"
    yield "| --- |" + " --- |" * (len(programs) + 1)
    for tree in (OWN, *TREES):
        means = np.array(
            [
                [
                    100 * np.mean([getattr(cells[program, tree][f], kind) for f in families])
                    for kind in ("pairs", "columns")
                ]
                for program in programs
            ]
        )
        shown = [f"{q:.2f} / {tc:.2f}" for q, tc in [*means, means.mean(axis=0)]]
        yield f"| {tree} | " + " | ".join(shown) + " |"


def _check_scorer(options: Namespace) -> str:
    """Score PROBCONS 1.12, which qscore was run on, and compare with what qscore found."""
    probcons = shutil.which("probcons")
    if probcons is None:
        return "scorer: not checked, PROBCONS 1.12 is not there"
    checked = wrong = 0
    for collection in ("bali3", "ox"):
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
