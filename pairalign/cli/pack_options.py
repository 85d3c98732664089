"""The options of ``pairalign pack``."""

from __future__ import annotations

import argparse

from pairalign.cli.loading import later
from pairalign.cli.options import add_input, add_output, add_sequences
from pairalign.cli.resource_options import add_messages


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Write the sequences of IN into a store, which every command takes in the place of IN: it "
        "is opened at once, and only what is needed of it is read."
    )
    parser.set_defaults(run=later("pairalign.cli.pack", "run_pack"), input2=None)
    add_sequences(parser)
    add_output(parser, ("pairset",), "pairset")
    add_input(parser)
    add_messages(parser, "no summary")
