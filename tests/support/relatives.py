"""Sequences that come of three others, and gap costs to align them with."""

from typing import Any

import numpy as np

from pairalign.sequences.sets import SequenceSet

LETTERS = {"dna": "ACGT", "protein": "ARNDCQEGHILKMFPSTWYV"}


COSTS: list[dict[str, Any]] = [
    {},
    {"gap_open": "10.5", "gap_extend": "0.5"},
    {"gap_open": 0, "gap_extend": 0},
    {"gap_open": 3, "gap_extend": 1},
]


def change(rng: np.random.Generator, letters: str, source: str, rate: float) -> str:
    """A copy with so many of its letters changed, left out or doubled, ambiguous ones too."""
    changed = []
    for letter in source:
        kind = rng.random() / rate if rate else 1.0
        if kind < 0.5:
            changed.append(rng.choice(list(letters)))
        elif kind < 0.75:
            changed.append(letter + rng.choice(list(letters)))
        elif kind >= 1:
            changed.append(letter)
    return "".join(changed) or letters[0]


def relatives(alphabet: str, seed: int, count: int, longest: int, rate: float) -> SequenceSet:
    """Sequences that come of three others, and ends of them."""
    rng = np.random.default_rng(seed)
    letters = LETTERS[alphabet]
    origins = ["".join(rng.choice(list(letters), rng.integers(1, longest))) for _ in range(3)]
    unknown = letters + ("N" if alphabet == "dna" else "X")
    made = []
    for number in range(count):
        one = change(rng, unknown, origins[number % 3], rate)
        made.append(one[len(one) // 3 :] if number % 4 == 3 else one)
    return SequenceSet.from_strings(made, alphabet=alphabet)
