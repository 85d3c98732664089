"""Trees as text: Newick, also read, NEXUS, MAFFT's rows, and a drawing.

Newick is a rooted binary tree with branch lengths on one line, names without quotes: what every
program reads as a guide tree. Names are written as they are or not at all: a
character that means something in Newick, and what a program is known to stumble over, are errors.
"""

from __future__ import annotations

import io
import logging
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.base.error_types import FormatError, shown_name
from pairalign.base.packages import check_biopython
from pairalign.base.spelling import spelled
from pairalign.sequences.fasta_records import read_text
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree

if TYPE_CHECKING:
    from Bio.Phylo.BaseTree import Clade

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


_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9.]*")


def to_nexus(tree: GuideTree) -> str:
    """Write a rooted tree for FigTree and others: names, and the tree as Newick of their numbers.

    A name may be anything: one that has more than digits and Latin characters is in quotes, for
    readers take an underscore without them for a blank; a quote in it is doubled.

    References
    ----------
    Maddison, Swofford and Maddison: NEXUS: an extensible file format for systematic information.
    Systematic Biology 46 (1997), 590-621.
    """
    names = [_quoted(name) for name in tree.names]
    numbers = [str(number) for number in range(1, len(names) + 1)]
    numbered = [f"    {number} {name}" for number, name in zip(numbers, names, strict=True)]
    lines = [
        "#NEXUS",
        "begin taxa;",
        f"  dimensions ntax={len(names)};",
        "  taxlabels",
        *(f"    {name}" for name in names),
        "  ;",
        "end;",
        "begin trees;",
        "  translate",
        ",\n".join(numbered),
        "  ;",
        f"  tree {tree.method} = [&R] {newick_text(tree, numbers)}",
        "end;",
    ]
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def to_mafft(tree: GuideTree) -> str:
    """Write the merges of a tree as MAFFT's ``--treein`` reads them: ``i j length_i length_j``.

    One line a merge: two clusters i < j and the lengths of the branches to them. Clusters are known
    by their first sequence, counted from 1 in the order of the input; the merged one keeps i.
    """
    first = tree.first_leaves() + 1
    rows = (
        f"{first[i]} {first[j]} {format_length(left)} {format_length(right)}\n"
        for (i, j), (left, right) in zip(tree.children, tree.lengths, strict=True)
    )
    return "".join(rows)


def to_ascii(tree: GuideTree, width: int = 100) -> str:
    """Draw a tree from left to right; branches are to scale, at least one column each.

    Parameters
    ----------
    width : int
        Columns of the drawing without names; more where a tree has more levels than that.
    """
    count = len(tree)
    depths = tree.depths()
    levels = np.zeros(len(depths), np.int64)
    for merge in range(count - 2, -1, -1):
        levels[tree.children[merge]] = levels[count + merge] + 1
    # Two columns a level at least, the rest is shared out by length.
    scale = max(width - 2 * int(levels.max()), 0) / max(float(depths.max()), 1e-300)
    columns = 2 * levels + np.rint(depths * scale).astype(np.int64)
    rows = np.zeros(len(depths), np.int64)
    rows[tree.leaves()] = 2 * np.arange(count)
    for merge, pair in enumerate(tree.children):
        rows[count + merge] = rows[pair].sum() // 2
    canvas = np.full((2 * count - 1, int(columns.max()) + 1), " ")
    for merge, pair in enumerate(tree.children):
        column = columns[count + merge]
        top, bottom = rows[pair]
        canvas[top + 1 : bottom, column] = "|"
        for child, corner in zip(pair, "/\\", strict=True):
            canvas[rows[child], column] = corner
            canvas[rows[child], column + 1 : columns[child] + 1] = "-"
    lines = ["".join(line).rstrip() for line in canvas]
    for leaf, name in enumerate(tree.names):
        lines[rows[leaf]] += f" {name}"
    return "\n".join(lines) + "\n"


log = logging.getLogger("pairalign")

_UNKNOWN_LENGTH = 1.0


def read_newick(path: str | os.PathLike[str], names: Sequence[str]) -> GuideTree:
    """Read a guide tree of known sequences.

    Parameters
    ----------
    path : str or path
        Newick, one tree; ``-`` is standard input.
    names : sequence of str
        Of the sequences; each is a leaf, and all leaves are among them.

    Returns
    -------
    GuideTree
        With method ``"read"``. A node with more than two children, such as the root of an unrooted
        tree, becomes several with branches of 0 between them, in the order of the file. Where no
        branch has a length, all are 1; otherwise those that lack one are 0. Negative ones, which
        neighbour joining makes, are 0, with a warning.

    Raises
    ------
    FormatError
        The file is no Newick, or its leaves are not the sequences; the message names one.
    FastaError
        The file cannot be read.
    """
    text, source = read_text(path, "Newick")
    root = _parse(text.decode("utf-8", "replace"), source)
    leaves = _leaves(root)
    _check_leaves([leaf.name for leaf in leaves], names, source)
    builder = _Builder(list(names), source)
    tree = builder.build(root)
    if builder.negative:
        log.warning("%s: %d branches of negative length are read as 0", source, builder.negative)
    return tree


def _parse(text: str, source: str) -> Clade:
    if text.lstrip()[:6].upper() == "#NEXUS":
        raise FormatError(f"{source}: NEXUS, expected one tree in Newick format")
    check_biopython(f"{source}: a tree that is read")
    from Bio.Phylo import NewickIO

    make: Any = NewickIO.Parser  # untyped
    parser = make(io.StringIO(text))
    try:
        trees = list(parser.parse())
    except (NewickIO.NewickError, ValueError, AttributeError) as error:
        raise FormatError(f"{source}: no tree in Newick format: {error}") from error
    if len(trees) != 1:
        raise FormatError(f"{source}: {len(trees)} trees, expected one in Newick format")
    root: Clade = trees[0].root
    return root


def _leaves(root: Clade) -> list[Any]:
    """Return the leaves; without recursion, as chains may be long."""
    leaves, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if node.clades:
            waiting += node.clades
        else:
            leaves.append(node)
    return leaves


def _check_leaves(leaves: list[str | None], names: Sequence[str], source: str) -> None:
    name_set, seen = set(names), set()
    for leaf in leaves:
        if leaf is None or leaf not in name_set:
            shown = "a leaf without a name" if leaf is None else f"leaf {shown_name(leaf)}"
            raise FormatError(f"{source}: {shown} is not among the sequences")
        if leaf in seen:
            raise FormatError(f"{source}: leaf {shown_name(leaf)} is there twice")
        seen.add(leaf)
    for name in names:
        if name not in seen:
            raise FormatError(f"{source}: no leaf {shown_name(name)}, which is among the sequences")


class _Builder:
    """Makes merges of clades, the deepest first."""

    def __init__(self, names: list[str], source: str) -> None:
        self._names, self._source = names, source
        self._place = {name: index for index, name in enumerate(names)}
        self._children: list[tuple[int, int]] = []
        self._lengths: list[tuple[float, float]] = []
        self._heights = [0.0] * len(names)
        self._sizes = [1] * len(names)
        self.negative = 0

    def build(self, root: Clade) -> GuideTree:
        """Return the tree below a clade."""
        has_lengths = self._has_lengths(root)
        node_of: dict[int, int] = {}
        waiting = [(root, False)]
        while waiting:
            clade, is_done = waiting.pop()
            if not clade.clades:
                node_of[id(clade)] = self._place[str(clade.name)]
            elif not is_done:
                waiting.append((clade, True))
                waiting += [(child, False) for child in reversed(clade.clades)]
            else:
                nodes = [node_of[id(child)] for child in clade.clades]
                lengths = [self._length(child, has_lengths) for child in clade.clades]
                node_of[id(clade)] = self._join(nodes, lengths)
        return self._tree()

    def _has_lengths(self, root: Clade) -> bool:
        waiting = list(root.clades)
        while waiting:
            clade = waiting.pop()
            if clade.branch_length is not None:
                return True
            waiting += clade.clades
        return False

    def _length(self, clade: Clade, has_lengths: bool) -> float:
        length = clade.branch_length
        if length is None:
            return 0.0 if has_lengths else _UNKNOWN_LENGTH
        if not math.isfinite(length):
            raise FormatError(f"{self._source}: a branch of length {length}, expected a number")
        self.negative += length < 0
        return max(0.0, float(length))

    def _join(self, nodes: list[int], lengths: list[float]) -> int:
        """Join children two by two; return the node of all."""
        node, length = nodes[0], lengths[0]
        for other, branch in zip(nodes[1:], lengths[1:], strict=True):
            self._children.append((node, other))
            self._lengths.append((length, branch))
            self._heights.append(max(self._heights[node] + length, self._heights[other] + branch))
            self._sizes.append(self._sizes[node] + self._sizes[other])
            node, length = len(self._heights) - 1, 0.0
        return node

    def _tree(self) -> GuideTree:
        count = len(self._names)
        children = np.array(self._children, np.int64).reshape(-1, 2)
        lengths = np.array(self._lengths, np.float64).reshape(-1, 2)
        heights, sizes = (
            np.array(values[count:], np.float64) for values in (self._heights, self._sizes)
        )
        linkage = np.column_stack((children.astype(np.float64), 2 * heights, sizes))
        for array in (children, lengths, linkage):
            array.flags.writeable = False
        return GuideTree(self._names, children, lengths, linkage, "read")
