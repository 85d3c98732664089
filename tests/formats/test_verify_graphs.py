"""`pairalign verify` finds planted errors in GFA and in networks."""

import re

import numpy as np
import pytest
from commands import fasta
from verifying import align, family, verify

from pairalign.cli.main import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    genome = "".join(rng.choice(list("ACGT"), 900))
    other = str.maketrans("ACGT", "TGCA")
    reads = {}
    spans = ((0, 300), (150, 450), (300, 700), (320, 600), (550, 900))
    for k, (start, stop) in enumerate(spans):
        read = genome[start : start + 60] + genome[start + 61 : start + 100] + "A"
        read += genome[start + 100 : stop]
        reads[f"r{k}"] = read[::-1].translate(other) if k % 2 else read
    (tmp_path / "r.fa").write_text(fasta(reads))
    (tmp_path / "p.fa").write_text(fasta(family("protein")))
    return tmp_path


def written_gfa(folder):
    assert main(["overlap", "r.fa", "-o", "a.gfa", "--min-overlap", "50", "--quiet"]) == 0
    return (folder / "a.gfa").read_text()


def test_own_gfa_is_legal(folder):
    text = written_gfa(folder)
    rows = verify("a.gfa", "r.fa")
    assert {row["verdict"] for row in rows} == {"ok"}
    lines = text.splitlines()
    assert len(rows) == sum(line[0] in "LC" for line in lines) > 4
    assert any(line[0] == "C" for line in lines)
    assert len({tuple(line.split("\t")[2:5:2]) for line in lines if line[0] == "L"}) > 2
    # The columns are those of overlaps: nearly all bases match.
    assert all(int(row["score"]) > 60 for row in rows)


@pytest.mark.parametrize(
    ("kind", "place", "value", "verdict"),
    [
        ("L", 1, "zz", "target"),
        ("L", 3, "zz", "query"),
        ("L", 2, "x", "truncated"),
        ("L", 4, "", "truncated"),
        ("L", 5, "900M", "number"),
        ("L", 5, "50", "cigar"),
        ("L", 5, "*", "cigar"),
        ("C", 1, "zz", "target"),
        ("C", 5, "x", "number"),
        ("C", 5, "399", "target_span"),
        ("C", 6, "30M", "query_cigar"),
        ("C", 6, "30Q", "cigar"),
        ("L", 6, "NM:i:99", "edits_of_part"),
        ("L", 6, "NM:i:0", "edits_of_part"),
        ("L", 6, "NM:i:", "number"),
        ("L", 6, "NM:i:1\tNM:i:1", "number"),
    ],
)
def test_planted_in_links(folder, kind, place, value, verdict):
    lines = written_gfa(folder).splitlines()
    number = next(k for k, line in enumerate(lines) if line[0] == kind)
    words = lines[number].split("\t")
    words[place] = value
    lines[number] = "\t".join(words)
    (folder / "x.gfa").write_text("\n".join(lines) + "\n")
    rows = verify("x.gfa", "r.fa", code=1)
    (row,) = [row for row in rows if row["verdict"] != "ok"]
    assert row["line"] == str(number + 1)
    assert verdict in row["verdict"].split(",")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("S\tr0\t", "S\tzz\t", "line 2: segment 'zz' is none of the sequences"),
        ("LN:i:300", "LN:i:301", "line 2: segment 'r0' has LN:i:301 and 300 residues"),
        ("S\tr0\tC", "S\tr0\tCC", "line 2: segment 'r0' is none of the sequences, or has other"),
    ],
)
def test_planted_in_segments(folder, capfd, old, new, message):
    text = written_gfa(folder)
    if old.endswith("C"):
        old, new = old[:-1], f"{old[:-1]}A"
    (folder / "x.gfa").write_text(text.replace(old, new, 1))
    assert main(["verify", "x.gfa", "r.fa", "-o", "found.tsv"]) == 1
    assert message in capfd.readouterr().err


NETWORKS = ("graphml", "gexf", "abc")


@pytest.mark.parametrize("format", NETWORKS)
def test_own_networks_are_legal(folder, format):
    align("p.fa", "-o", f"a.{format}", "--mode", "local")
    rows = verify(f"a.{format}", "p.fa", "--mode", "local", "--optimal")
    assert len(rows) == 36
    expected = "*" if format == "abc" else "0"
    assert {(row["verdict"], row["below"]) for row in rows} == {("ok", expected)}


@pytest.mark.parametrize(
    ("format", "old", "new", "verdict"),
    [
        ("abc", "s|0\t", "zz\t", "query"),
        ("abc", "s|3\t0", "s|3\t-0", "number"),
        ("abc", "s|3\t0", "s|3\tx0", "number"),
        ("graphml", '<data key="name">s|0<', '<data key="name">zz<', "query"),
        ("graphml", '<data key="length">84<', '<data key="length">83<', "query_length"),
        ("graphml", '<data key="identity">0', '<data key="identity">2', "number"),
        ("graphml", '<data key="coverage">0', '<data key="coverage">-0', "number"),
        ("graphml", '<data key="score">', '<data key="score">x', "number"),
        ("gexf", '<attvalue for="name" value="s|0"', '<attvalue for="name" value="zz"', "query"),
        (
            "gexf",
            '<attvalue for="identity" value="0',
            '<attvalue for="identity" value="7',
            "number",
        ),
        ("graphml", '<data key="bits">', '<data key="bits">1', "number"),
        ("graphml", '<data key="alignment_score">', '<data key="alignment_score">1', "number"),
        ("gexf", 'weight="0', 'weight="1', "number"),
    ],
)
def test_planted_in_networks(folder, format, old, new, verdict):
    align("p.fa", "-o", f"a.{format}", "--mode", "local")
    text = (folder / f"a.{format}").read_text()
    assert old in text
    (folder / f"x.{format}").write_text(text.replace(old, new, 1))
    rows = verify(f"x.{format}", "p.fa", code=1)
    assert verdict in {one for row in rows for one in row["verdict"].split(",")}


@pytest.mark.parametrize(
    ("format", "old", "new", "message"),
    [
        ("graphml", '<key id="bits"', '<key id="bite"', "edges have 'bits', not declared"),
        ("graphml", 'key="score">', 'key="sore">', "edges have 'sore', not declared"),
        ("graphml", 'key="score">', 'key="bits">', "edges have a value twice"),
        ("gexf", 'for="length"', 'for="long"', "nodes have 'long', not declared"),
        ("gexf", 'class="edge"', 'class="wedge"', "not declared"),
        ("gexf", 'label="s|0"', 'label="s|1"', "'s|0' has another label"),
    ],
)
def test_networks_that_contradict_themselves(folder, capfd, format, old, new, message):
    align("p.fa", "-o", f"a.{format}", "--mode", "local")
    text = (folder / f"a.{format}").read_text()
    (folder / f"x.{format}").write_text(text.replace(old, new, 1))
    assert main(["verify", f"x.{format}", "p.fa", "-o", "found.tsv"]) == 1
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("name", ["identity", "score", "evalue"])
def test_an_edge_without_a_value(folder, name):
    align("p.fa", "-o", "a.graphml", "--mode", "local")
    text = re.sub(f'<data key="{name}">.*?</data>', "", (folder / "a.graphml").read_text(), count=1)
    (folder / "x.graphml").write_text(text)
    rows = verify("x.graphml", "p.fa", code=1)
    assert [row["verdict"] for row in rows] == ["number", *["ok"] * (len(rows) - 1)]


def test_more_columns_than_residues(folder):
    align("p.fa", "-o", "a.graphml", "--mode", "local")
    text = re.sub(r'"columns">(\d+)', r'"columns">\g<1>00', (folder / "a.graphml").read_text())
    (folder / "x.graphml").write_text(text)
    assert {row["verdict"] for row in verify("x.graphml", "p.fa", code=1)} == {"number"}


def test_scores_of_a_network_against_the_optimum(folder):
    align("p.fa", "-o", "a.graphml", "--mode", "local")
    text = (folder / "a.graphml").read_text()
    (folder / "x.graphml").write_text(text.replace('"score">1', '"score">', 1))
    rows = verify("x.graphml", "p.fa", "--mode", "local", "--optimal")
    assert sum(row["below"] != "0" for row in rows) == 1
    # A score above the optimum is one that nobody can have.
    (folder / "x.graphml").write_text(text.replace('"score">1', '"score">11', 1))
    assert {row["verdict"] for row in verify("x.graphml", "p.fa", "--mode", "local")} == {"ok"}
    rows = verify("x.graphml", "p.fa", "--mode", "local", "--optimal", code=1)
    assert [row["verdict"] for row in rows].count("score") == 1
    options = "--mode", "local", "--optimal", "--ignore-scores"
    rows = verify("x.graphml", "p.fa", *options)
    assert {(row["verdict"], row["below"]) for row in rows} == {("ok", "*")}


def test_names_with_tabs_and_lines(folder):
    align("p.fa", "-o", "a.graphml", "--mode", "local")
    text = (folder / "a.graphml").read_text()
    (folder / "x.graphml").write_text(text.replace(">s|0<", ">s|0\t\nx<", 1))
    rows = verify("x.graphml", "p.fa", code=1)
    assert len(rows) == 36
    assert {row["verdict"] for row in rows} == {"ok", "query"}
