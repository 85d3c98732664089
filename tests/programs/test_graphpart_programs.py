"""Folds beside those of GraphPart, from the same edges."""

import csv
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from relatives import LETTERS, change

from pairalign.cli.main import main

FOLDS = 4
LEAST = 0.3


def families(path: Path) -> None:
    """Proteins of 40 families, some of which a sequence between them joins, with labels."""
    rng = np.random.default_rng(8)
    letters = LETTERS["protein"]
    made: list[str] = []
    for _ in range(40):
        origin = "".join(rng.choice(list(letters), rng.integers(60, 90)))
        size = int(rng.integers(1, 14))
        made += [change(rng, letters, origin, rng.uniform(0.1, 0.6)) for _ in range(size)]
    between = rng.choice(len(made), (4, 2))
    made += [made[one][:40] + made[other][-40:] for one, other in between]
    path.write_text(
        "".join(f">p{k}|label={k % 3 > 0:d}\n{residues}\n" for k, residues in enumerate(made))
    )


def folds_of(path: Path, name: str, fold: str) -> dict[str, int]:
    with path.open() as lines:
        return {row[name].split("|")[0]: int(float(row[fold])) for row in csv.DictReader(lines)}


def spread(folds: dict[str, int]) -> int:
    sizes = Counter(folds.values())
    return max(sizes.values()) - min(sizes.values())


@pytest.mark.skipif(shutil.which("graphpart") is None, reason="install graph-part")
def test_folds_are_at_least_as_balanced_and_fewer_are_removed(tmp_path):
    given, edges = tmp_path / "in.fa", tmp_path / "edges.csv"
    families(given)
    asked = ["--min-identity", str(LEAST), "--identity-of", "full", "--device", "cpu", "-q"]
    assert main(["align", str(given), "-o", str(edges), "--format", "edges", *asked]) == 0
    ours, theirs = tmp_path / "ours.csv", tmp_path / "theirs.csv"
    of_labels = ["--folds", str(FOLDS), "--label", "label"]
    assert main(["split", str(given), "-o", str(ours), *of_labels, *asked]) == 0
    command = ["graphpart", "precomputed", "-ff", str(given), "-th", str(LEAST), "-pa", str(FOLDS)]
    command += ["-ef", str(edges), "-mc", "2", "-tf", "one-minus", "-ln", "label"]
    subprocess.run([*command, "-of", str(theirs)], check=True, capture_output=True, cwd=tmp_path)
    found = folds_of(ours, "name", "fold")
    expected = folds_of(theirs, "AC", "cluster")
    pairs = [line.split(",") for line in edges.read_text().splitlines()]
    assert pairs
    for folds in (found, expected):
        assert set(folds.values()) == set(range(FOLDS))
        across = [
            identity
            for one, other, identity in pairs
            if one in folds and other in folds and folds[one] != folds[other]
        ]
        assert all(float(identity) <= LEAST for identity in across)  # GraphPart lets equal ones be
    assert not any(
        found.get(a, -1) != found.get(b, -1) for a, b, _ in pairs if {a, b} <= set(found)
    )
    assert len(found) >= len(expected)
    assert spread(found) <= spread(expected)
