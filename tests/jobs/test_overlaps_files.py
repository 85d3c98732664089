"""Overlaps as files and tables: PAF, GFA, graphs, columns, and the command that writes them."""

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run as run_program
from overlapping import GENOME, changed, find
from strand_problems import other_strand

import pairalign
from pairalign.cli.main import main
from pairalign.errors import FormatError
from pairalign.formats import open_writer
from pairalign.formats.writer import Content, Shown
from pairalign.jobs.overlaps.presets import PRESETS
from pairalign.pairs.want import Detail
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.complement import reverse_complement
from pairalign.sequences.sets import SequenceSet


def run_well(*arguments: Any, cwd: Path) -> Any:
    done = run_program(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def reads(tmp_path: Path) -> Path:
    """Reads of both strands that cover a genome, with errors, as FASTQ."""
    rng = np.random.default_rng(5)
    path = tmp_path / "reads.fastq.gz"
    with gzip.open(path, "wt") as out:
        for k, start in enumerate(range(0, 1700, 70)):
            letters = changed(GENOME[start : start + (100 if k % 5 == 0 else 300)], 0.02, k)
            letters = other_strand(letters) if rng.integers(2) else letters
            out.write(f"@r{k} x\n{letters}\n+\n{'I' * len(letters)}\n")
    return path


def paf_lines(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text().splitlines()]


def rescored(line: list[str], reads: SequenceSet, scoring: Any) -> int:
    """Score of a PAF line from the letters and the CIGAR, as any reader of PAF would see it."""
    names = {name: k for k, name in enumerate(reads.names)}
    query, target = (reads.codes_of(names[line[k]]) for k in (0, 5))
    start, end = int(line[2]), int(line[3])
    if line[4] == "-":
        query = reverse_complement(query, DNA)
        start, end = len(query) - end, len(query) - start
    cigar = next(tag[5:] for tag in line if tag.startswith("cg:Z:"))
    runs = [
        int(length) << 4 | "MIDNSHP=X".index(op) for length, op in re.findall(r"(\d+)(\D)", cigar)
    ]
    return scoring.rescore(
        query,
        target,
        np.array(runs, np.uint32),
        query_start=start,
        query_end=end,
        target_start=int(line[7]),
        target_end=int(line[8]),
    )


@pytest.mark.parametrize("mode", ["semiglobal", "local"])
def test_paf(reads, tmp_path, mode):
    out = tmp_path / "out.paf"
    arguments = ["overlap", str(reads), "-o", str(out), "--mode", mode, "--device", "cpu"]
    assert main([*arguments, "--min-identity", "90%", "--quiet"]) == 0
    lines = paf_lines(out)
    assert len(lines) > 50
    assert {line[4] for line in lines} == {"+", "-"}
    sets = pairalign.read_fasta(reads)
    scoring = PRESETS["short"].scoring(mode)
    for line in lines:
        tags = {tag[:4]: tag[5:] for tag in line[12:]}
        assert rescored(line, sets, scoring) == int(tags["AS:i"])
        assert int(line[10]) - int(line[9]) == int(tags["NM:i"])
        assert tags["ov:Z"] in ("dovetail", "contained", "contains", "internal")
    # the same once more both ways
    assert main([*arguments, "--min-identity", "0.9", "--quiet", "--dual"]) == 0
    dual = paf_lines(out)
    assert dual[0::2] == lines
    other = {"contained": "contains", "contains": "contained"}
    for one, two in zip(dual[0::2], dual[1::2], strict=True):
        assert two[:4] + two[5:9] == one[5:9] + one[:4]
        assert two[4] == one[4]
        assert two[9:12] == one[9:12]
        kinds = [next(t[5:] for t in line if t.startswith("ov:Z:")) for line in (one, two)]
        assert kinds[1] == other.get(kinds[0], kinds[0])
        assert rescored(two, sets, scoring) == rescored(one, sets, scoring)


def test_gfa(reads, tmp_path):
    out = tmp_path / "out.gfa.gz"
    found = pairalign.overlap(reads, min_identity=0.9)
    found.write(out)
    text = gzip.decompress(out.read_bytes()).decode()
    lines = [line.split("\t") for line in text.splitlines()]
    assert lines[0] == ["H", "VN:Z:1.0"]
    segments = {line[1]: line[2] for line in lines if line[0] == "S"}
    assert segments == {one.name: one.residues for one in found.reads}
    links = [line for line in lines if line[0] == "L"]
    inside = [line for line in lines if line[0] == "C"]
    assert len(links) == (found.kind == "dovetail").sum() > 20
    assert len(inside) == (found.kind != "dovetail").sum() > 0
    for line in [*links, *inside]:
        first, second = (
            other_strand(segments[line[k]]) if line[k + 1] == "-" else segments[line[k]]
            for k in (1, 3)
        )
        runs = [(int(n), op) for n, op in re.findall(r"(\d+)([MID])", line[5 + (line[0] == "C")])]
        in_first = sum(n for n, op in runs if op in "MD")
        in_second = sum(n for n, op in runs if op in "MI")
        if line[0] == "L":
            at, other = len(first) - in_first, 0
        else:
            at, other = int(line[5]), 0
            assert in_second == len(second)
        matches = columns = 0
        for n, op in runs:
            if op == "M":
                matches += sum(
                    a == b for a, b in zip(first[at : at + n], second[other:], strict=False)
                )
            at += 0 if op == "I" else n
            other += 0 if op == "D" else n
            columns += n
        assert line[-1] == f"NM:i:{columns - matches}"


def test_names_that_gfa_cannot_hold(tmp_path):
    found = find({"*a": GENOME[:100], "b": GENOME[:100]})
    with pytest.raises(FormatError, match="GFA names"):
        found.write(tmp_path / "out.gfa")
    assert not list(tmp_path.iterdir())


def test_dual_is_for_paf(tmp_path):
    found = find({"a": GENOME[:100], "b": GENOME[:100]})
    with pytest.raises(FormatError, match="leave dual=True out"):
        open_writer(
            tmp_path / "o.gfa",
            None,
            Content(
                *(found.reads, found.reads, found.alignments.scoring, Detail.CIGAR),
                shown=Shown(both_ways=True, strands=True),
                max_overhang=0,
            ),
        )


def test_networkx():
    pytest.importorskip("networkx")
    reads = {"a": GENOME[:120], "b": GENOME[60:200], "c": other_strand(GENOME[70:110])}
    found = find(reads)
    graph = found.to_networkx()
    assert dict(graph.nodes(data="length")) == {"a": 120, "b": 140, "c": 40}
    assert graph.number_of_edges() == 3
    edge = graph.get_edge_data("c", "a")[0]
    assert (edge["query"], edge["target"], edge["strand"]) == ("a", "c", -1)
    assert (edge["kind"], edge["identity"], edge["query_span"]) == ("contains", 1.0, (70, 110))


def test_columns_in_python():
    found = find({"a": GENOME[:120], "b": GENOME[60:200], "c": GENOME[100:180]})
    assert sorted(found.kind.tolist()) == ["contains", "dovetail", "dovetail"]
    chosen = found.take(found.kind == "dovetail")
    assert chosen.kind.tolist() == ["dovetail"] * 2
    assert sorted(chosen.score.tolist()) == [20, 60]
    assert sorted(chosen.query_start.tolist()) == [60, 100]


def test_command(reads, tmp_path):
    done = run_well("overlap", reads, "-o", "-", "--format", "paf", "--device", "cpu", cwd=tmp_path)
    said = done.stderr.decode()
    assert re.search(r"pairs +300, on both strands", said)
    assert re.search(r"filtered +600 in [\d.]+ s, \d+ pass", said)
    assert re.search(r"scored +\d+ in [\d.]+ s, \d+ reach 28", said)
    assert re.search(r"aligned +\d+ in [\d.]+ s, \d+ have 40 bases at 95% identity", said)
    assert re.search(r"overlaps +\d+: \d+ dovetails, \d+ containments", said)
    lines = done.stdout.decode().splitlines()
    assert f"overlaps  {len(lines)}:" in said
    found = pairalign.overlap(reads)
    assert len(found) == len(lines)
    options = ["--threads", "3", "--memory", "40M", "--filter", "none", "--quiet"]
    other = run_well("overlap", reads, "-o", "-", "--format", "paf", *options, cwd=tmp_path)
    assert other.stdout == done.stdout
    assert not other.stderr
