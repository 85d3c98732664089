"""What a guide tree says: groups of a family, the joins that make one of them, and weights.

A group is a largest subtree of at most `MOST_IN_GROUP` sequences, along which it is aligned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.engines.cpu.cpu_msa import MOST_WEIGHT
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_joining import ordered_tree

MOST_IN_GROUP = 50
"""Sequences of a subtree that are aligned along it by posteriors alone."""

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Join:
    """Two nodes that are joined: groups from 0, then joins. `height` is half their distance."""

    first: int
    second: int
    height: float


@dataclass(frozen=True)
class Grouping:
    """Groups of sequences, and the joins that make one of them.

    Attributes
    ----------
    groups : list of ndarray of int64
        Input indices of each group.
    trees : list of GuideTree
        Of each group, over its sequences.
    joins : list of Join
        One less than there are groups; a join comes after its parts.
    """

    groups: list[Indices]
    trees: list[GuideTree]
    joins: list[Join]


def joins_of(tree: GuideTree) -> list[Join]:
    """Return the merges of a tree whose leaves are groups."""
    return [
        Join(int(first), int(second), apart / 2)
        for first, second, apart, _ in tree.linkage.tolist()
    ]


def group_by_tree(tree: GuideTree, *, most: int = MOST_IN_GROUP) -> Grouping:
    """Take the largest subtrees of at most `most` sequences for groups."""
    roots, groups, trees = subtrees(tree, tree.linkage[:, 3] <= most)
    part = {root: number for number, root in enumerate(roots)}
    joins: list[Join] = []
    for merge in np.flatnonzero(tree.linkage[:, 3] > most).tolist():
        first, second = (part[child] for child in tree.children[merge].tolist())
        part[len(tree) + merge] = len(roots) + len(joins)
        joins.append(Join(first, second, tree.linkage[merge, 2] / 2))
    return Grouping(groups, trees, joins)


def subtrees(
    tree: GuideTree, is_whole: npt.NDArray[np.bool_]
) -> tuple[list[int], list[Indices], list[GuideTree]]:
    """Return the largest subtrees that are whole, and leaves: roots, sequences, trees.

    Parameters
    ----------
    is_whole : ndarray of bool, shape (n-1,)
        Of each merge.
    """
    roots = _roots(tree, is_whole)
    count, below = len(tree), np.full(tree.root + 1, len(roots))
    below[roots] = np.arange(len(roots))
    for merge in range(count - 2, -1, -1):
        if below[count + merge] < len(roots):
            below[tree.children[merge]] = below[count + merge]
    groups, merges = (in_each(part, len(roots)) for part in (below[:count], below[count:]))
    trees = []
    for members, group_merges in zip(groups, merges, strict=True):
        children = tree.children[group_merges]
        of_merges = len(members) + np.searchsorted(group_merges, children - count)
        children = np.where(children < count, np.searchsorted(members, children), of_merges)
        linkage = tree.linkage[group_merges].copy()
        linkage[:, :2] = children
        names = [tree.names[index] for index in members.tolist()]
        trees.append(GuideTree(names, children, tree.lengths[group_merges], linkage, tree.method))
    return roots, groups, trees


def cut_trees(
    groups: list[Indices], trees: list[GuideTree], count: int
) -> tuple[list[Indices], list[GuideTree]]:
    """Cut trees at one height, so that there are about `count` pieces of them.

    Parameters
    ----------
    groups : list of ndarray of int64
        Input indices of the sequences of each tree.
    count : int
        There are no more pieces than that, or none is cut.

    Returns
    -------
    list of ndarray of int64, list of GuideTree
        Input indices of the sequences of each piece, and its tree.
    """
    distances = np.sort(np.concatenate([tree.linkage[:, 2] for tree in trees]))
    farthest = distances[-max(count - len(trees), 0) - 1 :][0]
    pieces: list[Indices] = []
    parts: list[GuideTree] = []
    for group, tree in zip(groups, trees, strict=True):
        _, members, own = subtrees(tree, tree.linkage[:, 2] <= farthest)
        pieces += [group[indices] for indices in members]
        parts += own
    return pieces, parts


def _roots(tree: GuideTree, is_whole: npt.NDArray[np.bool_]) -> list[int]:
    """Return the nodes of a tree, which part it: the highest merges that are whole, and leaves."""
    roots, left = [], [tree.root]
    while left:
        node = left.pop()
        if node < len(tree) or is_whole[node - len(tree)]:
            roots.append(node)
        else:
            left += tree.children[node - len(tree)].tolist()
    return sorted(roots)


def in_each(group: Indices, count: int) -> list[Indices]:
    """Return what is in each of some groups, ascending; `count` and more are in none."""
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(count + 1))
    return np.split(order[: bounds[-1]], bounds[1:-1])


def graft(names: list[str], grouping: Grouping, method: str) -> GuideTree:
    """Return the tree of all sequences: those of groups, then the joins.

    Parameters
    ----------
    names : list of str
        Of the sequences.
    grouping : Grouping
        Of two sequences or more.
    method : str
        What the tree is called after.
    """
    count = len(names)
    merges: list[list[float]] = []
    heights, sizes = [0.0] * count, [1] * count

    def merge(first: int, second: int, height: float) -> int:
        heights.append(max(height, heights[first], heights[second]))
        sizes.append(sizes[first] + sizes[second])
        merges.append([first, second, 2 * heights[-1], sizes[-1]])
        return len(heights) - 1

    def grown(members: Indices, tree: GuideTree) -> int:
        nodes = members.tolist()
        for first, second, distance, _ in tree.linkage.tolist():
            nodes.append(merge(nodes[int(first)], nodes[int(second)], distance / 2))
        return int(nodes[-1])

    roots = list(map(grown, grouping.groups, grouping.trees))
    for join in grouping.joins:
        roots.append(merge(roots[join.first], roots[join.second], join.height))
    linkage = np.array(merges)
    children = linkage[:, :2].astype(np.int64)
    height = np.array(heights)
    lengths = height[count:, None] - height[children]
    return ordered_tree(list(names), children, lengths, linkage, method)


def ladder(names: list[str], method: str) -> GuideTree:
    """Return the tree of sequences that are the same, or of one."""
    count = len(names)
    merges = np.arange(1, count)
    before = np.where(merges == 1, 0, count + merges - 2)
    links = np.column_stack((before, merges, np.zeros(count - 1), merges + 1)).astype(np.float64)
    return GuideTree(names, links[:, :2].astype(np.int64), np.zeros((count - 1, 2)), links, method)


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


def evenly(indices: Indices, most: int) -> Indices:
    """Return at most `most` of some indices, evenly spaced."""
    count = min(len(indices), max(most, 1))
    return indices[np.arange(count, dtype=np.int64) * len(indices) // count]
