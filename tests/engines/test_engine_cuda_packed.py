"""The packed kernels: tiles, tilings, strips, the limits of 16 bits.

As in test_engine_cuda.py, tests of the fixture `device` run with the kernels compiled for this CPU
and on a GPU where there is one. On the CPU they are slow: what is large is for a GPU only.
"""

from typing import Any

import numpy as np
import pytest
from checks import assert_as_reference, assert_every_pair, assert_same, run
from conftest import examples, open_cpu
from cuda_engines import open_on
from hypothesis import assume, given, settings
from strategies import (
    MODES,
    Problem,
    blosum_like,
    make_scoring,
    match_matrix,
    random_sequences,
    small_problems,
)

from pairalign.engines.cuda.packed.packed_family import Packed
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA, PROTEIN

MIB = 1 << 20
# Lengths at the ends of lanes, tiles, tiers, groups, tilings and strips.
EDGES = (1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 129, 191, 192, 193, 256, 257, 320, 321)
FAR_EDGES = (384, 385, 448, 449, 512, 513, 640, 641, 768, 769, 896, 897, 1024, 1025, 2048, 2049)


def opener(device: Any) -> Any:
    return lambda sets, scoring, **options: open_on(
        device, sets, scoring, family=Packed.name, **options
    )


def can(problem: Problem) -> bool:
    """Whether these kernels take such scores."""
    return Packed().supports(problem.scoring, Detail.CIGAR, (9, 0)) is None


def related(lengths: tuple[int, ...], seed: int, letters: str = "ARNDCQEGHILKM") -> tuple[str, ...]:
    """Sequences of given lengths that are pieces of one, changed here and there."""
    rng = np.random.default_rng(seed)
    ancestor = rng.choice(list(letters), size=max(lengths))
    found = []
    for length in lengths:
        start = int(rng.integers(len(ancestor) - length + 1))
        piece = ancestor[start : start + length]
        changed = np.where(rng.random(length) < 0.1, rng.choice(list(letters), size=length), piece)
        found.append("".join(changed))
    return tuple(found)


def assert_like_cpu(device: Any, problem: Problem, **options: Any) -> None:
    found = run(opener(device), problem, **options)
    assert_same(run(open_cpu, problem), found, note=problem if len(repr(problem)) < 2000 else "")
    scores = run(opener(device), problem, Want(Detail.SCORE), **options)
    assert_same(scores, found, Detail.SCORE)


@settings(max_examples=examples(15))
@given(problem=small_problems())
def test_any_small_problem(device, problem):
    assume(can(problem))
    found = run(opener(device), problem)
    assert_every_pair(problem, found)
    assert_as_reference(problem, found, at_most=20)


@pytest.mark.parametrize("mode", MODES)
def test_lengths_at_the_edges_of_tiles(device, mode):
    assert_like_cpu(device, Problem(related(EDGES[:12], 1), None, blosum_like(mode)))


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
def test_lengths_at_the_edges_of_tilings(gpu, mode):
    first = related(EDGES + FAR_EDGES, 2)
    assert_like_cpu(gpu, Problem(first, None, blosum_like(mode)))
    assert_like_cpu(gpu, Problem(first, related(FAR_EDGES[::-3], 3), blosum_like(mode)))


@pytest.mark.parametrize("mode", MODES)
def test_equally_good_alignments_everywhere(device, mode):
    for gap_open, gap_extend in ((0, 0), (1, 1), (2, 0)):
        matrix = match_matrix(DNA, 1, -1)
        scoring = make_scoring(DNA, mode, gap_open, gap_extend, matrix)
        sequences = ("A" * 40, "A" * 33, "AC" * 17, "C" * 33, "ACA" * 6, "A")
        assert_like_cpu(device, Problem(sequences, None, scoring))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("length", [150, pytest.param(400, marks=pytest.mark.gpu)])
def test_tandem_repeats(device, mode, length):
    """Long gaps within tiles and between them, of one set and of two with equal lengths."""
    (ancestor,) = related((length + 100,), 6, "ACGT")
    rng = np.random.default_rng(7)
    found = []
    for k in range(12):
        repeats = list(3 * ancestor[8 * k : 8 * k + length])
        changed = rng.random(len(repeats)) < 0.05
        found.append("".join(np.where(changed, rng.choice(list("ACGT"), len(repeats)), repeats)))
    scoring = make_scoring(DNA, mode, 5, 2, match_matrix(DNA, 2, -3))
    assert_like_cpu(device, Problem(tuple(found), None, scoring))
    assert_like_cpu(device, Problem(tuple(found[:6]), tuple(found[6:]), scoring))


@pytest.mark.parametrize("mode", MODES)
def test_gaps_across_several_tiles(device, mode):
    (whole,) = related((150,), 4)
    sequences = (whole, whole[:20] + whole[110:], whole[:70] + whole[75:], whole[40:])
    second = (whole[:15] + whole[100:], "W" * 60 + whole[:30])
    scoring = blosum_like(mode, 8, 0)
    assert_like_cpu(device, Problem(sequences, None, scoring))
    assert_like_cpu(device, Problem(sequences, second, scoring))


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
def test_scores_at_the_limit_of_16_bits(gpu, mode):
    """In either half of a word, next to a pair that scores little."""
    high, low = related((500, 500), 5)
    others = tuple("W" * len(high) for _ in range(2))
    for match in (60, 90, 100, 125, 128, 131, 135, 200):
        scoring = make_scoring(PROTEIN, mode, 11, 1, match_matrix(PROTEIN, match, -4))
        for sequences in ((high, high, *others), (*others, high, high), (high, others[0], high)):
            problem = Problem((*sequences, low, "W"), None, scoring)
            assert_like_cpu(gpu, problem)


@pytest.mark.gpu
@pytest.mark.parametrize("detail", list(Detail))
@pytest.mark.parametrize("mode", MODES)
def test_small_batches(gpu, mode, detail):
    rng = np.random.default_rng(6)
    first = tuple(random_sequences(rng, "ARNDCQEGHILKM", 70, 300, "mixed"))
    problem = Problem(first, None, blosum_like(mode))
    everything = run(open_cpu, problem)
    for memory_bytes in (6 * MIB, 30 * MIB):
        found = run(opener(gpu), problem, Want(detail), memory_bytes=memory_bytes)
        assert_same(found, everything, detail, memory_bytes)
    least = int(np.median(everything.raw_score))
    want = Want(detail, min_raw_score=least)
    assert_same(run(open_cpu, problem, want), run(opener(gpu), problem, want), detail)


def test_what_it_cannot_do_is_said():
    scoring = blosum_like("global")
    assert Packed().supports(scoring, Detail.CIGAR, (9, 0)) is None
    assert "shared memory" in str(Packed().supports(scoring, Detail.CIGAR, (8, 6)))
    large = make_scoring(PROTEIN, "global", 11, 1, match_matrix(PROTEIN, 1 << 19, -4))
    assert "residue" in str(Packed().supports(large, Detail.CIGAR, (9, 0)))
