"""Local scores that 8 bits do not hold: above floors that change along the rows."""

import numpy as np
import pytest
from checks import assert_as_reference, assert_same, run
from conftest import examples, open_cpu
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SEEDS, Problem, make_scoring, match_matrix

from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.pairs.want import Detail, Want
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA, PROTEIN

BASES, RESIDUES = "ACGT", "ARNDCQEGHILKMFPSTWYV"
COSTS = [(2, -3, 5, 2), (5, -4, 10, 1), (1, -1, 2, 1), (10, -9, 15, 7), (13, -4, 11, 1)]


def protein_scoring() -> Scoring:
    """As BLOSUM62 scores letters on the average."""
    return make_scoring(PROTEIN, "local", 11, 1, match_matrix(PROTEIN, 5, -2))


def relatives(
    rng: np.random.Generator, letters: str, length: int, count: int, change: float
) -> list[str]:
    """Sequences of one ancestor: letters replaced, lost, put in; ends cut off or put on."""
    ancestor = rng.choice(list(letters), length)
    found = []
    for _ in range(count):
        parts = []
        for letter in ancestor:
            event = rng.random() / change
            if event < 0.7:
                parts.append(rng.choice(list(letters)))
            elif event < 0.9:
                parts.append(letter + "".join(rng.choice(list(letters), int(rng.integers(30)))))
            elif event > 1:
                parts.append(letter)
        sequence = "".join(parts)[int(rng.integers(max(1, length // 4))) :]
        if rng.random() < 0.3:
            sequence = "".join(rng.choice(list(letters), length // 2)) + sequence
        found.append(sequence or letters[0])
    return found


def family(seed: int) -> Problem:
    """Relatives and a few strangers, of DNA or proteins."""
    rng = np.random.default_rng(seed)
    change, length = rng.uniform(0.02, 0.3), int(rng.choice([80, 200, 420]))
    count = int(rng.integers(3, 24))
    if rng.random() < 0.4:
        strangers = relatives(rng, RESIDUES, length, 2, 1.0)
        sequences = relatives(rng, RESIDUES, length, count, change) + strangers
        return Problem(tuple(sequences), None, protein_scoring())
    match, mismatch, gap_open, gap_extend = COSTS[int(rng.integers(len(COSTS)))]
    strangers = relatives(rng, BASES, length, 2, 1.0)
    sequences = relatives(rng, BASES, length, count, change) + strangers
    scoring = make_scoring(DNA, "local", gap_open, gap_extend, match_matrix(DNA, match, mismatch))
    return Problem(tuple(sequences), None, scoring)


def assert_floors_agree(problem: Problem, want: Want) -> None:
    """Every instruction set, in rows and with pairs of other rows, against 32-bit lanes."""
    expected = run(open_cpu, problem, want, lane_bits=32, long_pairs="never")
    for name in instruction_sets():
        for floors in ("always", "auto", "never"):
            for use in ("always", "never", "auto"):
                found = run(
                    open_cpu,
                    problem,
                    want,
                    instruction_set=name,
                    long_pairs="never",
                    own_rows=use,
                    floors=floors,
                )
                assert_same(found, expected, want.detail, (name, floors, use, problem))


@settings(max_examples=examples(8))
@given(seed=SEEDS, detail=st.sampled_from(Detail))
def test_scores_of_any_size_in_8_bits(seed, detail):
    assert_floors_agree(family(seed), Want(detail))


@pytest.mark.parametrize("name", instruction_sets())
@pytest.mark.parametrize("use", ["always", "never"])
def test_relatives_above_floors_are_aligned_as_the_reference_does(name, use):
    rng = np.random.default_rng(3)
    for letters, scoring in (
        (RESIDUES, protein_scoring()),
        (BASES, make_scoring(DNA, "local", 5, 2, match_matrix(DNA, 2, -3))),
    ):
        problem = Problem(tuple(relatives(rng, letters, 240, 5, 0.03)), None, scoring)
        options = {"instruction_set": name, "long_pairs": "never", "own_rows": use}
        found = run(open_cpu, problem, floors="always", **options)
        assert found.raw_score.max() > 255
        assert_as_reference(problem, found)


@pytest.mark.parametrize("length", [15, 16, 17, 31, 32, 33, 48, 100, 129, 300, 600])
def test_lengths_at_the_edges_of_blocks_and_tiles(length):
    """Sequences alike from end to end, whose scores rise as fast as they can."""
    rng = np.random.default_rng(length)
    sequences = [*relatives(rng, BASES, length, 3, 0.01), "A" * length, "A" * (length + 1)]
    for match in (5, 13, 16):  # the last two are more in a block than a byte holds
        scoring = make_scoring(DNA, "local", 11, 1, match_matrix(DNA, match, -4))
        assert_floors_agree(Problem(tuple(sequences), None, scoring), Want(Detail.CIGAR))


def test_of_equal_scores_above_floors_the_first_cell_wins():
    """The best score in many tiles, some of them of one column of tiles."""
    rng = np.random.default_rng(9)
    unit, gap = "".join(rng.choice(list(BASES), 150)), "".join(rng.choice(list(BASES), 37))
    rows = (unit + gap + unit + gap + unit, gap + unit + unit, unit[:75] + gap + unit + gap + unit)
    columns = (unit, gap + unit, unit + gap + unit, unit + unit)
    scoring = make_scoring(DNA, "local", 30, 4, match_matrix(DNA, 2, -4))
    problem = Problem(rows, columns, scoring)
    assert_floors_agree(problem, Want(Detail.CIGAR))
    assert_as_reference(problem, run(open_cpu, problem, floors="always", long_pairs="never"))


@pytest.mark.parametrize("detail", [Detail.SCORE, Detail.CIGAR])
def test_few_relatives_among_strangers(detail):
    """Pairs that overflow are few in their row: they are put together, also with a least score."""
    rng = np.random.default_rng(11)
    sequences = [sequence for _ in range(30) for sequence in relatives(rng, RESIDUES, 130, 3, 0.1)]
    problem = Problem(tuple(sequences), None, protein_scoring())
    for want in (Want(detail), Want(detail, 240)):
        expected = run(open_cpu, problem, want, lane_bits=32)
        assert expected.raw_score.max() > 255
        assert_same(run(open_cpu, problem, want), expected, detail)
        assert_same(run(open_cpu, problem, want, threads=3), expected, detail)
