"""Options of what may be used for the work, and of what is said about it."""

from __future__ import annotations

import argparse
from typing import Any

from pairalign.base.choices import SUMMARIES
from pairalign.cli.options import DEVICE, POSITIVE, SIZE, add_path
from pairalign.engines.kernels import AUTO, kernel_names


def add_resources(parser: argparse.ArgumentParser) -> None:
    """Add what may be used for the work: devices, kernels, threads, memory; and ``--quiet``.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    """
    group = parser.add_argument_group("resources")
    group.add_argument(
        "--device", metavar="auto|cpu|cuda[:0,1]|opencl[:0,1]", type=DEVICE, default="auto"
    )
    group.add_argument(
        "--kernel",
        metavar="auto|NAME",
        choices=kernel_names(),
        default=AUTO,
        help="the way to align, see: pairalign devices --kernels (default: %(default)s)",
    )
    group.add_argument("-t", "--threads", metavar="N", type=POSITIVE, help="default: all cores")
    group.add_argument(
        "--memory",
        metavar="SIZE",
        type=SIZE,
        help="what may be held in memory, such as 4G; default: half of what is free",
    )
    add_messages(group, "no progress, no summary, no warnings").add_argument(
        "--progress",
        action="store_true",
        help="a line every 30 s on how far it is, as in a log, also on a terminal instead of a bar",
    )


def add_messages(group: Any, quiet: str) -> Any:
    """Add ``--quiet``, ``--verbose``, ``--summary`` and ``--log``.

    Parameters
    ----------
    group : argparse.ArgumentParser, or a group of one
        Of a subcommand.
    quiet : str
        What ``--quiet`` leaves out, for its help.

    Returns
    -------
    mutually exclusive group
        For what cannot be with ``--quiet``.
    """
    loudness = group.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help=quiet)
    group.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="say also what engines do, and what time and memory the run takes",
    )
    group.add_argument(
        "--summary",
        choices=SUMMARIES,
        default=SUMMARIES[0],
        help="what is said in the end: lines, or a JSON object on one line (default: %(default)s)",
    )
    add_path(
        group, "--log", metavar="FILE", help="append what is said to FILE as well, with the time"
    )
    return loudness


def add_core_resources(parser: argparse.ArgumentParser) -> None:
    """Add ``--device``, ``--threads``, ``--memory`` and ``--quiet``, where there is one kernel.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        Of a subcommand.
    """
    group = parser.add_argument_group("resources")
    group.add_argument("--device", metavar="auto|cpu|cuda[:0]", type=DEVICE, default="auto")
    group.add_argument("-t", "--threads", metavar="N", type=POSITIVE, help="default: all cores")
    group.add_argument(
        "--memory",
        metavar="SIZE",
        type=SIZE,
        help="what may be held in memory, such as 4G; default: half of what is free",
    )
    add_messages(group, "no progress, no summary")
    parser.set_defaults(progress=False)
