"""Matrices that are Python objects score as the files that they are."""

import numpy as np
import pytest
from Bio.Align import substitution_matrices

import pairalign
from pairalign.errors import ScoringError

TWENTY = "ARNDCQEGHILKMFPSTWYV"
BLOSUM = substitution_matrices.load("BLOSUM62")
PAIRS = {(a, b): BLOSUM[a, b] for a in BLOSUM.alphabet for b in BLOSUM.alphabet}
LETTERS = ["MKVLAAGGWTRE", "MKVLAGGWTE", "WWPHCMKVL"]

GIVEN = {
    "Biopython": BLOSUM,
    "pairs": PAIRS,
    "one side": {(a, b): score for (a, b), score in PAIRS.items() if a <= b},
    "texts": {a + b: score for (a, b), score in PAIRS.items()},
    "rows": {a: {b: PAIRS[a, b] for b in BLOSUM.alphabet} for a in BLOSUM.alphabet},
    "lower case": {(a.lower(), b.lower()): score for (a, b), score in PAIRS.items()},
    "array": (np.array(BLOSUM), BLOSUM.alphabet),
    "lists": (np.array(BLOSUM).tolist(), BLOSUM.alphabet),
}


@pytest.mark.parametrize("name", GIVEN)
def test_it_is_the_matrix_of_that_name(name):
    expected = pairalign.make_scoring("protein", matrix="BLOSUM62")
    found = pairalign.make_scoring("protein", matrix=GIVEN[name])
    assert found == expected
    assert found.matrix_name == "BLOSUM62"  # E-values are those that are published


@pytest.mark.parametrize("name", GIVEN)
def test_functions_take_it_as_scoring(name):
    given, named = GIVEN[name], "BLOSUM62"
    assert (pairalign.align(LETTERS, scoring=given).score == pairalign.align(LETTERS).score).all()
    for function in (pairalign.distance, pairalign.tree):
        function(LETTERS, scoring=given)
    pairalign.cluster(LETTERS, scoring=given, min_identity=0.9)
    pairalign.split(LETTERS, scoring=given, min_identity=0.9, folds=2)
    block = next(pairalign.stream(LETTERS, scoring=given))
    assert block.scoring == pairalign.align(LETTERS, scoring=named).scoring


def test_arrays_without_residues():
    square = np.array([[PAIRS[a, b] for b in TWENTY] for a in TWENTY])
    found = pairalign.align(LETTERS, scoring=square)
    assert found.score.tolist() == pairalign.align(LETTERS).score.tolist()
    bases = np.where(np.eye(4, dtype=bool), 2, -3)
    found = pairalign.overlap(["ACGTTGCA" * 8, "TTGCAACG" * 8], scoring=bases, preset="short")
    assert found.alignments.scoring.matrix_name == "given"
    whole = np.array([[1.5 if i == j else -0.5 for j in range(15)] for i in range(15)])
    assert pairalign.make_scoring("dna", matrix=whole).scale == 10


def changed(key: object, value: object) -> dict:
    return {**PAIRS, key: value}


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (changed(("A", "R"), 3), "not symmetric: 'A' against 'R' is 3"),
        (np.arange(400).reshape(20, 20), "not symmetric"),
        ((np.arange(4).reshape(2, 2), "AR"), "not symmetric"),
        (changed(("A", "R"), "x"), "'A' against 'R': 'x' is not a number"),
        (changed(("A", "R"), float("nan")), "not a finite number"),
        (changed(("A", "?7"), 1), "found '\\?7' where a single residue"),
        (changed("ARN", 1), "the key 'ARN', expected two residues"),
        (changed(7, 1), "the key 7, expected two residues"),
        (changed(("a", "a"), 9), "'A' against 'A' has two scores"),
        ({pair: 1 for pair in PAIRS if pair != ("A", "A")}, "no score for 'A' against 'A'"),
        ({("A", "A"): 4}, "has no scores for 'R'"),
        ({}, "has no scores"),
        (np.zeros((24, 24)), r"shape \(24, 24\) without residues"),
        (np.zeros(3), r"shape \(3,\) without residues"),
        (np.array(4), "without residues"),
        ((np.zeros((2, 3)), "AR"), r"shape \(2, 3\), expected a square one of 2"),
        ((np.zeros((2, 2)), "AA"), "two columns for 'A'"),
        (substitution_matrices.load("SCHNEIDER"), "where a single residue was expected"),
        ((np.full((20, 20), "x"), TWENTY), "'x' is not a number"),
    ],
)
def test_what_is_refused(matrix, said):
    for call in (
        lambda: pairalign.make_scoring("protein", matrix=matrix),
        lambda: pairalign.align(LETTERS, scoring=matrix),
    ):
        with pytest.raises(ScoringError, match=said):
            call()


@pytest.mark.parametrize("matrix", [62, ["AR"], (1, 2, 3), {1, 2}])
def test_what_is_no_matrix(matrix):
    with pytest.raises(TypeError, match="matrix is of type"):
        pairalign.make_scoring("protein", matrix=matrix)  # type: ignore[arg-type]


def test_a_scoring_is_shown_in_one_line():
    assert repr(pairalign.make_scoring("protein")) == (
        "<Scoring: global, BLOSUM62, gap open 11, gap extend 1>"
    )
    assert "gap open 2.5," in repr(pairalign.make_scoring("dna", gap_open="2.5"))
