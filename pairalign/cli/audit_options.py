"""The options of ``pairalign audit``."""

from __future__ import annotations

import argparse

from pairalign.base.choices import GROUP_SUFFIXES
from pairalign.cli.kept_options import add_thresholds, describe_thresholds
from pairalign.cli.loading import later
from pairalign.cli.options import SEQUENCE_FILE, add_input, add_path, add_scoring, add_strand
from pairalign.cli.resource_options import add_resources

ACROSS = ("all", "none")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "List each pair of two folds or clusters that reaches the least identity (and coverage), "
        "and each member of a cluster that does not reach it with its representative. The exit "
        "code is 1 if there is any."
    )
    parser.epilog = describe_thresholds()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(
        run=later("pairalign.cli.audit", "run_audit"), format="csv", default_format="csv"
    )
    add_path(
        parser,
        "groups",
        metavar="GROUPS",
        help="folds as CSV with a header line, .clstr, .uc, a table of representatives and members "
        "(MMseqs2, DIAMOND), or FASTA: the training set, IN being the test set",
    )
    add_path(parser, "input", metavar="IN", help=f"the sequences: {SEQUENCE_FILE}")
    add_path(
        parser,
        "-o",
        "--output",
        metavar="OUT",
        help="the violations as CSV; - for stdout, which is the default unless that is a terminal",
    )
    parser.add_argument(
        "--from",
        dest="read_as",
        choices=[*GROUP_SUFFIXES, "fasta"],
        help="format of GROUPS; default: by the ending of its name",
    )
    group = parser.add_argument_group("what is promised")
    add_thresholds(
        group,
        min_identity="what no pair of two groups reaches, and members do",
        coverage_of="aligned",
        required=True,
        identity_of="full",
    )
    group.add_argument(
        "--across",
        choices=ACROSS,
        default=ACROSS[0],
        help="pairs of two groups that are looked at; none: members alone (default: %(default)s)",
    )
    add_strand(group)
    add_scoring(parser)
    add_input(parser)
    add_resources(parser)
