"""What sequences score with themselves is what aligning them gives, or is said not to be known."""

from typing import Any

import numpy as np
import pytest

import pairalign
from pairalign.scoring.scoring import own_scores

SCORINGS: list[dict[str, Any]] = [
    {"mode": "global"},
    {"mode": "semiglobal"},
    {"mode": "local"},
    {"mode": "global", "gap_open": "2.5", "gap_extend": "0.5"},
    {"mode": "local", "gap_open": 1, "gap_extend": 0},
    {"mode": "global", "end_gap_open": 1, "end_gap_extend": 0},
    {"mode": "global", "free_ends": "query-start,target-start"},
]


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("alphabet", ["dna", "protein"])
def test_scores_are_those_of_alignments(alphabet, scoring):
    random = np.random.default_rng(4)
    residues = list("ACGTNN" if alphabet == "dna" else "ARNDCQEGHILKMFPSTWYVXXBZ")
    texts = ["".join(random.choice(residues, n)) + "A" for n in (0, 1, 5, 20, 40)]
    texts += ["NNNACGTNNACGT", "NN"] if alphabet == "dna" else ["XXXWWXXXXXXW", "XXA"]
    texts += ["ACGTACGT"] if alphabet == "dna" else ["MKTAYIAKQR"]
    made = pairalign.make_scoring(alphabet, **scoring)
    sequences = pairalign.SequenceSet.from_strings(texts, alphabet=alphabet)
    found = own_scores(sequences, made)
    known = ~np.isnan(found)
    assert known[-1]  # of residues that score something with themselves
    exact = made.mode in ("global", "local") and made.gap_extend * 2 >= 3 * made.scale
    assert known.all() or not exact
    for text, score in zip(np.array(texts)[known], found[known], strict=True):
        assert pairalign.align_pair(text, text, scoring=made, device="cpu").score == score


def test_residues_that_are_more_like_others_are_not_known():
    """A matrix by which shifted copies score more than the sequence as it is."""
    matrix = np.full((4, 4), -4)
    np.fill_diagonal(matrix, (1, 1, 2, 2))
    matrix[0, 1] = matrix[1, 0] = 9
    made = pairalign.make_scoring("dna", matrix=matrix, gap_open=1, gap_extend=1)
    sequences = pairalign.SequenceSet.from_strings(["ACACAC", "GGTT"], alphabet="dna")
    found = own_scores(sequences, made)
    assert np.isnan(found[0])
    assert found[1] == 8
    assert pairalign.align_pair("ACACAC", "ACACAC", scoring=made, device="cpu").score > 6
