"""Hierarchical clustering of distances in native code (``cpu/trees/linkage.cpp``).

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
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s
from pairalign.base.native import library

_METHODS = {"upgma": 0, "mixed": 1, "complete": 2}

_linkage = library.pairalign_linkage
_average_clusters = library.pairalign_average_clusters


def cluster(
    condensed: npt.NDArray[np.float32], first: npt.NDArray[np.int32], method: str
) -> npt.NDArray[np.float64]:
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


def cut_tree(tree: npt.NDArray[np.float64], farthest: float) -> Int32s:
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
