"""A tree drawn with characters, one line a sequence, to look at in a terminal."""

from __future__ import annotations

import numpy as np

from pairalign.trees.tree import GuideTree


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
