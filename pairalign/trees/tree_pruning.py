"""Guide trees of some of the sequences of a tree."""

from __future__ import annotations

import numpy as np

from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_joining import ordered_tree


def first_leaves(tree: GuideTree, count: int) -> GuideTree:
    """Return the tree of the first sequences: others are taken out, their branches become one.

    Parameters
    ----------
    count : int
        Sequences that stay, two or more.
    """
    nodes: list[int | None] = [k if k < count else None for k in range(len(tree))]
    above, sizes = [0.0] * len(tree), [1] * count
    children, lengths, linkage = [], [], []
    for pair, branches, apart in zip(
        tree.children.tolist(), tree.lengths.tolist(), tree.linkage[:, 2].tolist(), strict=True
    ):
        ends = [above[child] + length for child, length in zip(pair, branches, strict=True)]
        left = [(nodes[child], end) for child, end in zip(pair, ends, strict=True)]
        kept = [(node, end) for node, end in left if node is not None]
        if len(kept) < 2:
            node, end = kept[0] if kept else (None, 0.0)
            nodes.append(node)
            above.append(end)
            continue
        (first, _), (second, _) = kept
        nodes.append(len(sizes))
        above.append(0.0)
        sizes.append(sizes[first] + sizes[second])
        children.append([first, second])
        lengths.append([end for _, end in kept])
        linkage.append([first, second, apart, sizes[-1]])
    return ordered_tree(
        list(tree.names[:count]),
        np.array(children, np.int64),
        np.array(lengths),
        np.array(linkage, np.float64),
        tree.method,
    )
