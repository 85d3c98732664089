"""Bands of many pairs at a time, in 8-bit lanes: the bytes of the full matrix.

What bands of a pair are asked, too, is in test_pruning.py.
"""

from dataclasses import replace

import numpy as np
import pytest
from bench.families import family as family_of
from bench.families import with_one_gap
from checks import assert_same, run, windows_of
from conftest import open_cpu
from similar_problems import DEFAULT, align, global_scoring, mutated, rearranged
from strategies import LETTERS, Problem

from pairalign.engines.cpu.cpu_engine import CpuEngine, Pruning, instruction_sets
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA, PROTEIN

LANES = Pruning("lanes")
MIB = 1 << 20


def family(number: int, length: int, rate: float, gap: int = 150, seed: int = 71) -> Problem:
    """Sequences that come from one; some have an end cut, a gap, or a run of N."""
    rng = np.random.default_rng(seed)
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=length))
    sequences = [mutated(rng, letters, ancestor, rate) for _ in range(number)]
    for k in range(0, number, 5):
        one, at = sequences[k], int(rng.integers(length // 2))
        kinds = (one[gap:], one[:at] + one[at + gap :], one[:at] + "N" * 20 + one[at + 20 :])
        sequences[k] = kinds[k // 5 % 3]
    return Problem(tuple(sequences), None, DEFAULT)


def unrelated(
    rng: np.random.Generator, number: int, length: int, letters: str = "ACGT"
) -> tuple[str, ...]:
    return tuple("".join(rng.choice(list(letters), size=length)) for _ in range(number))


@pytest.mark.parametrize("name", instruction_sets())
@pytest.mark.parametrize("detail", Detail)
def test_the_band_is_narrow(name, detail):
    """Of a family with 85% identity most cells are not filled, whichever lanes there are."""
    problem = family(30, 1200, 0.15, gap=20)
    found, did = align(problem, Pruning("always"), Want(detail), instruction_set=name)
    assert_same(found, run(open_cpu, problem), detail)
    assert (did.tried, did.lost) == (435, 0)
    assert did.done == 435
    assert did.beam_cells + did.cells < 0.55 * did.matrix_cells


@pytest.mark.parametrize("memory_bytes", [64 * MIB, 24 * MIB, 16 * MIB, MIB])
def test_little_memory(memory_bytes):
    """Tiles are larger then, or 8-bit lanes have no room."""
    problem = family(10, 600, 0.1)
    found, did = align(problem, Pruning("lanes", 200), memory_bytes=memory_bytes, threads=1)
    assert_same(found, run(open_cpu, problem))
    assert did.lost == 0
    assert did.done == 45 or memory_bytes == MIB


def test_pairs_of_many_rows_share_lanes():
    """Each sequence has one relative, of other lengths: no row has two pairs for lanes."""
    rng = np.random.default_rng(75)
    first = unrelated(rng, 40, 1200)
    first = tuple(one[: 1200 - 7 * k] for k, one in enumerate(first))
    second = tuple(mutated(rng, list("ACGT"), one, 0.15) for one in first)
    problem = Problem(first, second, DEFAULT)
    engine = open_cpu(problem.sets(), DEFAULT, pruning=Pruning("auto"), threads=1)
    assert isinstance(engine, CpuEngine)
    (window,) = windows_of(40, 40, 1 << 20)
    full = run(open_cpu, problem)
    relatives = full.query == full.target
    found = engine.align(window, Want(Detail.CIGAR), relatives)
    did = engine.pruned()
    engine.close()
    assert_same(found, full.take(np.flatnonzero(relatives)))
    assert (did.tried, did.done, did.lost) == (40, 40, 0)
    assert did.beam_cells + did.cells < 0.5 * did.matrix_cells


@pytest.mark.parametrize("name", instruction_sets())
def test_one_long_gap_of_few_pairs(name):
    """Every other sequence lacks a quarter: words beyond the gap count, and lanes are filled up."""
    distant = Problem(tuple(with_one_gap(family_of(12, 2500, 0.75), 625)), None, DEFAULT)
    found, did = align(distant, Pruning("auto"), threads=1, instruction_set=name)
    assert_same(found, run(open_cpu, distant))
    assert did.done > 40
    near = Problem(tuple(with_one_gap(family_of(16, 1500, 0.85), 375)), None, DEFAULT)
    found, did = align(near, Pruning("auto"), threads=1, instruction_set=name)
    assert_same(found, run(open_cpu, near))
    assert did.done == 120


# Every other sequence lacks a quarter.
FEW_WITH_ONE_GAP = [
    pytest.param("avx512", 12, 1100, 0.85, 0, 0, id="66 pairs: one batch and two alone"),
    pytest.param("sse41", 12, 1100, 0.85, 25, 40, id="66 pairs: four batches and two alone"),
    pytest.param("avx512", 8, 1500, 0.85, 15, 28, id="28 pairs share a batch in full"),
    pytest.param("avx2", 6, 1500, 0.85, 12, 15, id="15 pairs share a batch in full"),
    pytest.param("sse41", 8, 1500, 0.85, 25, 28, id="pairs of moved words fill lanes"),
    pytest.param("sse41", 8, 1500, 0.6, 0, 0, id="no more others than pairs that look similar"),
]


@pytest.mark.parametrize(
    ("name", "number", "length", "identity", "least", "most"), FEW_WITH_ONE_GAP
)
def test_few_pairs_are_pruned_where_that_costs_less_than_their_batch(
    name, number, length, identity, least, most
):
    """In full the last pairs cost a batch, or as many alone; bands must cost less than that."""
    if name not in instruction_sets():
        pytest.skip(f"{name}: not of this processor, or not built")
    sequences = with_one_gap(family_of(number, length, identity), length // 4)
    problem = Problem(tuple(sequences), None, DEFAULT)
    found, did = align(problem, Pruning("auto"), threads=1, instruction_set=name)
    assert_same(found, run(open_cpu, problem))
    assert least <= did.done <= most


@pytest.mark.parametrize("number", [3, 8, 12])
@pytest.mark.parametrize("threads", [1, 3])
def test_few_pairs_are_pruned_all_the_same(number, threads):
    """With lanes or, where they would not be filled, without."""
    problem = family(number, 1200, 0.1, gap=20)
    found, did = align(problem, Pruning("always"), threads=threads)
    pairs = number * (number - 1) // 2
    assert_same(found, run(open_cpu, problem))
    assert (did.tried, did.lost) == (pairs, 0)
    assert did.done > 0.95 * pairs


def test_auto_leaves_strangers_at_once():
    """Of sequences that have nothing in common nothing is filled but in full."""
    rng = np.random.default_rng(72)
    strangers = Problem(unrelated(rng, 24, 1000), None, DEFAULT)
    found, did = align(strangers, Pruning("auto"))
    assert_same(found, run(open_cpu, strangers))
    assert did.done == 0
    assert did.tried < 276 // 4  # a sample
    assert did.beam_cells + did.cells < 0.01 * did.matrix_cells


def test_beams_without_hope_end_early():
    """Sequences have words in common, and no letter else: a beam ends after an eighth."""
    rng = np.random.default_rng(73)
    words = ["".join(rng.choice(list("ACGT"), size=8)) for _ in range(4)]
    sets = []
    for letters in ("AC", "GT"):
        sequences = list(unrelated(rng, 24, 2000, letters))
        for k, one in enumerate(sequences):
            for w, word in enumerate(words):
                at = (2000 - 8) * 8 * w // 32
                one = one[:at] + word + one[at + 8 :]
            sequences[k] = one
        sets.append(tuple(sequences))
    problem = Problem(sets[0], sets[1], DEFAULT)
    found, did = align(problem, Pruning("auto"))
    assert_same(found, run(open_cpu, problem))
    assert (did.done, did.cells) == (0, 0)
    assert 0 < did.beam_cells < 0.02 * did.matrix_cells


def test_strangers_among_relatives_are_aligned_in_full():
    problem = family(30, 1000, 0.1)
    rng = np.random.default_rng(74)
    problem = replace(problem, first=(*problem.first, *unrelated(rng, 3, 1000)))
    for use in ("auto", "always"):
        found, did = align(problem, Pruning(use))
        assert_same(found, run(open_cpu, problem), note=use)
        assert did.lost == 0
        assert did.done > 380
        assert did.done <= 435 or use == "always"


def test_minimum_scores_and_chosen_pairs():
    problem = family(24, 900, 0.2)
    full = run(open_cpu, problem)
    least = int(np.median(full.raw_score))
    want = Want(Detail.CIGAR, min_raw_score=least)
    keep = np.arange(len(full.query)) % 3 != 1
    sets = problem.sets()
    (window,) = windows_of(len(sets[0]), None, 1 << 20)
    for pruning in (LANES, Pruning("auto"), Pruning("always")):
        assert_same(align(problem, pruning, want)[0], run(open_cpu, problem, want))
        engine = open_cpu(sets, problem.scoring, pruning=pruning)
        assert_same(engine.align(window, Want(Detail.CIGAR), keep), full.take(keep))
        engine.close()


def many_lanes(seed: int) -> tuple[Problem, Pruning, dict[str, object]]:
    """A family of up to 5,000 letters, or a few; of any letters, costs and rates, in any memory."""
    rng = np.random.default_rng([75, seed])
    alphabet = PROTEIN if rng.integers(4) == 0 else DNA
    letters = list(str(rng.choice(LETTERS[alphabet.name])))
    length, number = FAMILIES[int(rng.choice(len(FAMILIES), p=SHARES))]
    ancestor = "".join(rng.choice(letters, size=length))
    if rng.integers(4) == 0:  # a repeat
        ancestor = (ancestor[: int(rng.integers(1, 60))] * length)[:length]
    rates = rng.choice([0, 0.02, 0.1, 0.2, 0.3, 0.6], size=2)
    sequences = []
    for _ in range(number):
        sequence = mutated(rng, letters, ancestor, float(rng.choice(rates)))
        for _ in range(int(rng.integers(3))):
            sequence = rearranged(rng, letters, sequence) or sequence
        sequences.append(sequence)
    scoring = global_scoring(rng, alphabet, max(map(len, sequences)))
    use = str(rng.choice(["lanes", "lanes", "always", "auto"]))
    options = {
        "memory_bytes": int(rng.choice([1 << 30, 64 * MIB, 24 * MIB])),
        "threads": int(rng.choice([1, 2])),
        "instruction_set": str(rng.choice(instruction_sets())),
    }
    return Problem(tuple(sequences), None, scoring), Pruning(use, int(rng.choice([0, 3]))), options


FAMILIES = ((12, 200), (40, 200), (150, 130), (400, 70), (1200, 34), (4990, 12))
"""Residues, and how many sequences."""
SHARES = (0.1, 0.2, 0.2, 0.2, 0.2, 0.1)


@pytest.mark.slow
def test_tens_of_thousands_of_pairs():
    """What lanes do is what 16-bit lanes find in full."""
    done = 0
    for seed in range(20):
        problem, pruning, options = many_lanes(seed)
        found, did = align(problem, pruning, **options)
        assert_same(found, run(open_cpu, problem, lane_bits=16), note=seed)
        assert did.lost == 0, seed
        done += did.done
    assert done > 40_000
