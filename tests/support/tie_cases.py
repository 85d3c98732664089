"""Scorings and sequences whose pairs have several optimal alignments."""

from typing import Any

import numpy as np

import pairalign

MODES = ("global", "semiglobal", "local")
ENDS: list[dict[str, Any]] = [
    {"free_ends": "query-start"},
    {"free_ends": "target-start,target-end"},
    {"end_gap_open": 1, "end_gap_extend": 0},
    {"free_ends": "query-end", "end_gap_open": "0.5", "end_gap_extend": "0.5"},
]
GAPS = [(5, 1), (3, 3), (2, 0), (1, 1), (0, 0), ("1.5", "0.5")]
SCORES: list[dict[str, Any]] = [
    {"match": 2, "mismatch": -3},
    {"match": 1, "mismatch": 0},
    {"match": "1.5", "mismatch": -1},
    {"matrix": "BLOSUM62"},
]


def scorings(kinds: list[dict[str, Any]]) -> list[pairalign.Scoring]:
    """One of every combination of scores, gaps and modes that can be."""
    made = []
    for scores in SCORES:
        alphabet = "protein" if "matrix" in scores else "dna"
        for gap_open, gap_extend in GAPS:
            for kind in kinds:
                given = {**scores, "gap_open": gap_open, "gap_extend": gap_extend, **kind}
                if float(kind.get("end_gap_open", 0)) > float(gap_open):
                    continue
                if float(kind.get("end_gap_extend", 0)) > float(gap_extend):
                    continue
                made.append(pairalign.make_scoring(alphabet, **given))
    return made


def some(rng: np.random.Generator, scoring: pairalign.Scoring, count: int, most: int) -> list[str]:
    letters = list("ACGT") if scoring.alphabet.name == "dna" else list("AILMVSTE")
    chosen = rng.choice(letters, 3, replace=False)
    return ["".join(rng.choice(chosen, rng.integers(1, most + 1))) for _ in range(count)]
