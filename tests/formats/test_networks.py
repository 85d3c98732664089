"""Networks come back as they were from other people's readers."""

import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from commands import fasta, rows_of, run
from verifying import align, family
from written_files import write

import pairalign
from pairalign.base.choices import WEIGHTS
from pairalign.errors import FormatError

ODD = {
    'a<b>&"1"': "ACGTACGTTGCAACGT",
    "é'2": "ACGTACGTTGCAACGA",
    "n3": "ACGAACGTTGCATCGT",
    "far": "TTTTTTTTTTTTTTTT",
}
HITS = {"q": "ACGTACGTTGCAACG", "n3": "ACGTACGTTGC"}
Edges = dict[frozenset[str], tuple[float, float, float]]


def expected_edges(found: pairalign.Alignments) -> Edges:
    return {
        frozenset((p.query.name, p.target.name)): (
            p.identity,
            float(p.score),
            (p.matches + p.mismatches) / max(len(p.query), len(p.target)),
        )
        for p in found
        if p.columns
    }


def close(one: Edges, other: Edges) -> None:
    assert one.keys() == other.keys()
    for pair, values in one.items():
        assert values == pytest.approx(other[pair], rel=1e-8)


@pytest.fixture
def found() -> pairalign.Alignments:
    return pairalign.align(ODD, mode="local", device="cpu")


def read_networkx(path: Path, format: str) -> tuple[dict[str, dict], Edges]:
    networkx = pytest.importorskip("networkx")
    graph = networkx.read_graphml(path) if format == "graphml" else networkx.read_gexf(path)
    nodes = {data["name"]: data for _, data in graph.nodes(data=True)}
    edges = {
        frozenset((graph.nodes[a]["name"], graph.nodes[b]["name"])): (
            data["identity"], data["score"], data["coverage"],
        )
        for a, b, data in graph.edges(data=True)
    }  # fmt: skip
    return nodes, edges


@pytest.mark.parametrize("format", ["graphml", "gexf"])
def test_read_by_networkx(format, found, tmp_path):
    path = tmp_path / f"x.{format}"
    write(found, path)
    nodes, edges = read_networkx(path, format)
    assert {name: data["length"] for name, data in nodes.items()} == {n: 16 for n in ODD}
    close(edges, expected_edges(found))


def test_read_by_mcxload(found, tmp_path):
    if shutil.which("mcxload") is None:
        pytest.skip("mcl is not installed")
    write(found, tmp_path / "x.abc")
    subprocess.run(
        ["mcxload", "-abc", "x.abc", "--stream-mirror", "-o", "x.mci", "-write-tab", "x.tab"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    dump = subprocess.run(
        ["mcxdump", "-imx", "x.mci", "-tab", "x.tab"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    rows = [line.split("\t") for line in dump.stdout.decode().splitlines()]
    read = {frozenset(row[:2]): float(row[2]) for row in rows}
    expected = {pair: values[0] for pair, values in expected_edges(found).items()}
    assert read.keys() == expected.keys()
    for pair, value in read.items():
        assert value == pytest.approx(expected[pair], abs=1e-4)


def test_two_sets_may_share_names(tmp_path):
    found = pairalign.align(ODD, HITS, mode="local", device="cpu")
    write(found, tmp_path / "x.graphml")
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.Read_GraphML(str(tmp_path / "x.graphml"))
    assert list(zip(graph.vs["name"], graph.vs["set"], strict=True)) == [
        *((name, 1) for name in ODD),
        *((name, 2) for name in HITS),
    ]
    assert len(graph.es) == sum(p.columns > 0 for p in found)


def test_scores_alone_are_no_network(tmp_path):
    found = pairalign.align(ODD, detail="score", device="cpu")
    with pytest.raises(FormatError, match="graphml needs spans"):
        write(found, tmp_path / "x.graphml")


def test_python_graphs(found):
    networkx = pytest.importorskip("networkx")
    pytest.importorskip("igraph")
    pytest.importorskip("scipy")
    one, other = found.to_networkx(), found.to_igraph()
    assert isinstance(one, networkx.Graph)
    assert list(one.nodes) == other.vs["name"] == list(ODD)
    matrix = found.to_scipy("score")
    for pair in found:
        ends = pair.query.name, pair.target.name
        assert one.edges[ends]["score"] == pair.score
        edge = other.es[other.get_eid(pair.query_index, pair.target_index)]
        assert edge["score"] == pair.score
        assert matrix[pair.query_index, pair.target_index] == pair.score
        assert matrix[pair.target_index, pair.query_index] == pair.score
    assert found.to_scipy().shape == (4, 4)
    two = pairalign.align(ODD, HITS, device="cpu")
    assert two.to_scipy().shape == (4, 2)
    assert len(two.to_networkx()) == len(two.to_igraph().vs) == 6
    with pytest.raises(ValueError, match="weight 'odd'"):
        found.to_scipy("odd")


def test_bit_scores_are_on_edges_where_they_are_known(tmp_path):
    proteins = ["MKVLAAGGWTREHHKLAMNP", "MKVLAAGWTREHHKLAMNQ", "PQRSTVWYMKVLA", "WWHHKLAMN"]
    (tmp_path / "in.fa").write_text("".join(f">{k}\n{s}\n" for k, s in enumerate(proteins)))
    local = ("--mode", "local", "--gap-open", "12", "--gap-extend", "1", "--device", "cpu")
    table = run("align", "in.fa", "--format", "tsv", "--columns", "bits,columns", *local,
                cwd=tmp_path).stdout.decode().splitlines()  # fmt: skip
    expected = sorted(float(b) for b, n in (row.split("\t") for row in table[1:]) if int(n))
    assert expected[0] < expected[-1]
    networkx = pytest.importorskip("networkx")
    for command in (("align",), ("cluster", "--min-identity", "0")):
        for format, read in (("graphml", networkx.read_graphml), ("gexf", networkx.read_gexf)):
            done = run(*command, "in.fa", "-o", f"x.{format}", *local, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            edges = read(tmp_path / f"x.{format}").edges(data="bits")
            assert sorted(bits for *_, bits in edges) == pytest.approx(expected, abs=0.051)
    done = run("align", "in.fa", "-o", "x.graphml", "--device", "cpu", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "bits" not in (tmp_path / "x.graphml").read_text()


def test_commands(tmp_path):
    (tmp_path / "in.fa").write_text("".join(f">{n} header\n{s}\n" for n, s in ODD.items()))
    done = run(
        "cluster", "in.fa", "-o", "c.graphml", "--min-identity", "0.8", "--device", "cpu",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    nodes, edges = read_networkx(tmp_path / "c.graphml", "graphml")
    clusters = pairalign.cluster(ODD, min_identity=0.8, edges=True, device="cpu")
    assert [nodes[n]["cluster"] for n in ODD] == clusters.labels.tolist()
    assert clusters.edges is not None
    close(edges, expected_edges(clusters.edges))
    done = run(
        "align", "in.fa", "--format", "abc", "--max-hits", "1", "--device", "cpu", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert 2 <= len(done.stdout.splitlines()) <= 4


@pytest.mark.parametrize("weight", WEIGHTS)
def test_weights_are_those_of_the_table(here, weight):
    (here / "p.fa").write_text(fasta(family("protein")))
    costs = ["--mode", "local", "--gap-open", "12", "--weight", weight]
    for format in ("abc", "gexf"):
        align("p.fa", "-o", f"a.{format}", *costs)
    shown = "query,target,identity,score,columns,bits,evalue,query_length,target_length"
    align("p.fa", "-o", "a.tsv", *costs[:-2], "--columns", shown)
    rows = rows_of((here / "a.tsv").read_text())
    lines = [line.split("\t") for line in (here / "a.abc").read_text().splitlines()]
    assert len(lines) == len(rows) == 36
    text = (here / "a.gexf").read_text()
    weights = [float(one) for one in re.findall(r' weight="([^"]*)"', text)]
    told = [float(one) for one in re.findall(rf'for="{weight}" value="([^"]*)"', text)]
    assert weights == told
    assert [float(line[2]) for line in lines] == pytest.approx(told, rel=1e-5)
    for row in rows:  # of EFI-EST, to a tenth: bits have a digit after the point
        cells = int(row["query_length"]) * int(row["target_length"])
        row["alignment_score"] = str(-math.log10(cells * 2 ** -float(row["bits"])))
    if weight != "coverage":
        close = 0.06 if weight in ("bits", "alignment_score") else 1e-6
        expected = [float(row[weight]) for row in rows]
        assert told == pytest.approx(expected, rel=0.01 if weight == "evalue" else 1e-9, abs=close)
