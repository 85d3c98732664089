"""Groups of options for which pairs are kept: thresholds and hits."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from pairalign.base.choices import COVERAGES, IDENTITIES
from pairalign.cli.options import POSITIVE, SHARE


def add_thresholds(
    group: argparse._ArgumentGroup,
    *,
    min_identity: str,
    coverage_of: str,
    required: bool = False,
    identity_of: str = "columns",
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
    identity_of : str
        The identity that is meant by default.
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
        default=identity_of,
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


def add_hits(group: argparse._ArgumentGroup, hits: str, ranks: Iterable[str]) -> None:
    """Add ``--max-hits`` and ``--rank``.

    Parameters
    ----------
    group : argparse._ArgumentGroup
    hits : str
        What ``--max-hits K`` keeps, for its help.
    ranks : iterable of str
        What hits can be ranked by; the first is the default.
    """
    group.add_argument("-k", "--max-hits", metavar="K", type=POSITIVE, help=hits)
    group.add_argument(
        "--rank",
        choices=list(ranks),
        help=f"what the best hits are the best by (default: {next(iter(ranks))})",
    )
