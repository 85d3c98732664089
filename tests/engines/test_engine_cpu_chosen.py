"""Pairs that are few in their row share vectors with pairs of other rows: the same alignments."""

from itertools import product

import numpy as np
import pytest
from checks import assert_same
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
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA


def genes(
    count: int, longest: int, seed: int, letters: str = "ACGT", changed: float = 0.15
) -> tuple[str, ...]:
    """Relatives of all lengths, cut at both ends."""
    generator = np.random.default_rng(seed)
    parent = generator.choice(list(letters), 2 * longest)
    made = []
    for _ in range(count):
        start, length = generator.integers(0, longest), generator.integers(1, longest)
        one = parent[start : start + length].copy()
        other = generator.random(len(one)) < changed
        one[other] = generator.choice(list(letters), int(other.sum()))
        made.append("".join(np.delete(one, generator.integers(0, len(one), len(one) // 20))))
    return tuple(one or "A" for one in made)


def dna(mode: str, mismatch: int = -3, transition: int | None = None) -> Scoring:
    matrix = match_matrix(DNA, 2, mismatch)
    if transition is not None:
        matrix[[0, 2, 1, 3], [2, 0, 3, 1]] = transition
    return make_scoring(DNA, mode, 5, 2, matrix)


def assert_chosen(
    problem: Problem,
    share: float,
    seed: int,
    want: Want,
    *,
    strand: int = 1,
    threads: tuple[int, ...] = (1,),
    **options: object,
) -> None:
    """Chosen pairs of a window, or all, in lanes of their own rows, against one by one."""
    sets = problem.sets()
    rows, columns = len(sets[0]), len(sets[-1])
    window = Window(0, 0, rows, 0, columns, len(sets) == 1, strand)
    mask = np.random.default_rng(seed).random(window.pairs) < share if share < 1 else None
    alone = open_cpu(sets, problem.scoring, own_rows="never", long_pairs="always")
    expected = alone.align(window, want, mask)
    alone.close()
    chosen = window.pairs if mask is None else mask.sum()
    assert len(expected) == chosen or want.min_raw_score is not None
    for name, number in product(instruction_sets(), threads):
        engine = open_cpu(sets, problem.scoring, instruction_set=name, threads=number, **options)
        found = engine.align(window, want, mask)
        engine.close()
        assert_same(found, expected, want.detail, (name, number, options, problem))


@settings(max_examples=examples(30))
@given(
    problem=st.one_of(small_problems(), large_problems),
    detail=st.sampled_from(Detail),
    share=st.sampled_from([0.02, 0.2, 0.7, 1]),
    seed=SEEDS,
    use=st.sampled_from(["always", "auto"]),
)
def test_chosen_pairs(problem, detail, share, seed, use):
    """With few long pairs in `auto`: then all rows of few pairs are put together."""
    assert_chosen(problem, share, seed, Want(detail), own_rows=use, long_pairs="never")


@settings(max_examples=examples(30))
@given(
    problem=st.one_of(small_problems(), large_problems),
    ends=st.sampled_from([with_ends, with_vsearch_ties]),
    detail=st.sampled_from(Detail),
    share=st.sampled_from([0.02, 0.2, 0.7]),
    seed=SEEDS,
)
def test_chosen_pairs_with_end_gaps(problem, ends, detail, share, seed):
    """Lanes end in rows of their own, and each has a query of its own."""
    problem = ends(problem, seed)
    assert_chosen(problem, share, seed, Want(detail), own_rows="always", long_pairs="never")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("letters", "mismatch", "transition"),
    [("ACGT", -3, None), ("ACGTN", -3, None), ("ACGT", -3, -1), ("ACGTRN", -3, -1)],
)
def test_genes(letters, mismatch, transition, mode):
    """Classes of letters: with others, and with transitions, which not all sets' letters allow."""
    first, second = genes(90, 150, 1, letters), genes(40, 210, 2, letters)
    scoring = dna(mode, mismatch, transition)
    for detail in (Detail.SCORE, Detail.CIGAR):
        assert_chosen(Problem(first, None, scoring), 0.2, 3, Want(detail), threads=(2,))
        for strand in (1, -1):
            problem = Problem(first, second, scoring)
            assert_chosen(problem, 0.1, 4, Want(detail), strand=strand, own_rows="always")


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("changed", [0.02, 0.15, 0.5])
def test_rows_with_few_columns(changed, mode):
    """Near the diagonal, at a set's end, beside longer columns; local scores may overflow."""
    first, second = genes(150, 330, 15, changed=changed), genes(70, 290, 16, changed=changed)
    for problem in (Problem(first, None, dna(mode)), Problem(first[:100], second, dna(mode))):
        for want in (Want(Detail.SCORE), Want(Detail.CIGAR), Want(Detail.CIGAR, 150)):
            assert_chosen(problem, 1, 0, want, threads=(3,), long_pairs="never")


@pytest.mark.parametrize("mode", MODES)
def test_of_these_few_pass(mode):
    """Pairs whose scores reach a minimum are found, and traced, in lanes of their own rows."""
    for problem in (
        Problem(genes(80, 120, 5), None, dna(mode)),
        Problem(proteins(80, 150, seed=6), None, blosum_like(mode)),
    ):
        for minimum in (20, 60, 10**6):
            assert_chosen(problem, 0.5, 7, Want(Detail.CIGAR, minimum), long_pairs="never")


@pytest.mark.parametrize("ambiguous", ["", "X"])
@pytest.mark.parametrize("mode", MODES)
def test_a_few_rows_share_lanes(mode, ambiguous):
    """Proteins near the diagonal and at a set's end, some alike, with residues that equal none."""
    family = genes(25, 160, 17, "ACDEFGHIKLMNPQRSTVWY" + ambiguous, 0.3)
    first, second = (*proteins(50, 150, seed=18), *family), (*proteins(30, 130, seed=19), *family)
    scoring = blosum_like(mode)
    for problem in (Problem(first, None, scoring), Problem(first, second, scoring)):
        for want in (Want(Detail.SCORE), Want(Detail.CIGAR), Want(Detail.CIGAR, 40)):
            assert_chosen(problem, 1, 0, want, threads=(2,), long_pairs="never")
            assert_chosen(problem, 0.5, 20, want, long_pairs="never")
    if mode == "local":
        options = {"long_pairs": "never", "floors": "always"}
        assert_chosen(Problem(first, None, scoring), 1, 0, Want(Detail.CIGAR), **options)


def test_single_letters():
    sequences = ("A", "C", "A", "N", "ACGTACGT", "A" * 40, "G")
    for mode in MODES:
        for detail in Detail:
            problem = Problem(sequences, sequences[::-1], dna(mode))
            assert_chosen(problem, 0.8, 8, Want(detail), own_rows="always")


@pytest.mark.parametrize("mode", MODES)
def test_scores_that_classes_cannot_say(mode):
    """Each pair of letters has its own score, and ambiguous ones have theirs."""
    matrix = random_matrix(np.random.default_rng(9), -4, 5)
    scoring = make_scoring(DNA, mode, 6, 1, matrix)
    problem = Problem(genes(70, 200, 10, "ACGTRYN"), None, scoring)
    assert_chosen(problem, 0.3, 11, Want(Detail.CIGAR), long_pairs="never")


@pytest.mark.parametrize("mode", MODES)
def test_tiles_of_more_rows(mode):
    """Long columns have larger tiles, and windows of more columns than are turned at a time."""
    for problem in (
        Problem(genes(12, 1500, 12), None, dna(mode)),
        Problem(proteins(10, 1400, seed=13), None, blosum_like(mode)),
    ):
        assert_chosen(problem, 0.5, 14, Want(Detail.CIGAR), own_rows="always")
