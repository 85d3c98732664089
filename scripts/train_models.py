"""Estimate the pair HMMs of DNA and proteins from reference alignments.

    python scripts/train_models.py --write          # DNA: tests/data/rna_references.fasta.xz
    python scripts/train_models.py --protein bench1.0/ox/ref bench1.0/bali3/ref

Of DNA all weights are made again. Columns of pairs of references are counted: with one match state
that is all. Which of several match states a column is in is not seen: expectation maximization, 40
rounds from states that differ in how many of their columns are identical.

Tables of proteins are not made again, it is said how near such estimates come to them: ProbCons'
pairs were published without the alignments that they are counts of, MIQS without its program, and
the four match states went on from such an estimate to where references are aligned best, by a
program that was not kept. Every other file of the folders (aligned FASTA) counts, as those of
`benchmark.py msa --half tuning` do.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


REFERENCES = ROOT / "tests/data/rna_references.fasta.xz"
DNA_MODELS = ROOT / "pairalign/scoring/dna_models.json"
PROTEIN_MODELS = ROOT / "pairalign/scoring/protein_models.json"
RESIDUES = {"dna": "ACGU", "protein": "ARNDCQEGHILKMFPSTWYV"}
ROUNDS = 40
IDENTICAL = {1: [0.6], 4: [0.97, 0.8, 0.6, 0.35]}
"""The share of identical columns that each match state begins with."""
PSEUDOCOUNTS = 2.0
LEAST_COLUMNS = 10
MOST_WEIGHT = 4
"""A family counts as its sequences less one do, and at most this."""
MOST_IDENTICAL = 0.7
"""Pairs of proteins that are counted, and in a family:"""
MOST_PAIRS = 60

Array = Any
Family = list[str]


class Columns(NamedTuple):
    """Runs of aligned columns without a gap, the longest first."""

    pairs: list[Array]  # of each place in a run: the two residues of runs that are so long
    weights: Array
    ends: Array  # whether no gap follows, but the end of the pair


def read_references(path: Path) -> list[Family]:
    """Return the rows of each alignment of a folder, or of a file with names FAMILY/ROW."""
    texts = [lzma.decompress(path.read_bytes()).decode()] if path.is_file() else []
    texts = texts or [one.read_text() for one in sorted(path.iterdir())[::2]]
    families: dict[Any, Family] = {}
    for number, text in enumerate(texts):
        for name, *lines in (record.split("\n") for record in text.split(">")[1:]):
            family = (number, name.rpartition("/")[0] if path.is_file() else "")
            families.setdefault(family, []).append("".join(lines).upper())
    return list(families.values())


def count_columns(families: list[Family], residues: str, most_identical: float) -> Columns:
    """Cut all pairs of rows into runs."""
    codes = np.full(256, len(residues))
    codes[np.frombuffer(residues.encode(), np.uint8)] = range(len(residues))
    codes[ord("T")] = codes[ord("U")] if "U" in residues else codes[ord("T")]
    runs: list[tuple[Array, float, bool]] = []
    for rows in families:
        pairs = list(combinations(rows, 2))
        weight = min(len(rows) - 1, MOST_WEIGHT) / len(pairs)
        step = 1 if len(residues) == 4 else 1 + len(pairs) // MOST_PAIRS
        for one, other in pairs[::step]:
            found = list(_runs(one, other, codes, len(residues), most_identical))
            runs += [(run, step * weight, run is found[-1]) for run in found]
    runs.sort(key=lambda run: -len(run[0]))
    longest, lengths = len(runs[0][0]), np.array([len(run[0]) for run in runs])
    table = np.full((longest, len(runs)), len(residues) ** 2)
    for k, (run, _, _) in enumerate(runs):
        table[: len(run), k] = run
    places = [table[k, : (lengths > k).sum()] for k in range(longest)]
    return Columns(places, np.array([r[1] for r in runs]), np.array([r[2] for r in runs]))


def _runs(one: str, other: str, codes: Array, count: int, most: float) -> Iterator[Array]:
    """Give the runs of a pair; ends of either sequence that the other lacks are no gaps."""
    letters = np.array([np.frombuffer(row.encode(), np.uint8) for row in (one, other)])
    gaps = (letters == ord("-")) | (letters == ord("."))
    letters, gaps = letters[:, ~gaps.all(0)], gaps[:, ~gaps.all(0)]
    aligned = ~gaps.any(0)
    if aligned.sum() < LEAST_COLUMNS or (letters[0] == letters[1])[aligned].mean() > most:
        return
    low, high = np.sort(codes[letters], axis=0)
    pairs = np.where(high < count, low * count + high, count**2)
    edges = np.flatnonzero(np.diff(np.r_[0, aligned, 0]))
    for begin, end in edges.reshape(-1, 2):
        yield pairs[begin:end]


class MatchStates:
    """Match states whose weights are estimated; each run begins and ends as gaps have it."""

    def __init__(self, columns: Columns, residues: int, states: int) -> None:
        self.columns, self.residues = columns, residues
        low, high = np.divmod(np.arange(residues**2), residues)
        self.one_way = np.where(low == high, 1.0, 0.5)
        seen = self._count(np.ones((sum(map(len, columns.pairs)), 1)))[0]
        self.background = seen.sum(0) / seen.sum()
        self.random = random = np.outer(self.background, self.background)
        apart = random * (1 - np.eye(residues))
        self.joint = np.array([share * np.diag(self.background) + (1 - share) * apart / apart.sum()
                               for share in IDENTICAL[states]])  # fmt: skip
        self.enter, self.open = np.full(states, 1 / states), np.full(states, 0.03)
        self.stay, self.leave = np.full(states, 0.85), np.full(states, 0.12)

    def _count(self, shares: Array) -> Array:
        """Sum up residues of the columns of each state, symmetric."""
        size, weights = self.residues, self.columns.weights
        pairs = np.concatenate(self.columns.pairs)
        weighted = shares * np.concatenate([weights[: len(p)] for p in self.columns.pairs])[:, None]
        sums = [np.bincount(pairs, w, size**2 + 1)[:-1].reshape(size, size) for w in weighted.T]
        return np.array([(table + table.T) / 2 for table in sums])

    def improve(self) -> None:
        """Do a round of expectation maximization."""
        pairs, weights, ends = self.columns.pairs, self.columns.weights, self.columns.ends
        both = self.joint.reshape(len(self.joint), -1) / self.one_way
        odds = np.hstack((both, np.ones((len(both), 1)))).T
        going_on = np.diag(self.stay) + np.outer(self.leave, self.enter)
        forward: list[Array] = []
        sizes: list[Array] = []
        for here in pairs:
            before = forward[-1][: len(here)] @ going_on if forward else self.enter
            values = before * odds[here]
            sizes.append(values.sum(1, keepdims=True))
            forward.append(values / sizes[-1])
        backward = np.where(ends[:, None], 1, self.open)
        after = following = share = np.empty(0)
        stays, leaves, enters, opens = np.zeros((4, len(both)))
        shares: list[Array] = []
        for place in range(len(pairs) - 1, -1, -1):
            here, value = forward[place], backward[: len(pairs[place])].copy()
            count = len(pairs[place + 1]) if place + 1 < len(pairs) else 0
            if count:
                after = odds[pairs[place + 1]] * following / sizes[place + 1]
                value[:count] = after @ going_on.T
            whole = weights[: len(here)] / (here * value).sum(1)
            share = here * value * whole[:, None]
            if count:
                after, into = after * whole[:count, None], here[:count]
                stays += (into * after).sum(0) * self.stay
                enters += (after * (into @ self.leave)[:, None]).sum(0) * self.enter
                leaves += (into * (after @ self.enter)[:, None]).sum(0) * self.leave
            opens += (share[count:] * ~ends[count : len(here), None]).sum(0)
            shares.append(share / weights[: len(here), None])
            following = value
        enters += share.sum(0)
        counts = self._count(np.concatenate(shares[::-1])) + PSEUDOCOUNTS * self.random
        self.joint = counts / counts.sum((1, 2), keepdims=True)
        every = stays + leaves + opens
        self.stay, self.leave, self.open = stays / every, leaves / every, opens / every
        self.enter = enters / enters.sum()

    @property
    def odds(self) -> Array:
        """Of an aligned pair, by match state."""
        return self.joint / self.random


def train(families: list[Family], alphabet: str, states: int, most: float = 1.0) -> MatchStates:
    """Estimate the weights of match states from pairs whose identity is at most `most`."""
    residues = RESIDUES[alphabet]
    model = MatchStates(count_columns(families, residues, most), len(residues), states)
    for _ in range(ROUNDS if states > 1 else 1):
        model.improve()
    return model


def trained(one: MatchStates, several: MatchStates) -> dict[str, Any]:
    """Return what the package reads of DNA."""
    names = ("stay", "leave", "enter", "open_short")
    weights = zip(several.stay, several.leave, several.enter, several.open / 2, strict=True)
    states: list[dict[str, Any]] = [
        dict(zip(names, map(_number, values), strict=True)) for values in weights
    ]
    for state, odds in zip(states, several.odds, strict=True):
        state |= {"open_long": 0, "odds": _lower(odds)}
    background = list(map(_number, one.background))
    return {"background": background, "odds": _lower(one.odds[0]), "states": states}


def as_json(value: object) -> str:
    """Return a value as JSON that has a list of numbers in a line."""
    text = json.dumps(value, indent=2)
    return re.sub(r"\[([-\d.e,\s]+)\]", lambda found: f"[{' '.join(found[1].split())}]", text)


def _lower(odds: Array) -> list[list[float]]:
    return [list(map(_number, row[: k + 1])) for k, row in enumerate(odds)]


def _number(value: float) -> float:
    return float(f"{value:.4g}")


def compare(families: list[Family]) -> None:
    """Print how near estimates of proteins come to the tables that are shipped: correlations."""
    shipped = json.loads(PROTEIN_MODELS.read_text())
    frequent = np.array(shipped["background"])
    pairs = _entries(shipped["probcons"]["pairs"])
    probcons = np.log(pairs / np.outer(frequent, frequent)[np.tril_indices(20)])
    one, four = (train(families, "protein", states, MOST_IDENTICAL) for states in IDENTICAL)
    for name, other in (("ProbCons", probcons), ("MIQS", _entries(shipped["miqs"]))):
        print(name, _correlations(one, other))
    for k, state in enumerate(shipped["trained"]["states"]):
        odds = np.log(_entries(state["odds"]))
        print(f"match state {k + 1}: each of four", _correlations(four, odds))


def _entries(lower: list[list[float]]) -> Array:
    return np.concatenate([np.array(row) for row in lower])


def _correlations(model: MatchStates, table: Array) -> list[float]:
    lower = np.tril_indices(20)
    return [round(float(np.corrcoef(np.log(o)[lower], table)[0, 1]), 3) for o in model.odds]


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--protein", type=Path, nargs="+", help="folders of references: compare")
    parser.add_argument("--write", action="store_true", help="write the tables of DNA")
    options = parser.parse_args()
    if options.protein:
        return compare([rows for path in options.protein for rows in read_references(path)])
    shipped = DNA_MODELS.read_text()
    models = (train(read_references(REFERENCES), "dna", states) for states in IDENTICAL)
    text = as_json({**json.loads(shipped), "trained": trained(*models)}) + "\n"
    if options.write:
        DNA_MODELS.write_text(text)
    print("as shipped" if shipped == text else f"{DNA_MODELS} differs: --write")


if __name__ == "__main__":
    main()
