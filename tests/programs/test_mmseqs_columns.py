"""Columns by MMseqs2's names are those that MMseqs2 writes, and `verify` reads them."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pairalign.cli.main import main

COLUMNS = (
    *("query", "target", "fident", "alnlen", "mismatch", "gapopen", "nident", "qstart", "qend"),
    *("qlen", "tstart", "tend", "tlen", "qcov", "tcov", "qaln", "taln", "cigar"),
)
_RESIDUES = list("ACDEFGHIKLMNPQRSTVWY")


def write_relatives() -> None:
    """Proteins, and pieces of them with substitutions and a deletion."""
    rng = np.random.default_rng(4)
    with Path("q.fa").open("w") as queries, Path("t.fa").open("w") as targets:
        for k in range(6):
            text = rng.choice(_RESIDUES, 220)
            queries.write(f">q{k}\n{''.join(text)}\n")
            changed = np.where(rng.random(220) < 0.15, rng.choice(_RESIDUES, 220), text)
            piece = np.delete(changed, np.arange(100, 100 + k))[10 + k : 200]
            targets.write(f">t{k}\n{''.join(piece)}\n")


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    write_relatives()


def ours(*options: str) -> list[list[str]]:
    asked = ["align", "q.fa", "t.fa", "--mode", "local", "--min-score", "200", "--format", "blast6"]
    assert main([*asked, "-q", "-o", "ours.m8", "--columns", ",".join(COLUMNS), *options]) == 0
    return [line.split("\t") for line in Path("ours.m8").read_text().splitlines()]


@pytest.mark.slow
def test_columns_are_those_of_mmseqs():
    if shutil.which("mmseqs") is None:
        pytest.skip("MMseqs2 is not installed")
    search = ["mmseqs", "easy-search", "q.fa", "t.fa", "theirs.m8", "tmp", "-a", "-s", "7.5"]
    output = ["--format-output", ",".join(COLUMNS), "--seq-id-mode", "0", "--threads", "1"]
    subprocess.run([*search, *output, "-v", "0"], check=True, timeout=120)
    theirs = {
        (row[0], row[1]): row
        for row in (line.split("\t") for line in Path("theirs.m8").read_text().splitlines())
    }
    rows = ours("--gap-open", "11")
    assert len(rows) == 6
    same = 0
    for row in rows:
        other = theirs[row[0], row[1]]
        spans = [COLUMNS.index(name) for name in ("qstart", "qend", "tstart", "tend")]
        if [row[k] for k in spans] != [other[k] for k in spans]:
            continue  # MMseqs2 corrects scores by composition, so that some ends are others
        same += 1
        for name, mine, its in zip(COLUMNS, row, other, strict=True):
            if name in ("fident", "qcov", "tcov"):
                assert float(mine) == pytest.approx(float(its), abs=1e-3), name  # cut off
            elif name not in ("qaln", "taln", "cigar"):
                assert mine == its, name
    assert same >= 3


@pytest.mark.parametrize("name", [*COLUMNS[2:15], "raw"])
def test_verify_finds_a_wrong_value(name, capsys):
    columns = ["query", "target", name, *(() if name == "cigar" else ("cigar",))]
    columns += [one for one in ("qstart", "qend", "tstart", "tend") if one != name]
    assert ours("--columns", ",".join(columns))
    named = ["--columns", ",".join(columns)]
    check = ["verify", "ours.m8", "q.fa", "t.fa", "--mode", "local", *named]
    assert main([*check, "-q"]) == 0
    lines = [line.split("\t") for line in Path("ours.m8").read_text().splitlines()]
    old = lines[2][2]
    lines[2][2] = f"{float(old) / 2:.6f}" if "." in old else str(int(old) + 1)
    Path("ours.m8").write_text("".join("\t".join(line) + "\n" for line in lines))
    assert main([*check, "-q"]) == 1
