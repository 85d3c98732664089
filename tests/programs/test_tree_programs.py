"""Clustal Omega, MAFFT, MUSCLE 3 and FAMSA take our trees, and use them.

Each aligns real families along our tree: exit code 0, every sequence in the output, and another
tree gives another alignment. A program that is not there is skipped; scripts/install_aligners.sh
installs all of them.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from Bio import Phylo

import pairalign
from pairalign.cli.main import main
from pairalign.results.distances_result import DistanceMatrix
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import pair_at

FAMILIES = {
    "globins": Path(__file__).parents[1] / "data" / "globins.fasta",
    "p450": Path(__file__).parents[2] / "examples" / "cytochrome_p450.fasta",
}
# Name, executable, arguments: {fasta}, {tree} and {out}; MAFFT writes to standard output.
PROGRAMS = {
    "clustalo": ("clustalo", "-i {fasta} --guidetree-in {tree} -o {out} --force --threads 1"),
    "mafft": ("mafft", "--quiet --treein {tree} {fasta}"),
    "muscle": ("muscle3", "-quiet -maxiters 1 -in {fasta} -usetree_nowarn {tree} -out {out}"),
    "famsa": ("famsa", "-keep-duplicates -gt import {tree} {fasta} {out}"),
}
Align = Callable[[Path, str], dict[str, str]]


def find(executable: str) -> str:
    """Path of a program, installed for the system or into the virtual environment."""
    path = os.pathsep.join([os.environ.get("PATH", ""), str(Path(sys.executable).parent)])
    found = shutil.which(executable, path=path)
    if found is None:
        pytest.skip(f"{executable} is not installed (scripts/install_aligners.sh)")
    return found


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A family of proteins with headers that are nothing but names, which MUSCLE needs."""
    path = tmp_path / f"{request.param}.fasta"
    # Few: Clustal Omega takes a minute for twenty of them on a small machine.
    sequences = list(pairalign.read_fasta(FAMILIES[request.param]))
    sequences = sequences[:: -(-len(sequences) // 12)]
    path.write_text("".join(f">{one.name}\n{one.residues}\n" for one in sequences))
    return path


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> str:
    """One of the programs."""
    find(PROGRAMS[request.param][0])
    return request.param


def run(executable: str, arguments: str, *, seconds: float = 300, **files: Path) -> dict[str, str]:
    """Run a program to its end; return the rows of its alignment."""
    command = [find(executable), *(word.format(**files) for word in arguments.split())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr
    text = files["out"].read_text() if "{out}" in arguments else done.stdout
    rows: dict[str, str] = {}
    for record in text.split(">")[1:]:
        header, *lines = record.splitlines()
        rows[header] = "".join(lines).upper()
    return rows


def check_complete(rows: dict[str, str], sequences: SequenceSet) -> None:
    """Every sequence once, under its name, with its letters, in rows of one length."""
    assert sorted(rows) == sorted(sequences.names)
    assert len({len(row) for row in rows.values()}) == 1
    for sequence in sequences:
        assert rows[sequence.name].replace("-", "") == sequence.residues


def far_from(sequences: SequenceSet) -> DistanceMatrix:
    """Distances that have nothing to do with the sequences: a tree nobody would guess."""
    rng = np.random.default_rng(2)
    count = len(sequences)
    return DistanceMatrix(sequences.names, rng.random(count * (count - 1) // 2).astype(np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["upgma", "nj"])
def test_programs_align_along_our_tree(family, program, method, tmp_path):
    if method == "nj":
        pytest.importorskip("skbio", reason="scikit-bio is not installed")
    tree, out = tmp_path / "tree", tmp_path / "out.fasta"
    options = ["--for", program, "--method", method, "--quiet"]
    assert main(["tree", str(family), "-o", str(tree), *options]) == 0
    executable, arguments = PROGRAMS[program]
    rows = run(executable, arguments, fasta=family, tree=tree, out=out)
    check_complete(rows, pairalign.read_fasta(family))


def test_programs_use_the_tree(family, program, tmp_path):
    """The same tree gives the same alignment, another tree another one."""
    tree, out = tmp_path / "tree", tmp_path / "out.fasta"
    sequences = pairalign.read_fasta(family)
    executable, arguments = PROGRAMS[program]
    found = []
    for matrix in (None, None, far_from(sequences)):
        made = pairalign.tree(sequences if matrix is None else matrix)
        tree.write_text(made.mafft() if program == "mafft" else made.newick(program))
        found.append(run(executable, arguments, fasta=family, tree=tree, out=out))
        check_complete(found[-1], sequences)
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_clustal_omega_takes_our_matrix(family, tmp_path):
    """Its own tree of the matrix joins the closest pair at our distance; another matrix matters."""
    sequences = pairalign.read_fasta(family)
    matrix, guide, out = (tmp_path / name for name in ("distances.phy", "guide", "out.fasta"))
    arguments = "-i {fasta} --distmat-in {matrix} --full -o {out} --force --threads 1"
    arguments += " --guidetree-out {guide}"
    assert main(["distance", str(family), "-o", str(matrix), "--quiet"]) == 0
    ours = run("clustalo", arguments, fasta=family, matrix=matrix, guide=guide, out=out)
    check_complete(ours, sequences)
    condensed = pairalign.distance(sequences).condensed
    closest = pair_at(int(condensed.argmin()), len(sequences))
    tree = Phylo.read(guide, "newick")
    for index in closest:
        (leaf,) = tree.find_clades(name=sequences.names[index])
        assert leaf.branch_length == pytest.approx(condensed.min() / 2, abs=1e-5)
    pairalign.formats.distances.write_distances(matrix, far_from(sequences))
    other = run("clustalo", arguments, fasta=family, matrix=matrix, guide=guide, out=out)
    check_complete(other, sequences)
    assert ours != other


def test_names_as_in_databases(program, tmp_path):
    """Characters of UniProt, Pfam and NCBI names reach every program as they are."""
    letters = list(pairalign.read_fasta(FAMILIES["globins"]))[:5]
    names = ["sp|P69905|HBA_HUMAN", "HBB_HUMAN/4-147", "gi#3=x+y", "NP_000549.1", "a~b@c%d&e*f"]
    fasta, tree, out = (tmp_path / name for name in ("in.fasta", "tree", "out.fasta"))
    fasta.write_text("".join(f">{n}\n{s.residues}\n" for n, s in zip(names, letters, strict=True)))
    assert main(["tree", str(fasta), "-o", str(tree), "--for", program, "--quiet"]) == 0
    executable, arguments = PROGRAMS[program]
    rows = run(executable, arguments, fasta=fasta, tree=tree, out=out)
    check_complete(rows, pairalign.read_fasta(fasta))


@pytest.mark.parametrize("same", ["all", "some"])
def test_equal_sequences(program, same, tmp_path):
    """Branches of length 0."""
    letters = "MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHF"
    others = ["MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESF"] if same == "some" else []
    fasta, tree, out = (tmp_path / name for name in ("in.fasta", "tree", "out.fasta"))
    rows = [letters] * 4 + others
    fasta.write_text("".join(f">s{k}\n{row}\n" for k, row in enumerate(rows)))
    for method in ("upgma", "nj"):
        options = ["--for", program, "--method", method, "--quiet"]
        if main(["tree", str(fasta), "-o", str(tree), *options]):
            pytest.skip("scikit-bio is not installed")
        executable, arguments = PROGRAMS[program]
        found = run(executable, arguments, fasta=fasta, tree=tree, out=out)
        check_complete(found, pairalign.read_fasta(fasta))


@pytest.mark.parametrize("measure", ["identity", "score"])
@pytest.mark.parametrize("method", ["upgma", "mixed", "nj"])
def test_famsa_ends_with_a_fragment_and_a_copy(method, measure, tmp_path):
    """Without its flag it never ends where copies are not siblings: a fragment is no farther."""
    find("famsa")
    if method == "nj":
        pytest.importorskip("skbio", reason="scikit-bio is not installed")
    whole = "MVLSPADKTNVKAAWGKVGAHAGEYGAEALERMFLSFPTTKTYFPHF"
    other = "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESF"
    rows = [whole, whole[:20], whole, other, whole[:20], other.lower(), whole]
    fasta, tree, out = (tmp_path / name for name in ("in.fasta", "tree", "out.fasta"))
    fasta.write_text("".join(f">s{k}\n{row}\n" for k, row in enumerate(rows)))
    options = ["--for", "famsa", "--method", method, "--measure", measure, "--quiet"]
    assert main(["tree", str(fasta), "-o", str(tree), *options]) == 0
    for flag in ("-keep-duplicates ", ""):
        out.unlink(missing_ok=True)
        arguments = f"{flag}-gt import {{tree}} {{fasta}} {{out}}"
        found = run("famsa", arguments, fasta=fasta, tree=tree, out=out, seconds=20)
        assert sorted(found) == [f"s{k}" for k in range(len(rows))]
