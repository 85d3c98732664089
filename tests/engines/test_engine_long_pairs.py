"""The CPU kernel that puts one pair on all lanes: the same results as all else, cell by cell.

Its rows come in strips (16 to 128 rows, as the instruction set has it), those of long pairs in
tiles as well; lengths here lie around their limits.
"""

import numpy as np
import pytest
from cases import CASES
from checks import assert_as_reference, assert_same, run
from conftest import examples, open_cpu
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    LETTERS,
    MODES,
    SEEDS,
    Problem,
    large_problems,
    make_scoring,
    match_matrix,
    random_scoring,
    random_sequences,
    small_problems,
)

from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.errors import CapacityError
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA, PROTEIN

EDGES = (1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300, 391)
KIB, MIB = 1 << 10, 1 << 20


def problem_at_edges(seed: int) -> Problem:
    """Two to six sequences with lengths at the limits of lanes, strips and tiles."""
    rng = np.random.default_rng(seed)
    alphabet = DNA if rng.integers(2) else PROTEIN
    letters = str(rng.choice(LETTERS[alphabet.name]))
    lengths = rng.choice(EDGES, size=int(rng.choice([2, 2, 3, 6])))
    whole = random_sequences(rng, letters, len(lengths), max(EDGES), "equal")
    cut = [one[:length] for one, length in zip(whole, lengths, strict=True)]
    sequences = [one if one.strip("*") else "A" * len(one) for one in cut]
    scoring = random_scoring(rng, alphabet, int(max(lengths)))
    return Problem(tuple(sequences), None, scoring)


problems_at_edges = SEEDS.map(problem_at_edges)


@settings(max_examples=examples(250))
@given(problem=problems_at_edges, name=st.sampled_from(instruction_sets()))
def test_lengths_at_edges(problem, name):
    found = run(open_cpu, problem, instruction_set=name, long_pairs="always")
    assert_as_reference(problem, found)
    other = run(open_cpu, problem, instruction_set=name, long_pairs="never")
    assert_same(found, other, note=problem)


@settings(max_examples=examples(250))
@given(problem=small_problems(), name=st.sampled_from(instruction_sets()))
def test_a_few_letters(problem, name):
    found = run(open_cpu, problem, instruction_set=name, long_pairs="always")
    assert_as_reference(problem, found)


@settings(max_examples=examples(150))
@given(
    problem=st.one_of(problems_at_edges, large_problems),
    name=st.sampled_from(instruction_sets()),
    detail=st.sampled_from([Detail.SCORE, Detail.STATS]),
)
def test_less_detail(problem, name, detail):
    options = {"instruction_set": name, "long_pairs": "always"}
    found = run(open_cpu, problem, Want(detail), **options)
    assert_same(found, run(open_cpu, problem, long_pairs="never"), detail, problem)


@pytest.mark.slow
@pytest.mark.parametrize("name", instruction_sets())
@pytest.mark.parametrize("case", CASES)
def test_hard_cases(case, name):
    """Ties, gaps that cost nothing, scores all positive or none, limits of 8, 16 and 32 bits."""
    for mode in MODES:
        for problem in CASES[case](mode):
            found = run(open_cpu, problem, instruction_set=name, long_pairs="always")
            assert_same(found, run(open_cpu, problem, long_pairs="never"), note=problem)
            scores = run(
                open_cpu, problem, Want(Detail.SCORE), instruction_set=name, long_pairs="always"
            )
            assert_same(scores, found, Detail.SCORE, problem)


@settings(max_examples=examples(150))
@given(
    problem=problems_at_edges,
    name=st.sampled_from(instruction_sets()),
    share=st.sampled_from([1 * KIB, 4 * KIB, 12 * KIB, 30 * KIB]),
)
def test_tiles(problem, name, share):
    """With little memory most tiles are filled twice, and borders kept in between."""
    found = run(open_cpu, problem, long_pairs="never")
    options = {"instruction_set": name, "long_pairs": "always"}
    memory_bytes = 4 * share
    for _ in range(20):  # each error is about one pair; another one may need more
        try:
            other = run(open_cpu, problem, memory_bytes=memory_bytes, **options)
        except CapacityError as error:
            if error.available_bytes != memory_bytes or error.needed_bytes <= memory_bytes:
                raise
            memory_bytes = error.needed_bytes
        else:
            assert_same(other, found, note=(memory_bytes, problem))
            return
    pytest.fail("what a CapacityError asked for was never enough")


@pytest.mark.slow
@pytest.mark.parametrize("name", instruction_sets())
@pytest.mark.parametrize("mode", MODES)
def test_thousands_of_letters(mode, name):
    """More than a tile of the usual size; flags of all cells take 17 MB."""
    rng = np.random.default_rng(21)
    first, second = random_sequences(rng, "ACGT", 2, 6500, "equal")
    second = first[200:1500] + second[:900] + first[1700:6000]
    for size in (1, 40):  # scores of 8 bits, and of more
        matrix = match_matrix(DNA, 2 * size, -3 * size)
        scoring = make_scoring(DNA, mode, 5 * size, 2 * size, matrix)
        problem = Problem((first, second), None, scoring)
        found = run(open_cpu, problem, long_pairs="never")
        for memory_bytes in (4 * MIB, 16 * MIB, 1 << 30):
            options = {"instruction_set": name, "memory_bytes": memory_bytes}
            other = run(open_cpu, problem, long_pairs="always", **options)
            assert_same(other, found, note=memory_bytes)


@pytest.mark.parametrize("mode", MODES)
def test_what_is_chosen_does_not_matter(mode):
    """A few long ones among short ones: both kernels are used, whatever the memory."""
    rng = np.random.default_rng(22)
    sequences = [
        *random_sequences(rng, "ARNDC", 3, 1500, "near"),
        *random_sequences(rng, "ARNDC", 40, 120, "mixed"),
    ]
    scoring = make_scoring(PROTEIN, mode, 11, 1, match_matrix(PROTEIN, 5, -4))
    problem = Problem(tuple(sequences), None, scoring)
    least = int(np.median(run(open_cpu, problem, Want(Detail.SCORE)).raw_score))
    for want in (*map(Want, Detail), Want(Detail.CIGAR, min_raw_score=least)):
        found = run(open_cpu, problem, want, long_pairs="never")
        for options in ({}, {"memory_bytes": 2 * MIB}, {"threads": 3}, {"long_pairs": "always"}):
            assert_same(run(open_cpu, problem, want, **options), found, want.detail, options)
