"""Reads of a circular genome with errors, named by where they come from, and which overlap."""

import numpy as np

from pairalign.sequences.alphabets import DNA
from pairalign.sequences.complement import reverse_complement

ERRORS = {
    "hifi": (0.0005, 0.001, 0.0015),
    "ont": (0.02, 0.012, 0.02),
    "r10": (0.004, 0.002, 0.004),
    "uneven": (0.05, 0.025, 0.045),
}
"""Shares of substituted, inserted and lost residues."""
SPREAD = {"uneven": 0.35}
"""How much reads differ: the standard deviation of what their shares are multiplied with."""


def simulate(
    genome: np.ndarray, kind: str, *, coverage: float, mean: int, seed: int
) -> dict[str, str]:
    """Draw reads of a circle, on both strands, with errors."""
    rng = np.random.default_rng(seed)
    reads: dict[str, str] = {}
    letters = 0
    while letters < coverage * len(genome):
        length = int(np.clip(rng.normal(mean, mean / 5), 500, len(genome)))
        start = int(rng.integers(0, len(genome)))
        read = np.take(genome, np.arange(start, start + length), mode="wrap")
        minus = bool(rng.integers(2))
        if minus:
            read = reverse_complement(read, DNA)
        name = f"r{len(reads)}_{start}_{start + length}_{'-' if minus else '+'}"
        reads[name] = "".join(DNA.letters[code] for code in with_errors(read, kind, rng))
        letters += length
    return reads


def with_errors(read: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Substitute, insert and lose residues, the latter two mostly in runs of a residue."""
    factor = max(0.3, rng.normal(1, SPREAD[kind])) if kind in SPREAD else 1.0
    substituted, inserted, lost = (factor * share for share in ERRORS[kind])
    in_run = np.concatenate(([False], read[1:] == read[:-1]))
    weight = np.where(in_run, 2.0, 0.5)
    changes = rng.random(len(read)) < substituted
    read = np.where(changes, (read + rng.integers(1, 4, len(read))) % 4, read)
    times = 1 + (rng.random(len(read)) < inserted * weight).astype(np.int64)
    times[rng.random(len(read)) < lost * weight] = 0
    return np.repeat(read, times)


def true_pairs(names: list[str], letters: int, least: int) -> set[tuple[str, str, str]]:
    """Pairs that share `least` residues of the circle, with their strand."""
    found = set()
    places = [(int(s), int(e), strand) for _, s, e, strand in (n.split("_") for n in names)]
    for i, (start, end, strand) in enumerate(places):
        for j in range(i + 1, len(places)):
            start2, end2, strand2 = places[j]
            shared = max(
                min(end, end2 + turn) - max(start, start2 + turn) for turn in (-letters, 0, letters)
            )
            if shared >= least:
                found.add((*sorted((names[i], names[j])), "+" if strand == strand2 else "-"))
    return found
