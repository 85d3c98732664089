"""Confidence: how likely residues are right, by the mean of their posteriors."""

import math
from dataclasses import replace

import numpy as np
import pytest

import pairalign
from pairalign.alignments.calibration import WEIGHTS, calibrate, least_posteriors, placed
from pairalign.sequences.alphabets import ALPHABETS, DNA, PROTEIN


def defined(mean: float, alphabet: str, sequences: int) -> float:
    """The curve as it is defined, without steps."""
    a, b, c, d = WEIGHTS[alphabet]
    odds = a + b * math.log(mean) - c * math.log(1 - mean) - d / sequences
    return 1 / (1 + math.exp(-odds))


@pytest.mark.parametrize("sequences", [2, 3, 10, 100_000])
@pytest.mark.parametrize("alphabet", list(ALPHABETS))
def test_confidence_is_the_curve_and_rises(alphabet, sequences):
    means = np.linspace(0.01, 0.99, 301)
    found = calibrate(means, ALPHABETS[alphabet], sequences)
    assert found == pytest.approx([defined(x, alphabet, sequences) for x in means], abs=2e-3)
    ends = calibrate(np.array([0.0, *means, 1.0]), ALPHABETS[alphabet], sequences)
    assert (np.diff(ends) > 0).all()
    assert 0 < ends[0] < 0.02 < 0.97 < ends[-1] < 1
    more = calibrate(means, ALPHABETS[alphabet], sequences + 1)
    assert (more > found).all() or sequences > 1000


def test_what_is_compared_with_nothing_has_none():
    assert np.isnan(calibrate(np.array([np.nan, 0.5]), DNA, 3)).tolist() == [True, False]


@pytest.mark.parametrize("alphabet", [DNA, PROTEIN])
def test_marks_of_pairs_begin_where_confidence_rounds_up(alphabet):
    least = least_posteriors(alphabet)
    assert (np.diff(least.astype(int)) > 0).all()
    for mark, value in enumerate(least.tolist(), 1):
        below, at = calibrate(np.array([value - 1, value]) / 65535, alphabet, 2)
        assert below < (mark - 0.5) / 10 <= at


def test_what_has_more_elsewhere_counts_less():
    means, others = np.array([0.2, 0.2, 0.6, 0.0, np.nan]), np.array([0.8, 0.1, 0.0, 0.5, np.nan])
    assert placed(means, others) == pytest.approx([0.05, 0.2, 0.6, 0.0, np.nan], nan_ok=True)


@pytest.mark.parametrize(("rows", "most"), [(1, 0.1), (3, 0.45)])
def test_rows_that_are_shifted_are_not_trusted(rows, most):
    """Three of nine are right with each other: two in eight."""
    draw = np.random.default_rng(5)
    root = draw.choice(list("ACDEFGHIKLMNPQRSTVWY"), 80)
    texts = ["".join(np.where(draw.random(80) < 0.4, draw.permutation(root), root))
             for _ in range(9)]  # fmt: skip
    made = pairalign.msa(pairalign.SequenceSet.from_strings(texts))
    columns = made.columns.copy()
    columns[: made.sequences.offsets[rows]] += 3
    shifted = replace(made, columns=columns, width=made.width + 3)
    found = pairalign.msa(made.sequences, confidence_of=shifted)
    assert np.nanmean(made.confidence_of(0)) > 0.8
    assert np.nanmean(found.confidence_of(0)) < most
    assert np.nanmean(found.confidence_of(8)) > 0.5


FAMILY = ["MKVLAAGIVGHWERT", "MKVLSGIVGHWKRT", "MRVLAAGLVGHYERT", "MKILAGIVGHWDRT"]
GENES = ["ACGTTGCAACGGTTAACCGT", "ACGTTGCACGGTTAACCGT", "ACGATGCAACGCTTAACCGT"]


@pytest.mark.parametrize("strings", [FAMILY, GENES, FAMILY[:2], GENES[:2]])
def test_alignments_have_calibrated_confidence(strings):
    made = pairalign.msa(pairalign.SequenceSet.from_strings(strings))
    alphabet = made.sequences.alphabet.name
    facts = zip(made.support, made.against, made.compared, strict=True)
    means = [s / n * min(s / max(a, 1e-9), 1) if n else np.nan for s, a, n in facts]
    expected = [defined(min(x, 0.998), alphabet, len(strings)) for x in means]
    assert made.residue_confidence == pytest.approx(expected, abs=4e-3, nan_ok=True)
    for index in range(len(made)):
        own = slice(*made.sequences.offsets[index : index + 2])
        assert np.array_equal(made.confidence_of(index), made.residue_confidence[own], True)
    for column in range(made.width):
        own = made.columns == column
        weights = made.compared[own]
        if weights.any():
            mean = np.average(np.nan_to_num(made.residue_confidence[own]), weights=weights)
            assert made.column_confidence[column] == pytest.approx(mean)
        else:
            assert np.isnan(made.column_confidence[column])


@pytest.mark.parametrize("strings", [FAMILY[:2], GENES[:2]])
def test_marks_of_a_pair_and_of_its_multiple_alignment_agree(strings):
    """The models may differ, confidence is shown in one way: of residues that are surely right."""
    pair = pairalign.align(strings, objective="mea")[0]
    made = pairalign.msa(pairalign.SequenceSet.from_strings(strings))
    marks = ["0123456789*"[int(x * 10 + 0.5)] for x in made.column_confidence if x == x]
    shown = [mark for mark in pair.confidence if mark != "."]
    assert len(shown) == len(marks)
    apart = [
        abs("0123456789*".index(a) - "0123456789*".index(b))
        for a, b in zip(shown, marks, strict=True)
    ]
    assert max(apart) <= 2
