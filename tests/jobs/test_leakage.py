"""The leakage of folds is the share of identity that is across them, by its definition."""

import json
from itertools import combinations
from pathlib import Path

import pytest

import pairalign
from pairalign.cli.main import main

PROTEINS = Path(__file__).parents[2] / "examples" / "cytochrome_p450.fasta"
SET = pairalign.read_fasta(PROTEINS)[:16]


def by_definition(groups: dict[str, object], least: float) -> float:
    """Sum identities over whole sequences, of pairs that reach the least one."""
    found = pairalign.align(SET, device="cpu")
    identity = {(one.query.name, one.target.name): one.identity for one in found}
    across = total = 0.0
    for pair in combinations(SET.names, 2):
        folds = [groups.get(name) for name in pair]
        similarity = identity[pair] if identity[pair] >= least else 0.0
        if None not in folds:
            total += similarity
            across += similarity * (folds[0] != folds[1])
    return across / total


@pytest.mark.parametrize("least", [0.25, 0.35])
def test_leakage_of_an_audit(least):
    folds = {name: number % 3 for number, name in enumerate(SET.names[1:])}
    found = pairalign.audit(folds, SET, min_identity=least, read_as="folds")
    assert found.leakage == pytest.approx(by_definition(folds, least), abs=1e-6)
    assert 0.3 < found.leakage < 0.9


def test_leakage_of_a_split_is_that_of_its_audit_at_the_least_identity_it_looks_at(
    tmp_path, capsys
):
    options = {"min_identity": 0.4, "nearest_from": 0.25, "folds": 3, "tolerance": 0.3}
    split = pairalign.split(SET, **options)
    assert len(split.removed) < 6
    folds = {SET.names[k]: split.folds[k] for k in range(len(SET)) if split.folds[k] >= 0}
    assert split.leakage == pytest.approx(by_definition(folds, 0.25), abs=1e-6)
    assert split.leakage > 0
    assert pairalign.audit(split, min_identity=0.25).leakage == split.leakage
    assert pairalign.audit(split).leakage == 0
    split.write(tmp_path / "folds.csv")
    words = ["audit", str(tmp_path / "folds.csv"), str(PROTEINS), "--min-identity", "0.25"]
    assert main([*words, "-o", str(tmp_path / "leaks.csv"), "--summary", "json"]) == 1
    (summary,) = (line for line in capsys.readouterr().err.splitlines() if line[0] == "{")
    said = json.loads(summary)
    assert said["leakage"] == round(split.leakage, 6)


def test_where_not_all_pairs_are_looked_at_there_is_none():
    clusters = pairalign.cluster(SET, min_identity=0.4)
    assert pairalign.audit(clusters, across="none").leakage is None
    both = pairalign.audit(SET[:9], SET[9:], min_identity=0.4, read_as="fasta")
    assert both.leakage is None
