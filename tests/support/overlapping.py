"""Reads of a made-up genome, so that what overlaps is known, for tests of overlaps."""

from typing import Any

import numpy as np

import pairalign

GENOME = "".join(np.random.default_rng(7).choice(list("ACGT"), 2000))
EASY: dict[str, Any] = {"preset": "short", "min_overlap": 20, "min_score": 20, "device": "cpu"}


def changed(letters: str, share: float, seed: int) -> str:
    """Residues with some of them substituted, dropped or doubled."""
    rng = np.random.default_rng(seed)
    out = []
    for letter in letters:
        kind = rng.random() / share
        if kind < 0.5:
            out.append(str(rng.choice(list("ACGT"))))
        elif kind < 0.75:
            out.append(2 * letter)
        elif kind >= 1:
            out.append(letter)
    return "".join(out)


def find(reads: dict[str, str], **options: Any) -> pairalign.Overlaps:
    return pairalign.overlap(reads, **{**EASY, **options})


def described(found: pairalign.Overlaps) -> list[tuple[str, str, int, str]]:
    names = found.reads.names
    columns = zip(found.query, found.target, found.strand, found.kind, strict=True)
    return [(names[q], names[t], int(s), str(k)) for q, t, s, k in columns]
