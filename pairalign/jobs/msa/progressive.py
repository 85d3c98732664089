"""A graph of posteriors becomes an alignment: consistency, joins, refinement."""

from __future__ import annotations

from math import fsum

import numpy as np
import numpy.typing as npt

from pairalign.base.choices import POSTERIOR_THRESHOLD
from pairalign.engines.cpu.cpu_msa import MOST_WEIGHT, PosteriorGraph
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree

ENTRY_BYTES = 10 + 2 * (8 + 8)
"""Of a posterior: as it is found; as links in both directions, old and new."""

REFINED_BELOW = 0.6
"""Families are refined whose pairs' best alignments have fewer right columns, as a share of the
shorter sequences: others are aligned as well without it."""


def align_graph(
    graph: PosteriorGraph,
    sequences: SequenceSet,
    tree: GuideTree,
    *,
    rounds: int,
    refinements: int,
) -> tuple[npt.NDArray[np.int32], int]:
    """Align sequences by the posteriors of all their pairs.

    Parameters
    ----------
    graph : PosteriorGraph
        Is made consistent.
    sequences : SequenceSet
        Two or more.
    tree : GuideTree
        What to join along.
    rounds : int
        Of consistency.
    refinements : int
        How often the alignment of distant sequences is cut in two and joined anew.

    Returns
    -------
    columns : ndarray of int32, shape (total_residues,)
    width : int
    """
    if refinements and fsum(graph.accuracies()) >= REFINED_BELOW * _shorter(sequences):
        refinements = 0
    weights = tree_weights(tree)
    for _ in range(rounds):
        graph.relax(weights, POSTERIOR_THRESHOLD)
    return graph.align(tree.children, weights, refinements)


def _shorter(sequences: SequenceSet) -> int:
    """Return the residues of the shorter sequences of all pairs."""
    lengths = np.sort(sequences.lengths.astype(np.int64))
    return int((lengths * np.arange(len(lengths))[::-1]).sum())


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
