"""Wavefronts of equal cost: the bytes of the full matrix, for pairs of letters of two scores."""

import os
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path

import numpy as np
import pytest
from cases import CASES
from checks import assert_as_reference, assert_same, run
from conftest import examples, open_cpu
from hypothesis import given, settings
from hypothesis import strategies as st
from similar_problems import (
    DEFAULT,
    MIB,
    align,
    many_pairs,
    mutated,
    of_global_mode,
    related_problems,
    thousands_of_residues,
)
from strategies import Problem, make_scoring, match_matrix, random_sequences, small_problems

from pairalign.engines.cpu.cpu_engine import Pruning, instruction_sets
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA

WAVEFRONTS = Pruning("wavefronts")


@settings(max_examples=examples(200))
@given(problem=related_problems, name=st.sampled_from(instruction_sets()))
def test_related_sequences(problem, name):
    found, did = align(problem, WAVEFRONTS, instruction_set=name)
    assert_same(found, run(open_cpu, problem), note=problem)
    assert did.lost == 0
    if problem.scoring is DEFAULT:  # others may have more than two scores
        bases = [set("ACGT") & set(one) for one in problem.first]
        assert did.done >= sum(bool(a & b) for a, b in combinations(bases, 2))


@settings(max_examples=examples(200))
@given(problem=small_problems(), name=st.sampled_from(instruction_sets()))
def test_a_few_letters(problem, name):
    problem = of_global_mode(problem)
    assert_as_reference(problem, run(open_cpu, problem, instruction_set=name, pruning=WAVEFRONTS))


@pytest.mark.parametrize("case", CASES)
def test_hard_cases(case):
    # Fronts of such scores reach far: a problem takes 0.1 s, and there are 165 that are alike.
    step = 5 if case == "just_fits_or_not" else 1
    for problem in islice(CASES[case]("global"), 0, None, step):
        assert_same(
            run(open_cpu, problem, pruning=WAVEFRONTS), run(open_cpu, problem), note=problem
        )


@pytest.mark.parametrize("costs", [(2, -3, 5, 2), (1, -1, 1, 1), (3, 1, 0, 0), (5, -4, 20, 1)])
@pytest.mark.parametrize("letters", ["A", "AC", "ACGTN"])
def test_ties_everywhere(letters, costs):
    """Few letters and even costs: many alignments have the best score."""
    match, mismatch, gap_open, gap_extend = costs
    rng = np.random.default_rng(61)
    sequences = tuple(random_sequences(rng, letters, 40, 40, "any"))
    scoring = make_scoring(DNA, "global", gap_open, gap_extend, match_matrix(DNA, match, mismatch))
    problem = Problem(sequences, None, scoring)
    found, did = align(problem, WAVEFRONTS)
    assert_same(found, run(open_cpu, problem))
    assert did.lost == 0
    assert did.by_wavefronts > 0.5 * did.tried


@pytest.mark.parametrize("name", instruction_sets())
def test_many_pairs(name):
    done = 0
    for seed in (0, 2):
        problem, _ = many_pairs(seed)
        found, did = align(problem, WAVEFRONTS, instruction_set=name)
        assert_same(found, run(open_cpu, problem), note=seed)
        assert did.lost == 0
        done += did.by_wavefronts
    assert done > 0


@pytest.mark.parametrize("detail", Detail)
def test_details(detail):
    problem = thousands_of_residues(0.01)
    found, did = align(problem, WAVEFRONTS, Want(detail))
    assert_same(found, run(open_cpu, problem, Want(detail)), detail, problem)
    assert did.by_wavefronts == 3


def test_little_memory():
    """What has no room for its fronts is aligned in full."""
    problem = thousands_of_residues(0.02)
    full = run(open_cpu, problem)
    done = []
    for memory_bytes in (1 << 30, 20 * MIB, 3 * MIB):
        found, did = align(problem, WAVEFRONTS, memory_bytes=memory_bytes)
        assert_same(found, full, note=memory_bytes)
        done.append(did.by_wavefronts)
    assert done[0] == 3
    assert done[-1] == 0


PEAK = """
import numpy as np
import pairalign
from pairalign.alignments.problem import Problem
from pairalign.engines.cpu.cpu_engine import CpuEngine, Pruning
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.sequences.sets import SequenceSet

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmPeak"))

rng = np.random.default_rng(1)
reads = ["".join(rng.choice(list("ACGT"), 13500)) for _ in range(2)]
costs = {"match": 2, "mismatch": -3, "gap_open": 5, "gap_extend": 2}
scoring = pairalign.make_scoring("dna", mode="global", **costs)
problem = Problem(SequenceSet.from_strings(reads, alphabet="dna"), None, scoring)
engine = CpuEngine(problem, memory_bytes=1 << 30, pruning=Pruning("wavefronts"))
before = peak()
engine.align(Window(0, 0, 2, 0, 2, True, 1), Want(Detail.CIGAR))
print(engine.pruned().by_wavefronts, peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_fronts_that_move_stay_within_their_share():
    """A pair moves on when it is just short of all that there is room for."""
    environment = os.environ | {"MALLOC_ARENA_MAX": "1"}
    command = [sys.executable, "-c", PEAK]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    pairs, taken = map(int, done.stdout.split())
    assert pairs == 1
    assert taken < 256 << 20


def test_auto_takes_them_for_what_is_very_similar():
    """The others go to bands, and little is filled to find that out."""
    rng = np.random.default_rng(62)
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=4000))
    alike = tuple(mutated(rng, letters, ancestor, 0.003) for _ in range(4))
    problem = Problem(alike, None, DEFAULT)
    found, did = align(problem, Pruning("auto"))
    assert did.by_wavefronts == did.done == 6
    assert did.beam_cells == 0
    assert did.cells < 0.002 * did.matrix_cells
    assert_same(found, run(open_cpu, problem))
    others = tuple(mutated(rng, letters, ancestor, 0.1) for _ in range(4))
    problem = replace(problem, first=others)
    found, did = align(problem, Pruning("auto"))
    assert (did.by_wavefronts, did.done) == (0, 6)
    assert_same(found, run(open_cpu, problem))
