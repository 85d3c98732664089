"""Problems that are hard on purpose: ties, homopolymers, lengths and scores at the limits.

Each function yields problems of one mode; `CASES` names them all. test_engines.py compares them
with the reference, test_engine_cpu.py runs them on every instruction set.
"""

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from strategies import Problem, make_scoring, match_matrix, random_matrix, random_sequences

from pairalign.sequences.alphabets import DNA, PROTEIN

LIMITS = (127, 255, 32767, 65535)
"""Where numbers of 8 and 16 bits end."""


def ties(mode: str) -> Iterator[Problem]:
    """Every sequence of at most three letters from an alphabet of two, against every other."""
    sequences = tuple("".join(s) for n in (1, 2, 3) for s in product("AC", repeat=n))
    costs = [(0, 0), (1, 0), (1, 1), (2, 1), (5, 2), (30, 30)]
    scores = [(1, -1), (0, 0), (2, -3), (1, 1), (0, -1)]
    for (gap_open, gap_extend), (match, mismatch) in product(costs, scores):
        matrix = match_matrix(DNA, match, mismatch)
        yield Problem(sequences, None, make_scoring(DNA, mode, gap_open, gap_extend, matrix))


def homopolymers(mode: str) -> Iterator[Problem]:
    """Runs of one letter: wherever the gap goes, the score is the same."""
    lengths = (1, 1, 2, 3, 7, 16, 31, 32, 33, 64, 65, 100)
    sequences = (*("A" * n for n in lengths), "C", "C" * 40)
    for gap_open, gap_extend in ((0, 0), (3, 0), (3, 3), (3, 1)):
        scoring = make_scoring(DNA, mode, gap_open, gap_extend, match_matrix(DNA, 1, -1))
        yield Problem(sequences, None, scoring)


def no_match_at_all(mode: str) -> Iterator[Problem]:
    """Nothing scores above 0, not even a letter against itself."""
    sequences = (*("A" * n for n in (1, 3, 20)), *("C" * n for n in (1, 4, 20, 33)))
    yield Problem(sequences, None, make_scoring(DNA, mode, 5, 2, match_matrix(DNA, -1, -3)))
    yield Problem(sequences, None, make_scoring(DNA, mode, 2, 0, match_matrix(DNA, 0, 0)))


def everything_matches(mode: str) -> Iterator[Problem]:
    """All scores are positive, and gaps cost nothing or more than anything is worth."""
    rng = np.random.default_rng(5)
    sequences = tuple(random_sequences(rng, "ARNDC", 20, 40, "mixed"))
    for gap_open, gap_extend in ((0, 0), (7, 0), (900, 900), (32767, 0), (32768, 1), (70000, 9)):
        matrix = random_matrix(rng, 1, 9)
        yield Problem(sequences, None, make_scoring(PROTEIN, mode, gap_open, gap_extend, matrix))


def dear_gaps(mode: str) -> Iterator[Problem]:
    """Costs whose sums are more than lanes hold, of 8 bits for one."""
    rng = np.random.default_rng(6)
    sequences = tuple(random_sequences(rng, "ACGT", 20, 40, "mixed"))
    for gap_open, gap_extend in ((100, 100), (122, 122), (120, 64), (86, 85), (200, 40)):
        scoring = make_scoring(DNA, mode, gap_open, gap_extend, match_matrix(DNA, 2, -3))
        yield Problem(sequences, None, scoring)


def very_long_against_very_short(mode: str) -> Iterator[Problem]:
    """Lengths that differ a thousand times, in one set and in two."""
    rng = np.random.default_rng(3)
    long = random_sequences(rng, "ACGT", 2, 3000, "near")
    short = random_sequences(rng, "ACGT", 5, 3, "mixed")
    for gap_open, gap_extend in ((0, 0), (4, 0), (11, 1), (300, 300)):
        scoring = make_scoring(DNA, mode, gap_open, gap_extend, match_matrix(DNA, 5, -4))
        yield Problem((short[0], *long[:1], *short[1:4]), None, scoring)
        yield Problem((long[0], short[0]), (short[1], long[1], short[2]), scoring)


def positions_beyond_16_bits(mode: str) -> Iterator[Problem]:
    """Low scores at places that 16 bits cannot count, signed or not."""
    long = ("T" * 40, "A" * 33000 + "CG" + "A" * 20, "A" * 66000 + "GC", "T" * 70000)
    for gap_open, gap_extend in ((0, 0), (2, 0), (3, 1)):
        scoring = make_scoring(DNA, mode, gap_open, gap_extend, match_matrix(DNA, 2, -3))
        yield Problem(long, ("C", "CG", "GCT", "CCCGC"), scoring)


def with_score(score: int) -> str:
    """A sequence that scores so much against itself: A scores 1000, C 100, G 10 and T 1."""
    counts = (score // 1000, score // 100 % 10, score // 10 % 10, score % 10)
    return "".join(letter * count for letter, count in zip("ACGT", counts, strict=True))


def best_scores_around_a_limit(mode: str) -> Iterator[Problem]:
    """Best scores of limit - 12 to limit + 12, next to each other in the same vectors."""
    for limit, mismatch in product(LIMITS, (-1, -1000, -32000)):
        sequences = tuple(with_score(limit + k) for k in range(-12, 13))
        matrix = match_matrix(DNA, 0, mismatch)
        matrix[range(4), range(4)] = (1000, 100, 10, 1)
        for gap_open, gap_extend in ((1200, 3), (0, 0)):
            scoring = make_scoring(DNA, mode, gap_open, gap_extend, matrix)
            yield Problem(sequences, sequences, scoring)


def worst_scores_around_a_limit(mode: str) -> Iterator[Problem]:
    """Gaps and mismatches whose scores pass -limit, and gap costs near the limit itself."""
    for limit, extend in product(LIMITS, (0, 1, 7)):
        rng = np.random.default_rng(limit)
        sequences = random_sequences(rng, "ACGT", 12, 30, "mixed")
        for k in (-9, -2, -1, 0, 1, 2, 9):
            matrix = match_matrix(DNA, 3, -((limit + k) // 15))
            for gap_open in (limit + k, (limit + k) // 2, limit + k - 29 * extend):
                scoring = make_scoring(DNA, mode, max(gap_open, extend), extend, matrix)
                yield Problem(tuple(sequences[:4]), tuple(sequences[4:]), scoring)


def just_fits_or_not(mode: str) -> Iterator[Problem]:
    """Score bounds that are reached exactly and pass the range of 16 bits one by one."""
    sequences = ("A" * 60, "A" * 60, "A" * 59 + "C", "C" * 58 + "AA", "C" * 60)
    for gap_open in range(0, 150):
        extend, mismatch = min(gap_open, gap_open % 3), -(1 + gap_open % 7)
        for match in (542, 1090) if gap_open % 10 == 0 else (1090,):
            matrix = match_matrix(DNA, match, mismatch)
            yield Problem(sequences, None, make_scoring(DNA, mode, gap_open, extend, matrix))


def large_steps(mode: str) -> Iterator[Problem]:
    """Single letters and gaps worth as much as whole ranges of numbers."""
    sequences = ("A", "AC", "CAAC", "CCCC", "AAAA", "CA", "C")
    for size in (7999, 8000, 8001, 15999, 16001, 16383, 16384, 32767, 32768, 65535, 65536):
        for match, mismatch, gap_open, extend in (
            (size, -1, 1, 1),
            (1, -size, 1, 0),
            (1, -1, size, 1),
            (size, -size, size, 0),
            (size, -size, size, size),
            (0, -size, size, size // 2),
        ):
            matrix = match_matrix(DNA, match, mismatch)
            yield Problem(sequences, None, make_scoring(DNA, mode, gap_open, extend, matrix))


def scores_that_need_32_bits(mode: str) -> Iterator[Problem]:
    """With short sequences beside them that do not."""
    rng = np.random.default_rng(7)
    sequences = tuple(random_sequences(rng, "ARNDC", 30, 90, "mixed"))
    for size in (400, 5000, 300_000, 5_000_000):
        matrix = random_matrix(rng, -size, size)
        yield Problem(sequences, None, make_scoring(PROTEIN, mode, 2 * size, size // 9, matrix))


def a_thousand_residues(mode: str) -> Iterator[Problem]:
    """Related and unrelated DNA."""
    rng = np.random.default_rng(11)
    sequences = [
        *random_sequences(rng, "ACGT", 5, 1100, "near"),
        *random_sequences(rng, "ACGT", 2, 1700, "mixed"),
    ]
    yield Problem(tuple(sequences), None, make_scoring(DNA, mode, 5, 2, match_matrix(DNA, 2, -3)))


CASES: dict[str, Callable[[str], Iterator[Problem]]] = {
    case.__name__: case
    for case in (
        ties,
        homopolymers,
        no_match_at_all,
        everything_matches,
        dear_gaps,
        very_long_against_very_short,
        positions_beyond_16_bits,
        best_scores_around_a_limit,
        worst_scores_around_a_limit,
        just_fits_or_not,
        large_steps,
        scores_that_need_32_bits,
        a_thousand_residues,
    )
}
