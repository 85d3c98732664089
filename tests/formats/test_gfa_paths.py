"""The paths of a graph spell sequences: each base of the genome once, whatever hangs over."""

import functools
import re
from pathlib import Path

import numpy as np
import pytest
from overlapping import find
from strand_problems import other_strand

from pairalign.formats import open_writer
from pairalign.formats.gfa import gfa_names
from pairalign.formats.writer import Content, Shown
from pairalign.pairs.want import Detail

LETTERS, READ, ADAPTER, OVERHANG = 3000, 600, 60, 140


def simulated(seed: int, *, adapters: bool) -> tuple[str, dict[str, str]]:
    """A circle, and its reads on both strands, many with an adapter at an end.

    Their names end in a strand, as those of simulators do.
    """
    rng = np.random.default_rng(seed)
    genome = "".join(rng.choice(list("ACGT"), LETTERS))
    reads = {}
    for k, start in enumerate(rng.permutation(range(0, LETTERS, 90)).tolist()):
        read = (2 * genome)[start : start + READ + int(rng.integers(0, 60))]
        if adapters and rng.integers(2):
            read = "".join(rng.choice(list("ACGT"), ADAPTER)) + read
        if adapters and rng.integers(2):
            read += "".join(rng.choice(list("ACGT"), ADAPTER))
        minus = bool(rng.integers(2))
        reads[f"r{k}_{'-' if minus else '+'}"] = other_strand(read) if minus else read
    return genome, reads


def graph_of(
    path: Path,
) -> tuple[dict[str, str], dict[str, list[tuple[str, int]]], list[list[str]]]:
    """Vertices, which are segments as walked, with what follows each and how far that overlaps."""
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    spelled, following = {}, {}
    for line in lines:
        if line[0] == "S":
            spelled[f"{line[1]}+"], spelled[f"{line[1]}-"] = line[2], other_strand(line[2])
    for line in lines:
        if line[0] == "L":
            first, second = line[1] + line[2], line[3] + line[4]
            of_first, of_second = consumed(line[5])
            assert of_first <= len(spelled[first])
            assert of_second <= len(spelled[second])
            following.setdefault(first, []).append((second, of_second))
            back = [one[:-1] + "+-"[one[-1] == "+"] for one in (second, first)]
            following.setdefault(back[0], []).append((back[1], of_first))
    return spelled, following, [line for line in lines if line[0] == "C"]


def consumed(cigar: str) -> tuple[int, int]:
    runs = [(int(length), op) for length, op in re.findall(r"(\d+)([MID])", cigar)]
    return tuple(sum(n for n, op in runs if op in ops) for ops in ("MD", "MI"))  # type: ignore


@pytest.mark.parametrize(
    ("seed", "adapters", "cigars"),
    [(0, False, True), (0, True, False), (1, True, True), (1, False, False)],
)
def test_every_path_spells_a_sequence(tmp_path, seed, adapters, cigars):
    genome, reads = simulated(seed, adapters=adapters)
    found = find(reads, mode="local", min_overlap=200, max_overhang=OVERHANG)
    assert {"dovetail"} <= set(found.kind.tolist()) <= {"dovetail", "contained", "contains"}
    content = Content(
        *(found.reads, found.reads, found.alignments.scoring),
        Detail.CIGAR if cigars else Detail.STATS,
        shown=Shown(strands=True),
        max_overhang=OVERHANG,
    )
    with open_writer(tmp_path / "out.gfa", None, content) as writer:
        writer.write(found.alignments)
    spelled, following, inside = graph_of(tmp_path / "out.gfa")
    paths = [
        (one, (two, a), (three, b))
        for one in spelled
        for two, a in following.get(one, [])
        for three, b in following.get(two, [])
    ]
    assert len(paths) > 100
    for one, (two, a), (three, b) in paths:
        path = spelled[one] + spelled[two][a:] + spelled[three][b:]
        assert in_circle(path, genome), (one, two, three)
    for line in inside:
        in_container, in_contained = consumed(line[6])
        assert in_contained == len(spelled[line[3] + line[4]])
        assert int(line[5]) + in_container <= len(spelled[line[1] + "+"])


@functools.cache
def words_of(genome: str) -> dict[str, int]:
    """Where in the circle each word of 20 bases begins."""
    return {(2 * genome)[k : k + 20]: k for k in range(LETTERS)}


def in_circle(path: str, genome: str) -> bool:
    """Whether a path is a stretch of the circle, but for adapters, each in place of bases."""
    words = words_of(genome)
    for letters in (path, other_strand(path)):
        at = [
            (k, words[w]) for k in range(len(letters) - 19) if (w := letters[k : k + 20]) in words
        ]
        if len(at) > len(letters) / 2:
            # Chance lets an alignment go on a few bases into an adapter, and with a gap.
            return (
                max(abs((k - place - at[0][0] + at[0][1] + 50) % LETTERS - 50) for k, place in at)
                < 8
            )
    return False


@pytest.mark.parametrize("adapters", [False, True])
def test_the_circle_has_its_length(tmp_path, adapters):
    _, reads = simulated(5, adapters=adapters)
    found = find(reads, mode="local", min_overlap=200, max_overhang=OVERHANG)
    found.reduced().write(tmp_path / "out.gfa")
    spelled, following, _ = graph_of(tmp_path / "out.gfa")
    start = vertex = min(spelled)
    letters = 0
    while letters < 2 * LETTERS:
        vertex, overlap = following[vertex][0]
        letters += len(spelled[vertex]) - overlap
        if vertex == start:
            break
    assert abs(letters - LETTERS) <= (8 if adapters else 0)


def test_names_that_end_in_a_strand(tmp_path):
    _, reads = simulated(1, adapters=False)
    find(reads, min_overlap=200).write(tmp_path / "out.gfa")
    lines = [line.split("\t") for line in (tmp_path / "out.gfa").read_text().splitlines()]
    segments = {line[1]: line for line in lines if line[0] == "S"}
    assert sorted(segments) == sorted(f"{name}." for name in reads)
    assert all(line[4] == f"on:Z:{name[:-1]}" for name, line in segments.items())
    assert {line[k] for line in lines if line[0] in "LC" for k in (1, 3)} <= set(segments)
    assert gfa_names(["a+", "a+.", "b", "c-"]) == ["a+..", "a+.", "b", "c-."]
