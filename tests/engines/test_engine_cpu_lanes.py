"""Lanes of 8, 16 and 32 bits give the same alignments, also where scores pass what they hold."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from cases import CASES
from checks import assert_as_reference, assert_same, run
from conftest import examples, open_cpu
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    MODES,
    SEEDS,
    Problem,
    blosum_like,
    large_problems,
    make_scoring,
    match_matrix,
    proteins,
    random_matrix,
    small_problems,
    with_ends,
    with_vsearch_ties,
)

from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA

BITS = (8, 16, 32)


def assert_lanes_agree(problem: Problem, detail: Detail, names: tuple[str, ...]) -> None:
    """Every width on every instruction set against the widest lanes of the first."""
    expected = run(open_cpu, problem, Want(detail), instruction_set=names[0], lane_bits=32)
    for name in names:
        for bits in (0, *BITS):
            found = run(
                open_cpu,
                problem,
                Want(detail),
                instruction_set=name,
                lane_bits=bits,
                long_pairs="never",
                own_rows="never",
            )
            assert_same(found, expected, detail, (name, bits, problem))
        for use in ("always", "auto"):
            found = run(open_cpu, problem, Want(detail), instruction_set=name, own_rows=use)
            assert_same(found, expected, detail, (name, "own rows", use, problem))
        for use in ("always", "never") if problem.scoring.mode == "local" else ():
            options = {"own_rows": use, "floors": "always", "long_pairs": "never"}
            found = run(open_cpu, problem, Want(detail), instruction_set=name, **options)
            assert_same(found, expected, detail, (name, "floors", use, problem))


@settings(max_examples=examples(40))
@given(
    problem=st.one_of(small_problems(), large_problems, large_problems),
    detail=st.sampled_from(Detail),
)
def test_widths_agree(problem, detail):
    assert_lanes_agree(problem, detail, instruction_sets())


@pytest.mark.parametrize("case", CASES)
def test_widths_agree_on_hard_cases(case):
    for mode in MODES:
        for problem in CASES[case](mode):
            assert_lanes_agree(problem, Detail.CIGAR, instruction_sets()[:1])


@settings(max_examples=examples(40))
@given(
    problem=st.one_of(small_problems(), large_problems, large_problems),
    seed=SEEDS,
    ends=st.sampled_from([with_ends, with_vsearch_ties]),
    detail=st.sampled_from(Detail),
)
def test_widths_agree_on_end_gaps(problem, seed, ends, detail):
    assert_lanes_agree(ends(problem, seed), detail, instruction_sets())


@pytest.mark.parametrize("case", CASES)
def test_widths_agree_on_end_gaps_of_hard_cases(case):
    for seed, problem in enumerate(CASES[case]("global")):
        for ends in (with_ends, with_vsearch_ties):
            assert_lanes_agree(ends(problem, seed), Detail.CIGAR, instruction_sets()[:1])


@settings(max_examples=examples(20))
@given(problem=large_problems, seed=SEEDS, ends=st.sampled_from([with_ends, with_vsearch_ties]))
def test_end_gaps_in_narrow_lanes_are_those_of_the_reference(problem, seed, ends):
    problem = ends(problem, seed)
    for use in ("never", "always"):
        found = run(open_cpu, problem, lane_bits=8, long_pairs="never", own_rows=use)
        assert_as_reference(problem, found, at_most=40)


@pytest.mark.parametrize("name", instruction_sets())
def test_ties_of_vsearch_where_mismatches_cost_more_than_gaps(name):
    """Two gaps instead of a mismatch: which of them comes first depends on who is the query."""
    rng = np.random.default_rng(5)
    sequences = tuple(
        "".join(rng.choice(list("ACGT"), length)) for length in rng.integers(20, 60, 24)
    )
    matrix = match_matrix(DNA, 1, -11)
    scoring = make_scoring(DNA, "end-gaps", 7, 2, matrix, [(3, 1)] * 4)
    ends = replace(scoring.end_gaps, ties="vsearch")
    problem = Problem(sequences, None, replace(scoring, end_gaps=ends))
    options = {"instruction_set": name, "lane_bits": 8, "long_pairs": "never"}
    for use in ("never", "always"):
        assert_as_reference(problem, run(open_cpu, problem, own_rows=use, **options), at_most=100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_end_gaps_of_long_sequences(seed):
    """Paths that begin and end in tiles far from the corners, and sums beyond 16 bits."""
    one = proteins(1, 1100, seed=seed, shape="equal")[0]
    sequences = (one, one[300:900], one[:200], one[-150:], one[500:], *proteins(30, 700, seed=9))
    for gap_open, gap_extend in ((11, 1), (60, 40)):
        problem = Problem(sequences, None, blosum_like("global", gap_open, gap_extend))
        for ends in (with_ends, with_vsearch_ties):
            assert_lanes_agree(ends(problem, seed), Detail.CIGAR, instruction_sets())


@pytest.mark.parametrize("detail", [Detail.SCORE, Detail.CIGAR])
@pytest.mark.parametrize("mode", MODES)
def test_proteins_of_many_lengths(mode, detail):
    """More columns than any vector has lanes, paths over many tiles, alone and in two sets."""
    first, second = proteins(70, 150, seed=3), proteins(40, 90, seed=4)
    assert_lanes_agree(Problem(first, None, blosum_like(mode)), detail, instruction_sets())
    assert_lanes_agree(Problem(first[:30], second, blosum_like(mode)), detail, instruction_sets())


@pytest.mark.parametrize("longest", [543, 560, 1100])
@pytest.mark.parametrize("mode", MODES)
def test_long_sequences_have_larger_tiles(mode, longest):
    """Paths with long gaps leave windows of 32 and 64 columns; unrelated ones lie anywhere."""
    rng = np.random.default_rng(longest)
    one = "".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), longest))
    cut = one[:100] + one[180:400] + one[290:]
    sequences = (*proteins(5, longest, seed=8), one[:longest], cut[:longest], one[77:], one[::-1])
    scoring = blosum_like(mode)
    assert_lanes_agree(Problem(sequences, None, scoring), Detail.CIGAR, instruction_sets())


def scores_at(limit: int, highest: int) -> Iterator[str]:
    """Sequences that score limit - 2 to limit + 2 against themselves: A scores `highest`, C 1."""
    for score in range(limit - 2, limit + 3):
        yield "A" * (score // highest) + "C" * (score % highest)


@pytest.mark.parametrize(("number", "mode"), list(enumerate([*MODES, "end-gaps"])))
@pytest.mark.parametrize(
    ("limit", "highest"), [(127, 3), (128, 5), (255, 3), (256, 7), (32767, 45), (65535, 45)]
)
def test_scores_at_the_limits_of_lanes(limit, highest, number, mode):
    """On instruction sets in turns."""
    name = instruction_sets()[(number + highest) % len(instruction_sets())]
    sequences = tuple(scores_at(limit, highest))
    matrix = match_matrix(DNA, 0, -2)
    matrix[range(2), range(2)] = (highest, 1)
    for gap_open, gap_extend in ((9, 2), (3, 3)):
        ends = [(0, 0), (2, 1), (3, 2), (0, 0)] if mode == "end-gaps" else []
        problem = Problem(
            sequences, sequences, make_scoring(DNA, mode, gap_open, gap_extend, matrix, ends)
        )
        for detail in (Detail.SCORE, Detail.STATS, Detail.CIGAR):
            if detail == Detail.CIGAR or limit < 1000:
                assert_lanes_agree(problem, detail, (name,))
        found = run(open_cpu, problem, instruction_set=name, long_pairs="never")
        scores = {
            (int(q), int(t)): int(s)
            for q, t, s in zip(found.query, found.target, found.raw_score, strict=True)
        }
        for k in range(5):
            assert scores[k, k] == limit - 2 + k


@pytest.mark.parametrize(("gap_open", "gap_extend"), [(11, 1), (7, 2), (4, 4)])
@pytest.mark.parametrize("mode", ["global", "semiglobal", "end-gaps"])
def test_scores_that_rise_by_what_8_bits_hold_just_or_not(mode, gap_open, gap_extend):
    """Between few columns: from almost nothing to twice as much, in some lanes and tiers."""
    rng = np.random.default_rng(gap_open)
    matrix = match_matrix(DNA, 1, -4)
    matrix[0, 0] = 11
    ends = [(0, 0), (2, 1), (3, 1), (0, 0)] if mode == "end-gaps" else []
    scoring = make_scoring(DNA, mode, gap_open, gap_extend, matrix, ends)
    one = rng.choice(list("ACGT"), 150)
    sequences = []
    for share in np.linspace(0, 1, 40):
        residues = np.where(rng.random(len(one)) < share, "A", one)
        sequences.append("".join(residues[rng.integers(40) : rng.integers(90, 150)]))
    problem = Problem(tuple(sequences), None, scoring)
    for detail in (Detail.SCORE, Detail.CIGAR):
        assert_lanes_agree(problem, detail, instruction_sets())


@pytest.mark.parametrize(
    ("highest", "gap_open", "gap_extend"),
    [(55, 68, 4), (56, 68, 4), (54, 69, 4), (126, 1, 0), (127, 1, 0), (62, 64, 1), (47, 40, 40)],
)
@pytest.mark.parametrize("mode", ["global", "semiglobal"])
def test_costs_that_differences_of_8_bits_hold_just_or_not(mode, highest, gap_open, gap_extend):
    """Signed bytes: highest + open + extend <= 127, open - extend <= 64."""
    generator = np.random.default_rng(highest + gap_open)
    for worst in (-1, -2 * gap_open, -2 * gap_open - 1):
        matrix = random_matrix(generator, worst, highest)
        matrix[0, 0], matrix[0, 1], matrix[1, 0] = highest, worst, worst
        scoring = make_scoring(DNA, mode, gap_open, gap_extend, matrix)
        lengths = generator.integers(1, 90, 40)
        mixed = ("".join(generator.choice(list("ACGT"), length)) for length in lengths)
        problem = Problem((*mixed, "A" * 80, "C" * 75), None, scoring)
        assert_as_reference(problem, run(open_cpu, problem, lane_bits=8, long_pairs="never"))
        assert_lanes_agree(problem, Detail.CIGAR, instruction_sets())


@pytest.mark.parametrize("mode", MODES)
def test_scores_that_8_bits_hold_just_or_not_are_those_of_the_reference(mode):
    """Of 16 pairs a batch, some fit and some are aligned again."""
    sequences = ["A" * n for n in range(230, 256, 3)]
    scoring = make_scoring(DNA, mode, 2, 1, match_matrix(DNA, 1, -1))
    problem = Problem(tuple(sequences), ("A" * 256, "C" * 20 + "A" * 243), scoring)
    assert_as_reference(problem, run(open_cpu, problem, lane_bits=8, long_pairs="never"))


@pytest.mark.parametrize("name", instruction_sets())
def test_of_equal_local_scores_far_apart_the_first_column_and_row_win(name):
    """The best score in many tiles: above, below and beside the one that has the first cell."""
    first, second, gap = "ACCAGTTA", "GTGACACT", "C" * 23
    rows = (
        first + gap + second + gap + first,
        second + gap + gap + first + gap + second,
        gap + gap + first + second,
        first + gap + gap + gap + first,
    )
    columns = (second + first, "GG" + first + "GG" + second, first + "G" * 20 + second, second * 3)
    scoring = make_scoring(DNA, "local", 6, 3, match_matrix(DNA, 2, -4))
    problem = Problem(rows, columns, scoring)
    found = run(open_cpu, problem, instruction_set=name, lane_bits=8, long_pairs="never")
    assert_as_reference(problem, found)


@pytest.mark.parametrize("detail", [Detail.SCORE, Detail.CIGAR])
def test_pairs_that_were_not_wanted_stay_out(detail):
    """Masks, and scores that overflow, in one batch."""
    rng = np.random.default_rng(6)
    sequences = tuple(
        "".join(rng.choice(list("ACGT"), size=200 + k)) if k % 3 else "ACGT" * 60 + "A" * k
        for k in range(40)
    )
    scoring = make_scoring(DNA, "local", 5, 2, match_matrix(DNA, 2, -3))
    problem = Problem(sequences, None, scoring)
    expected = run(open_cpu, problem, Want(detail, 60), lane_bits=32)
    assert 0 < len(expected.query) < 40 * 39 // 2
    assert_same(run(open_cpu, problem, Want(detail, 60), lane_bits=8), expected, detail)
