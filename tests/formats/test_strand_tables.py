"""Tables of pairs on either strand, against what Python makes of CIGAR and reverse complement."""

import json
import shutil
import subprocess
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import fasta
from overlapping import GENOME, changed
from strand_problems import other_strand

import pairalign
from pairalign.cli.main import main

SCORING: list[str] = ["--match", "2", "--mismatch", "-3", "--gap-open", "7", "--gap-extend", "2"]
ALIGN = ["align", "q.fa", "t.fa", "--mode", "local", "--strand", "both", "-q", *SCORING]
NAMES = ("query", "target", "strand", "qtitle", "stitle", "qstart", "qend", "query_end")
VALUES = ("positives", "ppos", "identity_internal", "cigar", "query_aligned", "target_aligned")
OURS = (*NAMES, "query_start", "target_start", "target_end", "tstart", "tend", *VALUES)
BLAST = (*NAMES, "sstart", "send", "sstrand", "btop", *VALUES)


def sequences(seed: int, count: int, title: str) -> dict[str, str]:
    rng = np.random.default_rng(seed)
    made = {}
    for k in range(count):
        start = int(rng.integers(0, 150))
        one = changed(GENOME[start : start + int(rng.integers(60, 140))], 0.1, seed + k)
        made[f"{title}{k} the {k}. of {title}"] = other_strand(one) if k % 2 else one
    return made


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    Path("q.fa").write_text(fasta(sequences(3, 5, "q")))
    Path("t.fa").write_text(fasta(sequences(40, 6, "t")))


def found() -> pairalign.Alignments:
    scoring = pairalign.make_scoring(
        "dna", match=2, mismatch=-3, gap_open=7, gap_extend=2, mode="local"
    )
    sets = pairalign.read_fasta("q.fa"), pairalign.read_fasta("t.fa")
    return pairalign.align(*sets, scoring=scoring, strand="both")


def columns_of(one: Any) -> list[tuple[str, str]]:
    """The columns along the target, letter by letter."""
    return list(zip(*one.rows(), strict=True))


def traceback_of(columns: list[tuple[str, str]]) -> str:
    text, equal = "", 0
    for a, b in columns:
        if a == b:
            equal += 1
            continue
        text += (str(equal) if equal else "") + a + b
        equal = 0
    return text + (str(equal) if equal else "")


def cigar_of(columns: list[tuple[str, str]]) -> str:
    ops = ["D" if a == "-" else "I" if b == "-" else "=" if a == b else "X" for a, b in columns]
    edges = [0, *(k for k in range(1, len(ops)) if ops[k] != ops[k - 1]), len(ops)]
    return "".join(f"{stop - start}{ops[start]}" for start, stop in pairwise(edges))


def rounded(part: int, whole: int, unit: str) -> str:
    return str((Decimal(part) / whole).quantize(Decimal(unit), ROUND_HALF_UP))


def expected_of(one: Any, along_query: bool, exchanged: bool = False) -> dict[str, Any]:
    columns, minus = columns_of(one), one.strand < 0
    sides = [
        (one.query, one.query_start, one.query_end),
        (one.target, one.target_start, one.target_end),
    ]
    if exchanged:
        columns, sides = [(b, a) for a, b in columns], sides[::-1]
    if minus and along_query != exchanged:  # they ran along the target as it was
        columns = [
            tuple("-" if one == "-" else other_strand(one) for one in pair)
            for pair in reversed(columns)
        ]
    (query, q_start, q_end), (target, t_start, t_end) = sides
    q_places = (q_end, q_start + 1) if minus and not along_query else (q_start + 1, q_end)
    t_places = (t_end, t_start + 1) if minus and along_query else (t_start + 1, t_end)
    same = sum(a == b for a, b in columns)
    rows = ["".join(row) for row in zip(*columns, strict=True)]
    return {
        "query": query.name,
        "target": target.name,
        "strand": "-" if minus else "+",
        "sstrand": "minus" if minus else "plus",
        "qtitle": query.description,
        "stitle": target.description,
        "query_start": q_start,
        "query_end": q_end,
        "target_start": t_start,
        "target_end": t_end,
        "qstart": q_places[0],
        "qend": q_places[1],
        "sstart": t_places[0],
        "tstart": t_places[0],
        "send": t_places[1],
        "tend": t_places[1],
        "positives": same,
        "ppos": rounded(100 * same, len(columns), "0.01"),
        "identity_internal": rounded(same, len(columns), "0.000001"),
        "cigar": cigar_of(columns),
        "query_aligned": rows[0],
        "target_aligned": rows[1],
        "btop": traceback_of(columns),
    }


@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("names", [OURS, BLAST], ids=["target", "query"])
@pytest.mark.parametrize("format", ["tsv", "blast6", "jsonl"])
def test_values_are_those_of_the_reverse_complement(format, names, both_ways):
    options = ["--both-ways"] if both_ways else []
    asked = [*ALIGN, "--columns", ",".join(names), "--format", format, *options]
    assert main([*asked, "-o", "out"]) == 0
    text = Path("out").read_text().splitlines()
    if format == "jsonl":
        rows = [[str(value) for value in json.loads(line).values()] for line in text]
        numbers = [names.index("ppos"), names.index("identity_internal")]
    else:
        rows = [line.split("\t") for line in text[format == "tsv" :]]
    expected = [
        [str(expected_of(one, names is BLAST, exchanged)[name]) for name in names]
        for one in found()
        for exchanged in (False, True)[: 1 + both_ways]
    ]
    if format == "jsonl":
        for row in (*rows, *expected):
            for place in numbers:
                row[place] = str(float(row[place]))
    assert {row[2] for row in rows} == {"+", "-"}
    assert rows == expected
    columns = ["--columns", ",".join(names)] if format == "blast6" else []
    files = ["q.fa", "t.fa"]
    if both_ways:  # a file that has each pair both ways is of one set
        Path("all.fa").write_text(Path("q.fa").read_text() + Path("t.fa").read_text())
        files = ["all.fa"]
    verify = ["verify", "out", *files, "--from", format, "--mode", "local", *columns, *SCORING]
    assert main([*verify, "-o", "verdicts.tsv", "-q"]) == 0


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet", "b6", "b7"])
def test_files_that_say_the_strand_are_verified(ending):
    Path("all.fa").write_text(Path("q.fa").read_text() + Path("t.fa").read_text())
    asked = ["align", "all.fa", *ALIGN[3:]]
    assert main([*asked, "-o", f"x.{ending}"]) == 0
    assert main(["verify", f"x.{ending}", "all.fa", "--mode", "local", *SCORING, "-q"]) == 0


def test_parquet_and_arrow_have_the_strand():
    pq = pytest.importorskip("pyarrow.parquet")
    assert main([*ALIGN, "-o", "x.parquet"]) == 0
    table, alignments = pq.read_table("x.parquet"), found()
    assert table["strand"].to_pylist() == alignments.strand.tolist()
    assert [*alignments.to_arrow().schema.names[:-1], "strand"] == table.schema.names
    alignments.write("y.parquet")
    alignments.write("y.tsv")
    assert pq.read_table("y.parquet").equals(table)
    assert main([*ALIGN, "-o", "x.tsv"]) == 0
    assert Path("x.tsv").read_bytes() == Path("y.tsv").read_bytes()
    assert main([*ALIGN, "-o", "scores.tsv", "--score-only"]) == 0
    rows = [line.split("\t") for line in Path("scores.tsv").read_text().splitlines()]
    assert rows[0] == ["query", "target", "score", "strand"]
    assert [row[3] for row in rows[1:]] == ["+-"[one < 0] for one in alignments.strand.tolist()]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ("query,target,cigar,query_start,query_end,target_start,target_end", "query"),
        ("qseqid,sseqid,qstart,qend,sstart,send,btop,sstrand", "target"),
    ],
)
def test_verify_finds_a_strand_that_is_changed(columns, says):
    columns = columns if says == "target" else f"{columns},strand"
    assert main([*ALIGN, "-o", "x.tsv", "--columns", columns]) == 0
    one, other = ("plus", "minus") if says == "target" else ("+", "-")
    lines = Path("x.tsv").read_text().splitlines()
    changes = {one: other, other: one}
    wrong = [
        f"{line.rpartition(chr(9))[0]}\t{changes[line.split(chr(9))[-1]]}" for line in lines[1:]
    ]
    Path("x.tsv").write_text("\n".join([lines[0], *wrong]) + "\n")
    verify = ["verify", "x.tsv", "q.fa", "t.fa", "--mode", "local", *SCORING, "-o", "verdicts.tsv"]
    assert main([*verify, "-q"]) == 1
    verdicts = [line.split("\t")[4] for line in Path("verdicts.tsv").read_text().splitlines()[1:]]
    assert "ok" not in verdicts


def test_as_blast_writes_it():
    """Coordinates, strands and counts of blastn's own rows, where it found the same alignment."""
    if shutil.which("blastn") is None:
        pytest.skip("BLAST is not installed")
    names = "qseqid sseqid qstart qend sstart send sstrand length nident mismatch btop"
    search = ["blastn", "-task", "blastn", "-query", "q.fa", "-subject", "t.fa", "-dust", "no"]
    more = ["-max_hsps", "1", "-word_size", "7", "-evalue", "1"]
    found = subprocess.run(
        [*search, *more, "-outfmt", f"6 {names}"], check=True, capture_output=True, text=True
    )
    theirs = set(found.stdout.splitlines())
    assert main([*ALIGN, "-o", "x.b6", "--columns", names.replace(" ", ",")]) == 0
    ours = set(Path("x.b6").read_text().splitlines())
    same = ours & theirs
    minus = sum("\tminus\t" in line for line in same)
    assert minus > 5
    assert len(same) - minus > 5


def test_coverage_of_a_pair_with_several_alignments():
    """Of both spans together qcovs, of one qcovhsp, as BLAST has them."""
    unit = GENOME[:90]
    Path("q.fa").write_text(fasta({"q": unit + GENOME[300:420] + unit[:60]}))
    Path("t.fa").write_text(fasta({"t": unit}))
    columns = "qseqid,sseqid,query_start,query_end,qcovhsp,qcovs"
    asked = ["align", "q.fa", "t.fa", "--mode", "local", "--hsps", "4", "--min-score", "80", "-q"]
    assert main([*asked, *SCORING, "--columns", columns, "-o", "x.tsv"]) == 0
    rows = [line.split("\t") for line in Path("x.tsv").read_text().splitlines()[1:]]
    covered: set[int] = set()
    for row in rows:
        covered |= set(range(int(row[2]), int(row[3])))
    assert len(rows) == 2
    assert {row[5] for row in rows} == {f"{100 * len(covered) / 270:.0f}"}
    assert [row[4] for row in rows] == ["33", "22"]


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_edges_of_networks_have_a_strand(ending):
    """As `networkx` reads them."""
    networkx = pytest.importorskip("networkx")
    asked = [*ALIGN[:2], *ALIGN[3:]]  # of one set
    Path("q.fa").write_text(Path("q.fa").read_text() + Path("t.fa").read_text())
    assert main([*asked, "-o", f"x.{ending}"]) == 0
    read = {"graphml": networkx.read_graphml, "gexf": networkx.read_gexf}[ending](f"x.{ending}")
    assert main([*asked, "-o", "x.tsv"]) == 0
    rows = [line.split("\t") for line in Path("x.tsv").read_text().splitlines()[1:]]
    names = networkx.get_node_attributes(read, "name")
    strands = {
        frozenset((names[a], names[b])): strand for a, b, strand in read.edges(data="strand")
    }
    assert strands == {frozenset(row[:2]): row[-1] for row in rows}
    assert set(strands.values()) == {"+", "-"}
    graph = found().to_networkx()
    assert {strand for *_, strand in graph.edges(data="strand")} == {"+", "-"}
