"""Reports on reads: depth, kinds, adapters and chimeras that were put there."""

import csv
import sys

import numpy as np
import pytest
from overlapping import GENOME, find
from simulated_reads import with_errors
from strand_problems import other_strand

import pairalign
from pairalign.cli.main import main
from pairalign.jobs.overlaps.read_report import ReadCollector

LETTERS = np.array(list("ACGT"))


def damaged(kind: str, genome: int, length: int, coverage: int) -> dict[str, str]:
    """Reads of a circle whose names say what is wrong: adapter, chimera, foreign or none."""
    rng = np.random.default_rng(3)
    circle = rng.integers(0, 4, genome).astype(np.uint8)
    adapter = rng.integers(0, 4, 110).astype(np.uint8)
    reads = {}
    for k in range(coverage * genome // length):
        start = int(rng.integers(genome))
        size = int(rng.normal(length, length / 8))
        read = np.take(circle, np.arange(start, start + size), mode="wrap")
        what = str(rng.choice(["none", "adapter", "chimera", "foreign"], p=[0.6, 0.2, 0.1, 0.1]))
        if what == "adapter":
            read = np.concatenate((adapter, read))
        elif what == "chimera":  # goes on somewhere else
            cut = int(rng.integers(size // 3, 2 * size // 3))
            there = (start + genome // 3 + int(rng.integers(genome // 3))) % genome
            other = np.take(circle, np.arange(there, there + size - cut), mode="wrap")
            read = np.concatenate((read[:cut], other if rng.integers(2) else 3 - other[::-1]))
        elif what == "foreign":
            read = np.concatenate((read, rng.integers(0, 4, size // 3).astype(np.uint8)))
        text = "".join(LETTERS[with_errors(read, kind, rng)])
        reads[f"r{k}_{what}"] = text if rng.integers(2) else other_strand(text)
    return reads


def judged(reads: dict[str, str], flags: list[tuple[str, ...]]) -> dict[str, list[int]]:
    """Reads of each kind of damage, and how many have the flag that they should, or any."""
    wanted = {"adapter": "adapter", "chimera": "chimera", "foreign": "chimera"}
    counts: dict[str, list[int]] = {}
    for name, own in zip(reads, flags, strict=True):
        what = name.split("_")[1]
        tally = counts.setdefault(what, [0, 0])
        tally[0] += 1
        tally[1] += (wanted[what] in own) if what in wanted else bool(own)
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hifi", "ont"])
def test_adapters_and_chimeras_are_found(kind):
    reads = damaged(kind, 9000, 2400, 14)
    found = pairalign.overlap(reads, preset=kind, device="cpu", max_overlaps=3)
    report = found.report_reads()
    counts = judged(reads, report.flags)
    for what in ("adapter", "chimera", "foreign"):
        there, flagged = counts[what]
        assert there >= 3
        assert flagged == there, counts
    assert counts["none"][1] == 0
    for name, ends in zip(reads, report.sudden_ends, strict=True):
        if name.endswith("adapter"):  # 110 letters, at one end of a read that may be turned
            assert len(ends) == 1
            place = ends[0].position
            inner = place if ends[0].begins else len(reads[name]) - place
            assert 75 <= inner <= 130  # some go on by chance


def test_depth_and_kinds(tmp_path):
    reads = {
        "left": GENOME[:400],
        "right": other_strand(GENOME[300:700]),
        "inside": GENOME[310:360],
        "alone": GENOME[1000:1300],
    }
    report = find(reads, min_overlap=30, min_score=30).report_reads()
    assert report.kind.tolist() == ["dovetail", "dovetail", "contained", "isolated"]
    assert report.overlaps.tolist() == [2, 2, 2, 0]
    assert report.min_depth.tolist() == [0, 0, 2, 0]
    assert report.median_depth.tolist() == [0, 0, 2, 0]
    assert report.uncovered.tolist() == [300, 300, 0, 300]
    assert report.flags == [()] * 4
    report.write(tmp_path / "reads.tsv")
    lines = (tmp_path / "reads.tsv").read_text().splitlines()
    assert lines[0].split("\t")[:4] == ["read", "length", "overlaps", "kind"]
    assert lines[3] == "inside\t50\t2\tcontained\t2\t2\t0\t.\t."
    assert len(lines) == 5


def test_overlaps_come_in_any_pieces():
    reads = damaged("hifi", 6000, 2000, 8)
    found = pairalign.overlap(reads, preset="hifi", device="cpu", max_overlaps=1)
    collector = ReadCollector(found.reads)
    for k in range(0, len(found), 7):
        part = found.take(np.arange(k, min(k + 7, len(found))))
        collector.add(part.alignments, part.kind_codes)
    one, other = found.report_reads(), collector.report()
    assert one.sudden_ends == other.sudden_ends
    assert sum(map(len, one.sudden_ends)) > 0
    for name in ("overlaps", "kind_codes", "min_depth", "median_depth", "uncovered"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_command(tmp_path, capsys):
    reads = tmp_path / "reads.fa"
    letters = {f'"r{k}': GENOME[k * 60 : k * 60 + 300] for k in range(8)}
    reads.write_text("".join(f">{name}\n{one}\n" for name, one in letters.items()))
    table, paf = tmp_path / "reads.tsv", tmp_path / "out.paf"
    command = ["overlap", str(reads), "--device", "cpu", "-q", "--read-report", str(table)]
    assert main([*command, "-o", str(paf)]) == 0
    rows = list(csv.reader(table.read_text().splitlines()[1:], delimiter="\t"))
    assert [row[0] for row in rows] == list(letters)
    assert sum(int(row[2]) for row in rows) == 2 * len(paf.read_text().splitlines())
    before = table.read_text()
    assert main([*command, "-o", str(paf), "--remove-contained", "--remove-transitive"]) == 0
    assert table.read_text() == before  # of all overlaps, whatever is left


if __name__ == "__main__":  # a larger simulation, for the documentation
    for kind in ("hifi", "ont"):
        reads = damaged(kind, int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
        found = pairalign.overlap(reads, preset=kind)
        print(kind, judged(reads, found.report_reads().flags))
