"""Semiglobal and local mode in bands: the bytes of the full matrix."""

from dataclasses import replace

import numpy as np
import pytest
from cases import CASES
from checks import assert_as_reference, assert_same, run
from conftest import examples, open_cpu
from hypothesis import given, settings
from hypothesis import strategies as st
from similar_problems import (
    DEFAULT,
    KIB,
    MIB,
    WORSE,
    align,
    mutated,
    related_problems,
    thousands_of_residues,
)
from strategies import SEEDS, Problem, large_problems, make_scoring, match_matrix, small_problems

from pairalign.engines.cpu.cpu_engine import Pruning, instruction_sets
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA

FORCED = Pruning("forced")
MODES = pytest.mark.parametrize("mode", ["semiglobal", "local"])
SETS = pytest.mark.parametrize("name", instruction_sets())


def of_mode(problem: Problem, mode: str) -> Problem:
    return replace(problem, scoring=replace(problem.scoring, mode=mode))


@MODES
@settings(max_examples=examples(200))
@given(problem=related_problems, name=st.sampled_from(instruction_sets()), worse=WORSE)
def test_related_sequences(mode, problem, name, worse):
    problem = of_mode(problem, mode)
    found, did = align(problem, Pruning("forced", worse), instruction_set=name)
    assert_same(found, run(open_cpu, problem), note=problem)
    assert did.lost == 0


@MODES
@settings(max_examples=examples(200))
@given(problem=small_problems(), name=st.sampled_from(instruction_sets()), worse=WORSE)
def test_a_few_residues(mode, problem, name, worse):
    problem = of_mode(problem, mode)
    pruning = Pruning("forced", worse)
    assert_as_reference(problem, run(open_cpu, problem, instruction_set=name, pruning=pruning))


@MODES
@settings(max_examples=examples(30))
@given(
    problem=large_problems,
    name=st.sampled_from(instruction_sets()),
    detail=st.sampled_from(Detail),
    window=st.sampled_from([7, 1024]),
)
def test_sets_of_all_shapes(mode, problem, name, detail, window):
    problem = of_mode(problem, mode)
    options = {"instruction_set": name, "pruning": FORCED, "threads": 3, "window": window}
    found = run(open_cpu, problem, Want(detail), **options)
    assert_same(found, run(open_cpu, problem, window=window), detail, problem)


@MODES
@pytest.mark.parametrize("case", CASES)
def test_hard_cases(case, mode):
    """On instruction sets in turns."""
    for number, problem in enumerate(CASES[case](mode)):
        name = instruction_sets()[number % len(instruction_sets())]
        found = run(open_cpu, problem, instruction_set=name, pruning=FORCED)
        assert_same(found, run(open_cpu, problem), note=problem)


@MODES
@SETS
def test_little_memory(name, mode):
    """Lanes are saved, also where alignments begin, and the way back fills from them."""
    problem = of_mode(thousands_of_residues(0.05), mode)
    full = run(open_cpu, problem)
    for memory_bytes in (1 << 30, 8 * MIB, 2 * MIB, 900 * KIB):
        found, did = align(problem, FORCED, instruction_set=name, memory_bytes=memory_bytes)
        assert_same(found, full, note=memory_bytes)
        assert (did.done, did.lost) == (3, 0)


@MODES
@pytest.mark.parametrize("scale", [1, 300])
def test_lanes_of_32_bits(scale, mode):
    """Scores that 16 bits cannot hold, and costs that they cannot."""
    problem = thousands_of_residues(0.1, seed=32)
    matrix = match_matrix(DNA, 2 * scale, -3 * scale)
    problem = replace(problem, scoring=make_scoring(DNA, mode, 5 * scale, 2 * scale, matrix))
    found, did = align(problem, FORCED)
    assert_same(found, run(open_cpu, problem))
    assert (did.done, did.lost) == (3, 0)


def overlapping(seed: int) -> Problem:
    """Reads that overlap, one within another, and ends that no other read has."""
    rng = np.random.default_rng([61, seed])
    letters = list("ACGT")
    genome = "".join(rng.choice(letters, size=3000))
    reads = []
    for start, stop in ((0, 2000), (700, 2700), (400, 1500), (0, 3000)):
        ends = ["".join(rng.choice(letters, size=rng.integers(0, 150))) for _ in range(2)]
        reads.append(ends[0] + mutated(rng, letters, genome[start:stop], 0.03) + ends[1])
    return Problem(tuple(reads), None, DEFAULT)


@MODES
@settings(max_examples=examples(20))
@given(seed=SEEDS, use=st.sampled_from(["forced", "always", "auto"]))
def test_overlapping_reads(mode, seed, use):
    problem = of_mode(overlapping(seed), mode)
    found, did = align(problem, Pruning(use))
    assert_same(found, run(open_cpu, problem), note=seed)
    assert did.lost == 0


@MODES
def test_an_unsound_bound_is_noticed(mode):
    """A bound that is higher by one than the best score loses every alignment."""
    problem = of_mode(thousands_of_residues(0.001), mode)
    found, did = align(problem, Pruning("forced", lower_bound=200))
    assert did.lost > 0
    assert_same(found, run(open_cpu, problem))


@MODES
def test_auto_fills_little_of_similar_pairs(mode):
    rng = np.random.default_rng(62)
    letters = list("ACGT")
    one = "".join(rng.choice(letters, size=6000))
    problem = of_mode(Problem((one, mutated(rng, letters, one, 0.01)), None, DEFAULT), mode)
    found, did = align(problem, Pruning("auto"))
    assert (did.done, did.lost) == (1, 0)
    assert did.beam_cells + did.cells < 0.08 * did.matrix_cells
    assert_same(found, run(open_cpu, problem))
