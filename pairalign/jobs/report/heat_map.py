"""The heat map of a report: values of all pairs in the order of a tree, as few as can be shown.

Values are 16-bit steps between the least and the largest, so that a page can hold them; pairs
without a value (below a threshold, or of sequences that were not aligned) are marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.passes import place_in_triangle
from pairalign.base.arrays import Doubles, Float32s, Int64s
from pairalign.jobs.run.memory import check_memory
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix, number_of_pairs
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_joining import join_closest, join_in_order

MOST_SEQUENCES = 8000
"""Of a map: its values take 4 bytes a pair while the run goes on, its tree 8 bytes more."""
SIDE = 1300
"""Cells of a side; larger maps have means of blocks."""
MISSING = 65535

_METHOD, _TREE_BYTES = "upgma", 12
"""Of the tree, and what making it takes a pair."""


@dataclass(frozen=True, eq=False)
class HeatMap:
    """What a page draws.

    Attributes
    ----------
    measure : str
        What the values are.
    order : list of int
        Input indices from top to bottom.
    block : int
        Sequences of a cell's side; its value is the mean of its pairs that have one.
    low, high : float
        The least and the largest value.
    cells : ndarray of uint16, shape (side (side + 1) / 2,)
        The triangle with its diagonal, row by row; `MISSING`, or steps of ``(high - low) /
        (MISSING - 1)`` from `low` on.
    """

    measure: str
    order: list[int]
    block: int
    low: float
    high: float
    cells: npt.NDArray[np.uint16]
    tree: GuideTree


class TriangleCollector:
    """Collects a value of each pair of a set.

    Parameters
    ----------
    sequences : SequenceSet
        Of 3 to `MOST_SEQUENCES`.
    """

    def __init__(self, sequences: SequenceSet) -> None:
        self._sequences = sequences
        self._values = np.full(number_of_pairs(len(sequences)), np.nan, np.float32)
        self._measure = "identity"

    def add(self, alignments: Alignments) -> None:
        """Take in some pairs; of several alignments of a pair the first counts."""
        first = np.ones(len(alignments), np.bool_)
        query, target = alignments.query, alignments.target
        same = (query[1:] == query[:-1]) & (target[1:] == target[:-1])
        first[1:] = ~same
        if not first.all():
            alignments = alignments.take(first)
        if alignments.has_stats:
            values = np.nan_to_num(alignments.identity)
        else:
            values, self._measure = alignments.score.astype(np.float64), "score"
        ends = alignments.query, alignments.target
        place_in_triangle(*ends, values, len(self._sequences), self._values)

    def heat_map(self) -> HeatMap | None:
        """Make the map, its tree by UPGMA; None if no pair has a value.

        A pair without a value is as distant as the most distant one could be.
        """
        values, names = self._values, list(self._sequences.names)
        if np.isnan(values).all():
            return None
        if self._measure == "identity":
            distances = 1 - np.nan_to_num(values)
        else:
            distances = np.nanmax(values) - values
            np.nan_to_num(distances, copy=False, nan=float(np.nanmax(distances)))
        tree = map_tree(DistanceMatrix(names, distances), self._sequences)
        diagonal = 1.0 if self._measure == "identity" else np.nan
        return make_heat_map(values, diagonal, tree, self._measure)


def map_tree(matrix: DistanceMatrix, sequences: SequenceSet) -> GuideTree:
    """Return the tree in whose order a map is drawn."""
    check_memory(len(matrix), _TREE_BYTES)
    return join_in_order(matrix, sequences, _METHOD, partial(join_closest, method=_METHOD))


def make_heat_map(values: Float32s, diagonal: float, tree: GuideTree, measure: str) -> HeatMap:
    """Make a map of values in the order of a tree.

    Parameters
    ----------
    values : ndarray of float32, shape (n(n-1)/2,)
        Of pairs, see `pairalign.trees.distance_matrix`; nan where there is none.
    diagonal : float
        Of a sequence with itself; may be nan.
    """
    order = np.array(tree.leaves())
    block = -(-len(order) // SIDE)
    means = _means_of_blocks(values, diagonal, order, block)
    low, high = float(np.nanmin(means)), float(np.nanmax(means))
    steps = (means - low) / ((high - low) or 1.0) * (MISSING - 1)
    cells = np.where(np.isnan(means), MISSING, np.round(np.nan_to_num(steps)))
    cells = cells[np.triu_indices(len(cells))].astype("<u2")
    return HeatMap(measure, order.tolist(), block, low, high, cells, tree)


def _means_of_blocks(values: Float32s, diagonal: float, order: Int64s, block: int) -> Doubles:
    """Return the means of blocks of the square matrix; nan where a block has no value."""
    starts = np.arange(0, len(order), block)
    sums, counts = (np.zeros((len(starts), len(starts))) for _ in range(2))
    rows = np.arange(len(order))
    firsts = rows * len(order) - rows * (rows + 1) // 2 - rows - 1
    for row, index in enumerate(order.tolist()):
        places = np.minimum(order, index), np.maximum(order, index)
        here = firsts[places[0]] + places[1]
        here[row] = 0
        line = values[here].astype(np.float64)
        line[row] = diagonal
        has_value = ~np.isnan(line)
        sums[row // block] += np.add.reduceat(np.where(has_value, line, 0), starts)
        counts[row // block] += np.add.reduceat(has_value.astype(np.float64), starts)
    with np.errstate(invalid="ignore"):
        means: Doubles = np.where(counts > 0, sums / counts, np.nan)
    return means
