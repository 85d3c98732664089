"""The options of ``pairalign verify``."""

from __future__ import annotations

import argparse
from typing import Any

from pairalign.base.choices import MODES, READER_NAMES
from pairalign.cli.loading import later
from pairalign.cli.masks import add_masks
from pairalign.cli.options import (
    MATRICES,
    SEQUENCE_FILE,
    add_costs,
    add_end_gaps,
    add_input,
    add_output,
    add_path,
)
from pairalign.cli.resource_options import add_resources


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Check each alignment of a file, ours or another program's, against the sequences, score "
        "it, and say with --optimal how far it is from the best there is: a table with a line a "
        "record. The exit code is 1 if any record is illegal."
    )
    parser.set_defaults(run=later("pairalign.cli.verify", "run_verify"))
    add_path(
        parser,
        "alignments",
        metavar="ALIGNMENTS",
        help="the file to check, compressed or not; - is stdin",
    )
    add_path(parser, "input", metavar="SEQUENCES", help=f"the queries: {SEQUENCE_FILE}")
    add_path(parser, "input2", metavar="SEQUENCES2", nargs="?", help="the targets, if not in there")
    add_output(parser, ["tsv"], "tsv")
    parser.add_argument(
        "--from",
        dest="read_as",
        choices=READER_NAMES,
        help="format of ALIGNMENTS; default: by the ending of its name",
    )
    parser.add_argument(
        "--columns",
        metavar="NAME,NAME...",
        default="",
        help="columns of blast6, by our names, BLAST's or MMseqs2's; _ is any that is not checked",
    )
    group = parser.add_argument_group("what is checked")
    group.add_argument(
        "--optimal",
        action="store_true",
        help="align the pairs, and say how far each record is from the optimum",
    )
    group.add_argument(
        "--ignore-scores",
        action="store_true",
        help="the file's scores are of another scoring: do not compare them",
    )
    group.add_argument(
        "--illegal",
        action="store_true",
        help="write only records that are illegal or, with --optimal, not optimal",
    )
    _add_scoring(parser)
    add_input(parser)
    add_resources(parser)


def _add_scoring(parser: argparse.ArgumentParser) -> None:
    """Add what records are scored with; what is not given is as the file says, or any."""
    scoring = parser.add_argument_group(
        "scoring", "default: BLOSUM62 and gaps 11/1 for proteins, 2/-3 and gaps 5/2 for DNA"
    )
    scoring.add_argument(
        "--mode",
        choices=MODES,
        help="which spans are legal, and what optimal means; default: what the file says, or any",
    )
    matrix: Any = scoring.add_argument(
        "--matrix",
        metavar="NAME|FILE",
        help="substitution matrix: Biopython's name, or NCBI format",
    )
    matrix.complete = MATRICES
    add_costs(scoring)
    add_end_gaps(scoring)
    add_masks(scoring, "what masked residues were found by; of effect with --mask-scores alone")
