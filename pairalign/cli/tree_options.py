"""The options of ``pairalign distance`` and ``pairalign tree``."""

from __future__ import annotations

import argparse

from pairalign.base.choices import (
    DEFAULT_MEASURE,
    DEFAULT_METHOD,
    DEFAULT_TREE_MEASURE,
    DEFAULT_WINDOW,
    DISTANCE_SUFFIXES,
    MEASURE_SUMMARIES,
    SPARSE_SUFFIXES,
    TREE_METHODS,
    TREE_PROGRAMS,
    TREE_SUFFIXES,
)
from pairalign.cli.loading import later
from pairalign.cli.options import (
    WHOLE,
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
)
from pairalign.cli.resource_options import add_resources

_DECIDE_DISTANCES = (
    *("measure", "mode", "matrix", "match", "mismatch", "gap_open", "gap_extend"),
    *("free_ends", "end_gap_open", "end_gap_extend", "ties", "alphabet", "also"),
)
"""Options of ``tree`` that are of no use where IN has the distances already."""


_OF_ALL_PAIRS = ("measure", "strand", "commit_every")
"""Options of ``distance`` that are of no use where only pairs within a limit are kept."""


def add_distance_options(parser: argparse.ArgumentParser) -> None:
    """Give the parser of ``distance`` its description and options."""
    parser.description = "Align every pair of the sequences of IN and write how far apart they are."
    parser.set_defaults(run=later("pairalign.cli.trees", "run_distance"))
    add_sequences(parser)
    add_output(parser, {**DISTANCE_SUFFIXES, **SPARSE_SUFFIXES}, "phylip")
    _add_limits(parser)
    parser.add_argument(
        "--circular",
        action="store_true",
        help="genomes that begin anywhere: align each pair with one of the two rotated to where it "
        "scores most; of DNA that may be on either strand add --strand both",
    )
    parser.add_argument(
        "--similarity", action="store_true", help="write identities, 1 less the distances"
    )
    parser.add_argument(
        "--lower", action="store_true", help="PHYLIP: lower triangle instead of square"
    )
    parser.add_argument(
        "--strict-names", action="store_true", help="PHYLIP: names of ten characters"
    )
    add_path(
        parser,
        "--extend",
        metavar="NPY",
        help="distances of the first sequences, made with the same options, or a folder of their "
        "parts: align only pairs with another sequence, as --also names them",
    )
    add_strand(parser)
    add_path(parser, "--plot", metavar="FILE", help="heat map with a tree, .svg or .png")
    add_shard(parser)
    _add_common(parser, DEFAULT_MEASURE)
    parser.set_defaults(unset={name: parser.get_default(name) for name in _OF_ALL_PAIRS})


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "pairs within a limit", "of many short sequences, as .npz (SciPy's CSR), TSV or Parquet"
    )
    group.add_argument(
        "--max-drop",
        metavar="D",
        type=WHOLE,
        help="keep pairs with min(S(a,a), S(b,b)) - S(a,b) of at most D; S: the global score",
    )
    group.add_argument("--max-edits", metavar="K", type=WHOLE, help="keep pairs of at most K edits")


def add_tree_options(parser: argparse.ArgumentParser) -> None:
    """Give the parser of ``tree`` its description and options."""
    parser.description = "Make a guide tree: rooted, binary, with branch lengths, on one line."
    parser.set_defaults(run=later("pairalign.cli.trees", "run_tree"))
    add_path(
        parser,
        "input",
        metavar="IN",
        help="sequences as for distance, a distance matrix, or a folder of parts of distances",
    )
    add_output(parser, TREE_SUFFIXES, "newick")
    parser.add_argument(
        "--method", choices=TREE_METHODS, default=DEFAULT_METHOD, help="default: %(default)s"
    )
    parser.add_argument(
        "--for",
        dest="program",
        choices=[*TREE_PROGRAMS, "mafft"],
        help="write what this program reads, and make sure that it can read the names",
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=["sequences", *DISTANCE_SUFFIXES],
        help="what IN is; default: by its ending "
        f"({', '.join(ending for endings in DISTANCE_SUFFIXES.values() for ending in endings)}), "
        "else sequences",
    )
    add_path(parser, "--names", metavar="FASTA", help="the sequences of a matrix, for its names")
    add_path(
        parser,
        "--rename",
        metavar="TABLE",
        help="name the sequences s1, s2, ... in the tree, and write a table of these and the "
        "original names",
    )
    parser.set_defaults(shard=None)
    _add_common(parser, DEFAULT_TREE_MEASURE)
    parser.set_defaults(unset={name: parser.get_default(name) for name in _DECIDE_DISTANCES})


def _add_common(parser: argparse.ArgumentParser, measure: str) -> None:
    parser.epilog = _describe_measures()
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(input2=None, min_score=None, window=DEFAULT_WINDOW)
    parser.add_argument(
        "--measure", choices=list(MEASURE_SUMMARIES), default=measure, help="default: %(default)s"
    )
    add_report(parser)
    add_scoring(parser)
    add_input(parser)
    add_resume(parser)
    add_cluster(parser)
    add_resources(parser)


def _describe_measures() -> str:
    lines = [f"  {name:17} {summary}" for name, summary in MEASURE_SUMMARIES.items()]
    return "measures:\n" + "\n".join(lines)
