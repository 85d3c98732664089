"""Trees of distances by joining what is closest: the linkage, its equals, its order; and parts.

Hierarchical clustering is native code (``cpu/trees/linkage.cpp``).

``upgma`` merges the two closest clusters by average linkage (Sokal and Michener 1958). ``mixed``
merges the two closest clusters; the distance of the merged cluster is 0.9 of the smaller distance
and 0.1 of the mean of both, as in MAFFT (Katoh and Standley 2013)::

    d(k, i+j) = 0.9 min(d(k,i), d(k,j)) + 0.1 (d(k,i) + d(k,j)) / 2

``complete`` merges the two clusters whose farthest sequences are closest (complete linkage).

The two closest clusters are merged first, in double precision; of equal distances the pair whose
first sequences come first in the input, then the one whose second do, where the first sequence of a
cluster stands for it. Without ties ``upgma`` is SciPy's ``linkage(..., "average")``, ``complete``
its ``"complete"``. Sequences that are said to be equal are joined before all others, at distance 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from pairalign.base.arrays import Doubles, Float32s, Int32s, Int64s
from pairalign.base.native import library
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix, first_place
from pairalign.trees.tree import GuideTree

Firsts = Int32s


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
        As `pairalign.trees.tree_joining.cluster` takes it.
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
    children: Int64s,
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


def _reordered(matrix: DistanceMatrix, order: Int32s) -> DistanceMatrix:
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


_METHODS = {"upgma": 0, "mixed": 1, "complete": 2}

_linkage = library.pairalign_linkage
_average_clusters = library.pairalign_average_clusters


def cluster(condensed: Float32s, first: Int32s, method: str) -> Doubles:
    """Join sequences into a tree.

    Parameters
    ----------
    condensed : ndarray of float32, shape (n(n-1)/2,)
        Distances of the pairs (0, 1), (0, 2), ..., (1, 2), ...; finite, 0 or more.
    first : ndarray of int32, shape (n,)
        Of each sequence the first one that is equal to it; itself where there is none before.
    method : {"upgma", "mixed", "complete"}

    Returns
    -------
    ndarray of float64, shape (n-1, 4)
        As SciPy's ``linkage``: two nodes, smaller first, their distance, and how many sequences
        they hold; by distance, of equals in the order of joining.

    Raises
    ------
    MemoryError
        There are no 8 bytes for each pair.

    Notes
    -----
    Time n^2 in practice, n^3 at worst: where the nearest cluster of very many changes again and
    again. Memory: 8 bytes a pair.

    References
    ----------
    Muellner D. Modern hierarchical, agglomerative clustering algorithms. arXiv:1109.2378, 2011.
    Katoh K, Standley DM. MAFFT multiple sequence alignment software version 7. Mol Biol Evol
    30:772-780, 2013.
    """
    count = len(first)
    assert count >= 2
    assert condensed.shape == (count * (count - 1) // 2,)
    assert (first <= np.arange(count)).all()
    assert (first[first] == first).all()
    condensed = np.ascontiguousarray(condensed, np.float32)
    first = np.ascontiguousarray(first, np.int32)
    linkage = np.empty((count - 1, 4))
    if _linkage(_METHODS[method], count, condensed, first, linkage):
        raise MemoryError(f"the tree of {count:,} sequences needs 8 bytes a pair")
    return linkage


def average_clusters(parts: Int32s, wholes: Int32s, count: int, farthest: Fraction) -> Int32s:
    """Return the first sequence of each one's cluster by average linkage, exactly.

    Parameters
    ----------
    parts, wholes : ndarray of int32, shape (n(n-1)/2,)
        The distance of each pair is ``part / whole``, 0 to 1.
    count : int
        Sequences, n.
    farthest : Fraction
        The largest mean distance of two clusters that are joined.

    Returns
    -------
    ndarray of int32, shape (n,)

    Raises
    ------
    MemoryError
        There are no 8 bytes for each pair.

    Notes
    -----
    Distances become whole numbers of a unit that all `wholes` divide. Where there is none so that
    sums fit 62 bits, the unit is the smallest power of two with which they do, and distances are
    rounded down.
    """
    assert count >= 2
    assert len(parts) == len(wholes) == count * (count - 1) // 2
    most = (1 << 62) // len(parts)
    kinds = np.unique(wholes)
    unit = 1
    for divisor in kinds.tolist():
        unit = math.lcm(unit, divisor)
        if unit > most:
            break
    if unit <= most:
        distances = unit // wholes.astype(np.int64)
        distances *= parts
    else:
        bits = most.bit_length() - 1
        unit = 1 << bits
        high, rest = np.divmod(parts.astype(np.int64) << min(bits, 31), wholes)
        more = max(bits - 31, 0)
        distances = (high << more) + (rest << more) // wholes
    limit = farthest * unit
    whole = math.floor(limit)
    firsts = np.empty(count, np.int32)
    distances = np.ascontiguousarray(distances, np.int64)
    part = limit - whole
    if _average_clusters(count, distances, whole, part.numerator, part.denominator, firsts):
        raise MemoryError(f"average linkage of {count:,} sequences needs 8 bytes a pair")
    return firsts


def cut_tree(tree: Doubles, farthest: float) -> Int32s:
    """Return the first sequence of each one's cluster when a tree is cut above a distance.

    Parameters
    ----------
    tree : ndarray of float64, shape (n-1, 4)
        As `cluster` returns it.
    farthest : float
        The largest distance at which two clusters were joined that stay together.

    Returns
    -------
    ndarray of int32, shape (n,)
    """
    count = len(tree) + 1
    firsts, leaders = list(range(count)), list(range(count))
    for left, right, distance, _ in tree.tolist():
        low, high = sorted((firsts[int(left)], firsts[int(right)]))
        firsts.append(low)
        if distance <= farthest:
            leaders[high] = low
    for k, leader in enumerate(leaders):  # a leader comes before what it leads
        leaders[k] = leaders[leader]
    return np.array(leaders, np.int32)
