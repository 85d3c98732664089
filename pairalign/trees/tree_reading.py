"""Guide trees that are read: Newick, by Biopython's parser."""

from __future__ import annotations

import io
import logging
import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.base.error_types import FormatError, shown_name
from pairalign.base.packages import check_biopython
from pairalign.sequences.fasta_records import read_text
from pairalign.trees.tree import GuideTree

if TYPE_CHECKING:
    from Bio.Phylo.BaseTree import Clade

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
