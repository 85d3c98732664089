"""Haplotypes on both strands become a graph by one command, as for `seqwish`."""

from pathlib import Path

import numpy as np
import pytest
from variation_graph import COMPLEMENT, VariationGraph

from pairalign.cli.main import main

LETTERS = list("ACGT")
HSPS = ["--mode", "local", "--hsps", "6", "--strand", "both", "-q"]
OPTIONS = [*HSPS, "--min-score", "200"]


def haplotypes(seed: int) -> tuple[dict[str, str], dict[str, list[int]]]:
    """Descendants of a sequence, and which of its bases each of theirs is; -1: none.

    Every second one is on the other strand; one lacks 200 bases, another has 150 more. Bases are
    left out or put in where it can be seen which: not beside the same base.
    """
    rng = np.random.default_rng(seed)
    ancestor = rng.choice(LETTERS, 2000).tolist()
    sequences, origins = {}, {}
    for number in range(6):
        text: list[str] = []
        origin: list[int] = []
        for place, letter in enumerate(ancestor):
            beside = {ancestor[place - 1], ancestor[(place + 1) % len(ancestor)]}
            leaves_out = rng.random() < 0.001 and letter not in beside
            if leaves_out or (number == 2 and 800 <= place < 1000):
                continue
            mutates = rng.random() < 0.01
            text.append(str(rng.choice([x for x in LETTERS if x != letter])) if mutates else letter)
            origin.append(-1 if mutates else place)
            more = [x for x in LETTERS if x not in {*beside, letter}][:1] * (rng.random() < 0.001)
            if (number, place) == (4, 1400):
                more = rng.choice(LETTERS, 150).tolist()
            text += more
            origin += [-1] * len(more)
        whole = "".join(text)
        if number % 2:
            whole, origin = whole[::-1].translate(COMPLEMENT), origin[::-1]
        sequences[f"h{number}"], origins[f"h{number}"] = whole, origin
    return sequences, origins


def graph_of(sequences: dict[str, str], options: list[str], least: int = 1) -> VariationGraph:
    Path("haps.fa").write_text("".join(f">{name}\n{text}\n" for name, text in sequences.items()))
    assert main(["align", "haps.fa", "-o", "haps.paf", *options]) == 0
    return VariationGraph(sequences, Path("haps.paf").read_text().splitlines(), least)


@pytest.mark.parametrize("seed", [1, 2])
def test_homologous_bases_are_one_base_of_the_graph(seed, here):
    sequences, origins = haplotypes(seed)
    graph = graph_of(sequences, OPTIONS)
    letters = graph.residues()  # of one base there is one letter
    for name, text in sequences.items():
        assert "".join(letters[side] for side in graph.path(name)) == text
    sides: dict[int, list[int]] = {}
    for number, (name, origin) in enumerate(origins.items()):
        for place, base in enumerate(origin):
            if base >= 0:
                side = graph.side_of(name, place, complement=bool(number % 2))
                sides.setdefault(base, []).append(side)
    pairs = sum(len(some) - 1 for some in sides.values())
    together = sum(one == some[0] for some in sides.values() for one in some[1:])
    assert together >= 0.999 * pairs
    assert len(graph.bases()) < 2600  # 2,000, 150 and what differs; nothing is there twice
    assert sum(count == 6 for count in graph.bases()) > 1400


def shifts(text: str, start: int, length: int) -> set[int]:
    """Where as many bases can be left out instead, for the same sequence."""
    found = {start}
    for step in (-1, 1):
        at = start
        while at + step >= 0 and at + step + length <= len(text):
            leaves, takes = (at, at + length) if step > 0 else (at + length - 1, at - 1)
            if text[leaves] != text[takes]:
                break
            at += step
            found.add(at)
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_bases_left_out_of_repeats(seed, here):
    """Which copy of a repeat was left out no sequence tells: all that can be left out are as good.

    So bases are judged that no gap of any haplotype can be moved across.
    """
    rng = np.random.default_rng(seed)
    ancestor = "".join(rng.choice(LETTERS, 1500))
    ancestor = ancestor[:700] + "CAG" * 12 + "A" * 9 + ancestor[700:]
    sequences, origins, ambiguous = {}, {}, set()
    for number in range(5):
        kept = list(range(len(ancestor)))
        gaps = [int(place) for place in rng.integers(5, len(ancestor) - 20, 6)]
        gaps += [712 + 3 * int(rng.integers(3)), 738]
        for place in sorted(gaps, reverse=True):
            length = 3 if 700 <= place < 730 else int(rng.integers(1, 4))
            for at in shifts(ancestor, place, length):
                ambiguous.update(range(at, at + length))
            kept = [k for k in kept if not place <= k < place + length]
        whole = "".join(ancestor[k] for k in kept)
        if number % 2:
            whole, kept = whole[::-1].translate(COMPLEMENT), kept[::-1]
        sequences[f"h{number}"], origins[f"h{number}"] = whole, kept
    graph = graph_of(sequences, OPTIONS)
    sides: dict[int, list[int]] = {}
    for number, (name, origin) in enumerate(origins.items()):
        for place, base in enumerate(origin):
            side = graph.side_of(name, place, complement=bool(number % 2))
            sides.setdefault(base, []).append(side)
    apart = {base for base, some in sides.items() if len(set(some)) > 1}
    pairs = sum(len(some) - 1 for base, some in sides.items())
    wrong = sum(len(sides[base]) - 1 for base in apart - ambiguous)
    assert wrong <= 0.001 * pairs
    for name, text in sequences.items():
        letters = graph.residues()
        assert "".join(letters[side] for side in graph.path(name)) == text


def test_a_least_score_keeps_copies_of_a_repeat_apart(here):
    """Without it suboptimal alignments put the copies together, and what matches by chance."""
    rng = np.random.default_rng(3)

    def changed(text: str, rate: float) -> str:
        return "".join(str(rng.choice(LETTERS)) if rng.random() < rate else x for x in text)

    copy = "".join(rng.choice(LETTERS, 100))
    unique = ["".join(rng.choice(LETTERS, 400)) for _ in range(3)]
    ancestor = unique[0] + copy + unique[1] + changed(copy, 0.15) + unique[2]
    sequences = {f"h{k}": changed(ancestor, 0.01) for k in range(4)}
    every, kept = (len(graph_of(sequences, options).bases()) for options in (HSPS, OPTIONS))
    assert every < len(ancestor) - 50
    assert kept >= len(ancestor)


def test_by_default_haplotypes_of_two_strands_do_not_meet(here):
    graph = graph_of(haplotypes(1)[0], ["-q"], least=19)
    assert not any(count == 6 for count in graph.bases())
