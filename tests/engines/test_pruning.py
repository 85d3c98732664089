"""Pruning: the bytes of the full matrix from the cells that can hold optimal paths.

Bands of a pair in each mode, of many pairs at a time, and wavefronts of equal cost.
"""

import os
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from cases import CASES
from checks import assert_as_reference, assert_same, run, windows_of
from conftest import examples, open_cpu
from hypothesis import given, settings
from hypothesis import strategies as st
from similar_problems import (
    DEFAULT,
    KIB,
    MIB,
    WORSE,
    align,
    lost_by_an_unsound_bound,
    many_pairs,
    mutated,
    of_mode,
    related_problem,
    related_problems,
    thousands_of_residues,
)
from strategies import (
    SEEDS,
    Problem,
    large_problems,
    make_scoring,
    match_matrix,
    random_sequences,
    small_problems,
)

from pairalign.engines.cpu.cpu_engine import Pruning, instruction_sets
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA

FORCED = Pruning("forced")
WAVEFRONTS = Pruning("wavefronts")
USES = pytest.mark.parametrize("use", ["forced", "lanes"])
"""Bands of a pair, and of many pairs at a time."""
WAYS = [
    *(("forced", mode) for mode in ("global", "semiglobal", "local")),
    *(("lanes", "global"), ("wavefronts", "global")),
]
EACH = pytest.mark.parametrize(("use", "mode"), WAYS)
MODES = pytest.mark.parametrize("mode", ["global", "semiglobal", "local"])
FREE_ENDS = pytest.mark.parametrize("mode", ["semiglobal", "local"])
SETS = pytest.mark.parametrize("name", instruction_sets())


# ---- laws ----------------------------------------------------------------------------------------


@EACH
@settings(max_examples=examples(200))
@given(problem=related_problems, name=st.sampled_from(instruction_sets()), worse=WORSE)
def test_related_sequences(use, mode, problem, name, worse):
    problem = of_mode(problem, mode)
    found, did = align(problem, Pruning(use, worse), instruction_set=name)
    assert_same(found, run(open_cpu, problem), note=problem)
    assert did.lost == 0
    if problem.scoring != DEFAULT:  # with others a beam may find no alignment at all,
        return  # and fronts take pairs of letters of two scores
    if use == "forced":
        assert did.done == did.tried
    if use == "wavefronts":
        bases = [set("ACGT") & set(one) for one in problem.first]
        assert did.done >= sum(bool(a & b) for a, b in combinations(bases, 2))


@EACH
@settings(max_examples=examples(200))
@given(problem=small_problems(), name=st.sampled_from(instruction_sets()), worse=WORSE)
def test_a_few_residues(use, mode, problem, name, worse):
    problem = of_mode(problem, mode)
    pruning = Pruning(use, worse)
    assert_as_reference(problem, run(open_cpu, problem, instruction_set=name, pruning=pruning))


@EACH
@settings(max_examples=examples(40))
@given(
    problem=large_problems,
    name=st.sampled_from(instruction_sets()),
    detail=st.sampled_from(Detail),
    threads=st.sampled_from([1, 3]),
    window=st.sampled_from([7, 1024]),
)
def test_sets_of_all_shapes(use, mode, problem, name, detail, threads, window):
    problem = of_mode(problem, mode)
    if use == "wavefronts":  # pair by pair, and those of large scores take a millisecond or more
        few = None if problem.second is None else problem.second[:9]
        problem = replace(problem, first=problem.first[:9], second=few)
    pruning = Pruning(use)
    options = {"instruction_set": name, "pruning": pruning, "threads": threads, "window": window}
    found = run(open_cpu, problem, Want(detail), **options)
    assert_same(found, run(open_cpu, problem, window=window), detail, problem)


# Of lengths so unlike, a group of pairs takes seconds.
LONG = ("lanes", "positions_beyond_16_bits")


@pytest.mark.parametrize(
    ("use", "mode", "case"),
    [
        pytest.param(*way, case, marks=[pytest.mark.slow] if (way[0], case) == LONG else [])
        for way, case in product(WAYS, CASES)
    ],
)
def test_hard_cases(case, use, mode):
    """On instruction sets in turns."""
    problems = list(CASES[case](mode))
    if (use, case) == LONG:
        problems = problems[-1:]
    if (use, case) == ("wavefronts", "just_fits_or_not"):
        problems = problems[::5]  # fronts of such scores reach far, and 165 problems are alike
    for number, problem in enumerate(problems):
        name = instruction_sets()[number % len(instruction_sets())]
        found = run(open_cpu, problem, instruction_set=name, pruning=Pruning(use))
        assert_same(found, run(open_cpu, problem), note=problem)


@pytest.mark.parametrize(
    ("mode", "rate"), [("global", 0.01), ("global", 0.2), ("semiglobal", 0.05), ("local", 0.05)]
)
@SETS
def test_little_memory(name, mode, rate):
    """Lanes are saved more and more seldom, and between those again on the way back."""
    problem = of_mode(thousands_of_residues(rate), mode)
    full = run(open_cpu, problem)
    least = 512 * KIB if mode == "global" else 900 * KIB  # too little for flags
    for memory_bytes in (1 << 30, 8 * MIB, 2 * MIB, least):
        found, did = align(problem, FORCED, instruction_set=name, memory_bytes=memory_bytes)
        assert_same(found, full, note=memory_bytes)
        assert (did.done, did.lost) == (3, 0)


@MODES
@pytest.mark.parametrize("scale", [1, 300])
def test_lanes_of_32_bits(scale, mode):
    """Scores that 16 bits cannot hold, and costs that they cannot."""
    problem = thousands_of_residues(0.3 if mode == "global" else 0.1, seed=32)
    matrix = match_matrix(DNA, 2 * scale, -3 * scale)
    problem = replace(problem, scoring=make_scoring(DNA, mode, 5 * scale, 2 * scale, matrix))
    found, did = align(problem, FORCED)
    assert_same(found, run(open_cpu, problem))
    assert (did.done, did.lost) == (3, 0)


@USES
@settings(max_examples=examples(40))
@given(seed=SEEDS, two_sets=st.booleans(), detail=st.sampled_from(Detail))
def test_the_reverse_strand(use, seed, two_sets, detail):
    rng = np.random.default_rng(seed)
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=300))
    turned = ancestor[::-1].translate(str.maketrans("ACGT", "TGCA"))
    sequences = tuple(mutated(rng, letters, x, 0.05) for x in (ancestor, turned, ancestor, turned))
    problem = Problem(sequences, sequences[::-1] if two_sets else None, DEFAULT)
    sets = problem.sets()
    (window,) = windows_of(4, 4 if two_sets else None, 1 << 20)
    found = []
    for pruning in (Pruning(use), Pruning()):
        engine = open_cpu(sets, DEFAULT, pruning=pruning)
        found.append(engine.align(replace(window, strand=-1), Want(detail)))
        engine.close()
    assert_same(*found, detail, problem)


def runs_of_n(seed: int) -> Problem:
    """Similar sequences with runs of N, of some lengths, here and there; costs of two scores."""
    rng = np.random.default_rng([36, seed])
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=int(rng.integers(50, 900))))
    sequences = []
    for _ in range(3):
        one = mutated(rng, letters, ancestor, float(rng.choice([0, 0.01, 0.1])))
        for _ in range(int(rng.integers(4))):
            at, size = int(rng.integers(len(one))), int(rng.integers(1, 90))
            one = one[:at] + "N" * size + one[at + size * int(rng.integers(2)) :]
        sequences.append(one)
    costs = [(2, -3, 5, 2), (3, -2, 6, 1), (1, -1, 1, 0), (1, -9, 4, 2), (5, 1, 3, 3)]
    match, mismatch, gap_open, gap_extend = costs[int(rng.integers(len(costs)))]
    scoring = make_scoring(DNA, "global", gap_open, gap_extend, match_matrix(DNA, match, mismatch))
    return Problem(tuple(sequences), None, scoring)


@USES
@settings(max_examples=examples(100))
@given(seed=SEEDS, name=st.sampled_from(instruction_sets()), worse=WORSE)
def test_runs_of_n(use, seed, name, worse):
    """What they may give back is in the bound, wherever they are in both sequences."""
    problem = runs_of_n(seed)
    found, did = align(problem, Pruning(use, worse), instruction_set=name)
    assert_same(found, run(open_cpu, problem), note=problem)
    assert did.lost == 0


@pytest.mark.parametrize(("use", "problem_of"), [("forced", runs_of_n), ("lanes", related_problem)])
def test_unsound_bounds_of_all_kinds_are_noticed(use, problem_of):
    assert lost_by_an_unsound_bound(use, map(problem_of, range(60))) > 30


# ---- bands of a pair -----------------------------------------------------------------------------


def test_the_band_is_narrow():
    """Of sequences that differ in a hundredth, most cells are never filled."""
    problem = thousands_of_residues(0.01)
    rng = np.random.default_rng(33)
    one = problem.first[1]
    similar = replace(problem, first=(one, mutated(rng, list("ACGT"), one, 0.01)))
    found, did = align(similar, Pruning("always"))
    assert did.done == 1
    assert did.beam_cells + did.cells < 0.06 * did.matrix_cells
    assert_same(found, run(open_cpu, similar))


@pytest.mark.parametrize("use", ["auto", "forced"])
def test_missing_ends_and_long_gaps(use):
    """Shared words give the bound: no beam, though most of it is lost for the lengths."""
    rng = np.random.default_rng(34)
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=9000))
    one, other = (mutated(rng, letters, ancestor, 0.005) for _ in range(2))
    unit = "".join(rng.choice(letters, size=40))
    pairs = [
        (one[400:-300], other),
        (one, other[:2000] + unit * 20 + other[2900:]),
        (one[500:], other[:-700]),
        (one, other[:4000] + "N" * 300 + other[4300:-350]),
    ]
    for pair in pairs:
        problem = Problem(pair, None, DEFAULT)
        found, did = align(problem, Pruning(use))
        assert_same(found, run(open_cpu, problem))
        assert (did.done, did.beam_cells, did.lost) == (1, 0, 0)


def test_a_bad_pair_does_not_spoil_the_others():
    rng = np.random.default_rng(34)
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=2000))
    sequences = [mutated(rng, letters, ancestor, 0.02) for _ in range(4)]
    sequences += random_sequences(rng, "ACGT", 1, 2000, "equal")
    problem = Problem(tuple(sequences), None, DEFAULT)
    found, did = align(problem, Pruning("always"))
    assert did.done == 4 * 3 // 2  # those without the stranger
    assert_same(found, run(open_cpu, problem))


def test_auto_prunes_few_pairs_of_any_identity():
    """One by one in full they would take longer than by the widest bands."""
    rng = np.random.default_rng(39)
    problem = Problem(tuple(random_sequences(rng, "ACGT", 3, 3000, "equal")), None, DEFAULT)
    found, did = align(problem, Pruning("auto"))
    assert (did.tried, did.done, did.lost) == (3, 3, 0)
    assert_same(found, run(open_cpu, problem))


@SETS
@pytest.mark.parametrize("rate", [0.2, 0.35])
def test_of_one_batch_auto_prunes_all_pairs_or_none(rate, name):
    """In full a few of them would take as long as all."""
    rng = np.random.default_rng(40)
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=5500))
    # As many as have no more pairs than a vector of the instruction set has 16-bit lanes.
    count = {"avx512": 8, "avx2": 6}.get(name, 4)
    pairs = count * (count - 1) // 2
    sequences = [mutated(rng, letters, ancestor, rate) for _ in range(count)]
    problem = Problem(tuple(sequences), None, DEFAULT)
    found, did = align(problem, Pruning("auto"), instruction_set=name)
    assert did.tried == pairs
    assert did.done in (0, pairs)
    assert_same(found, run(open_cpu, problem))


def test_short_pairs_are_not_tried():
    problem = Problem(("ACGT" * 20, "ACGA" * 20, "ACCA" * 15), None, DEFAULT)
    assert align(problem, Pruning("auto"))[1].tried == 0
    assert align(problem, Pruning("never"))[1].tried == 0
    free_gaps = replace(DEFAULT, mode="semiglobal", gap_open=0, gap_extend=0)
    other = replace(problem, scoring=free_gaps)  # an alignment could begin with a gap
    assert align(other, FORCED)[1].tried == 0


def test_minimum_scores_and_chosen_pairs():
    problem = thousands_of_residues(0.05, number=5)
    full = run(open_cpu, problem)
    least = int(np.median(full.raw_score))
    want = Want(Detail.CIGAR, min_raw_score=least)
    assert_same(align(problem, FORCED, want)[0], run(open_cpu, problem, want))
    keep = np.arange(len(full.query)) % 3 != 1
    sets = problem.sets()
    (window,) = windows_of(len(sets[0]), None, 1 << 20)
    for pruning in (FORCED, Pruning("auto")):
        engine = open_cpu(sets, problem.scoring, pruning=pruning)
        assert_same(engine.align(window, Want(Detail.CIGAR), keep), full.take(keep))
        engine.close()


@SETS
def test_beams_that_end_beside_the_last_cell(name):
    """Gaps cost less than most pairs of letters: narrow beams run off, and give no bound."""
    problem, pruning = many_pairs(41)
    found, did = align(problem, pruning, instruction_set=name)
    assert_same(found, run(open_cpu, problem))
    assert did.lost == 0


@pytest.mark.slow
def test_hundreds_of_thousands_of_pairs():
    """Small ones, with all instruction sets in turns."""
    pairs = 0
    for seed in range(1 << 30):
        problem, pruning = many_pairs(seed)
        name = instruction_sets()[seed % len(instruction_sets())]
        found, did = align(problem, pruning, instruction_set=name)
        assert_same(found, run(open_cpu, problem), note=seed)
        assert did.lost == 0
        pairs += did.done
        if pairs >= 300_000:
            return


# ---- free ends -----------------------------------------------------------------------------------


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


@FREE_ENDS
@settings(max_examples=examples(20))
@given(seed=SEEDS, use=st.sampled_from(["forced", "always", "auto"]))
def test_overlapping_reads(mode, seed, use):
    problem = of_mode(overlapping(seed), mode)
    found, did = align(problem, Pruning(use))
    assert_same(found, run(open_cpu, problem), note=seed)
    assert did.lost == 0


@FREE_ENDS
def test_a_bound_above_the_best_score_loses_every_alignment(mode):
    problem = of_mode(thousands_of_residues(0.001), mode)
    found, did = align(problem, Pruning("forced", lower_bound=200))
    assert did.lost > 0
    assert_same(found, run(open_cpu, problem))


@FREE_ENDS
def test_auto_fills_little_of_similar_pairs(mode):
    rng = np.random.default_rng(62)
    letters = list("ACGT")
    one = "".join(rng.choice(letters, size=6000))
    problem = of_mode(Problem((one, mutated(rng, letters, one, 0.01)), None, DEFAULT), mode)
    found, did = align(problem, Pruning("auto"))
    assert (did.done, did.lost) == (1, 0)
    assert did.beam_cells + did.cells < 0.08 * did.matrix_cells
    assert_same(found, run(open_cpu, problem))


# ---- wavefronts ----------------------------------------------------------------------------------


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


@SETS
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


def test_fronts_without_room():
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
