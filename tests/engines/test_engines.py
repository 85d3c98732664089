"""Every engine returns what the reference does: score, spans, CIGAR and stats, ties included.

The engines come from the fixture `open_engine`; each goes through all of these tests.
"""

import numpy as np
import pytest
import reference
from cases import CASES
from checks import (
    assert_as_reference,
    assert_every_pair,
    assert_same,
    by_pair,
    columns_of,
    costs_of,
    found_alignment,
    run,
    windows_of,
)
from conftest import examples
from golden import load_golden
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    MODES,
    Problem,
    large_problems,
    make_scoring,
    match_matrix,
    random_sequences,
    small_problems,
)

from pairalign.errors import ScoringError
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA, PROTEIN


def test_small_sets(open_engine):
    @settings(max_examples=examples(900, open_engine))
    @given(problem=small_problems())
    def check(problem: Problem) -> None:
        found = run(open_engine, problem)
        assert_every_pair(problem, found)
        assert_as_reference(problem, found)

    check()


@pytest.mark.slow
def test_lanes_of_mixed_lengths(open_engine):
    @settings(max_examples=examples(300, open_engine))
    @given(problem=large_problems)
    def check(problem: Problem) -> None:
        found = run(open_engine, problem)
        assert_every_pair(problem, found)
        assert_as_reference(problem, found, at_most=150)

    check()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_hard_cases(open_engine, case, mode):
    for problem in CASES[case](mode):
        assert_as_reference(problem, run(open_engine, problem), at_most=examples(100))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("length", [1, 2, 15, 16, 17, 63, 64, 65, 200])
def test_equal_sequences(open_engine, mode, length):
    sequence = random_sequences(np.random.default_rng(length), "ARNDC", 1, length, "equal")[0]
    scoring = make_scoring(PROTEIN, mode, 11, 1, match_matrix(PROTEIN, 5, -4))
    problem = Problem((sequence,) * 35, None, scoring)
    found = run(open_engine, problem)
    assert_as_reference(problem, found, at_most=5)
    assert (found.raw_score == 5 * length).all()
    assert (found.cigar == (length << 4 | 7)).all()
    assert len(found.cigar) == len(found)


@pytest.mark.parametrize("row", load_golden(), ids=lambda row: row.id)
def test_scores_that_other_programs_printed(open_engine, row):
    """And the reference reaches the same with the same matrix, so it is right about the costs."""
    sequences = row.sequences()
    scoring = row.scoring()
    engine = open_engine([sequences], scoring)
    (window,) = windows_of(2, None, 2)
    found = engine.align(window, Want(Detail.CIGAR))
    costs = costs_of(scoring)
    expected = reference.align(sequences.codes_of(0), sequences.codes_of(1), costs)
    assert expected.score == row.raw_score()
    assert found_alignment(found, 0) == expected


@settings(max_examples=examples(40))
@given(problem=large_problems, wanted=st.sampled_from([Detail.SCORE, Detail.STATS]))
def test_less_detail_is_the_same(open_engine, problem, wanted):
    """SCORE and STATS hold the same numbers as CIGAR, and nothing that was not asked for."""
    everything = run(open_engine, problem)
    found = run(open_engine, problem, Want(wanted))
    assert_same(found, everything, wanted)
    assert found.cigar is None
    assert found.cigar_offsets is None
    if wanted == Detail.SCORE:
        assert found.matches is None
        assert found.query_start is None


@settings(max_examples=examples(40))
@given(
    problem=large_problems,
    quantile=st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0, 2.0]),
    detail=st.sampled_from(list(Detail)),
)
def test_minimum_score(open_engine, problem, quantile, detail):
    """Pairs below it drop out, the others stay as they are and in their order."""
    everything = run(open_engine, problem)
    scores = np.sort(everything.raw_score)
    least = int(scores[-1]) + 1 if quantile > 1 else int(scores[int(quantile * (len(scores) - 1))])
    found = run(open_engine, problem, Want(detail, min_raw_score=least))
    pair_mask = everything.raw_score >= least
    assert len(found) == pair_mask.sum()
    for name, column in columns_of(everything, detail).items():
        if not name.startswith("cigar"):
            assert np.array_equal(getattr(found, name), column[pair_mask]), name
    if detail == Detail.CIGAR:
        alone = by_pair(everything)
        assert by_pair(found) == {pair: alone[pair] for pair in by_pair(found)}


@settings(max_examples=examples(15))
@given(problem=large_problems, window=st.sampled_from([1, 7, 16, 80, 1024]))
def test_windows_do_not_matter(open_engine, problem, window):
    """However the pair matrix is cut, every pair is aligned the same."""
    if window == 1 and len(problem.first) > 20:
        window = 3
    found = run(open_engine, problem, window=window)
    assert_every_pair(problem, found)
    assert by_pair(found) == by_pair(run(open_engine, problem))


@settings(max_examples=examples(30))
@given(problem=large_problems)
def test_the_rest_of_the_set_does_not_matter(open_engine, problem):
    """A pair is aligned alone as it is among others."""
    found = run(open_engine, problem)
    everything = by_pair(found)
    second = problem.first if problem.second is None else problem.second
    for (i, j), alignment in list(everything.items())[:: max(1, len(everything) // 5)]:
        if problem.second is None:
            alone = Problem((problem.first[i], second[j]), None, problem.scoring)
            assert by_pair(run(open_engine, alone)) == {(0, 1): alignment}
        else:
            alone = Problem((problem.first[i],), (second[j],), problem.scoring)
            assert by_pair(run(open_engine, alone)) == {(0, 0): alignment}


@settings(max_examples=examples(30))
@given(problem=large_problems)
def test_one_set_and_two_agree(open_engine, problem):
    """The pairs i < j of a set against itself are those of the set alone."""
    alone = by_pair(run(open_engine, Problem(problem.first, None, problem.scoring)))
    both = by_pair(run(open_engine, Problem(problem.first, problem.first, problem.scoring)))
    assert {pair: both[pair] for pair in alone} == alone


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("extend", [0, 1000, 10**7, 10**8])
@pytest.mark.parametrize("size", [10**6, 10**8, 3 * 10**8, 10**9])
def test_absurd_scores_are_right_or_refused(open_engine, mode, extend, size):
    """Around 2^30 and 2^31 an engine may give up, but not give a wrong score."""
    sequences = ("A" * 9, "A" * 8 + "C", "ACCA", "C" * 40)
    for match, mismatch, gap_open in ((size, -1, 5), (1, -size, 5), (1, -1, size)):
        matrix = match_matrix(DNA, match, mismatch)
        scoring = make_scoring(DNA, mode, max(gap_open, extend), extend, matrix)
        problem = Problem(sequences, None, scoring)
        try:
            found = run(open_engine, problem)
        except ScoringError:
            continue
        assert_as_reference(problem, found)


def test_a_single_sequence_has_no_pairs(open_engine):
    scoring = make_scoring(DNA, "global", 5, 2, match_matrix(DNA, 2, -3))
    for want in Detail:
        assert len(run(open_engine, Problem(("ACGT",), None, scoring), Want(want))) == 0
