"""Figures of docs/scale.md, on the cores of this machine: a part each."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from bench import scale_output, scale_store, scale_update

PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "store": scale_store.run,
    "update": scale_update.run,
    "output": scale_output.run,
}
"""Each prints lines of its own; the docstring of its module says what is measured."""


def add_command(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("scale", help="adding sequences, output, estimates: see --part")
    parser.add_argument("--part", action="append", choices=PARTS, help="default: all")
    parser.add_argument(
        "--data", type=Path, default=[], nargs="+", help="proteins, for update (random ones)"
    )
    parser.add_argument(
        "--stored", type=int, default=5_700_000, metavar="N", help="sequences of a store (5700000)"
    )
    parser.add_argument("--folder", type=Path, help="where that is kept for another time")
    parser.add_argument("--sequences", type=int, default=10_000, help="of the earlier run (10000)")
    parser.add_argument("--new", type=int, default=100, help="that are added (100)")
    parser.add_argument("--length", type=int, default=100, help="residues of a sequence (100)")
    parser.add_argument("--case", default="", help="only cases with these words")
    parser.add_argument("--write", type=int, default=2_000_000, help="pairs to write (2000000)")
    parser.add_argument("--rounds", type=int, default=1)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the figures of each part."""
    for name in options.part or PARTS:
        print(f"{name}:")
        PARTS[name](options)
