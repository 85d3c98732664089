"""Trees of distances by joining what is closest: the linkage, its equals, its order; and parts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix, first_place
from pairalign.trees.linkage import cluster
from pairalign.trees.tree import GuideTree

Doubles = npt.NDArray[np.float64]
Firsts = npt.NDArray[np.int32]


def equal_rows(matrix: DistanceMatrix) -> Firsts:
    """Of each sequence the first one at distance 0 that is as far from all; int32 of shape (n,)."""
    count = len(matrix)
    first = np.arange(count, dtype=np.int32)
    zeros = np.flatnonzero(matrix.condensed == 0)
    starts = np.array([first_place(row, count) for row in range(count)])
    rows = np.searchsorted(starts, zeros, side="right") - 1
    columns = zeros - starts[rows] + rows + 1
    seen: dict[bytes, int] = {}
    for row in np.union1d(rows, columns).tolist():
        first[row] = seen.setdefault(matrix.row(row).tobytes(), row)
    return first


def join_closest(matrix: DistanceMatrix, first: Firsts, method: str) -> GuideTree:
    """Make a tree by joining what is closest, again and again.

    Parameters
    ----------
    first : ndarray of int32, shape (n,)
        Of each sequence the first one that is equal to it, see `equal_rows`.
    method : str
        As `pairalign.trees.linkage.cluster` takes it.
    """
    count = len(matrix)
    merges = cluster(matrix.condensed, first, method)
    children = merges[:, :2].astype(np.int64)
    heights = np.concatenate((np.zeros(count), merges[:, 2] / 2))
    # Rounding can put a merge a hair below one that it contains.
    lengths = np.maximum(heights[count:, None] - heights[children], 0)
    return ordered_tree(list(matrix.names), children, lengths, merges, method)


def ordered_tree(
    names: list[str],
    children: npt.NDArray[np.int64],
    lengths: Doubles,
    linkage: Doubles,
    method: str,
) -> GuideTree:
    """Make a tree; of two children the one that holds the earlier sequence comes first.

    Parameters
    ----------
    names, children, lengths, linkage, method
        As a `pairalign.trees.tree.GuideTree` has them, children in any order.
    """
    count = len(names)
    first = np.arange(2 * count - 1)
    children, lengths = children.copy(), lengths.copy()
    for merge in range(count - 1):
        left, right = first[children[merge]]
        if left > right:
            children[merge] = children[merge, ::-1].copy()
            lengths[merge] = lengths[merge, ::-1].copy()
        first[count + merge] = min(left, right)
    for array in (children, lengths, linkage):
        array.flags.writeable = False
    return GuideTree(names, children, lengths, linkage, method)


def join_in_order(
    matrix: DistanceMatrix,
    sequences: SequenceSet | None,
    method: str,
    join: Callable[[DistanceMatrix, Firsts], GuideTree],
) -> GuideTree:
    """Make a tree that is the same for any order of the input.

    Parameters
    ----------
    sequences : SequenceSet or None
        What the distances are of, in the same order: tells which are equal, and decides ties. None:
        rows and names do.
    join : callable
        Joins sequences of which the first equal one of each is known.
    """
    count = len(matrix)
    if sequences is None:
        first = equal_rows(matrix)
        order = np.array(sorted(range(count), key=matrix.names.__getitem__), np.int32)
    else:
        first, order = _equal_sequences(sequences), sequences.canonical_order()
    seen: dict[int, int] = {}
    first = np.array([seen.setdefault(k, place) for place, k in enumerate(first[order])], np.int32)
    tree = join(_reordered(matrix, order), first)
    nodes = np.concatenate((order.astype(np.int64), np.arange(count, 2 * count - 1)))
    linkage = tree.linkage.copy()
    linkage[:, :2] = np.sort(nodes[linkage[:, :2].astype(np.int64)], axis=1)
    children = nodes[tree.children]
    return ordered_tree(list(matrix.names), children, tree.lengths, linkage, method)


def _reordered(matrix: DistanceMatrix, order: npt.NDArray[np.int32]) -> DistanceMatrix:
    """Return distances with their sequences in another order, given by indices."""
    count = len(matrix)
    if (order == np.arange(count)).all():
        return matrix
    condensed = np.empty(len(matrix.condensed), np.float32)
    for row, index in enumerate(order[:-1].tolist()):
        start = first_place(row, count)
        later = order[row + 1 :]
        condensed[start : start + len(later)] = matrix.row(index)[later]
    return DistanceMatrix([matrix.names[k] for k in order.tolist()], condensed)


def _equal_sequences(sequences: SequenceSet) -> Firsts:
    """Of each sequence the first one with the same residues, case apart; int32 of shape (n,)."""
    seen: dict[bytes, int] = {}
    return np.array(
        [seen.setdefault(sequences.codes_of(k).tobytes(), k) for k in range(len(sequences))],
        np.int32,
    )


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
