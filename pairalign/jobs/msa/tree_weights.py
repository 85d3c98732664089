"""How much each sequence of a family counts, by its guide tree."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.engines.cpu.cpu_msa import MOST_WEIGHT
from pairalign.trees.tree import GuideTree


def tree_weights(tree: GuideTree) -> npt.NDArray[np.int32]:
    """Return how much each sequence counts: each branch's length shared by those below it.

    Returns
    -------
    ndarray of int32, shape (n,)
        1 or more; about `MOST_WEIGHT` in all, and no more.
    """
    count = len(tree)
    below = np.ones(tree.root + 1)
    for merge, children in enumerate(tree.children):
        below[count + merge] = below[children].sum()
    shares = np.zeros(tree.root + 1)
    for merge in range(count - 2, -1, -1):
        for child, length in zip(tree.children[merge], tree.lengths[merge], strict=True):
            shares[child] = shares[count + merge] + length / below[child]
    shares = shares[:count]
    if not shares.sum() > 0:
        shares = np.ones(count)
    # A copy of another sequence counts little, not nothing.
    shares = np.maximum(shares / shares.mean(), 0.01)
    weights: npt.NDArray[np.int32] = np.maximum(
        np.floor(shares / shares.sum() * (MOST_WEIGHT - count)), 1
    ).astype(np.int32)
    return weights
