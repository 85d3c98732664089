"""Simulated genomes of one family, for benchmarks of similar sequences."""

from __future__ import annotations

import numpy as np

GAPS = 0.05
"""Gaps for each residue that was replaced."""
MEAN_GAP = 6.0
"""Residues of a gap in the mean; their number falls off geometrically."""
LONG_GAPS, LONG_GAP = 0.05, 60
"""Share of gaps that are long, and their mean length."""


def family(number: int, length: int, identity: float, seed: int = 1) -> list[str]:
    """DNA sequences that differ from an ancestor by substitutions and gaps.

    Parameters
    ----------
    number, length : int
        How many there are, and how many residues the ancestor has.
    identity : float
        About what two of them have in common: equal columns of those without a gap.
    seed : int
        Equal seeds give equal sequences.
    """
    rng = np.random.default_rng(seed)
    ancestor = rng.integers(4, size=length)
    # Two residues that were drawn anew are equal once in four times.
    kept = np.sqrt(max(0.0, (identity - 0.25) / 0.75))
    return [
        "".join(np.array(list("ACGT"))[_descendant(rng, ancestor, kept)]) for _ in range(number)
    ]


def with_one_gap(sequences: list[str], gap: int, seed: int = 1) -> list[str]:
    """Every other sequence lacks `gap` residues from a random place on."""
    rng = np.random.default_rng(seed + 100)
    found = list(sequences)
    for k in range(1, len(found), 2):
        at = int(rng.integers(len(found[k]) - gap))
        found[k] = found[k][:at] + found[k][at + gap :]
    return found


def _descendant(rng: np.random.Generator, ancestor: np.ndarray, kept: float) -> np.ndarray:
    drawn = rng.random(len(ancestor)) >= kept
    letters = np.where(drawn, rng.integers(4, size=len(ancestor)), ancestor)
    count = rng.poisson(GAPS * 0.75 * np.count_nonzero(drawn))
    places = np.sort(rng.integers(len(ancestor), size=count))
    parts, at = [], 0
    for place in places:
        if place < at:
            continue  # within a gap
        mean = LONG_GAP if rng.random() < LONG_GAPS else MEAN_GAP
        size = int(rng.geometric(1 / mean))
        parts.append(letters[at:place])
        at = place
        if rng.random() < 0.5:
            at = min(len(ancestor), place + size)
        else:
            parts.append(rng.integers(4, size=size))
    return np.concatenate([*parts, letters[at:]])
