"""Thresholds of identity and coverage on the command line, the same for each command."""

from __future__ import annotations

import argparse

from pairalign.arguments import parse_share
from pairalign.choices import COVERAGES, IDENTITIES
from pairalign.cli.options import converter
from pairalign.thresholds import PairThresholds, make_pair_thresholds

SHARE = converter(parse_share, "a number from 0 to 1, or with %, such as 0.97 or 97%")


def add_thresholds(
    group: argparse._ArgumentGroup, *, min_identity: str, coverage_of: str, required: bool = False
) -> None:
    """Add the options that `thresholds_of` reads, and ``--explain``.

    Parameters
    ----------
    group : argparse._ArgumentGroup
    min_identity : str
        What the command does with ``--min-identity``, for its help.
    coverage_of : str
        The coverage that is meant by default.
    required : bool
        Whether there must be an identity.
    """
    group.add_argument(
        "--min-identity",
        metavar="X",
        type=SHARE,
        required=required,
        help=f"{min_identity}, such as 0.97 or 97%%",
    )
    group.add_argument(
        "--identity-of",
        choices=list(IDENTITIES),
        default="columns",
        help="what the identity is, see below (default: %(default)s)",
    )
    group.add_argument(
        "--min-coverage",
        metavar="X",
        type=SHARE,
        help="the same of coverage",
    )
    group.add_argument(
        "--coverage-of",
        choices=list(COVERAGES),
        default=coverage_of,
        help="what the coverage is, see below (default: %(default)s)",
    )
    group.add_argument(
        "--explain",
        action="store_true",
        help="say on stderr how many pairs each step of the thresholds has dropped",
    )


def describe_thresholds() -> str:
    """Return what identities and coverages are, for the end of a command's help."""
    lines = []
    for title, known in (("identities", IDENTITIES), ("coverages", COVERAGES)):
        lines += [f"{title}:", *(f"  {name:9} {summary}" for name, summary in known.items())]
    return "\n".join(lines)


def thresholds_of(options: argparse.Namespace) -> PairThresholds:
    """Return the thresholds that were asked for."""
    return make_pair_thresholds(
        options.min_identity, options.identity_of, options.min_coverage, options.coverage_of
    )
