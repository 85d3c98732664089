"""The options of ``pairalign rotate``."""

from __future__ import annotations

import argparse

from pairalign.cli.loading import later
from pairalign.cli.options import (
    add_input,
    add_output,
    add_scoring,
    add_sequences,
    add_strand,
)
from pairalign.cli.resource_options import add_resources


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Rotate the circular sequences of IN so that all begin where one of them does: genomes of "
        "mitochondria, plasmids and phages, which files begin anywhere."
    )
    parser.set_defaults(run=later("pairalign.cli.rotate", "run_rotate"), input2=None)
    add_sequences(parser)
    add_output(parser, ("fasta",), "fasta")
    parser.add_argument(
        "--to",
        metavar="NAME[:N]",
        required=True,
        help="begin where that sequence begins, or at its residue N",
    )
    add_strand(parser)
    add_scoring(parser)
    add_input(parser)
    add_resources(parser)
