"""A graph of posteriors becomes an alignment: distances, a tree, consistency, joins, refinement."""

from __future__ import annotations

from math import fsum

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import ONE
from pairalign.base.choices import POSTERIOR_THRESHOLD
from pairalign.engines.cpu.cpu_msa import MOST_WEIGHT, PosteriorGraph
from pairalign.jobs.distances.guide_tree import build_tree
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

NEAR = 3
"""How many sequences count in full for another in rounds of consistency, at least."""


def align_graph(
    graph: PosteriorGraph,
    sequences: SequenceSet,
    *,
    rounds: int,
    refinements: int,
    tree: GuideTree | None = None,
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

    Returns
    -------
    tree : GuideTree
    columns : ndarray of int32, shape (total_residues,)
    width : int
    """
    accuracies, shorter = graph.accuracies(), _shorter(sequences)
    if tree is None:
        tree = _tree(_distances(accuracies, shorter, sequences), sequences)
    if fsum(accuracies) >= REFINED_BELOW * int(shorter.sum()):
        refinements = 0
    weights = tree_weights(tree)
    shares = _shares(accuracies / shorter, len(sequences))
    for _ in range(rounds):
        graph.relax(weights, shares, POSTERIOR_THRESHOLD)
    return tree, *graph.align(tree.children, weights, refinements)


def _shares(condensed: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.uint16]:
    """Return how much each sequence counts for each (row) in rounds, in 65535ths.

    All that are as near to it as its third nearest count alike. The others count less, by the
    shares of right columns: what is related to nothing has a long branch in the tree, and would
    count most.
    """
    table = np.zeros((count, count))
    first, second = np.triu_indices(count, 1)
    table[first, second] = table[second, first] = condensed
    related = np.maximum(table - UNRELATED, _LEAST_RELATED)
    near = -np.sort(-related, axis=1)[:, min(NEAR, count - 1) - 1]
    shares: npt.NDArray[np.uint16] = np.rint(
        ONE * np.minimum(related / near[:, np.newaxis], 1)
    ).astype(np.uint16)
    return shares


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


def tree_weights(tree: Topology) -> npt.NDArray[np.int32]:
    """Return how much each sequence counts: each branch's length shared by those below it.

    Parameters
    ----------
    tree : Topology

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
