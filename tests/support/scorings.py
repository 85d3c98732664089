"""Scorings that Hypothesis draws, and letters as codes, for the tests of scoring."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from strategies import MODES

from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.alphabets import DNA, PROTEIN
from pairalign.sequences.sets import SequenceSet

NUMBERS = st.decimals(-50, 50, places=3, allow_nan=False, allow_infinity=False)


COSTS = st.decimals(0, 50, places=3, allow_nan=False, allow_infinity=False)


def code(letter: str, alphabet=PROTEIN) -> int:
    return alphabet.letters.index(letter)


def codes(letters: str, alphabet=DNA) -> np.ndarray:
    return SequenceSet.from_strings([letters], alphabet=alphabet).codes


def score(scoring: Scoring, a: str, b: str) -> int:
    return int(scoring.matrix[code(a, scoring.alphabet), code(b, scoring.alphabet)])


@st.composite
def scorings(draw: st.DrawFn) -> Scoring:
    gap_open, gap_extend = sorted(draw(st.tuples(COSTS, COSTS)), reverse=True)
    match, mismatch = draw(NUMBERS), -abs(draw(NUMBERS))
    assume(match >= mismatch)
    return make_scoring(
        "dna",
        mode=draw(st.sampled_from(MODES)),
        match=match,
        mismatch=mismatch,
        gap_open=gap_open,
        gap_extend=gap_extend,
    )
