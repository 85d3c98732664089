"""Identities as SDT has them: of pairs that MAFFT has aligned, columns without gaps."""

import shutil
import subprocess
from itertools import combinations

import numpy as np
import pytest

import pairalign

LETTERS = list("ACGT")


def genomes(count: int, length: int) -> dict[str, str]:
    """Genomes of a tree: each has another one changed by 4%, with gaps."""
    rng = np.random.default_rng(31)
    made = [rng.choice(LETTERS, length).tolist()]
    while len(made) < count:
        text = list(made[int(rng.integers(len(made)))])
        for place in np.flatnonzero(rng.random(len(text)) < 0.04).tolist():
            text[place] = str(rng.choice(LETTERS))
        for _ in range(3):
            place = int(rng.integers(len(text) - 10))
            del text[place : place + int(rng.integers(1, 4))]
        made.append(text)
    return {f"virus{k}": "".join(text) for k, text in enumerate(made)}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mafft") is None, reason="install mafft")
def test_aligned_identities_are_sdts_of_mafft():
    sequences = genomes(5, 900)
    found = pairalign.distance(sequences, measure="identity-aligned", similarity=True)
    names = list(sequences)
    for one, other in combinations(range(5), 2):
        text = "".join(f">{names[k]}\n{sequences[names[k]]}\n" for k in (one, other))
        command = ["mafft", "--quiet", "--auto", "-"]
        said = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        rows = ["".join(part.split("\n")[1:]).upper() for part in said.stdout.split(">")[1:]]
        columns = [(a, b) for a, b in zip(*rows, strict=True) if "-" not in (a, b)]
        identity = sum(a == b for a, b in columns) / len(columns)
        # A percent, as SDT shows: the two programs put some gaps elsewhere.
        assert found[one, other] == pytest.approx(identity, abs=0.01)
