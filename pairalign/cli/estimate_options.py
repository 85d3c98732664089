"""The options of ``pairalign estimate``."""

from __future__ import annotations

import argparse

from pairalign.cli import align_options
from pairalign.cli.loading import later
from pairalign.cli.options import NUMBER, POSITIVE


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options: those of ``align``, and its own."""
    align_options.add_options(parser)
    parser.description = (
        "Say what a run of align with these options would take on some devices: pairs, cells, "
        "hours, bytes and cost. Some pairs are aligned here to see what passes and how long their "
        "text is; nothing is written."
    )
    parser.set_defaults(run=later("pairalign.cli.estimate", "run_estimate"))
    group = parser.add_argument_group("estimate")
    group.add_argument(
        "--devices",
        metavar="KIND[:N]",
        default="H200",
        help="what it would run on: H200, H200:8, core:16 (default: %(default)s)",
    )
    group.add_argument(
        "--sample",
        metavar="N",
        type=POSITIVE,
        default=20_000,
        help="pairs that are aligned here (default: %(default)s)",
    )
    group.add_argument("--price", metavar="X", type=NUMBER, help="of an hour of one device")
