"""The options of ``pairalign update``."""

from __future__ import annotations

import argparse

from pairalign.cli.loading import later
from pairalign.cli.options import PATH, add_path
from pairalign.cli.resource_options import add_resources


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Add sequences to a run of align: only pairs with a new sequence are aligned, and the "
        "result has the bytes of a run of all sequences. PARTS is the folder of the run, made with "
        "align -o PARTS --shard 1/1 or any other number of parts."
    )
    parser.set_defaults(run=later("pairalign.cli.update", "run_update"))
    parser.add_argument("parts", metavar="PARTS", type=PATH, help="the folder with the parts")
    parser.add_argument(
        "new", metavar="NEW", nargs="+", type=PATH, help="files of sequences, which come last"
    )
    add_path(
        parser,
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="file, or - for stdout; .gz compresses; with a / at the end a folder of one part, to "
        "which more can be added",
    )
    add_resources(parser)
