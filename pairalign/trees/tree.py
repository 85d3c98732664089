"""Rooted binary trees with branch lengths, as arrays.

Nodes 0 to n-1 are the sequences in the order of the input; node n + k is the k-th merge, the last
one the root. A node comes after its children, and of two children the one that holds the sequence
that is earlier in the input comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pairalign.base.arrays import Doubles, Int64s


@dataclass(frozen=True, eq=False, repr=False)
class GuideTree:
    """A rooted binary tree of n sequences, with n - 1 merges.

    Attributes
    ----------
    names : list of str
        Of the sequences, in the order of the input.
    children : ndarray of int64, shape (n-1, 2)
        The two nodes of each merge.
    lengths : ndarray of float64, shape (n-1, 2)
        Lengths of the branches to them, 0 or more.
    linkage : ndarray of float64, shape (n-1, 4)
        The tree as SciPy's hierarchical clustering has it: two nodes, their distance, and how
        many sequences they hold. For UPGMA and mixed linkage it is the distance at which they
        were joined, else twice the longest way from the node down to a sequence.
    method : str
        ``"upgma"``, ``"mixed"`` or ``"nj"``; ``"read"`` from a file.
    """

    names: list[str]
    children: Int64s
    lengths: Doubles
    linkage: Doubles
    method: str

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} sequences, {self.method}>"

    @property
    def root(self) -> int:
        """The last node."""
        return 2 * len(self) - 2

    def leaves(self) -> list[int]:
        """Input indices of the sequences from top to bottom of the tree."""
        return [node for node, _, down in self.walk() if down and node < len(self)]

    def first_leaves(self) -> Int64s:
        """Smallest input index below each node, shape (2n-1,)."""
        first = np.arange(self.root + 1)
        for merge, (child, _) in enumerate(self.children.tolist()):
            first[len(self) + merge] = first[child]
        return first

    def depths(self) -> Doubles:
        """Way from the root to each node, shape (2n-1,)."""
        depths = np.zeros(self.root + 1)
        for merge in range(len(self) - 2, -1, -1):
            depths[self.children[merge]] = depths[len(self) + merge] + self.lengths[merge]
        return depths

    def walk(self) -> Iterator[tuple[int, float, bool]]:
        """Go through the tree; yield node, length of its branch, and whether going down.

        Merges come before and again after what is below them, sequences once, as if going down.
        The branch of the root has length 0.
        """
        stack = [(self.root, 0.0, True)]
        while stack:
            node, length, down = stack.pop()
            yield node, length, down
            if node >= len(self) and down:
                merge = node - len(self)
                stack.append((node, length, False))
                for side in (1, 0):
                    child, branch = self.children[merge, side], self.lengths[merge, side]
                    stack.append((int(child), float(branch), True))
