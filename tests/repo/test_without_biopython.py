"""What needs Biopython: its parsers and objects, and nothing else."""

import json
import subprocess
import sys

import pytest
from commands import PROTEINS, TIMEOUT_SECONDS, fasta

import pairalign
from pairalign.errors import PairalignError

HIDDEN = """
import json, sys
sys.modules["Bio"] = None  # as where it is not installed
from pairalign.cli.main import main
print(json.dumps([main([*command, "-q", "--device", "cpu"]) for command in json.load(sys.stdin)]))
"""
WITHOUT = [
    "align a.fa -o a.paf",
    "align a.fa -o a.tsv --matrix GONNET1992",
    "align r.fq -o r.sam",
    "verify a.paf a.fa -o v.tsv",
    "overlap r.fq -o r.gfa",
    "distance a.fa -o a.phy",
    "tree a.fa -o a.nwk",
    "tree a.phy -o b.nwk",
    "msa a.fa -o a.sto",
    "cluster a.fa -o a.uc --min-identity 0.5",
    "split a.fa -o s.csv --min-identity 0.9 --folds 2",
    "posterior a.fa -o p.tsv",
]
WITH = {
    "msa a.fa -o b.afa --tree-in a.nwk": "a.nwk: a tree that is read",
    "align a.sto --degap -o c.paf": "a.sto: Stockholm",
    "align w.fq -o c.paf": "w.fq: FASTQ with records of more than four lines",
}


def test_only_parsers_of_biopython_need_it(tmp_path):
    (tmp_path / "a.fa").write_text(fasta(PROTEINS))
    reads = {"a": "ACGTTGCAACGTTGCA", "b": "TTGCAACGTTGCAAGG"}
    (tmp_path / "r.fq").write_text("".join(f"@{k}\n{s}\n+\n{'I' * 16}\n" for k, s in reads.items()))
    (tmp_path / "w.fq").write_text("@a\nACGT\nAC\n+\nIIII\nII\n")
    commands = [command.split() for command in (*WITHOUT, *WITH)]
    done = subprocess.run(
        [sys.executable, "-c", HIDDEN],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    codes = dict(zip((*WITHOUT, *WITH), json.loads(done.stdout), strict=True))
    assert codes == {**dict.fromkeys(WITHOUT, 0), **dict.fromkeys(WITH, 1)}
    for said in WITH.values():
        assert f"{said} needs Biopython, which is not installed" in done.stderr


def test_objects_of_biopython_say_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "Bio", None)
    pair = pairalign.align_pair("ACGT", "ACGA", device="cpu")
    tree = pairalign.tree(PROTEINS, device="cpu")
    family = pairalign.msa(PROTEINS, device="cpu")
    square = pairalign.distance(PROTEINS, device="cpu")
    for convert in (pair.to_biopython, tree.to_biopython, family.to_biopython, square.to_biopython):
        with pytest.raises(PairalignError, match="needs Biopython, which is not installed"):
            convert()
