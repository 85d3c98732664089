"""What thresholds leave of a job, told by a sample: some sequences go through the real filters.

The sample is the same wherever it is drawn, whatever the device, and so is what is made of it, in
exact integers: shards are cut by it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import isqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.jobs.run.blocks import Density
from pairalign.jobs.run.slabs import PAIR_CELLS, weigh_residues
from pairalign.pairs.positions import positions_of_mask
from pairalign.pairs.windows import Window, count_cells
from pairalign.sequences.block_set import BlockSet
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.jobs.stages.threshold_engine import AnyFilter, Requirement

_GROUPS = 48
"""Of window rows, and of window columns, at most."""

_LEAST_SEQUENCES, _SEQUENCES, _RESIDUES = 512, 1536, 1 << 20
"""Of a sample of rows, or of columns; of residues twice as many at most."""

_OF_A_SHARD = 8
"""A sample has this part of the pairs of a shard, or `_LEAST_SEQUENCES`."""


class _FilterCosts(NamedTuple):
    """What filters take, in cells that are scored meanwhile.

    Attributes
    ----------
    look, grams, choose : int
        Of a pair: to look at its lengths, at its q-grams, and to choose it.
    subsequence : int
        Cells of common subsequences in the time of one that is scored.
    """

    look: int
    grams: int
    choose: int
    subsequence: int


_CPU_COSTS = _FilterCosts(200, 800, 6000, 24)
"""Of a core with AVX-512. Shards are cut by them, whatever the device."""

_SEED_COSTS = _FilterCosts(60, 200, 40_000, 24)
"""Of a core that may have an index of seeds: with one, a pair takes next to nothing."""

_ONE = 1 << 16  # the factor of a window whose pairs are all scored


def sample_density(requirement: Requirement, window: int, shards: int) -> Density | None:
    """Return what windows cost as a sample says, some sequences of each group of windows.

    Parameters
    ----------
    requirement : Requirement
        Of the whole.
    window : int
        Rows and columns of a window.
    shards : int
        In which the job is cut.

    Returns
    -------
    Density or None
        None: sequences are long, and one a group is too much to look at.
    """
    from pairalign.jobs.stages.threshold_engine import open_filter

    problem = requirement.problem
    pairs = len(problem.queries) * len(problem.others) // (shards * _OF_A_SHARD)
    most = min(max(isqrt(pairs), _LEAST_SEQUENCES), _SEQUENCES)
    rows = columns = _Side(problem.queries, window, most)
    if not problem.is_one_set:
        columns = _Side(problem.others, window, most)
    if max(int(side.lengths.sum(dtype=np.int64)) for side in (rows, columns)) > 2 * _RESIDUES:
        return None
    targets = None if problem.is_one_set else columns.sequences
    sample = Problem(rows.sequences, targets, problem.scoring)
    costs = _SEED_COSTS if requirement.may_have_seeds else _CPU_COSTS
    work, usual = np.zeros((2, len(rows.ends), len(columns.ends)), np.int64)
    opened = open_filter((), replace(requirement, problem=sample, are_all=False))
    try:
        for row, column in product(range(len(rows.ends)), range(len(columns.ends))):
            bounds = *rows.parts[row], *columns.parts[column]
            place = Window(0, *bounds, problem.is_one_set)
            if place.pairs:
                work[row, column] = _work(opened, costs, place, rows, columns)
                weighed = count_cells(place, rows.weights, columns.weights)
                usual[row, column] = weighed + PAIR_CELLS * place.pairs
    finally:
        opened.close()
    mean = int(work.sum()) * _ONE // max(1, int(usual.sum()))
    factors = np.where(usual > 0, work * _ONE // np.maximum(usual, 1), mean)
    return Density(rows.ends, columns.ends, np.maximum(factors, 1))


def _work(
    opened: AnyFilter, costs: _FilterCosts, window: Window, rows: _Side, columns: _Side
) -> int:
    """Return the cells of the pairs that are left, and those in the time that this takes to see."""
    choice = opened.choose(window)
    mean = count_cells(window, rows.lengths, columns.lengths) // max(choice.looked_at, 1)
    first, second = positions_of_mask(window.bounds, choice.mask)
    work = int(np.dot(rows.lengths[first].astype(np.int64), columns.lengths[second]))
    work += costs.look * choice.looked_at + costs.choose * choice.left
    if opened.gram:
        work += costs.grams * choice.possible
    if opened.has_subsequences:
        work += choice.sharing * (mean // costs.subsequence)
    return work


class _Side:
    """Sampled rows, or columns.

    Attributes
    ----------
    ends : list of int
        The window that follows the last of each group.
    parts : list of (int, int)
        Half-open ranges of the sample's sorted positions, a group each.
    sequences : BlockSet
    lengths, weights : ndarray, shape (sequences,)
        By sorted position.
    """

    def __init__(self, whole: SequenceSet, size: int, most: int) -> None:
        windows = -(-len(whole) // size)
        groups = min(windows, _GROUPS)
        self.ends = [windows * k // groups for k in range(1, groups + 1)]
        most = min(most, _RESIDUES * len(whole) // max(1, whole.total_residues))
        each = max(1, most // groups)
        places: list[int] = []
        self.parts: list[tuple[int, int]] = []
        start = 0
        for end in self.ends:
            stop = min(end * size, len(whole))
            count = min(each, stop - start)
            drawn = [start + (2 * k + 1) * (stop - start) // (2 * count) for k in range(count)]
            self.parts.append((len(places), len(places) + count))
            places += drawn
            start = stop
        self.sequences = BlockSet(whole, [(place, place + 1) for place in places])
        self.lengths = self.sequences.sorted_lengths
        self.weights = weigh_residues(self.lengths)
