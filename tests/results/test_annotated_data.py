"""Distances as AnnData."""

import sys

import numpy as np
import pytest

import pairalign
from pairalign.errors import MissingPackageError

CDR3S = {"a": "CASSLGQAYEQYF", "b": "CASSLGGQAYEQYF", "c": "CASSPGQAYEQYF", "d": "CAWWWWWWWF"}


def test_one_set_is_observations():
    pytest.importorskip("anndata")
    matrix = pairalign.distance(CDR3S, measure="tcrdist")
    found = matrix.to_anndata()
    assert list(found.obs_names) == list(CDR3S)
    assert np.array_equal(found.obsp["distances"], matrix.square())
    assert dict(found.uns["pairalign"]) == {"measure": "tcrdist"}


def test_pairs_within_a_limit_are_sparse():
    pytest.importorskip("anndata")
    near = pairalign.distance(CDR3S, max_tcrdist=23, sparse=True)
    found = near.to_anndata()
    assert np.array_equal(found.obsp["distances"].toarray(), near.csr().toarray())
    weights = found.obsp["connectivities"].toarray()
    expected = np.zeros((4, 4), np.float32)
    for a, b, value in zip(near.queries, near.targets, near.values, strict=True):
        expected[a, b] = expected[b, a] = 1 - value / 24
    assert np.allclose(weights, expected)
    assert len(near) == np.count_nonzero(weights) / 2 > 0
    assert dict(found.uns["pairalign"]) == {"measure": "tcrdist", "limit": 23}


def test_two_sets_are_observations_and_variables():
    pytest.importorskip("anndata")
    some = {name: CDR3S[name] for name in "ca"}
    found = pairalign.distance(some, CDR3S, measure="tcrdist").to_anndata()
    assert [list(found.obs_names), list(found.var_names)] == [["c", "a"], list(CDR3S)]
    assert found.X[0, 2] == found.X[1, 0] == 0 < found.X[0, 0]
    near = pairalign.distance(some, CDR3S, max_tcrdist=23, sparse=True)
    assert np.array_equal(near.to_anndata().X.toarray(), near.csr().toarray())


def test_without_anndata_its_extra_is_named(monkeypatch):
    matrix = pairalign.distance(CDR3S, measure="tcrdist")
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'pairalign\[anndata\]'"):
        matrix.to_anndata()
