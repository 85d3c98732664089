"""Estimate the weights of confidence from reference alignments, and say how well they hold.

    python scripts/fit_confidence.py new-families/* bench1.0/bali3 bench1.0/ox --write --draw

Each folder has in/ and ref/. BAliBASE's sets (BB11, BBS11, ...) count apart, and three pairs of
each family as well, aligned alone. Families of even number in the order of their names are for
tuning, those of odd number for judging, as in `benchmark.py msa`. All sets weigh the same, and all
families of a set. What is right: of the others in a residue's column, the share that the reference
has in one column with it; of residues that it scores (upper case).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from multiprocessing import Pool
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench.msa import HALVES
from bench.msa_score import read_alignment

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import pairalign  # noqa: E402
from pairalign.alignments import calibration  # noqa: E402

TABLE = ROOT / "pairalign/alignments/calibration.json"

PAIRS = 3
MOST_RESIDUES = 25_000
"""Of a family; larger ones take minutes."""
BINS = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.01])
Array = Any
Task = tuple[str, Path, Path]


class Family(NamedTuple):
    """An alignment of a family beside its reference: an array of scored residues each."""

    name: str
    sequences: int
    alphabet: str
    means: Array  # of posteriors
    confidence: Array
    right: Array
    columns: Array  # (confidence, right) of columns


def tasks(folders: list[Path], half: str) -> Iterator[Task]:
    """Give set and files of the families of a half; where pairs are meant, the reference twice."""
    for folder in folders:
        found: dict[str, list[Path]] = {}
        for path in sorted((folder / "ref").iterdir()):
            known = re.match(r"BBS?\d\d", path.name)
            found.setdefault(known[0] if known else folder.name, []).append(path)
        for name, paths in found.items():
            for path in paths[HALVES[half]]:
                given = folder / "in" / path.name
                if sum(map(len, read_alignment(given).values())) <= MOST_RESIDUES:
                    yield name, given, path
                    yield f"{name}, pairs", path, path


def measured(task: Task) -> list[Family]:
    """Align a family, or some pairs of it, and compare with the reference."""
    name, path, reference = task
    rows = read_alignment(reference)
    given = {one: re.sub("[-.]", "", row).upper() for one, row in read_alignment(path).items()}
    if path != reference:
        return list(_compared(name, given, rows))
    order = np.random.default_rng(len(given)).permutation(sorted(given))
    pairs = [order[k : k + 2] for k in range(0, min(len(order) - 1, 2 * PAIRS), 2)]
    own = ({one: given[one] for one in pair} for pair in pairs)
    return [f for one in own if all(one.values()) for f in _compared(name, one, rows)]


def _compared(name: str, given: dict[str, str], rows: dict[str, str]) -> Iterator[Family]:
    made = pairalign.msa(pairalign.SequenceSet.from_strings(given), threads=1)
    true = np.full(len(made.columns), -1)
    for number, one in enumerate(given):
        if one in rows:
            places = [k for k, letter in enumerate(rows[one]) if letter not in "-."]
            own = [k if rows[one][k].isupper() else -1 for k in places]
            true[slice(*made.sequences.offsets[number : number + 2])] = own
    scored = true >= 0
    others = np.bincount(made.columns[scored], minlength=made.width)[made.columns] - 1
    _, which, counts = np.unique((made.columns, true), axis=1, return_inverse=True,
                                 return_counts=True)  # fmt: skip
    known = scored & (others > 0) & (made.compared > 0)
    if not known.any():
        return
    same, others, columns = (counts[which] - 1)[known], others[known], made.columns[known]
    ours = np.unique(columns)
    right = np.bincount(columns, same)[ours] / np.bincount(columns, others)[ours]
    means = np.array((made.support, made.against))[:, known] / made.compared[known]
    yield Family(
        name, len(given), made.sequences.alphabet.name,
        calibration.placed(*means), made.residue_confidence[known], same / others,
        np.array((made.column_confidence[ours], right)),
    )  # fmt: skip


def fitted(families: list[Family]) -> Array:
    """Return weights of highest likelihood, by Newton's method."""
    count = {name: sum(f.name == name for f in families) for name in {f.name for f in families}}
    weights = [np.full(len(f.means), 1 / len(f.means) / count[f.name]) for f in families]
    means = np.concatenate([f.means for f in families])
    half = 0.5 / calibration.STEPS
    means = np.clip(means, half, 1 - half)
    few = np.concatenate([np.full(len(f.means), 1 / f.sequences) for f in families])
    facts = np.array((np.ones_like(means), np.log(means), -np.log(1 - means), -few))
    right, weight = np.concatenate([f.right for f in families]), np.concatenate(weights)
    found = np.zeros(len(facts))
    for _ in range(30):
        chance = 1 / (1 + np.exp(-found @ facts))
        slope = (facts * (weight * chance * (1 - chance))) @ facts.T
        found += np.linalg.solve(slope, facts @ (weight * (right - chance)))
    return found


def reliability(confidence: Array, right: Array) -> tuple[float, float, Array]:
    """Return the mean error of bins, what is right from 0.88 to 0.92, and the means of bins."""
    own = np.digitize(confidence, BINS)
    bins = [(confidence[own == k].mean(), right[own == k].mean(), (own == k).sum())
            for k in np.unique(own)]  # fmt: skip
    error = sum(size * abs(one - other) for one, other, size in bins) / len(own)
    near = right[abs(confidence - 0.9) <= 0.02]
    return error, near.mean() if len(near) else np.nan, np.array(bins)


def draw(curves: dict[str, Array]) -> None:
    """Draw what is right by confidence, a line a set: bins of 200 residues or more."""
    from drawing import FOLDER, INK, pyplot, save

    _, axes = pyplot.subplots(figsize=(4.4, 4))
    axes.plot((0, 1), (0, 1), color=INK, linewidth=0.6)
    for name, bins in curves.items():
        x, y, _ = bins[bins[:, 2] >= 200].T
        axes.plot(x, y, marker=".", linewidth=2 if name == "all" else 0.8, label=name)
    axes.set(xlabel="confidence", ylabel="right", xlim=(0, 1), ylim=(0, 1))
    axes.legend(fontsize=7)
    save(FOLDER / "confidence.svg")


def main() -> None:
    """Fit by the tuning half; print errors of the judging half."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--jobs", type=int, default=2, help="families at a time (2)")
    parser.add_argument("--write", action="store_true", help="estimate and write the weights")
    parser.add_argument("--draw", action="store_true", help="draw the page's picture")
    options = parser.parse_args()
    if options.write:
        families = aligned(options, "tuning")
        for alphabet in calibration.WEIGHTS:
            found = fitted([f for f in families if f.alphabet == alphabet])
            calibration.WEIGHTS[alphabet] = found.round(3).tolist()
        lines = [f'  "{alphabet}": {weights}' for alphabet, weights in calibration.WEIGHTS.items()]
        TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    families = aligned(options, "judging")
    print("| set | families | residues | at 0.9 | columns | at 0.9 |\n|---|---|---|---|---|---|")
    curves = {}
    for name in (*dict.fromkeys(f.name for f in families), "all"):
        own = [f for f in families if name in (f.name, "all")]
        residues = np.concatenate([(f.confidence, f.right) for f in own], axis=1)
        found = [reliability(*residues), reliability(*np.concatenate([f.columns for f in own], 1))]
        cells = [f"{error:.3f} | {near:.2f}" for error, near, _ in found]
        print(f"| {name} | {len(own)} | {' | '.join(cells)} |")
        if not name.endswith("pairs"):
            curves[name] = found[0][2]
    if options.draw:
        draw(curves)


def aligned(options: argparse.Namespace, half: str) -> list[Family]:
    """Measure the families of a half, several at a time."""
    with Pool(options.jobs) as pool:
        parts = pool.imap(measured, tasks(options.folders, half))
        return sorted((one for part in parts for one in part), key=attrgetter("name"))


if __name__ == "__main__":
    main()
