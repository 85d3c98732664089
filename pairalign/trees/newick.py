"""Newick: a rooted binary tree with branch lengths on one line, names without quotes.

That is what every program reads as a guide tree. Names are written as they are or not at all: a
character that means something in Newick, and what a program is known to stumble over, are errors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairalign.base.error_types import FormatError, shown_name
from pairalign.base.spelling import spelled
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree

# Brackets, separators, quotes, comments, Unicode's blanks.
_SPECIAL = re.compile(r"[()\[\]{},:;'\"\s]")


@dataclass(frozen=True)
class Program:
    """What a program that reads Newick guide trees can take as names.

    Attributes
    ----------
    longest : int or None
        Characters of a name that it reads.
    whole_header : bool
        Whether it compares names with whole headers rather than their first words.
    """

    name: str
    longest: int | None
    whole_header: bool = False


PROGRAMS = {
    program.name: program
    for program in (
        Program("clustalo", 127),
        Program("famsa", None),
        Program("muscle", 1022, whole_header=True),
    )
}
"""Found by trying: Clustal Omega 1.2.4, FAMSA 2.5.2, MUSCLE 3.8.1551."""


def to_newick(tree: GuideTree, program: str | None = None) -> str:
    """Write a tree as Newick, with a line end.

    Parameters
    ----------
    program : str, optional
        One of `PROGRAMS`, for which names are checked, too.

    Raises
    ------
    FormatError
        A name that cannot be written without changing it, or an unknown program.
    """
    check_names(tree.names, program)
    return newick_text(tree, tree.names) + "\n"


def newick_text(tree: GuideTree, names: Sequence[str]) -> str:
    """Return a tree as Newick, with names that stand for its own.

    Parameters
    ----------
    tree : GuideTree
    names : sequence of str
        Of its leaves, as they are written.
    """
    parts: list[str] = []
    separator = ""
    for node, length, down in tree.walk():
        if down:
            parts.append(separator)
            separator = ""
        if node < len(tree):
            parts.append(f"{names[node]}:{format_length(length)}")
            separator = ","
        elif down:
            parts.append("(")
        else:
            parts.append(")" if node == tree.root else f"):{format_length(length)}")
            separator = ","
    return "".join(parts) + ";"


def check_names(names: list[str], program: str | None = None, source: str | None = None) -> None:
    """Raise FormatError for a name that Newick, or a program that reads it, cannot hold.

    Messages begin with `source`, the file that the names are from.
    """
    prefix = "" if source is None else f"{source}: "
    if program is not None and program not in PROGRAMS:
        raise FormatError(f"unknown program '{program}', expected one of {', '.join(PROGRAMS)}")
    longest = PROGRAMS[program].longest if program is not None else None
    for index, name in enumerate(names):
        match = _SPECIAL.search(name)
        if match:
            raise FormatError(
                f"{prefix}sequence {index + 1} {shown_name(name)}: Newick cannot hold "
                f"{match[0]!r} in a name "
                "that is not quoted, and programs do not read quotes; write short names and a "
                f"table of them ({spelled('rename')}), or rows for MAFFT, which have no names "
                f"({spelled('program', 'mafft', '--for')})"
            )
        if longest is not None and len(name) > longest:
            raise FormatError(
                f"{prefix}sequence {index + 1} {shown_name(name)}: a name of {len(name)} "
                "characters, of "
                f"which {program} reads {longest}; shorten it in the FASTA file"
            )


def check_headers(sequences: SequenceSet, program: str) -> None:
    """Raise FormatError for headers that a program would not find in a tree of first words."""
    if not PROGRAMS[program].whole_header:
        return
    for index, (name, header) in enumerate(
        zip(sequences.names, sequences.descriptions, strict=True)
    ):
        if header != name:
            raise FormatError(
                f"{sequences.source}: {sequences.record(index)}: {program} looks for the whole "
                f"header in the tree, {header[:60]!r}, and a tree has no blanks in names; cut the "
                "headers (sed '/^>/s/[[:space:]].*//' IN) and give that file to both"
            )


def format_length(length: float) -> str:
    """Write a branch length with up to 9 digits and no exponent, which not all programs read."""
    return np.format_float_positional(length, precision=9, unique=True, fractional=False, trim="0")
