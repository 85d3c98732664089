"""The subcommand `msa-families`: simulated families whose true alignment is known.

A family grows along a tree of random splits. On each branch residues are replaced, at rates that
differ between sites (gamma), by what BLOSUM 62 says is alike; and parts are lost and inserted, of
geometric lengths. `msa --data` takes the folder. Nothing of it is taken from what pairalign aligns
by.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from bench.msa_score import read_alignment
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import PROTEIN

LETTERS = "ARNDCQEGHILKMFPSTWYV"
LAMBDA = 0.318
"""Of BLOSUM 62 (Henikoff and Henikoff 1992): what makes odds of its scores, natural."""

INDELS = 0.02
"""Of each kind, for each residue that is replaced."""
INDEL_LENGTH = 4.0


def add_command(commands: Any) -> None:
    """Add `msa-families` to the command line."""
    parser = commands.add_parser("msa-families", help="simulate families for `msa --data`")
    parser.add_argument("--out", type=Path, required=True, help="a folder that is not there")
    parser.add_argument("--sequences", type=int, default=100, help="of a family (100)")
    parser.add_argument("--families", type=int, default=5, help="(5)")
    parser.add_argument("--length", type=int, default=170, help="residues of the root (170)")
    parser.add_argument("--depth", type=float, default=1.2, help="replacements a site, to a leaf")
    parser.add_argument("--scored", type=int, help="the reference has the first N only (all)")
    parser.set_defaults(run=write_families)


def write_families(options: Namespace) -> None:
    """Write in/ and ref/ of some families."""
    for name in ("in", "ref"):
        (options.out / name).mkdir(parents=True)
    for number in range(options.families):
        random = np.random.default_rng([options.sequences, number])
        family = simulate(random, options.sequences, options.length, options.depth)
        write_family(options.out, f"SIM{options.sequences}_{number}", *family, options.scored)


def write_around(folder: Path, reference: Path, count: int, depth: float, seed: int) -> None:
    """Write the sequences of a reference alignment among simulated descendants of them."""
    random = np.random.default_rng([count, seed])
    rows = read_alignment(reference)
    texts = {name: row.replace("-", "").replace(".", "").upper() for name, row in rows.items()}
    changes = _changes()
    each = max(2, count // len(texts))
    found = list(texts.items())
    for text in texts.values():
        family = _Family(random, len(text))
        root = [(site, max(LETTERS.find(letter), 0)) for site, letter in enumerate(text)]
        for leaf in grown(random, family, root, each - 1, depth, changes):
            letters = "".join(LETTERS[residue] for _, residue in leaf)
            found.append((f"descendant{len(found)}", letters))
    order = random.permutation(len(found)).tolist()
    name = f"{reference.name}_{count}"
    records = [f">{found[k][0]}\n{found[k][1]}\n" for k in order]
    (folder / "in" / name).write_text("".join(records))
    (folder / "ref" / name).write_text("".join(f">{one}\n{row}\n" for one, row in rows.items()))


def write_family(
    folder: Path, name: str, leaves: list[Leaf], sites: list[int], scored: int | None
) -> None:
    """Write the sequences, and the true alignment of the first of them."""
    texts = ["".join(LETTERS[residue] for _, residue in leaf) for leaf in leaves]
    rows = aligned(leaves[:scored], sites)
    for kind, lines in (("in", texts), ("ref", rows)):
        records = [f">s{index}\n{text}\n" for index, text in enumerate(lines)]
        (folder / kind / name).write_text("".join(records))


def simulate(
    random: np.random.Generator, count: int, length: int, depth: float
) -> tuple[list[Leaf], list[int]]:
    """Return the members of a family in a random order, and the order of all sites."""
    family = _Family(random, length)
    leaves = grown(random, family, family.root(), count, depth, _changes())
    return [leaves[k] for k in random.permutation(count)], family.order()


def grown(
    random: np.random.Generator,
    family: _Family,
    root: Leaf,
    count: int,
    depth: float,
    changes: np.ndarray,
) -> list[Leaf]:
    """Return members that a root becomes by random splits."""
    step = depth / max(1.0, np.log2(count))  # replacements a site on a branch
    leaves = [root]
    while len(leaves) < count:
        parent = leaves.pop(int(random.integers(len(leaves))))
        leaves += [family.child(parent, step, changes) for _ in range(2)]
    return leaves


def aligned(leaves: list[Leaf], sites: list[int]) -> list[str]:
    """Return the rows of the true alignment of some members."""
    used = {site for leaf in leaves for site, _ in leaf}
    place = {site: column for column, site in enumerate(s for s in sites if s in used)}
    rows = []
    for leaf in leaves:
        row = np.full(len(place), ord("-"), np.uint8)
        for site, residue in leaf:
            row[place[site]] = ord(LETTERS[residue])
        rows.append(row.tobytes().decode())
    return rows


Leaf = list[tuple[int, int]]  # sites with residues


class _Family:
    """Sites of all members, in one order, and how fast they change."""

    def __init__(self, random: np.random.Generator, length: int) -> None:
        self._random = random
        self._rates: list[float] = []
        self._after: dict[int, list[int]] = {}  # sites that were inserted after a site; -1: first

        self._sites = [self._new(site - 1) for site in range(length)]

    def root(self) -> Leaf:
        residues = self._random.choice(20, len(self._sites), p=_background())
        return list(zip(self._sites, residues.tolist(), strict=True))

    def _new(self, after: int) -> int:
        self._rates.append(float(self._random.gamma(0.8, 1 / 0.8)))
        site = len(self._rates) - 1
        self._after.setdefault(after, []).insert(0, site)
        return site

    def child(self, parent: Leaf, step: float, changes: np.ndarray) -> Leaf:
        random = self._random
        rates = np.array([self._rates[site] for site, _ in parent])
        replaced = random.random(len(parent)) < 1 - np.exp(-step * rates)
        leaf = [
            (site, int(random.choice(20, p=changes[residue])) if new else residue)
            for (site, residue), new in zip(parent, replaced.tolist(), strict=True)
        ]
        for _ in range(random.poisson(INDELS * step * len(parent))):
            start = int(random.integers(len(leaf)))
            size = int(random.geometric(1 / INDEL_LENGTH))
            if size < len(leaf) // 2:
                del leaf[start : start + size]
        for _ in range(random.poisson(INDELS * step * len(parent))):
            at = int(random.integers(len(leaf)))
            before = leaf[at][0]
            for _ in range(int(random.geometric(1 / INDEL_LENGTH))):
                before = self._new(before)
                at += 1
                leaf.insert(at, (before, int(random.choice(20, p=_background()))))
        return leaf

    def order(self) -> list[int]:
        """Return all sites, those that were inserted after another behind it."""
        sites, left = [], [-1]
        while left:
            site = left.pop()
            sites.append(site)
            left += reversed(self._after.get(site, []))
        return sites[1:]


def _background() -> np.ndarray:
    """Return equal frequencies: no program knows others."""
    return np.full(20, 0.05)


def _changes() -> np.ndarray:
    """Return what each residue is replaced by, from the scores of BLOSUM 62."""
    scoring = make_scoring(PROTEIN, matrix="BLOSUM62")
    odds = np.exp(LAMBDA * scoring.matrix[:20, :20].astype(float) / scoring.scale)
    np.fill_diagonal(odds, 0)
    return odds / odds.sum(axis=1, keepdims=True)
