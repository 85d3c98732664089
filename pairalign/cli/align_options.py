"""The options of ``pairalign align``."""

from __future__ import annotations

import argparse

from pairalign.base.choices import (
    DEFAULT_WINDOW,
    FORMAT_NAMES,
    LIST_WINDOW,
    OBJECTIVES,
    ORIENTS,
    RANKS,
    WEIGHTS,
)
from pairalign.cli.kept_options import add_hits, add_thresholds, describe_thresholds
from pairalign.cli.loading import later
from pairalign.cli.masks import add_masks
from pairalign.cli.options import (
    NUMBER,
    POSITIVE,
    add_cluster,
    add_input,
    add_output,
    add_path,
    add_report,
    add_resume,
    add_scoring,
    add_sequences,
    add_shard,
    add_strand,
    add_tags,
    converter,
    parse_above_zero,
)
from pairalign.cli.resource_options import add_resources

_POSITIVE_NUMBER = converter(parse_above_zero, "a number above 0, such as 0.001")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Align every pair of the sequences of IN, or every sequence of IN with every one of IN2."
    )
    parser.epilog = (
        "A gap of k residues costs gap-open + (k-1) * gap-extend: BLAST's 11/1 is 12/1 here.\n\n"
        + describe_thresholds()
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(run=later("pairalign.cli.align", "run_align"))
    add_sequences(parser)
    add_path(parser, "input2", metavar="IN2", nargs="?", help="second set")
    add_output(parser, FORMAT_NAMES)
    _add_table(parser)
    add_scoring(parser)
    _add_results(parser)
    add_input(parser)
    add_shard(parser)
    add_resume(parser)
    add_cluster(parser)
    add_resources(parser)


def _add_results(parser: argparse.ArgumentParser) -> None:
    """Add which pairs are aligned, how, and which of them are kept."""
    results = parser.add_argument_group("results")
    add_strand(results)
    results.add_argument(
        "--objective",
        choices=OBJECTIVES,
        default=OBJECTIVES[0],
        help="mea: the global alignment of each pair with the highest expected accuracy, by "
        "posteriors; --min-score and thresholds are for its score and columns; PAF, SAM, TSV and "
        "Stockholm show how sure each column is (default: %(default)s)",
    )
    results.add_argument(
        "--orient",
        choices=ORIENTS,
        default=ORIENTS[0],
        help="which sequence of a pair is its query: the earlier in the input, or canonical: the "
        "longer one, of equals the one whose residues come first; then the file does not depend "
        "on the order of the input (default: %(default)s)",
    )
    results.add_argument("--min-score", metavar="N", type=NUMBER, help="leave out lower scores")
    add_thresholds(
        results, min_identity="leave out pairs with a lower identity", coverage_of="both"
    )
    _add_statistics(results)
    results.add_argument(
        "--hsps",
        metavar="N",
        type=POSITIVE,
        default=1,
        help="local mode: up to N alignments of a pair, best first, no two of which put the same "
        "residues together (default: 1)",
    )
    add_hits(
        results,
        "the K best hits of each query, query by query, best first; of one set each pair counts "
        "for both sequences",
        RANKS,
    )
    results.add_argument(
        "--weight",
        choices=WEIGHTS,
        default=WEIGHTS[0],
        help="abc, gexf and npz: the weight of an edge (%(default)s); mcxload takes the negative "
        "logarithm of evalue with --stream-neg-log10",
    )
    add_report(results)
    results.add_argument("--score-only", action="store_true", help="scores without alignments")
    results.add_argument(
        "--window",
        metavar="N",
        type=POSITIVE,
        help="rows and columns of the windows of the pair matrix, which set the order of the "
        f"output (default {DEFAULT_WINDOW}; with --pairs {LIST_WINDOW})",
    )
    add_path(
        results,
        "--pairs",
        metavar="FILE",
        help="align just these pairs: two names a line, or PAF, .gz or not; of IN, or the first of "
        "IN and the second of IN2; written in the order of windows, not of FILE",
    )


def _add_statistics(results: argparse._ArgumentGroup) -> None:
    """Add what E-values are worked out with, and the largest."""
    results.add_argument(
        "--max-evalue",
        metavar="X",
        type=_POSITIVE_NUMBER,
        help="leave out pairs with a larger E-value, where it is known (local mode)",
    )
    results.add_argument(
        "--db-size",
        metavar="RESIDUES",
        type=POSITIVE,
        help="residues of the database, for E-values; default: those of the set searched in",
    )
    results.add_argument(
        "--search-space",
        metavar="CELLS",
        type=_POSITIVE_NUMBER,
        help="cells of the search space of every query, taken as they are, so that E-values do not "
        "depend on the sets",
    )
    results.add_argument(
        "--comp-based-stats",
        type=int,
        choices=(0, 1),
        help="1: E-values by the composition of each pair, as BLAST's mode 1; 0: whatever the "
        "composition (1 for proteins, 0 for DNA)",
    )
    add_masks(
        results,
        "bits and E-values of alignments in which repeats of few residues (tantan) or segments of "
        "few kinds of residues (seg) add nothing to the score; scores and alignments stay",
    )


def _add_table(parser: argparse.ArgumentParser) -> None:
    """Add what tables of alignments show."""
    parser.add_argument(
        "--columns",
        metavar="NAME,NAME...",
        help="columns of tsv, blast6 and blast7, by our names or BLAST's: query,target,evalue,qseq",
    )
    parser.add_argument(
        "--both-ways",
        action="store_true",
        help="each pair a second time with query and target exchanged (paf, tsv, blast6, blast7)",
    )
    add_tags(parser)
