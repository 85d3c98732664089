"""The options of ``pairalign posterior``."""

from __future__ import annotations

import argparse

from pairalign.base.choices import POSTERIOR_SUFFIXES, POSTERIOR_THRESHOLD
from pairalign.cli.loading import later
from pairalign.cli.options import (
    add_input,
    add_output,
    add_resume,
    add_sequences,
    converter,
    parse_above_zero,
)
from pairalign.cli.resource_options import add_core_resources


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Compute for each pair of the sequences of IN how likely each two residues are to be "
        "aligned, by a pair HMM and a partition function; the sparse matrices go to OUT."
    )
    parser.set_defaults(run=later("pairalign.cli.posterior", "run_posterior"), input2=None)
    add_sequences(parser)
    add_output(parser, POSTERIOR_SUFFIXES, "tsv")
    parser.add_argument(
        "--threshold",
        metavar="P",
        type=converter(parse_above_zero, "a number above 0"),
        default=POSTERIOR_THRESHOLD,
        help="leave out posteriors below; from 0.001 to 1 (default: %(default)g)",
    )
    add_input(parser)
    add_core_resources(parser)
    add_resume(parser)
