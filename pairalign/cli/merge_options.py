"""The options of ``pairalign merge``."""

from __future__ import annotations

import argparse

from pairalign.base.choices import DISTANCE_SUFFIXES
from pairalign.cli.loading import later
from pairalign.cli.options import PATH, POSITIVE, add_path
from pairalign.cli.resource_options import add_messages


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Put the parts in the folder PARTS together, which commands with --shard K/N have written: "
        "the bytes of a single run."
    )
    parser.set_defaults(run=later("pairalign.cli.merge", "run_merge"))
    parser.add_argument("parts", metavar="PARTS", type=PATH, help="the folder with the parts")
    add_path(parser, "-o", "--output", metavar="OUT", help="file, or - for stdout; .gz compresses")
    parser.add_argument(
        "--format",
        choices=list(DISTANCE_SUFFIXES),
        help="of distances; default: by the ending of OUT's name",
    )
    parser.add_argument(
        "--plan", action="store_true", help="only print the commands that make missing parts"
    )
    parser.add_argument("-t", "--threads", metavar="N", type=POSITIVE, help="default: all cores")
    add_messages(parser, "no summary")
