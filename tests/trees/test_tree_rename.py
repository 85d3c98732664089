"""Names that Newick cannot hold: rows for MAFFT, or short names with a table of the originals."""

import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from Bio import Phylo
from commands import fasta

import pairalign
from pairalign.cli.main import main
from pairalign.trees.tree_text import PROGRAMS

NAMES = [
    "AB01;tax=d:Bacteria,p:Firmicutes;",
    "CD02;tax=d:Bacteria,p:Proteobacteria;",
    "EF03;size=7;",
    "plain",
]
LETTERS = ["MKVLAAGGWTRE", "MKVLAGGWTE", "MKWLAGRE", "WWPHCMKVL"]
GUIDE = Path(__file__).parents[2] / "docs" / "guide-trees.md"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.fa"
    path.write_text(fasta(dict(zip(NAMES, LETTERS, strict=True))))
    return path


@pytest.mark.parametrize("program", [None, *PROGRAMS])
def test_refused_with_two_ways_on(source, program, capsys):
    options = [] if program is None else ["--for", program]
    assert main(["tree", str(source), "-o", str(source.parent / "out.nwk"), *options]) == 2
    said = capsys.readouterr().err
    assert "in.fa: sequence 1 'AB01;tax=d:Bacteria,p:Firmicutes;'" in said
    assert "(--rename)" in said
    assert "--for mafft" in said
    assert [file.name for file in source.parent.iterdir()] == ["in.fa"]


def test_rows_for_mafft_take_any_name(source, capsys):
    assert main(["tree", str(source), "-o", "-", "--for", "mafft", "--quiet"]) == 0
    assert capsys.readouterr().out == pairalign.tree(source, measure="score").mafft()


@pytest.mark.parametrize("program", [None, *PROGRAMS])
def test_short_names_and_their_table(source, program):
    """The tree is the same one; MUSCLE's wish for headers without blanks is up to the new file."""
    tree, table = source.parent / "out.nwk", source.parent / "names.tsv"
    options = [] if program is None else ["--for", program]
    options += ["--rename", str(table), "--quiet"]
    assert main(["tree", str(source), "-o", str(tree), *options]) == 0
    original = dict(line.split("\t") for line in table.read_text().splitlines())
    assert original == dict(zip(["s1", "s2", "s3", "s4"], NAMES, strict=True))
    read = Phylo.read(io.StringIO(tree.read_text()), "newick")
    measure = "identity-aligned" if program is None else "score"
    own = pairalign.tree(source, measure=measure).to_biopython()
    for one in original:
        for other in original:
            way = own.distance(original[one], original[other])
            assert read.distance(one, other) == pytest.approx(way, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "{}/out.mafft"], "--rename is for names in Newick"),
        (["-o", "{}/out.svg"], "--rename is for names in Newick"),
        (["-o", "{}/names.tsv"], "both"),
        (["-o", "{}/none/out.nwk"], "none"),
    ],
)
def test_wrong_uses_leave_nothing(source, options, message, capsys):
    words = [option.format(source.parent) for option in options]
    assert main(["tree", str(source), *words, "--rename", str(source.parent / "names.tsv")]) != 0
    assert message in capsys.readouterr().err
    assert [file.name for file in source.parent.iterdir()] == ["in.fa"]


def test_the_way_there_and_back_that_the_docs_show(source):
    """With a copy in place of the aligner."""
    if shutil.which("awk") is None:
        pytest.skip("awk is not installed")
    (block,) = re.findall(
        r"^```sh\n(pairalign tree .*--rename.*\n(?:.*\n)*?)```$", GUIDE.read_text(), re.M
    )
    there, back = re.findall(r"^awk (?:.*\\?\n)+?(?=clustalo|\Z)", block, re.M)
    options = ["-o", str(source.parent / "T"), "--rename", str(source.parent / "names.tsv"), "-q"]
    assert main(["tree", str(source), *options]) == 0
    source.rename(source.parent / "IN")
    commands = f"{there}\ncp SHORT ALIGNED\n{back}"
    subprocess.run(["sh", "-ec", commands], cwd=source.parent, check=True)
    short = pairalign.read_fasta(source.parent / "SHORT")
    assert short.names == ["s1", "s2", "s3", "s4"]
    assert short.descriptions == short.names
    found = pairalign.read_fasta(source.parent / "OUT")
    assert (found.names, [one.residues for one in found]) == (NAMES, LETTERS)
