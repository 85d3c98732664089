"""What a new user does one after the other, with the commands as they are typed."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
from pathlib import Path

import pytest
from commands import fasta

from pairalign.cli.main import main

ROOT = Path(__file__).parents[2]
DNA = "ACGTTGCAACGGATTACAGGCATGCCTAGGTTAACCGGTACC"
COMPLEMENTS = str.maketrans("ACGT", "TGCA")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(ROOT / "tests" / "data" / "globins.fasta", tmp_path)
    records = (tmp_path / "globins.fasta").read_text().split(">")[1:]
    monkeypatch.chdir(tmp_path)
    Path("few.fasta").write_text("".join(f">{one}" for one in records[:4]))
    Path("rest.fasta").write_text("".join(f">{one}" for one in records[4:]))
    Path("reads.fasta").write_text(fasta({"r": DNA, "s": DNA.translate(COMPLEMENTS)[::-1]}))
    return tmp_path


@pytest.fixture(name="typed")
def _typed(folder: Path, capsys: pytest.CaptureFixture[str]):
    """Carry out a command line; return what it said."""

    def carry_out(line: str, code: int = 0) -> str:
        program, *arguments = shlex.split(line)
        assert program == "pairalign"
        try:
            found = main(arguments)
        except SystemExit as end:
            found = int(end.code or 0)
        said = capsys.readouterr()
        assert found == code, said.err
        return said.err + said.out

    return carry_out


def rows(path: str) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_one_identity(typed) -> None:
    """The summary names the pair that the file has, and a distance is what is left to 1."""
    said = typed("pairalign align globins.fasta -o all.tsv")
    identities = {(row["query"], row["target"]): float(row["identity"]) for row in rows("all.tsv")}
    best = max(identities, key=lambda pair: identities[pair])
    assert f"closest  {best[0]} and {best[1]}" in said
    assert f"({100 * identities[best]:.1f}%)" in said
    typed("pairalign distance globins.fasta --measure identity -o all.dist.tsv")
    lines = [line.split("\t") for line in Path("all.dist.tsv").read_text().splitlines()]
    table = {
        (line[0], name): float(text)
        for line in lines[1:]
        for name, text in zip(lines[0][1:], line[1:], strict=True)
    }
    for (query, target), identity in identities.items():
        assert table[query, target] == pytest.approx(1 - identity, abs=2e-6)
    command = "pairalign cluster globins.fasta --min-identity 0.5 --identity-of shorter"
    typed(f"{command} -o all.clusters.tsv")
    assert "identity_shorter" in Path("all.clusters.tsv").read_text().splitlines()[0]


def test_the_best_hits(typed) -> None:
    typed("pairalign align few.fasta rest.fasta --mode local -k 2 --rank evalue -o hits.tsv")
    queries = [row["query"] for row in rows("hits.tsv")]
    assert len(queries) == 8
    assert queries == sorted(queries, key=queries.index)  # grouped, in the order of the input
    typed("pairalign align few.fasta --also rest.fasta -k 1 -o nearest.parquet")
    said = typed("pairalign align few.fasta --top 3 -o x.tsv", code=2)
    assert "--hsps" in said
    said = typed("pairalign align globins.fasta --mode local --max-evalue 1e-20 -o good.tsv")
    assert f"of which {len(rows('good.tsv')):,} have an E-value of at most 1e-20" in said


def test_both_strands(typed) -> None:
    typed("pairalign align reads.fasta --mode local --strand both -o both.paf")
    assert Path("both.paf").read_text().split("\t")[4] == "-"
    typed("pairalign align reads.fasta --mode local --strand both -o both.tsv")
    assert "strand" in Path("both.tsv").read_text().splitlines()[0].split("\t")


def test_a_report_and_a_network(typed) -> None:
    pytest.importorskip("jinja2")
    typed("pairalign align globins.fasta --mode local -o all.tsv --report all.html")
    assert "HBG1" in Path("all.html").read_text()
    typed("pairalign align globins.fasta --mode local --weight alignment_score -o all.abc")
    assert len(Path("all.abc").read_text().splitlines()) == 66


def test_inputs_as_people_have_them(typed) -> None:
    records = Path("few.fasta").read_text()
    Path("awkward.fasta").write_text(records.rstrip() + "*\n>empty\n" + records)
    said = typed("pairalign align awkward.fasta --on-duplicate rename -o x.paf", code=1)
    assert "record 5 'empty' has no sequence (--on-empty skip" in said
    said = typed("pairalign align awkward.fasta --on-empty skip -o x.paf", code=1)
    assert "names must be unique (--on-duplicate rename)" in said
    said = typed("pairalign align awkward.fasta --on-empty skip --on-duplicate rename -o x.paf")
    assert "with * at the end, a stop and no residue" in said
    assert len(Path("x.paf").read_text().splitlines()) == 28
    typed("pairalign msa few.fasta -o few.sto")
    assert "--degap" in typed("pairalign align few.sto -o x.paf", code=1)
    typed("pairalign align few.sto --degap -o x.paf")
    assert len(Path("x.paf").read_text().splitlines()) == 6
    assert "looks like DNA" in typed("pairalign align few.fasta reads.fasta -o x.paf")


def test_habits(typed) -> None:
    assert "usage: pairalign" in typed("pairalign", code=2)
    said = typed("pairalign align few.fasta --mode lcoal -o x.paf", code=2)
    assert len(said.splitlines()) == 1
    assert "did you mean local" in said
    said = typed("pairalign align few.fasta --id 0.9 -o x.paf", code=2)
    assert "here --id is --min-identity" in said
    said = typed("pairalign align few.fasta -o x.paf --summary json --log runs.log")
    assert json.loads(said)["pairs"] == 6
    assert "pairalign align few.fasta" in Path("runs.log").read_text()
    assert typed("pairalign -V").startswith("pairalign ")
