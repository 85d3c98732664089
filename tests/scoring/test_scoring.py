"""Scoring: bounds, gap costs, defaults, refused options, and what sequences may be scored."""

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from golden import load_golden
from hypothesis import given
from hypothesis import strategies as st
from scorings import codes, scorings
from strategies import MODES

from pairalign.errors import AlphabetError, ScoringError
from pairalign.scoring.scoring import SCORE_LIMIT, Scoring, make_scoring
from pairalign.sequences.alphabets import DNA, PROTEIN
from pairalign.sequences.sets import SequenceSet


@given(scorings(), st.integers(-(10**9), 10**9))
def test_format_score_is_exact(scoring, raw):
    text = scoring.format_score(raw)
    assert Fraction(text) * scoring.scale == raw
    assert text == "0" or not (text.endswith((".", "-0")) or ("." in text and text[-1] == "0"))


# Laws of bounds


def all_values(a: np.ndarray, b: np.ndarray, scoring: Scoring) -> tuple[list[int], list[int]]:
    """Every H, and every E and F that is not minus infinity, of two sequences: plain Gotoh."""
    nowhere = -(10**12)
    free = scoring.mode != "global"
    h = {(0, 0): 0}
    e: dict[tuple[int, int], int] = {}
    f: dict[tuple[int, int], int] = {}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if free and (i == 0 or j == 0):
                h[i, j] = 0
                continue
            if j > 0:
                extended = e.get((i, j - 1), nowhere) - scoring.gap_extend
                e[i, j] = max(extended, h[i, j - 1] - scoring.gap_open)
            if i > 0:
                extended = f.get((i - 1, j), nowhere) - scoring.gap_extend
                f[i, j] = max(extended, h[i - 1, j] - scoring.gap_open)
            if i or j:
                step = h[i - 1, j - 1] + int(scoring.matrix[a[i - 1], b[j - 1]]) if i and j else 0
                h[i, j] = max(
                    step if i and j else nowhere, e.get((i, j), nowhere), f.get((i, j), nowhere)
                )
            if scoring.mode == "local":
                h[i, j] = max(h[i, j], 0)
    return list(h.values()), [*e.values(), *f.values()]


@given(scorings(), st.text("ACN", min_size=1, max_size=7), st.text("AC", min_size=1, max_size=7))
def test_no_value_leaves_the_bounds(scoring, a, b):
    h, gaps = all_values(codes(a), codes(b), scoring)
    low, high = scoring.score_bounds(len(a), len(b))
    assert scoring.score_bounds(len(b), len(a)) == (low, high)
    assert low <= min(h)
    assert max(h) <= high
    assert all(low - scoring.gap_open <= value <= high for value in gaps)


@pytest.mark.parametrize("mode", MODES)
def test_no_value_leaves_the_bounds_where_nothing_matches(mode):
    """Where the low bound is close: all small costs and lengths, one after the other."""
    for gap_open, gap_extend, mismatch in product((0, 1, 5, 100), (0, 1, 5), (-1, -6, -200)):
        scoring = make_scoring(
            "dna",
            mode=mode,
            match=1,
            mismatch=mismatch,
            gap_open=max(gap_open, gap_extend),
            gap_extend=gap_extend,
        )
        for n, m in product(range(1, 5), repeat=2):
            h, gaps = all_values(codes("A" * n), codes("C" * m), scoring)
            low, _ = scoring.score_bounds(n, m)
            assert low <= min(h)
            assert low - scoring.gap_open <= min(gaps)


@pytest.mark.parametrize(
    ("mode", "mismatch", "expected"),
    [
        ("global", -1000, (-(5 + 2 * 2) - (5 + 8 * 2), 3)),  # both sequences in gaps
        ("global", -1, (-(5 + 8 * 2), 3)),  # at the border: all of the longer one in a gap
        ("semiglobal", -1000, (-(5 + 2 * 2), 3)),
        ("semiglobal", -1, (-3, 3)),
        ("local", -1, (0, 3)),
    ],
)
def test_bounds_by_hand(mode, mismatch, expected):
    scoring = make_scoring("dna", mode=mode, match=1, mismatch=mismatch, gap_open=5, gap_extend=2)
    assert scoring.score_bounds(3, 9) == expected


@given(scorings(), st.integers(1, 6), st.integers(1, 6))
def test_bounds_are_reached(scoring, n, m):
    """By equal letters the high one; by no match at all the low one, if nothing else is better."""
    high = max(all_values(codes("A" * n), codes("A" * m), scoring)[0])
    assert scoring.score_bounds(n, m)[1] == max(high, 0)
    low, _ = scoring.score_bounds(n, m)
    h, _ = all_values(codes("A" * n), codes("C" * m), scoring)
    if scoring.mode == "local" or scoring.gap_open == scoring.gap_extend == 0 or n == m == 1:
        assert low == min(h)


@given(scorings(), st.integers(1, 300), st.integers(1, 300), st.integers(0, 50), st.integers(0, 50))
def test_bounds_of_longer_sequences_hold_for_shorter_ones(scoring, n, m, dn, dm):
    low, high = scoring.score_bounds(n, m)
    wider_low, wider_high = scoring.score_bounds(n + dn, m + dm)
    assert wider_low <= low <= 0 <= high <= wider_high


# Gap costs and defaults


@pytest.mark.parametrize(
    ("alphabet", "costs", "expected"),
    [
        ("protein", {}, (11, 1)),
        ("dna", {}, (5, 2)),
        ("protein", {"gap_open": 20}, (20, 1)),
        ("dna", {"gap_open": 1}, (1, 1)),  # the default extension would exceed it
        ("dna", {"gap_open": 0}, (0, 0)),
        ("dna", {"gap_extend": 1}, (5, 1)),
        ("dna", {"gap_extend": 7}, (7, 7)),
        ("protein", {"gap_open": 0, "gap_extend": 0}, (0, 0)),
        ("protein", {"matrix": "PAM30"}, (11, 1)),
        ("dna", {"matrix": "EDNAFULL"}, (5, 2)),
        ("protein", {"match": 1, "mismatch": -1}, (11, 1)),
    ],
)
def test_default_gap_costs(alphabet, costs, expected):
    scoring = make_scoring(alphabet, **costs)
    assert (scoring.gap_open, scoring.gap_extend, scoring.scale) == (*expected, 1)


@pytest.mark.parametrize(
    ("gap_open", "gap_extend", "expected"),
    [
        (10, 0.5, (100, 5, 10)),
        ("10.00", "0.50", (100, 5, 10)),
        (Decimal("1e1"), Decimal("5e-1"), (100, 5, 10)),
        (0.1, 1e-6, (100000, 1, 10**6)),
        (np.float32(0.1), np.int8(0), (1, 0, 10)),
        (np.float64(2.5), 2, (25, 20, 10)),
    ],
)
def test_decimal_costs_are_scaled_exactly(gap_open, gap_extend, expected):
    scoring = make_scoring("dna", gap_open=gap_open, gap_extend=gap_extend)
    assert (scoring.gap_open, scoring.gap_extend, scoring.scale) == expected
    assert int(scoring.matrix[0, 0]) == 2 * scoring.scale
    assert int(scoring.matrix[0, 1]) == -3 * scoring.scale


def test_defaults():
    protein = make_scoring(PROTEIN)
    assert (protein.mode, protein.matrix_name, protein.scale) == ("global", "BLOSUM62", 1)
    assert (protein.max_score, protein.min_score) == (11, -4)
    dna = make_scoring(DNA)
    assert dna.matrix_name == "match 2, mismatch -3"
    assert (dna.max_score, dna.min_score) == (2, -3)
    assert make_scoring("dna", match=5).min_score == -3
    assert make_scoring("dna", mismatch="-0.5").format_score(-5) == "-0.5"
    assert [dna.gap_cost(k) for k in (0, 1, 2, 3)] == [0, 5, 7, 9]
    assert protein.stand_ins == {"U": "C", "O": "K", "J": "the better of I and L"}
    assert not protein.matrix.flags.writeable
    with pytest.raises(AttributeError):
        protein.gap_open = 3


def test_scorings_are_values():
    one = make_scoring("protein", gap_open=11)
    assert one == make_scoring("protein", matrix="EBLOSUM62")
    assert hash(one) == hash(make_scoring("protein"))
    others = [
        make_scoring("protein", gap_open=12),
        make_scoring("protein", mode="local"),
        make_scoring("protein", matrix="BLOSUM50"),
        make_scoring("dna"),
    ]
    assert one not in others
    assert one != "BLOSUM62"


@pytest.mark.parametrize(
    ("alphabet", "options", "message"),
    [
        ("dna", {"mode": "glocal"}, "mode 'glocal': expected global, semiglobal, local"),
        ("dna", {"gap_open": float("inf")}, "gap_open: inf is not a finite number"),
        ("dna", {"gap_open": True}, "gap_open: True is not a number"),
        ("dna", {"gap_extend": 0.1 + 0.2}, "0.30000000000000004 has more than 6 decimals"),
        ("dna", {"gap_open": 10**10}, "out of range"),
        ("dna", {"gap_open": 2000, "gap_extend": "0.000001"}, "do not fit 32 bits"),
        ("dna", {"match": -4, "mismatch": -3}, "match scores -4, less than a mismatch with -3"),
        ("dna", {"matrix": "BLOSUM62"}, "BLOSUM62 is for proteins, but the sequences are DNA"),
    ],
)
def test_refused_options(alphabet, options, message):
    with pytest.raises(ScoringError) as caught:
        make_scoring(alphabet, **options)
    assert message in str(caught.value)


# Scoring meets sequences


def test_letters_that_cannot_be_scored_are_named():
    sequences = SequenceSet.from_strings({"a": "MKV", "b": "MKxV"}, source="in.fa")
    make_scoring("protein").check_sets(sequences)
    with pytest.raises(AlphabetError) as caught:
        make_scoring("protein", matrix="GONNET1992").check_sets(sequences)
    assert "in.fa: record 2 'b': letter 'x' at position 3 has no score in GONNET1992" in str(
        caught.value
    )
    fine = SequenceSet.from_strings(["MKV"])
    make_scoring("protein", matrix="GONNET1992").check_sets(fine)
    with pytest.raises(AlphabetError, match="record 2 'b'"):
        make_scoring("protein", matrix="GONNET1992").check_sets(fine, sequences)
    with pytest.raises(AlphabetError, match="protein sequences, but the scoring is for dna"):
        make_scoring("dna").check_sets(sequences)


def test_scores_that_may_leave_32_bits_are_refused():
    scoring = make_scoring("dna", match=10**6, mismatch=-(10**6), gap_open=0, mode="local")
    short = SequenceSet.from_strings({"a": "A" * 1000, "b": "A"})
    long = SequenceSet.from_strings({"c": "A" * 2000})
    scoring.check_sets(short)
    scoring.check_sets(short, long)  # at most 1,000 letters match
    with pytest.raises(ScoringError, match="sequences of 2000 and 2000 residues"):
        scoring.check_sets(long)
    low, high = scoring.score_bounds(1073, 1073)
    assert (low, high < SCORE_LIMIT) == (0, True)
    costly = make_scoring("dna", gap_open=10**6, gap_extend=10**6)
    with pytest.raises(ScoringError, match="could score from -2000000000 to 1000; use"):
        costly.check_sets(
            SequenceSet.from_strings({"a": "A" * 2000}), SequenceSet.from_strings({"b": "A" * 500})
        )


def test_replaced_letters_in_one_sentence():
    blosum = make_scoring("protein")
    plain = SequenceSet.from_strings(["MKVXBZ*"])
    assert blosum.replaced_message(plain) is None
    rare = SequenceSet.from_strings(["MUUuJ", "MO"])
    assert blosum.replaced_message(plain, rare) == (
        "residues without a score of their own in BLOSUM62: "
        "U scored as C (3), O scored as K (1), J scored as the better of I and L (1)"
    )
    assert make_scoring("protein", matrix="BLASTP").replaced_message(rare) is None
    dna = SequenceSet.from_strings(["ACGTUEE", "XAe"], alphabet="dna")
    assert make_scoring("dna").replaced_message(dna, dna) == (
        "residues without a score of their own in match 2, mismatch -3: "
        "E read as N (6), X read as N (2)"
    )


# The golden scores


def test_golden_scores_are_ready_for_engines():
    rows = load_golden()
    assert len(rows) == 94
    assert len({row.id for row in rows}) == 94
    assert {row.mode for row in rows} == {"semiglobal", "local"}
    for row in rows:
        scoring, sequences = row.scoring(), row.sequences()
        scoring.check_sets(sequences)
        low, high = scoring.score_bounds(len(row.query), len(row.target))
        assert low <= row.raw_score() <= high
        assert Decimal(scoring.format_score(row.raw_score())) == row.score
