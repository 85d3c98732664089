"""Reads that are contained in each other, and reads that go all the way round a circle."""

import shutil
import subprocess

import numpy as np
import pytest
from overlapping import changed, find
from strand_problems import other_strand

import pairalign
from pairalign.cli.main import main
from pairalign.jobs.overlaps.string_graph import (
    find_mutual,
    find_representatives,
    reads_round_a_circle,
)

LOCAL = {"mode": "local", "min_overlap": 100, "max_overhang": 60}


def molecules(count: int = 12, bases: int = 4000) -> dict[str, str]:
    """Molecules of a circle, most with two or three subreads in turns on both strands."""
    rng = np.random.default_rng(8)
    genome = "".join(rng.choice(list("ACGT"), bases))
    reads = {}
    for well, start in enumerate(range(0, bases - count, bases // count)):
        molecule = (2 * genome)[start : start + bases // 4]
        for turn in range(1 + well % 3):
            read = changed(molecule, 0.03, 10 * well + turn)
            reads[f"m1/{well}/{turn * 9}_{turn * 9 + 8}"] = other_strand(read) if turn % 2 else read
    return reads


def test_one_read_of_each_molecule():
    reads = molecules()
    found = find(reads, **LOCAL, min_identity=0.8)
    mutual = find_mutual(found.alignments)
    names = found.reads.names
    wells = [name.split("/")[1] for name in names]
    pairs = zip(found.query[mutual], found.target[mutual], strict=True)
    assert len(set(wells)) == 12
    assert all(wells[one] == wells[other] for one, other in pairs)
    assert mutual.sum() == sum(wells.count(w) * (wells.count(w) - 1) // 2 for w in set(wells))
    kept = find_representatives(found.alignments, mutual)
    lengths = found.reads.lengths.tolist()
    longest = {
        max((k for k in range(len(names)) if wells[k] == w), key=lambda k: (lengths[k], -k))
        for w in set(wells)
    }
    assert set(np.flatnonzero(kept).tolist()) == longest
    one = found.reduced(contained=False, transitive=False, mutual="one")
    assert one.kept.tolist() == kept.tolist()
    assert set(one.query.tolist()) | set(one.target.tolist()) == longest
    dropped = found.reduced(contained=False, transitive=False, mutual="drop")
    assert dropped.kept is None
    assert len(dropped) == len(found) - mutual.sum()
    assert not find_mutual(dropped.alignments).any()
    with pytest.raises(ValueError, match="mutual 'both': expected one of keep, drop, one"):
        found.reduced(mutual="both")


def test_the_command(tmp_path, capsys):
    path = tmp_path / "r.fa"
    path.write_text("".join(f">{name}\n{one}\n" for name, one in molecules().items()))
    command = ["overlap", str(path), "--preset", "ont", "--device", "cpu"]
    assert main([*command, "-o", str(tmp_path / "o.paf")]) == 0
    said = capsys.readouterr().err
    assert "mutual  20 reads are contained in each other" in said
    assert "; 8 molecules have several subreads: give --mutual one\n" in said
    assert main([*command, "-o", str(tmp_path / "one.paf"), "--mutual", "one"]) == 0
    said = capsys.readouterr().err
    assert "left  12 of 24 reads" in said
    assert "give --mutual" not in said


def test_miniasm_has_a_read_of_each_molecule(tmp_path):
    """With all overlaps it deletes the reads of molecules that have several."""
    if shutil.which("miniasm") is None:
        pytest.skip("miniasm is not installed (scripts/install_assemblers.sh)")
    rng = np.random.default_rng(9)
    genome = "".join(rng.choice(list("ACGT"), 12_000))
    reads = {
        f"m1/{k}/{turn}_9": changed((2 * genome)[start : start + 3000], 0.03, 10 * k + turn)
        for k, start in enumerate(range(0, 12_000, 500))
        for turn in range(2)
    }
    path, contigs = tmp_path / "r.fa", {}
    path.write_text("".join(f">{name}\n{one}\n" for name, one in reads.items()))
    found = pairalign.overlap(reads, preset="ont", device="cpu")
    for how in ("keep", "one"):
        paf = tmp_path / f"{how}.paf"
        found.reduced(contained=False, transitive=False, mutual=how).write(paf)
        done = subprocess.run(
            ["miniasm", "-s", "500", "-f", path, paf], capture_output=True, text=True, check=True
        )
        rows = [line.split("\t") for line in done.stdout.splitlines() if line[0] == "S"]
        contigs[how] = [(row[1], len(row[2])) for row in rows]
    ((name, bases),) = contigs["one"]
    assert name.endswith("c")
    assert abs(bases - 12_000) < 300
    assert contigs["keep"] != contigs["one"]


def test_reads_that_go_round_a_circle():
    rng = np.random.default_rng(10)
    circle = "".join(rng.choice(list("ACGT"), 1000))
    starts, lengths = (0, 300, 500, 700), (1300, 1200, 700, 400)
    reads = {
        f"r{k}": (4 * circle)[start : start + length]
        for k, (start, length) in enumerate(zip(starts, lengths, strict=True))
    }
    found = find(reads, **LOCAL, max_overlaps=10)
    round_it = reads_round_a_circle(found.alignments)
    assert {read for read, _ in round_it} == {0, 1}
    assert all(abs(bases - 1000) <= 10 for _, bases in round_it)
    linear = find({f"r{k}": circle[k * 100 : k * 100 + 500] for k in range(6)}, **LOCAL)
    assert len(linear) > 5
    assert reads_round_a_circle(linear.alignments) == []
