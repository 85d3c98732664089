"""A graph of posteriors becomes an alignment: distances, a tree, consistency, joins, refinement."""

from __future__ import annotations

from math import fsum

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import ONE
from pairalign.base.choices import POSTERIOR_THRESHOLD
from pairalign.engines.cpu.cpu_msa import MOST_WEIGHT, PosteriorGraph
from pairalign.jobs.distances.guide_tree import build_tree
from pairalign.jobs.msa.grouping import Indices, subset
from pairalign.jobs.msa.latecomers import LEAST_FIRST, graft_latecomers
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix
from pairalign.trees.topology import Topology
from pairalign.trees.tree import GuideTree

ENTRY_BYTES = 10 + 2 * (8 + 8)
"""Of a posterior: as it is found; as links in both directions, old and new."""

REFINED_BELOW = 0.6
"""Families are refined whose pairs' best alignments have fewer right columns, as a share of the
shorter sequences: others are aligned as well without it."""

UNRELATED = 0.2
"""The share of right columns that is expected of sequences that have nothing in common."""
_LEAST_RELATED = 0.005

_UNLIKE = 0.3
"""What is like no other by its score belongs to a family if it has more right columns than this
with those that are, in the mean; 3 in 10 outliers have."""

_LATE = 0.3
"""How much an outlier counts, of the mean of the others."""

NEAR = 3
"""How many sequences count in full for another in rounds of consistency, at least."""


def align_graph(
    graph: PosteriorGraph,
    sequences: SequenceSet,
    *,
    rounds: int,
    refinements: int,
    tree: GuideTree | None = None,
    doubtful: Indices | None = None,
) -> tuple[GuideTree, npt.NDArray[np.int32], int]:
    """Align sequences by the posteriors of all their pairs.

    Parameters
    ----------
    graph : PosteriorGraph
        Is made consistent.
    sequences : SequenceSet
        Two or more.
    rounds : int
        Of consistency.
    refinements : int
        How often the alignment of distant sequences is cut in two and joined anew.
    tree : GuideTree, optional
        What to join along; default: UPGMA of distances by expected accuracy.
    doubtful : ndarray of int64, optional
        What is like no other by its scores. Those of them that have few right columns with the
        others are outliers: they decide nothing of the others, count for little, and are the last
        in a tree that is not given.

    Returns
    -------
    tree : GuideTree
    columns : ndarray of int32, shape (total_residues,)
    width : int
    """
    accuracies, shorter = graph.accuracies(), _shorter(sequences)
    is_last = _are_outliers(accuracies / shorter, len(sequences), doubtful)
    if tree is None:
        tree = _tree_in_turn(_distances(accuracies, shorter, sequences), sequences, is_last)
    one, other = np.triu_indices(len(sequences), 1)
    decide = ~(is_last[one] | is_last[other])
    if fsum(accuracies[decide]) >= REFINED_BELOW * int(shorter[decide].sum()):
        refinements = 0
    weights = tree_weights(tree, np.where(is_last, _LATE, 0))
    shares = _shares(accuracies / shorter, len(sequences))
    for _ in range(rounds):
        graph.relax(weights, shares, POSTERIOR_THRESHOLD)
    return tree, *graph.align(tree.children, weights, refinements)


def _are_outliers(
    condensed: npt.NDArray[np.float64], count: int, doubtful: Indices | None
) -> npt.NDArray[np.bool_]:
    """Return which of those in doubt are outliers; none, if few are beyond doubt."""
    is_last = np.zeros(count, bool)
    asked = np.zeros(0, np.int64) if doubtful is None else doubtful
    first = np.setdiff1d(np.arange(count), asked)
    if len(first) < LEAST_FIRST:
        return is_last
    table = _square(condensed, count)
    for index in asked.tolist():
        is_last[index] = fsum(table[index, first]) < _UNLIKE * len(first)
    return is_last


def _shares(condensed: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.uint16]:
    """Return how much each sequence counts for each (row) in rounds, in 65535ths.

    All that are as near to it as its third nearest count alike. The others count less, by the
    shares of right columns: what is related to nothing has a long branch in the tree, and would
    count most.
    """
    table = _square(condensed, count)
    related = np.maximum(table - UNRELATED, _LEAST_RELATED)
    near = -np.sort(-related, axis=1)[:, min(NEAR, count - 1) - 1]
    shares: npt.NDArray[np.uint16] = np.rint(
        ONE * np.minimum(related / near[:, np.newaxis], 1)
    ).astype(np.uint16)
    return shares


def _square(condensed: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.float64]:
    table = np.zeros((count, count))
    first, second = np.triu_indices(count, 1)
    table[first, second] = table[second, first] = condensed
    return table


def _tree_in_turn(
    distances: DistanceMatrix, sequences: SequenceSet, is_last: npt.NDArray[np.bool_]
) -> GuideTree:
    """Return UPGMA of all sequences, or of the first, which the last ones join in turn."""
    if not is_last.any():
        return _tree(distances, sequences)
    first, last = np.flatnonzero(~is_last), np.flatnonzero(is_last)
    some = subset(sequences, first)
    one, other = np.triu_indices(len(sequences), 1)
    own = distances.condensed[~(is_last[one] | is_last[other])]
    tree = _tree(DistanceMatrix(list(some.names), own), some)
    return graft_latecomers(tree, sequences, np.concatenate((first, last)))


def _tree(distances: DistanceMatrix, sequences: SequenceSet) -> GuideTree:
    if len(sequences) > 2:
        return build_tree(distances, "upgma", sequences)
    apart = float(distances.condensed[0])
    return GuideTree(
        names=list(sequences.names),
        children=np.array([[0, 1]], np.int64),
        lengths=np.full((1, 2), apart / 2),
        linkage=np.array([[0, 1, apart, 2]]),
        method="upgma",
    )


def _shorter(sequences: SequenceSet) -> npt.NDArray[np.int64]:
    first, second = np.triu_indices(len(sequences), 1)
    lengths = sequences.lengths.astype(np.int64)
    return np.minimum(lengths[first], lengths[second])


def _distances(
    accuracies: npt.NDArray[np.float64], shorter: npt.NDArray[np.int64], sequences: SequenceSet
) -> DistanceMatrix:
    distances = np.maximum(1 - accuracies / shorter, 0).astype(np.float32)
    return DistanceMatrix(list(sequences.names), distances)


def tree_weights(
    tree: Topology, late: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[np.int32]:
    """Return how much each sequence counts: each branch's length shared by those below it.

    Parameters
    ----------
    tree : Topology
    late : ndarray of float64, shape (n,), optional
        How much a sequence counts, of the mean of those with 0, whose weights are without others.

    Returns
    -------
    ndarray of int32, shape (n,)
        1 or more; about `MOST_WEIGHT` in all, and no more.
    """
    count = len(tree)
    late = np.zeros(count) if late is None else late
    is_first = late == 0
    below = np.concatenate((is_first, np.zeros(tree.root + 1 - count)))
    for merge, children in enumerate(tree.children):
        below[count + merge] = below[children].sum()
    shares = np.zeros(tree.root + 1)
    for merge in range(count - 2, -1, -1):
        for child, length in zip(tree.children[merge], tree.lengths[merge], strict=True):
            shares[child] = shares[count + merge] + length / max(below[child], 1)
    shares = shares[:count]
    mean = shares[is_first].mean()
    # A copy of another sequence counts little, not nothing.
    shares = np.maximum(shares / mean, 0.01) if mean > 0 else np.ones(count)
    shares = np.where(is_first, shares, late)
    weights: npt.NDArray[np.int32] = np.maximum(
        np.floor(shares / shares.sum() * (MOST_WEIGHT - count)), 1
    ).astype(np.int32)
    return weights
