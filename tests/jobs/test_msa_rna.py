"""Families of RNA: what their model of pairs is for."""

import json
import random

import numpy as np
import pytest
import train_models
from bench.msa_score import score

import pairalign
from pairalign.scoring.posterior_models import MOST_MATCH_STATES, posterior_model
from pairalign.sequences.alphabets import DNA

LEFT, RIGHT = "GGCUAGCAUACGGAUCAGCA", "UCGAUUCGGCAAUCCGUAGG"


def _rows(strings: list[str]) -> list[str]:
    alignment = pairalign.msa(pairalign.SequenceSet.from_strings(strings, alphabet="dna"))
    return [alignment.text(index) for index in range(len(strings))]


def test_u_is_t():
    strings = [f"{LEFT}GC{RIGHT}", f"{LEFT}A{RIGHT}", f"{LEFT[4:]}GUC{RIGHT[:-3]}"]
    assert _rows([one.replace("U", "T") for one in strings]) == [
        row.replace("U", "T") for row in _rows(strings)
    ]


@pytest.mark.parametrize("residues", ["GC", "CG", "GU", "UG", "GG"])
@pytest.mark.parametrize("match_states", [1, MOST_MATCH_STATES])
def test_transitions_are_likelier_than_transversions(residues, match_states):
    odds = posterior_model(DNA, match_states=match_states).partition_emission
    a, c, g, t = range(4)
    assert min(odds[a, g], odds[c, t]) > max(odds[a, c], odds[a, t], odds[g, c], odds[g, t])
    _, row = _rows([LEFT + residues + RIGHT, f"{LEFT}A{RIGHT}"])
    assert row.replace("-", "") == f"{LEFT}A{RIGHT}"
    assert residues[row[len(LEFT) : len(LEFT) + 2].index("A")] == "G"


@pytest.mark.parametrize("seed", range(5))
def test_ends_are_free(seed):
    """A part stays in one piece, and where it is from."""
    generator = random.Random(seed)
    whole = "".join(generator.choices("ACGU", k=300))
    start = generator.randrange(20, 180)
    part = list(whole[start : start + 100])
    for place in range(5, 95, 6):
        part[place] = generator.choice("ACGU")
    fragment = "".join(part)
    assert _rows([whole, fragment])[1] == "-" * start + fragment + "-" * (200 - start)


def test_families_are_aligned_as_references_are():
    """Ten of 5S, manA and tRNA each, of those that the model is trained on."""
    families = train_models.read_references(train_models.REFERENCES)
    found = []
    for rows in (families[0], families[49], families[62]):
        names = [f"s{k}" for k in range(len(rows))]
        texts = [row.upper().replace("-", "") for row in rows]
        sequences = pairalign.SequenceSet.from_strings(
            dict(zip(names, texts, strict=True)), alphabet="dna"
        )
        alignment = pairalign.msa(sequences)
        test = {name: alignment.text(k) for k, name in enumerate(names)}
        found.append(score(test, dict(zip(names, rows, strict=True))).pairs)
    assert np.mean(found) > 0.82, found


def test_columns_are_counted_as_they_are():
    """Two rows: 12 columns in runs of 5 and 7 between which a gap is; the flank is none."""
    rows = ["--ACGUA-GGGGCCA", "GGACGAACGAGGCCA"]
    columns = train_models.count_columns([rows], "ACGU", 1.0)
    assert [len(place) for place in columns.pairs] == [2] * 5 + [1] * 2
    assert columns.ends.tolist() == [True, False]
    assert columns.weights.tolist() == [1, 1]
    model = train_models.train([rows], "dna", 1)
    expected = np.array([8, 6, 9, 1]) / 24
    assert model.background == pytest.approx(expected)
    joint = model.joint[0] * (12 + 2) - 2 * np.outer(expected, expected)
    assert joint == pytest.approx(
        np.array([[3, 0, 0.5, 0.5], [0, 3, 0, 0], [0.5, 0, 4, 0], [0.5, 0, 0, 0]]), abs=1e-12
    )
    # Of the columns that another one or a gap follows.
    assert model.open[0] == pytest.approx(1 / 11)


@pytest.mark.slow
def test_tables_are_what_the_trainer_makes():
    """To the last of four digits: sums may come out otherwise on another machine."""
    families = train_models.read_references(train_models.REFERENCES)
    made = train_models.trained(*(train_models.train(families, "dna", k) for k in (1, 4)))
    shipped = json.loads(train_models.DNA_MODELS.read_text())["trained"]
    assert made.keys() == shipped.keys()
    assert _numbers(made) == pytest.approx(_numbers(shipped), rel=2e-3)


def _numbers(value: object) -> list[float]:
    """Return the numbers of parsed JSON, in their order."""
    if isinstance(value, dict):
        return [number for key in sorted(value) for number in _numbers(value[key])]
    if isinstance(value, list):
        return [number for one in value for number in _numbers(one)]
    assert isinstance(value, (int, float))
    return [value]
