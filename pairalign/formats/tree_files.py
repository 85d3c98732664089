"""Files of trees."""

from __future__ import annotations

from pairalign.base.choices import (
    PICTURES,
    TREE_SUFFIXES,
)
from pairalign.base.error_types import UsageError
from pairalign.formats.names import choose_format
from pairalign.formats.output import Path, open_output
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_text import to_ascii, to_mafft, to_newick, to_nexus


def write_tree(
    tree: GuideTree, path: Path, format: str | None = None, program: str | None = None
) -> None:
    """Write a tree; see `GuideTree.write`."""
    chosen = choose_format(path, format, TREE_SUFFIXES, "trees")
    if program is not None and chosen not in ("newick", program):
        raise UsageError(f"a tree for {program} is not written as {chosen}")
    text = tree_text(tree, chosen, program)
    with open_output(path) as output:
        output.write(text)


def tree_text(tree: GuideTree, format: str, program: str | None = None) -> bytes:
    """Return a tree as a file of a format of `TREE_SUFFIXES` has it."""
    if format in PICTURES:
        from pairalign.trees.tree_drawing import draw_tree

        return draw_tree(tree, format)
    writers = {"ascii": to_ascii, "mafft": to_mafft, "nexus": to_nexus}
    text = writers[format](tree) if format in writers else to_newick(tree, program)
    return text.encode()
