"""The options of ``pairalign split``."""

from __future__ import annotations

import argparse

from pairalign.cli.kept_options import add_thresholds, describe_thresholds
from pairalign.cli.loading import later
from pairalign.cli.options import (
    POSITIVE,
    SHARE,
    add_input,
    add_path,
    add_report,
    add_scoring,
    add_sequences,
    add_strand,
    converter,
)
from pairalign.cli.resource_options import add_resources

_SEED = converter(int, "a whole number")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Split the sequences of IN into folds, or into train, val and test, so that no pair across "
        "folds reaches the least identity (and coverage). A pair that just reaches it stays "
        "together. Sequences are removed where a cluster is larger than a fold."
    )
    parser.epilog = describe_thresholds()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(
        run=later("pairalign.cli.split", "run_split_command"),
        input2=None,
        format="csv",
        default_format="csv",
    )
    add_sequences(parser)
    add_path(
        parser,
        "-o",
        "--output",
        metavar="OUT",
        help="the folds as CSV; - for stdout, which is the default unless that is a terminal",
    )
    add_path(parser, "--removed", metavar="CSV", help="write there what was removed")
    add_report(parser)
    _add_folds(parser)
    _add_labels(parser)
    add_scoring(parser)
    add_input(parser)
    add_resources(parser)


def _add_folds(parser: argparse.ArgumentParser) -> None:
    """Add what folds are made by."""
    group = parser.add_argument_group("folds")
    add_thresholds(
        group,
        min_identity="what no pair across folds reaches",
        coverage_of="aligned",
        required=True,
        identity_of="full",
    )
    add_strand(group)
    group.add_argument("--folds", metavar="N", type=POSITIVE, help="equal folds (default: 5)")
    group.add_argument(
        "--test", metavar="X", type=SHARE, help="share of the test set, instead of folds"
    )
    group.add_argument("--val", metavar="X", type=SHARE, help="share of the validation set")
    group.add_argument(
        "--tolerance",
        metavar="X",
        type=SHARE,
        default="0.05",
        help="by how much of its share a fold may be too large (default: %(default)s)",
    )
    group.add_argument(
        "--no-remove",
        action="store_true",
        help="remove nothing: an error where a cluster fits into no fold",
    )
    group.add_argument(
        "--nearest-from",
        metavar="X",
        type=SHARE,
        help="least identity at which the nearest sequence of another fold is looked for (default: "
        "0.1 below --min-identity)",
    )
    group.add_argument(
        "--seed", metavar="N", type=_SEED, default=0, help="of ties (default: %(default)s)"
    )


def _add_labels(parser: argparse.ArgumentParser) -> None:
    """Add what is known of the sequences beside their residues."""
    values = parser.add_argument_group("labels")
    values.add_argument(
        "--label",
        metavar="NAME",
        help="give folds like shares of each label: what follows NAME= in headers",
    )
    values.add_argument(
        "--priority",
        metavar="NAME",
        help="numbers of at least 0; removing a sequence costs 1 more than its own",
    )
    add_path(
        values,
        "--table",
        metavar="FILE",
        help="CSV or TSV with columns NAME instead of headers; names are in its first column",
    )
