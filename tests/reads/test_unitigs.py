"""Unitigs: circles are closed, forks are kept, and the bases are those of the genome."""

import numpy as np
import pytest
from overlapping import find
from strand_problems import other_strand

from pairalign.cli.main import main
from pairalign.jobs.overlaps.unitigs import make_unitigs
from pairalign.reads.overlap_kinds import classify

BASES, READ, STEP = 2000, 300, 60
OPTIONS = {"min_overlap": 100, "min_score": 80}


def genome_of(seed: int, bases: int = BASES) -> str:
    return "".join(np.random.default_rng(seed).choice(list("ACGT"), bases))


def reads_of(genome: str, *, circular: bool, seed: int = 0) -> list[str]:
    """Reads without errors on both strands, in a drawn order."""
    rng = np.random.default_rng(seed)
    last = len(genome) if circular else len(genome) - READ + 1
    reads = [(2 * genome)[start : start + READ] for start in range(0, last, STEP)]
    if not circular:
        reads.append(genome[-READ:])
    reads = [other_strand(one) if rng.integers(2) else one for one in reads]
    return [reads[k] for k in rng.permutation(len(reads))]


def named(reads: list[str]) -> dict[str, str]:
    return {f"r{k}": one for k, one in enumerate(reads)}


def graph_of(reads: list[str]):
    found = find(named(reads), **OPTIONS).reduced().alignments
    return found.queries, make_unitigs(found, classify(found))


@pytest.mark.parametrize("seed", range(4))
def test_a_circle_is_closed(seed):
    genome = genome_of(seed)
    reads, graph = graph_of(reads_of(genome, circular=True, seed=seed))
    (one,) = graph.unitigs
    assert one.is_circle
    assert graph.links == [(0, False, 0, False, 0)]
    letters = one.spell(reads).decode()
    assert len(letters) == BASES
    assert letters in 2 * genome or other_strand(letters) in 2 * genome


@pytest.mark.parametrize("seed", range(4))
def test_a_line_is_whole(seed):
    genome = genome_of(seed)
    reads, graph = graph_of(reads_of(genome, circular=False, seed=seed))
    (one,) = graph.unitigs
    assert not one.is_circle
    assert graph.links == []
    letters = one.spell(reads).decode()
    assert genome in (letters, other_strand(letters))


def test_a_fork_keeps_its_ways():
    """Two lines with the same first half, longer than reads."""
    shared, one, two = (genome_of(seed, 700) for seed in (1, 2, 3))
    reads = reads_of(shared + one, circular=False) + reads_of(shared + two, circular=False)
    sequences, graph = graph_of(list(dict.fromkeys(reads)))
    spelled = [unitig.spell(sequences).decode() for unitig in graph.unitigs]
    assert len(spelled) == 3
    assert len(graph.links) == 2
    paths = set()
    for first, turned, second, second_turned, overlap in graph.links:
        ends = [(spelled[first], turned), (spelled[second], second_turned)]
        before, after = (other_strand(text) if back else text for text, back in ends)
        assert before.endswith(after[:overlap])
        path = before + after[overlap:]
        paths.add(max(path, other_strand(path)))
    assert paths == {max(text, other_strand(text)) for text in (shared + one, shared + two)}


def test_reads_that_run_into_their_other_strand():
    """An inverted repeat: no read is in two unitigs, and nothing claims to be a circle."""
    half = genome_of(5, 900)
    reads = list(dict.fromkeys(reads_of(half + other_strand(half), circular=False)))
    sequences, graph = graph_of(reads)
    vertices = [vertex >> 1 for one in graph.unitigs for vertex in one.vertices]
    assert len(vertices) == len(set(vertices))
    for one in graph.unitigs:
        letters = one.spell(sequences).decode()
        assert not one.is_circle
        assert letters in half + other_strand(half) + half


def test_the_command(tmp_path, capsys):
    genome = genome_of(9)
    path, out = tmp_path / "r.fa", tmp_path / "u.gfa"
    reads = named(reads_of(genome, circular=True))
    path.write_text("".join(f">{name}\n{one}\n" for name, one in reads.items()))
    command = ["overlap", str(path), "--preset", "short", "--device", "cpu", "--min-overlap", "100"]
    assert main([*command, "-o", str(out), "--unitigs"]) == 0
    assert "left  34 of 34 reads, 34 of " in capsys.readouterr().err
    header, segment, link = out.read_text().splitlines()
    assert header == "H\tVN:Z:1.0"
    kind, name, letters, *tags = segment.split("\t")
    assert (kind, name, tags) == ("S", "utg000001c", ["LN:i:2000", "rc:i:34"])
    assert letters in 2 * genome or other_strand(letters) in 2 * genome
    assert link == "L\tutg000001c\t+\tutg000001c\t+\t0M"
    gfapy = pytest.importorskip("gfapy")
    gfapy.Gfa.from_file(str(out), vlevel=3).validate()


def test_a_failure_leaves_nothing(tmp_path, monkeypatch):
    def fail(*_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr("pairalign.jobs.overlaps.unitigs.write_unitigs", fail)
    path = tmp_path / "r.fa"
    genome = genome_of(9)
    path.write_text("".join(f">r{start}\n{genome[start : start + 300]}\n" for start in (0, 60)))
    command = ["overlap", str(path), "-o", str(tmp_path / "u.gfa"), "--unitigs", "-q"]
    assert main([*command, "--preset", "short", "--device", "cpu"]) == 1
    assert list(tmp_path.iterdir()) == [path]
