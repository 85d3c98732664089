"""What thresholds leave of a job, told by a sample: some sequences go through the real filters.

The sample is the same wherever it is drawn, whatever the device, and so is what is made of it, in
exact integers: shards are cut by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s, Int64s
from pairalign.jobs.run.blocks import Density
from pairalign.jobs.run.shards import PAIR_CELLS, weigh_residues
from pairalign.pairs.positions import positions_of_mask
from pairalign.pairs.windows import Window, count_cells
from pairalign.sequences.block_set import BlockSet
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.jobs.stages.filter_choice import AnyFilter
    from pairalign.jobs.stages.threshold_engine import Requirement

_GROUPS = 48
"""Of window rows, and of window columns, at most."""

_LEAST_SEQUENCES, _SEQUENCES, _RESIDUES = 512, 1536, 1 << 20
"""Of a sample of rows, or of columns; of residues twice as many at most."""

_OF_A_SHARD = 8
"""A sample has this part of the pairs of a shard, or `_LEAST_SEQUENCES`."""


@dataclass(frozen=True)
class FilterCosts:
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

    def of(
        self, pairs: Int64s, left: Int64s, possible: Int64s, sharing: Int64s, mean: Int64s
    ) -> Int64s:
        """Return what filters take; counts are of pairs as `Left` has them.

        `possible` and `sharing` are 0 where these were not looked at; `mean`: cells of a pair.
        """
        by_look = self.look * pairs + self.choose * left
        cells: Int64s = by_look + self.grams * possible + sharing * (mean // self.subsequence)
        return cells


CPU_COSTS = FilterCosts(200, 800, 6000, 24)
"""Of a core with AVX-512. Shards are cut by them, whatever the device."""

SEED_COSTS = FilterCosts(60, 200, 40_000, 24)
"""Of a core that may have an index of seeds: with one, a pair takes next to nothing."""

_ONE = 1 << 16  # the factor of a window whose pairs are all scored


@dataclass(frozen=True)
class Left:
    """What the filters leave of sampled pairs, by groups of rows and of columns.

    Attributes
    ----------
    pairs, possible, sharing, left : ndarray of int64, shape (groups, groups of columns)
        Pairs of the sample; after lengths and residues; after q-grams; and after subsequences:
        these are scored.
    cells, cells_left : ndarray of int64
        Of all pairs, and of those that are left.
    costs : ndarray of int64
        Of all pairs, as `pairalign.jobs.run.blocks` has it.
    whole : ndarray of int64
        Pairs of the whole job.
    grams, subsequences : bool
        Whether these were looked at.
    seeds : bool
        Whether cores may find the pairs of the whole by an index of seeds.
    rows, columns : ndarray of int32
        Of the pairs that are left, input indices in the whole.
    """

    pairs: Int64s
    possible: Int64s
    sharing: Int64s
    left: Int64s
    cells: Int64s
    cells_left: Int64s
    costs: Int64s
    whole: Int64s
    grams: bool
    subsequences: bool
    seeds: bool
    rows: Int32s
    columns: Int32s

    def scaled(self, values: Int64s) -> float:
        """Return what the whole job has of something that the sample has."""
        return float((values * (self.whole / np.maximum(self.pairs, 1))).sum())

    def filtering(self, costs: FilterCosts) -> Int64s:
        """Return what it takes to find what is left, in cells that are scored meanwhile."""
        mean = self.cells // np.maximum(self.pairs, 1)
        possible = self.grams * self.possible
        return costs.of(self.pairs, self.left, possible, self.subsequences * self.sharing, mean)


class WorkSample:
    """Some sequences of a problem, evenly spread over those of each group of windows.

    Parameters
    ----------
    window : int
        Rows and columns of a window.
    shards : int
        In which the job is cut.
    """

    def __init__(self, problem: Problem, window: int, shards: int = 1) -> None:
        self._is_one_set = problem.is_one_set
        counts = [len(sequences) for sequences in (problem.queries, problem.others)]
        down, across = (-(-count // window) for count in counts)
        pairs = counts[0] * counts[1] // (shards * _OF_A_SHARD)
        most = min(max(isqrt(pairs), _LEAST_SEQUENCES), _SEQUENCES)
        self._rows = _Side(problem.queries, down, window, most)
        self._columns = self._rows
        if not self._is_one_set:
            self._columns = _Side(problem.others, across, window, most)
        others = None if self._is_one_set else self._columns.sequences
        self._problem = Problem(self._rows.sequences, others, problem.scoring)

    @property
    def is_little(self) -> bool:
        """Whether it has few residues; of long sequences one a group is too much to look at."""
        sides = self._rows, self._columns
        return all(int(side.lengths.sum(dtype=np.int64)) <= 2 * _RESIDUES for side in sides)

    def filter(self, requirement: Requirement) -> Left:
        """Send all pairs of the sample through filters; the requirement is that of the whole."""
        from pairalign.jobs.stages.threshold_engine import open_filter

        of_sample = replace(requirement, problem=self._problem, are_all=False)
        opened = open_filter((), of_sample)
        try:
            return self._look(opened, requirement.may_have_seeds)
        finally:
            opened.close()

    def density(self, left: Left) -> Density:
        """Return what windows cost as the sample says, for shards."""
        how = SEED_COSTS if left.seeds else CPU_COSTS
        work, costs = left.filtering(how) + left.cells_left, left.costs
        usual = int(work.sum()) * _ONE // max(1, int(costs.sum()))
        factors = np.where(costs > 0, work * _ONE // np.maximum(costs, 1), usual)
        return Density(self._rows.ends, self._columns.ends, np.maximum(factors, 1))

    def _look(self, opened: AnyFilter, seeds: bool) -> Left:
        shape = len(self._rows.ends), len(self._columns.ends)
        totals = np.zeros((7, *shape), np.int64)
        kept: list[npt.NDArray[np.int32]] = [np.empty((2, 0), np.int32)]
        sides = self._rows, self._columns
        for row, column, window in self._windows():
            choice = opened.choose(window)
            steps = choice.looked_at, choice.possible, choice.sharing, choice.left
            places = positions_of_mask(window.bounds, choice.mask)
            lengths = (side.lengths[some] for side, some in zip(sides, places, strict=True))
            cells = count_cells(window, *(side.lengths for side in sides))
            cells_left = int(np.dot(*(residues.astype(np.int64) for residues in lengths)))
            cost = (
                count_cells(window, *(side.weights for side in sides)) + PAIR_CELLS * window.pairs
            )
            totals[:, row, column] = (*steps, cells, cells_left, cost)
            kept.append(np.stack(places))
        rows, columns = np.concatenate(kept, axis=1)
        looks = bool(opened.gram), opened.has_subsequences, seeds
        places_in_whole = self._rows.in_whole(rows), self._columns.in_whole(columns)
        pairs, possible, sharing, left, *work = (total for total in totals)
        return Left(
            *(pairs, possible, sharing, left),
            *(work[0], work[1], work[2], self._count_whole()),
            *looks,
            *places_in_whole,
        )

    def _count_whole(self) -> Int64s:
        """Count the pairs of the whole, by groups."""
        rows, columns = (np.array(side.sizes, np.int64) for side in (self._rows, self._columns))
        pairs: Int64s = rows[:, np.newaxis] * columns
        if self._is_one_set:
            pairs = np.triu(pairs, 1) + np.diag(rows * (rows - 1) // 2)
        return pairs

    def _windows(self) -> Iterator[tuple[int, int, Window]]:
        for row, (top, bottom) in enumerate(self._rows.parts):
            for column, (left, right) in enumerate(self._columns.parts):
                window = Window(0, top, bottom, left, right, self._is_one_set)
                if window.pairs:
                    yield row, column, window


class _Side:
    """Sampled rows, or columns.

    Attributes
    ----------
    ends : list of int
        The window that follows the last of each group.
    sizes : list of int
        Sequences of each group of the whole.
    parts : list of (int, int)
        Half-open ranges of the sample's sorted positions, a group each.
    sequences : BlockSet
    lengths, weights : ndarray, shape (sequences,)
        By sorted position.
    """

    def __init__(self, whole: SequenceSet, windows: int, size: int, most: int) -> None:
        groups = min(windows, _GROUPS)
        self.ends = [windows * k // groups for k in range(1, groups + 1)]
        most = min(most, _RESIDUES * len(whole) // max(1, whole.total_residues))
        each = max(1, most // groups)
        places: list[int] = []
        self.sizes: list[int] = []
        self.parts: list[tuple[int, int]] = []
        start = 0
        for end in self.ends:
            stop = min(end * size, len(whole))
            self.sizes.append(stop - start)
            count = min(each, stop - start)
            drawn = [start + (2 * k + 1) * (stop - start) // (2 * count) for k in range(count)]
            self.parts.append((len(places), len(places) + count))
            places += drawn
            start = stop
        self.sequences = BlockSet(whole, [(place, place + 1) for place in places])
        self.lengths = self.sequences.sorted_lengths
        self.weights = weigh_residues(self.lengths)

    def in_whole(self, places: Int32s) -> Int32s:
        """Return the input indices in the whole of some of the sample's sorted positions."""
        indices: Int32s = self.sequences.indices[self.sequences.order[places]]
        return indices
