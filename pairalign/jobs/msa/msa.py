"""The multiple alignment of a family, from the posteriors of all its pairs.

1. Posteriors of all pairs (`pairalign.jobs.posterior`).
2. Distances: 1 minus the expected number of right columns of a pair's best alignment, by the
   length of the shorter sequence; UPGMA makes a tree of them, and the tree weights (Thompson et al.
   1994).
3. Consistency: two rounds for up to 50 sequences, none above, where it does no good.
4. Joins along the tree, each with the most weighted posterior on aligned residues.
5. Refinement: the alignment is cut in two and joined anew, 100 times.

From the posteriors on all is integer arithmetic: the same bytes for every machine and number of
threads.

References
----------
Do CB, Mahabhashyam MSP, Brudno M, Batzoglou S. ProbCons: probabilistic consistency-based multiple
sequence alignment. Genome Res 15:330-340, 2005.
Thompson JD, Higgins DG, Gibson TJ. CLUSTAL W. Nucleic Acids Res 22:4673-4680, 1994.
"""

from __future__ import annotations

from contextlib import closing

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import MultipleAlignment
from pairalign.alignments.posteriors import SparsePosteriors
from pairalign.base.choices import POSTERIOR_THRESHOLD
from pairalign.engines.cpu.msa import MOST_WEIGHT, PosteriorGraph
from pairalign.engines.selection import usable_cores
from pairalign.errors import CapacityError
from pairalign.jobs.distances.guide_tree import build_tree
from pairalign.jobs.posterior.posterior import PosteriorJob, join_posteriors
from pairalign.jobs.run.memory import default_bytes
from pairalign.jobs.run.progress import Progress
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix
from pairalign.trees.topology import Topology
from pairalign.trees.tree import GuideTree

MOST_CONSISTENT = 50
"""Sequences for which posteriors are made consistent."""

ROUNDS = 2
REFINEMENTS = 100

_ENTRY_BYTES = 10 + 2 * (8 + 8)  # as it is found; as links in both directions, old and new


def align_multiple(
    sequences: SequenceSet,
    *,
    threads: int | None = None,
    memory_bytes: int | None = None,
    progress: Progress = False,
) -> MultipleAlignment:
    """Align a family of sequences over their whole lengths.

    Parameters
    ----------
    sequences : SequenceSet
        Proteins or DNA.
    threads : int, optional
        Default: all cores.
    memory_bytes : int, optional
        Default: half of what is free.
    progress : bool or "lines"
        Show how far the posteriors are.

    Returns
    -------
    MultipleAlignment

    Raises
    ------
    CapacityError
        The posteriors of all pairs do not fit the memory.

    Notes
    -----
    Time of the posteriors: the sum of the products of the lengths of all pairs; of consistency,
    the cube of the number of sequences. Memory: about 40 bytes for each posterior of 0.01 or
    more, of which a residue has 3 to 13 in each other sequence.
    """
    if len(sequences) == 1:
        columns = np.arange(sequences.total_residues, dtype=np.int32)
        nothing = np.zeros(len(columns))
        return MultipleAlignment(sequences, columns, len(columns), nothing, None)
    threads = usable_cores() if threads is None else threads
    memory_bytes = default_bytes() if memory_bytes is None else memory_bytes
    posteriors = _posteriors(sequences, threads, memory_bytes, progress)
    with closing(PosteriorGraph(sequences.lengths, posteriors, threads)) as graph:
        tree, columns, width = _align(graph, sequences)
    support = _support(sequences, posteriors, columns)  # of the posteriors as they were
    return MultipleAlignment(sequences, columns, width, support, tree)


def score_multiple(
    sequences: SequenceSet,
    columns: npt.NDArray[np.int32],
    width: int,
    *,
    threads: int | None = None,
    memory_bytes: int | None = None,
    progress: Progress = False,
) -> MultipleAlignment:
    """Compute how sure each residue and column of any multiple alignment is.

    Parameters
    ----------
    sequences : SequenceSet
        What is aligned.
    columns : ndarray of int32, shape (total_residues,)
        The column of each residue, from 0.
    width : int
        How many columns there are.
    threads, memory_bytes, progress
        See `align_multiple`.

    Returns
    -------
    MultipleAlignment
        Without a tree.

    Raises
    ------
    CapacityError
        The posteriors of all pairs do not fit the memory.
    """
    support = np.zeros(len(columns))
    if len(sequences) > 1:
        threads = usable_cores() if threads is None else threads
        memory_bytes = default_bytes() if memory_bytes is None else memory_bytes
        posteriors = _posteriors(sequences, threads, memory_bytes, progress)
        support = _support(sequences, posteriors, columns)
    return MultipleAlignment(sequences, columns, width, support, None)


def _support(
    sequences: SequenceSet, posteriors: SparsePosteriors, columns: npt.NDArray[np.int32]
) -> npt.NDArray[np.float64]:
    with closing(PosteriorGraph(sequences.lengths, posteriors)) as graph:
        return graph.support(columns)


def _posteriors(
    sequences: SequenceSet, threads: int, memory_bytes: int, progress: Progress
) -> SparsePosteriors:
    """Compute the posteriors of all pairs; refuse more than fit."""
    job = PosteriorJob(sequences, threads=threads, memory_bytes=memory_bytes, progress=progress)
    pieces, held = [], 0
    for piece in job:
        pieces.append(piece)
        held += _ENTRY_BYTES * len(piece.rows)
        if held > memory_bytes:
            raise CapacityError(
                f"{sequences.source}: the posteriors of {len(sequences):,} sequences need more "
                f"than the {memory_bytes >> 20:,} MiB of memory that are allowed; allow more with "
                "--memory, or align fewer sequences",
                held,
                memory_bytes,
            )
    return join_posteriors(pieces)


def _align(
    graph: PosteriorGraph, sequences: SequenceSet
) -> tuple[GuideTree, npt.NDArray[np.int32], int]:
    tree = _tree(_distances(graph, sequences), sequences)
    weights = tree_weights(tree)
    if len(sequences) <= MOST_CONSISTENT:
        for _ in range(ROUNDS):
            graph.relax(weights, POSTERIOR_THRESHOLD)
    return tree, *graph.align(tree.children, weights, REFINEMENTS)


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


def _distances(graph: PosteriorGraph, sequences: SequenceSet) -> DistanceMatrix:
    first, second = np.triu_indices(len(sequences), 1)
    shorter = np.minimum(sequences.lengths[first], sequences.lengths[second])
    distances = np.maximum(1 - graph.accuracies() / shorter, 0).astype(np.float32)
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
