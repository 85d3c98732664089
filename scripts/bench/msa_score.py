"""How much of a reference alignment another alignment of the same sequences has: Q and TC.

As Edgar's qscore counts: residues in upper case of the reference are scored, the others are not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

GAPS = "-."


@dataclass(frozen=True)
class Score:
    """Both between 0 and 1.

    Attributes
    ----------
    pairs : float
        Q, or SP: the pairs of residues aligned in the reference that are aligned in the test, too.
    columns : float
        TC: the columns of the reference whose residues are all in one column of the test.
    """

    pairs: float
    columns: float


def read_alignment(path: Path) -> dict[str, str]:
    """Gapped sequences by the first word of their names."""
    rows: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text().splitlines():
        if line.startswith(">"):
            name = line[1:].split()[0]
            rows[name] = []
        elif name:
            rows[name].append(line.strip())
    return {name: "".join(parts) for name, parts in rows.items()}


def score(test: dict[str, str], reference: dict[str, str]) -> Score:
    """Compare two alignments; both must have the same residues."""
    names = list(reference)
    columns = np.full((len(names), len(next(iter(reference.values())))), -1)
    for row, name in enumerate(names):
        given = reference[name]
        letters = [k for k, letter in enumerate(given) if letter not in GAPS]
        found = [k for k, letter in enumerate(test[name]) if letter not in GAPS]
        plain = "".join(given[k] for k in letters).upper()
        if plain != "".join(test[name][k] for k in found).upper():
            raise ValueError(f"{name}: the residues of test and reference differ")
        for k, column in zip(letters, found, strict=True):
            if given[k].isupper():
                columns[row, k] = column
    pairs = correct = whole = scored = 0
    for column in columns.T:
        known = column[column >= 0]
        if len(known) < 2:
            continue
        together = np.unique(known, return_counts=True)[1]
        pairs += len(known) * (len(known) - 1) // 2
        correct += int((together * (together - 1) // 2).sum())
        scored += 1
        whole += len(together) == 1
    return Score(correct / pairs if pairs else 0.0, whole / scored if scored else 0.0)


def published(path: Path) -> dict[str, Score]:
    """Scores of a file of qscore's output, by the name of the reference."""
    scores = {}
    for line in path.read_text().splitlines():
        parts = dict(part.split("=", 1) for part in line.split(";") if "=" in part)
        if {"Ref", "Q", "TC"} <= parts.keys():
            name = parts["Ref"].rsplit("/", 1)[1]
            scores[name] = Score(float(parts["Q"]), float(parts["TC"]))
    return scores
