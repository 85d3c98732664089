"""Tables by their ending: CSV has the cells of TSV, whatever names have in them, and is read."""

import csv
import gzip
from pathlib import Path

import pytest

from pairalign.base.texts import as_tsv, csv_of, quoted
from pairalign.cli.main import main

NAMES = ["=1+1", "a,b", 'c"d', "+e", "@f", "g", '"h,"', "-"]
RESIDUES = "MKVLWACGGWYTRRSTPQEDLKNHCWVAYGGMFPLLKERDNQSTACW"


@pytest.fixture
def folder(here: Path) -> Path:
    records = (f">{name}\n{RESIDUES[k % 3 :]}\n" for k, name in enumerate(NAMES))
    (here / "s.fa").write_text("".join(records))
    pairs = (f">{name}\n{RESIDUES[k:]}\n" for k, name in enumerate(["x", "y,z"]))
    (here / "two.fa").write_text("".join(pairs))
    return here


def pa(*arguments: str) -> int:
    return main([*arguments, "--device", "cpu", "-q"])


def rows(path: str) -> list[list[str]]:
    comma = path.removesuffix(".gz").endswith(".csv")
    data = Path(path).read_bytes()
    text = (gzip.decompress(data) if path.endswith(".gz") else data).decode()
    return list(csv.reader(text.splitlines(), delimiter="," if comma else "\t", strict=True))


COMMANDS = {
    "align": ["align", "s.fa", "-o"],
    "scores": ["align", "s.fa", "--columns", "query,target,qtitle,score", "-o"],
    "distance": ["distance", "s.fa", "-o"],
    "distance of two": ["distance", "s.fa", "two.fa", "-o"],
    "drop": ["distance", "s.fa", "--max-edits", "9", "-o"],
    "cluster": ["cluster", "s.fa", "--min-identity", "0.9", "-o"],
    "split": ["split", "s.fa", "--min-identity", "0.999", "--tolerance", "0.9", "-o"],
    "removed": ["split", "s.fa", "--min-identity", "0.9", "-o", "f.csv", "--removed"],
    "posterior": ["posterior", "two.fa", "-o"],
    "msa": ["msa", "two.fa", "-o"],
    "names": ["tree", "s.fa", "-o", "t.nwk", "--rename"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_cells_are_those_of_tsv(folder, command):
    for ending in ("tsv", "csv", "csv.gz"):
        assert pa(*COMMANDS[command], f"o.{ending}") == 0
    assert rows("o.csv") == rows("o.tsv") == rows("o.csv.gz")
    assert "\t" not in Path("o.csv").read_text()
    shown = {cell for row in rows("o.csv") for cell in row}
    if command not in ("posterior", "msa", "removed"):
        assert set(NAMES) <= shown


def test_what_is_written_is_read(folder):
    (folder / "unlike.fa").write_text(">-p\nPPPP\n>w\nWWWW\n")
    for fasta in ("unlike.fa", "s.fa"):  # the first scores less than 0
        assert pa("align", fasta, "-o", "o.csv") == 0
        assert pa("verify", "o.csv", fasta, "-o", "v.csv") == 0
    assert {row[2] for row in rows("v.csv")[1:]} <= {cell for row in rows("v.csv") for cell in row}
    assert pa("distance", "s.fa", "-o", "d.csv") == 0
    assert pa("tree", "d.csv", "-o", "t.nwk", "--rename", "n.csv") == 0
    assert [row[1] for row in rows("n.csv")] == NAMES
    for ending in ("csv", "tsv"):
        assert pa("cluster", "s.fa", "--min-identity", "0.9", "-o", f"c.{ending}") == 0
        assert pa("audit", f"c.{ending}", "s.fa", "--min-identity", "0.9", "-o", "a.csv") == 0
        split = ["split", "s.fa", "--min-identity", "0.999", "--tolerance", "0.9"]
        assert pa(*split, "-o", f"f.{ending}") == 0
        assert pa("audit", f"f.{ending}", "s.fa", "--min-identity", "0.999", "-o", "a.tsv") == 0
    (folder / "p.csv").write_text('g,"a,b"\n"c""d",@f\n')
    assert pa("align", "s.fa", "--pairs", "p.csv", "-o", "few.csv") == 0
    assert {frozenset(row[:2]) for row in rows("few.csv")[1:]} == {
        frozenset(["g", "a,b"]),
        frozenset(['c"d', "@f"]),
    }


def test_cells():
    line = "\t".join(map(quoted, NAMES)).encode() + b"\n"
    assert next(csv.reader([csv_of(line).decode()], strict=True)) == NAMES
    assert as_tsv(csv_of(line), "x.CSV.gz") == line
    assert as_tsv(csv_of(line), "x.csv", quotes=False).decode() == "\t".join(NAMES) + "\n"
    assert as_tsv(line, "x.tsv") == line
