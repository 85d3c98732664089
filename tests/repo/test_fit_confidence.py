"""Weights of confidence are estimated as they are meant to be."""

import fit_confidence
import numpy as np
import pytest

KNOWN = (2.0, 0.9, 0.7, 2.5)


def drawn(seed: int, sequences: int) -> fit_confidence.Family:
    """Residues that are right as often as the known weights say."""
    rng = np.random.default_rng(seed)
    means = rng.uniform(0.02, 0.98, 20_000)
    a, b, c, d = KNOWN
    odds = a + b * np.log(means) - c * np.log(1 - means) - d / sequences
    chance = 1 / (1 + np.exp(-odds))
    right = (rng.random(len(means)) < chance).astype(float)
    columns = np.array((chance, right))
    return fit_confidence.Family("set", sequences, "dna", means, chance, right, columns)


def test_known_weights_are_found():
    families = [drawn(seed, sequences) for seed, sequences in enumerate([2, 2, 3, 5, 20])]
    assert fit_confidence.fitted(families) == pytest.approx(KNOWN, abs=0.25)


def test_errors_are_those_of_bins():
    one = drawn(7, 4)
    error, near, bins = fit_confidence.reliability(one.confidence, one.right)
    assert error < 0.02
    assert 0.86 < near < 0.94
    assert bins[:, 2].sum() == len(one.right)
    lower = fit_confidence.reliability(one.confidence * 0.8, one.right)[0]
    assert lower == pytest.approx((one.confidence * 0.2).mean(), abs=0.02)


def test_what_is_right_is_counted(tmp_path):
    rows = {"a": "MKVLAAGIVGHWERT", "b": "MKVLAAGIVGHWERT", "c": "mkvlaagivgHWERT"}
    for kind in ("in", "ref"):
        (tmp_path / kind).mkdir()
        text = "".join(f">{name}\n{row}\n" for name, row in rows.items())
        (tmp_path / kind / "one").write_text(text)
    assert [task[0] for task in fit_confidence.tasks([tmp_path], "judging")] == []
    whole, pairs = fit_confidence.tasks([tmp_path], "tuning")
    (found,) = fit_confidence.measured(whole)
    assert (found.name, found.sequences, len(found.right)) == (tmp_path.name, 3, 35)
    assert (found.right == 1).all()
    assert found.columns.shape == (2, 15)
    assert [one.sequences for one in fit_confidence.measured(pairs)] == [2]
