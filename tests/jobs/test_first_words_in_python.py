"""What a person types first in Python."""

import numpy as np
import pytest

import pairalign

GIVEN = {"a": "MKVLAAGIVGLLLAQWERTYH", "b": "MKVLAAGIVGLLLAQWERTYA", "c": "PPPPGGGGTTTTSSSSAAAA"}
BASES = ["ACGTAC", "ACGTAA", "TTTTTT"]


@pytest.mark.parametrize("limit", [{"max_edits": 3}, {"max_drop": 9}])
def test_a_limit_makes_distances_sparse(limit):
    found = pairalign.distance(BASES, **limit, device="cpu")
    asked = pairalign.distance(BASES, **limit, sparse=True, device="cpu")
    assert isinstance(found, pairalign.SparseDistances)
    assert np.array_equal(found.values, asked.values)
    assert len(found.values) == 1
    for wrong in ({"sparse": False, **limit}, {"sparse": True}):
        with pytest.raises(pairalign.errors.UsageError, match="one limit"):
            pairalign.distance(BASES, **wrong)


def test_receptors_within_a_limit():
    found = pairalign.distance(["CASSLGTDTQYF", "CASSLGTDTQYF"], max_tcrdist=90, device="cpu")
    assert found.values.tolist() == [0]


def test_tables_of_pandas():
    pandas = pytest.importorskip("pandas")
    matrix = pairalign.distance(GIVEN, device="cpu")
    frame = matrix.to_pandas()
    assert frame.index.tolist() == frame.columns.tolist() == list(GIVEN)
    assert np.array_equal(frame.to_numpy(), matrix.square())
    parts = pairalign.split(GIVEN, min_identity=0.5, folds=2, tolerance=0.9, device="cpu")
    frame = parts.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["name"].tolist() == list(GIVEN)
    assert [frame.loc[k, "fold"] for k in (0, 1, 2)] == [
        parts.fold_names[fold] for fold in parts.folds
    ]


def test_a_pair_has_the_costs_that_all_pairs_have():
    costs = {"matrix": "PAM250", "gap_open": 5, "gap_extend": 2}
    alone = pairalign.align_pair(GIVEN["a"], GIVEN["c"], **costs, device="cpu")
    among = pairalign.align(GIVEN, **costs, device="cpu")["a", "c"]
    assert (alone.score, alone.cigar) == (among.score, among.cigar)
    assert alone.score != pairalign.align_pair(GIVEN["a"], GIVEN["c"], device="cpu").score
    ends = {"match": 1, "mismatch": -1, "gap_open": 2, "free_ends": "query-start"}
    assert pairalign.align_pair("ACGT", "CGT", **ends, end_gap_open=1).score == 3
    with pytest.raises(TypeError, match=r"align_pair\(\) got an unexpected .* 'min_score'"):
        pairalign.align_pair("ACGT", "CGT", min_score=3)
