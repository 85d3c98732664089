"""The options of ``pairalign cluster``."""

from __future__ import annotations

import argparse

from pairalign.base.choices import (
    CLUSTER_ORDERS,
    CLUSTER_SUFFIXES,
    EDGE_RANKS,
    LINKAGES,
    NETWORK_NAMES,
    REPRESENTATIVES,
)
from pairalign.cli.kept_options import add_hits, add_thresholds, describe_thresholds
from pairalign.cli.loading import later
from pairalign.cli.options import (
    add_input,
    add_output,
    add_path,
    add_report,
    add_scoring,
    add_sequences,
    add_strand,
)
from pairalign.cli.resource_options import add_resources


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Align every pair of the sequences of IN and put those that are similar enough together. "
        "The order of IN makes no difference."
    )
    parser.epilog = describe_thresholds()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(run=later("pairalign.cli.clusters", "run_cluster"), input2=None)
    add_sequences(parser)
    add_output(parser, (*CLUSTER_SUFFIXES, *NETWORK_NAMES), "tsv")
    add_path(
        parser, "--representatives", metavar="FASTA", help="write the representatives there as well"
    )
    group = parser.add_argument_group("clusters")
    add_thresholds(
        group,
        min_identity="what pairs must attain to be similar enough",
        coverage_of="aligned",
        required=True,
    )
    group.add_argument(
        "--linkage",
        choices=LINKAGES,
        default=LINKAGES[0],
        help="greedy: similar to a representative; single: connected; complete: all pairs similar "
        "enough; average: on average (default: %(default)s)",
    )
    group.add_argument(
        "--order",
        choices=CLUSTER_ORDERS,
        default=CLUSTER_ORDERS[0],
        help="greedy: what becomes a representative first, the longest or what was seen most "
        "often, by ;size= in headers (default: %(default)s)",
    )
    group.add_argument(
        "--representative",
        choices=REPRESENTATIVES,
        default=REPRESENTATIVES[0],
        help="what stands for a cluster: its longest sequence, or the one most similar to the "
        "others (default: %(default)s)",
    )
    add_path(
        group,
        "--extend",
        metavar="CLUSTERS",
        help="--linkage single: clusters of some of the sequences, made with the same options, as "
        "tsv, .uc or .clstr: align only pairs with another sequence",
    )
    add_report(parser)
    add_hits(group, "networks: only pairs that are among the best K of either sequence", EDGE_RANKS)
    add_strand(group)
    add_scoring(parser)
    add_input(parser)
    add_resources(parser)
