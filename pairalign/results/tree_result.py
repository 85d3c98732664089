"""Guide trees as functions return them: files, pictures, objects of other packages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pairalign.base.choices import PICTURES, TREE_SUFFIXES
from pairalign.base.error_types import UsageError
from pairalign.base.notebooks import html_text
from pairalign.base.packages import check_biopython
from pairalign.formats.names import choose_format
from pairalign.formats.output import open_output
from pairalign.results.tabular import Result
from pairalign.trees import tree
from pairalign.trees.tree_text import to_ascii, to_mafft, to_newick, to_nexus

if TYPE_CHECKING:
    from Bio.Phylo.BaseTree import Tree as BiopythonTree

    from pairalign.base.pictures import Picture

_DRAWN = 500
"""Sequences of a tree that a notebook shows with characters."""


class GuideTree(Result, tree.GuideTree):
    def newick(self, program: str | None = None) -> str:
        """Write the tree on one line, names as they are; see `pairalign.trees.tree_text`.

        Parameters
        ----------
        program : {"clustalo", "famsa", "muscle"}, optional
            Check the names for what this program can read, too.

        Returns
        -------
        str
            It ends with a line break.

        Raises
        ------
        FormatError
            A name that cannot be written without changing it.
        """
        return to_newick(self, program)

    def mafft(self) -> str:
        """Write the merges as MAFFT's ``--treein`` reads them; see `pairalign.trees.tree_text`."""
        return to_mafft(self)

    def nexus(self) -> str:
        """Write names and tree as NEXUS; see `pairalign.trees.tree_text`."""
        return to_nexus(self)

    def ascii(self, width: int = 100) -> str:
        """Draw the tree with one line a sequence; see `pairalign.trees.tree_text`."""
        return to_ascii(self, width)

    def write(
        self, path: str | os.PathLike[str], format: str | None = None, program: str | None = None
    ) -> None:
        """Write the tree, as ``pairalign tree`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses text.
        format : {"newick", "nexus", "mafft", "ascii", "svg", "png", "pdf"}, optional
            Default: by the end of the name.
        program : {"clustalo", "famsa", "muscle"}, optional
            As for `newick`.

        Raises
        ------
        FormatError, OutputError
            There is no such format, it cannot hold the result, or the disk is full.
        """
        chosen = choose_format(path, format, TREE_SUFFIXES, "trees")
        if program is not None and chosen not in ("newick", program):
            raise UsageError(f"a tree for {program} is not written as {chosen}")
        text = tree_text(self, chosen, program)
        with open_output(path) as output:
            output.write(text)

    def plot(self) -> Picture:
        """Draw the tree from left to right (needs matplotlib).

        Returns
        -------
        matplotlib.figure.Figure
            A notebook shows it, ``savefig`` writes it.

        Raises
        ------
        MissingPackageError
            matplotlib is not installed.
        """
        from pairalign.trees.tree_drawing import dendrogram

        return dendrogram(self)

    def _repr_html_(self) -> str:
        """Show the top of the tree, for notebooks."""
        text = self.ascii(60) if len(self) <= _DRAWN else "too many to draw here: plot()"
        return html_text(self, text.splitlines())

    def to_biopython(self) -> BiopythonTree:
        """Convert to ``Bio.Phylo.BaseTree.Tree``."""
        check_biopython("such a tree")
        from Bio.Phylo import BaseTree

        new_clade: Any = BaseTree.Clade
        new_tree: Any = BaseTree.Tree
        count = len(self)
        clades: list[Any] = [new_clade(name=name) for name in self.names]
        for merge in range(count - 1):
            pair = [clades[child] for child in self.children[merge]]
            for clade, length in zip(pair, self.lengths[merge], strict=True):
                clade.branch_length = float(length)
            clades.append(new_clade(clades=pair))
        biopython_tree: BiopythonTree = new_tree(root=clades[-1], rooted=True)
        return biopython_tree


def tree_text(tree: tree.GuideTree, format: str, program: str | None = None) -> bytes:
    """Return a tree as a file of a format of `TREE_SUFFIXES` has it."""
    if format in PICTURES:
        from pairalign.trees.tree_drawing import draw_tree

        return draw_tree(tree, format)
    writers = {"ascii": to_ascii, "mafft": to_mafft, "nexus": to_nexus}
    text = writers[format](tree) if format in writers else to_newick(tree, program)
    return text.encode()
