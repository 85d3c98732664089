"""The merges of a tree as MAFFT's ``--treein`` reads them; it has no names.

One line a merge: two clusters i < j and the lengths of the branches to them. Clusters are known by
their first sequence, counted from 1 in the order of the input; the merged one keeps i.
"""

from __future__ import annotations

from pairalign.trees.newick import format_length
from pairalign.trees.tree import GuideTree


def to_mafft(tree: GuideTree) -> str:
    """Write a tree as rows ``i j length_i length_j``."""
    first = tree.first_leaves() + 1
    rows = (
        f"{first[i]} {first[j]} {format_length(left)} {format_length(right)}\n"
        for (i, j), (left, right) in zip(tree.children, tree.lengths, strict=True)
    )
    return "".join(rows)
