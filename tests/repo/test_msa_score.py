"""The scorer of the benchmark of guide trees: Q and TC as qscore counts them, by hand."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def score(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """The scorer, which is not a part of the package."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "scripts"))
    from bench.msa_score import score

    yield score
    for name in [name for name in sys.modules if name.split(".")[0] == "bench"]:
        del sys.modules[name]


REFERENCE = {"a": "ACDef", "b": "ACD-f", "c": "A-Def"}


@pytest.mark.parametrize(
    ("test", "pairs", "columns"),
    [
        (REFERENCE, 7 / 7, 3 / 3),  # lower case does not count, nor how gaps are written
        ({"a": "ACDEF.", "b": "ACDF..", "c": "adef.."}, 5 / 7, 2 / 3),  # c is left of its D
        ({"a": "ACDEF----", "b": "-ACDF----", "c": "-----ADEF"}, 0.0, 0.0),
    ],
)
def test_by_hand(score, test, pairs, columns):
    found = score(test, REFERENCE)
    assert found.pairs == pytest.approx(pairs)
    assert found.columns == pytest.approx(columns)


def test_other_letters_are_an_error(score):
    with pytest.raises(ValueError, match="b: the residues of test and reference differ"):
        score({**REFERENCE, "b": "ACE-f"}, REFERENCE)
