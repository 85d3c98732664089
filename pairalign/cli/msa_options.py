"""The options of ``pairalign msa``."""

from __future__ import annotations

import argparse

from pairalign.base.choices import MSA_ORDERS, MSA_SUFFIXES
from pairalign.cli.loading import later
from pairalign.cli.options import (
    POSITIVE,
    SEQUENCE_FILE,
    add_input,
    add_output,
    add_path,
    add_resume,
    converter,
)
from pairalign.cli.resource_options import add_core_resources


def parse_seed(text: str) -> int:
    """Return what a generator starts from, 0 or more; ValueError otherwise."""
    seed = int(text)
    if seed < 0:
        raise ValueError
    return seed


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Align the sequences of IN over their whole lengths: a multiple alignment from the "
        "posteriors of pairs; more than 100 sequences are aligned in groups, which are joined. "
        "Stockholm and TSV have the confidence of residues and columns."
    )
    parser.set_defaults(run=later("pairalign.cli.msa", "run_msa"), input=None, input2=None)
    given = f"{SEQUENCE_FILE}; several: families, each aligned into a file of the folder OUT"
    add_path(parser, "inputs", metavar="IN", nargs="*", help=given)
    add_output(parser, MSA_SUFFIXES, "fasta")
    parser.add_argument(
        "--order",
        choices=MSA_ORDERS,
        default=MSA_ORDERS[0],
        help="of the rows: that of IN, or of the guide tree (default: %(default)s)",
    )
    add_path(
        parser,
        "--tree-in",
        metavar="NEWICK",
        help="align along this guide tree of the sequences of IN, ours or another program's",
    )
    add_path(
        parser, "--tree-out", metavar="NEWICK", help="write the guide tree that was aligned along"
    )
    add_path(
        parser,
        "--add",
        metavar="NEW",
        help="in place of IN: add these sequences to the alignment of --to, whose columns are kept",
    )
    add_path(
        parser,
        "--to",
        metavar="AFA",
        help="an alignment, ours or another program's (aligned FASTA), for --add",
    )
    add_path(
        parser,
        "--confidence-of",
        metavar="AFA",
        help="align nothing: write this alignment of the sequences of IN (aligned FASTA, ours or "
        "another program's) with its confidence",
    )
    parser.add_argument(
        "--partners",
        metavar="N",
        type=POSITIVE,
        help="confidence: compare each sequence with N others, drawn by chance (default: with all "
        "of up to 200 sequences, with 20 of more)",
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=converter(parse_seed, "a whole number, 0 or more"),
        default=0,
        help="what is drawn follows from it (default: %(default)s)",
    )
    add_input(parser)
    add_core_resources(parser)
    add_resume(parser)
