"""The command ``pairalign help``."""

from __future__ import annotations

import argparse

from pairalign.cli.program import COMMANDS, build_parser


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = "Show the help of a command, or of the program."
    parser.add_argument(
        "topic", metavar="COMMAND", nargs="?", choices=[command.name for command in COMMANDS]
    )
    parser.set_defaults(run=_help)


def _help(options: argparse.Namespace) -> None:
    words = [] if options.topic is None else [options.topic]
    build_parser(words).parse_args([*words, "--help"])
