"""The subcommand `msa-outliers`: families with fragments and outliers, beside other programs.

To some sequences of each reference alignment others are added, of which nothing is known: unrelated
ones, which are drawn from the other families and shuffled, and pieces of the family's own. What is
printed is Q of the reference in each such set; it should be that of the reference alone. Families
are in halves as those of `msa`.
"""

from __future__ import annotations

import random
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from bench.msa import COMMANDS, HALVES, align_all, is_there
from bench.msa_score import read_alignment

MEMBERS = 12
"""Sequences of a reference that are taken; families of fewer are left out."""

ROWS = [(0, 0), (5, 0), (20, 0), (150, 0), (0, 20), (0, 60), (0, 150), (0, 500), (80, 120)]
"""Outliers and fragments that are added."""

PIECES = (0.15, 0.4)
"""How much of its sequence a fragment is."""

Records = dict[str, str]


def add_command(commands: Any) -> None:
    """Add `msa-outliers` to the command line."""
    parser = commands.add_parser("msa-outliers", help="families with fragments and outliers")
    parser.add_argument("--data", type=Path, required=True, help="a folder with in/ and ref/")
    parser.add_argument("--half", choices=HALVES, default="tuning", help="(tuning)")
    parser.add_argument("--most", type=int, help="only the first N families")
    parser.add_argument("--programs", nargs="*", default=["pairalign", "famsa", "linsi"])
    parser.set_defaults(run=run_msa_outliers)


def run_msa_outliers(options: Namespace) -> None:
    """Print a table: a line for each kind of set, a column for each program that is there."""
    programs = [name for name in options.programs if name in COMMANDS and is_there(name)]
    families = {path.name: read_alignment(path) for path in sorted(options.data.glob("ref/*"))}
    names = [name for name in families if len(families[name]) >= MEMBERS]
    names = names[HALVES[options.half]][: options.most]
    print(f"{len(names)} families, {MEMBERS} references each; Q of these in per cent")
    print(f"| outliers | fragments | {' | '.join(programs)} |\n|{'---|' * (2 + len(programs))}")
    for outliers, fragments in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            for name in names:
                write_set(Path(folder), options.data, name, families, (outliers, fragments))
            cells = []
            for program in programs:
                scores = align_all(program, Path(folder), names).scores
                cells.append(f"{100 * np.mean([scores[name].pairs for name in names]):.1f}")
        print(f"| {outliers} | {fragments} | {' | '.join(cells)} |", flush=True)


def write_set(
    folder: Path, data: Path, name: str, families: dict[str, Records], added: tuple[int, int]
) -> None:
    """Write some references of a family, and these among outliers and fragments."""
    kept = sorted(random.Random(name).sample(sorted(families[name]), MEMBERS))
    draw = random.Random(f"{name} {added}")
    relatives = {one: plain(text) for one, text in read_alignment(data / "in" / name).items()}
    strangers = [
        plain(text) for other in families if other != name for text in families[other].values()
    ]
    found = {one: relatives[one] for one in kept}
    for index in range(added[0]):
        text = draw.choice(strangers)
        found[f"outlier{index}"] = "".join(draw.sample(text, len(text)))
    for index in range(added[1]):
        text = draw.choice(list(relatives.values()))
        size = max(12, int(len(text) * draw.uniform(*PIECES)))
        start = draw.randrange(max(1, len(text) - size + 1))
        found[f"fragment{index}"] = text[start : start + size]
    order = sorted(found)
    draw.shuffle(order)
    reference = {one: families[name][one] for one in kept}
    for kind, records in (("in", {one: found[one] for one in order}), ("ref", reference)):
        (folder / kind).mkdir(exist_ok=True)
        lines = [f">{one}\n{text}\n" for one, text in records.items()]
        (folder / kind / name).write_text("".join(lines))


def plain(text: str) -> str:
    """Return a row without gaps, in upper case."""
    return text.replace("-", "").replace(".", "").upper()
