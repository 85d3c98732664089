"""Thresholds that skip work: pairs that cannot pass are not aligned, others not returned.

`ThresholdEngine` wraps an engine and is one itself. Of a window's pairs it drops, cheapest first,
what lengths, q-grams, common subsequences and scores rule out (``docs/filters.md``), and looks
at the alignments of the others.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments.alignments import Alignments, no_alignments
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Bools
from pairalign.engines import Engine
from pairalign.engines.cpu.cpu_pair_filter import Grams, PairFilter, PairsLeft
from pairalign.engines.cpu.seed_index import LEAST_IDENTITY, LEAST_SEQUENCES, SeedIndex
from pairalign.jobs.stages.strand_engine import BothStrandsFilter
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.positions import positions_of_mask
from pairalign.pairs.want import Demand, Detail, Want
from pairalign.pairs.windows import Window
from pairalign.sequences.complement import reverse_complement_set

if TYPE_CHECKING:
    from pairalign.engines.cuda.cuda_pair_filter import CudaPairFilter


_CELLS_A_CHOSEN_PAIR = 50_000
"""What a GPU could fill while the host plans for a chosen pair, about: 10 ns."""

WORTH_FILTERING = 10**13
"""With a least score alone GPUs fill fewer cells before a filter is ready: 2 s of an H200's work.
200 M pairs of 16S reads took 5% longer with one, 1,250 M pairs 11% less."""

_WORTH_SCORING = 0.5  # of more that reach the score in the window before, all are traced at once


@dataclass(frozen=True)
class Requirement:
    """What pairs must reach, and how those are looked for that may.

    Attributes
    ----------
    min_raw_score : int or None
        None: any score will do.
    threads : int
        Of the filter.
    both_strands : bool
        Whether pairs may pass on either strand.
    are_all : bool
        Whether all pairs are looked at, so that an index of seeds may find those that can pass.
    demand : Demand or None
        Which pairs are still of use; None: all. Filters of GPUs do not ask.
    """

    problem: Problem
    thresholds: PairThresholds
    min_raw_score: int | None = None
    threads: int = 1
    both_strands: bool = False
    are_all: bool = False
    demand: Demand | None = None

    @property
    def may_have_seeds(self) -> bool:
        """Whether an index may take less time than looking at all pairs."""
        pairs = len(self.problem.queries) * len(self.problem.others)
        is_worth_it = self.thresholds.least_identity >= LEAST_IDENTITY
        return is_worth_it and not self.both_strands and pairs >= LEAST_SEQUENCES**2

    @property
    def cells(self) -> float:
        """Cells of all matrices, about."""
        first, second = self.problem.queries, self.problem.targets
        residues = float(first.total_residues)
        return residues * residues / 2 if second is None else residues * second.total_residues


@dataclass
class Steps:
    """How many pairs each step has left of a job; engines' threads share it.

    Attributes
    ----------
    pairs : int
        All of the job.
    possible, sharing, common, scoring, passing : int
        Left by lengths and residues; by q-grams; by common subsequences; by scores; by identity and
        coverage.
    seedless : int
        Pairs that share no seed; `possible` and what follows are of the others.
    unwanted : int
        Others that were of no use any more.
    gram : int
        Residues of the q-grams, 0: none were looked at.
    seed : int
        Residues of the seeds, 0: there is no index.
    beatable, known : int
        Of greedy clusters: pairs that might be more similar than the best found, and those of them
        whose alignment was known to have no gaps. The others were aligned: `scoring`.
    """

    pairs: int = 0
    seedless: int = 0
    unwanted: int = 0
    possible: int = 0
    sharing: int = 0
    common: int = 0
    scoring: int = 0
    passing: int = 0
    gram: int = 0
    seed: int = 0
    beatable: int = 0
    known: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def leave_out(self, pairs: int) -> None:
        """Count pairs that share no seed because of their lengths."""
        with self._lock:
            self.pairs += pairs
            self.seedless += pairs

    def __add__(self, other: Steps) -> Steps:
        """Return the pairs of two jobs together; `gram` and `seed` are those of the first."""
        counts = {
            attribute.name: getattr(self, attribute.name) + getattr(other, attribute.name)
            for attribute in fields(self)
            if attribute.init and attribute.name not in ("gram", "seed", "_lock")
        }
        return Steps(**counts, gram=self.gram, seed=self.seed)

    def add(self, choice: PairsLeft, scoring: int, passing: int) -> None:
        """Count the pairs of a window."""
        with self._lock:
            self.pairs += choice.looked_at
            self.seedless += choice.seedless
            self.unwanted += choice.unwanted
            self.possible += choice.possible
            self.sharing += choice.sharing
            self.common += choice.left
            self.scoring += scoring
            self.passing += passing


class ThresholdEngine(WrappedEngine):
    """Aligns those pairs of a window that may pass, returns those that do.

    Parameters
    ----------
    pair_filter : PairFilter or BothStrandsFilter
        Of the same requirement; shared by engines. One that has `on_device` gets a filter of its
        own there, which drops the same pairs.
    steps : Steps
        Where pairs are counted.
    """

    def __init__(
        self, engine: Engine, pair_filter: AnyFilter, requirement: Requirement, steps: Steps
    ) -> None:
        super().__init__(engine)
        self._filter = pair_filter
        self._own_filter: CudaPairFilter | None = None
        if engine.on_device is not None:
            assert isinstance(pair_filter, PairFilter)
            self._own_filter = engine.on_device.open_pair_filter(pair_filter)
        self._requirement = requirement
        self._thresholds = requirement.thresholds
        self._problem = requirement.problem
        self._steps = steps
        self._reaching = 0.0  # share that reached the score in the window before

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of `window`; see `pairalign.engines.Engine`."""
        if self._filter.index is not None and pair_mask is None:
            whole, window = window, self._filter.index.reach(window)
            self._steps.leave_out(whole.pairs - window.pairs)
        if self._own_filter is None:
            choice = self._filter.choose(window, pair_mask, self._requirement.demand)
        else:
            choice = self._own_filter.choose(window, pair_mask)
        if choice.left == 0:
            self._steps.add(choice, 0, 0)
            problem = self._problem
            return no_alignments(problem.queries, problem.targets, problem.scoring, want.detail)
        alignments = self._align_chosen(window, want, pair_mask, choice)
        passing = alignments
        if self._thresholds:
            numbers = self._thresholds.passing(alignments)
            passing = alignments if len(numbers) == len(alignments) else alignments.take(numbers)
            passing = passing.without(
                stats=want.detail == Detail.SCORE, cigar=want.detail < Detail.CIGAR
            )
        self._steps.add(choice, self._count_reaching(choice, alignments), len(passing))
        return passing

    def close(self) -> None:
        """Close the engine; whoever opened the filter that engines share closes it."""
        if self._own_filter is not None:
            self._own_filter.close()
        super().close()

    def _align_chosen(
        self, window: Window, want: Want, pair_mask: Bools | None, choice: PairsLeft
    ) -> Alignments:
        """Align what is left of a window, and perhaps more; of it, what reaches the scores."""
        mask: Bools | None = choice.mask
        most = self._worth_choosing(window) * window.pairs
        if choice.left == window.pairs or (pair_mask is None and choice.left > most):
            mask = None
        detail = max(want.detail, self._thresholds.detail(self._problem.scoring.mode))
        least = want.min_raw_score
        if choice.min_raw_score is not None and self._reaching < _WORTH_SCORING:
            least = max(choice.min_raw_score, -(2**31) if least is None else least)
        return self._engine.align(window, Want(detail, least), mask)

    def _worth_choosing(self, window: Window) -> float:
        """Return the share of a window's pairs up to which it is faster to choose them.

        On a GPU a chosen pair takes a quarter more than others, and the host's time; a third of the
        gain is left for what is not counted. Of 16S reads of 120 residues that is a seventh.
        """
        if not self.is_gpu:
            return WORTH_CHOOSING
        queries, targets = self._problem.queries, self._problem.others
        lengths = [
            sequences.lengths[sequences.order[start:stop]].mean()
            for sequences, start, stop in (
                (queries, window.row_start, window.row_stop),
                (targets, window.column_start, window.column_stop),
            )
        ]
        cells = float(lengths[0]) * float(lengths[1])
        return min(WORTH_CHOOSING, 0.7 * cells / (1.25 * cells + _CELLS_A_CHOSEN_PAIR))

    def _count_reaching(self, choice: PairsLeft, alignments: Alignments) -> int:
        """Count what reaches the score that follows from the thresholds."""
        reaching = len(alignments)
        if choice.min_raw_score is not None:
            reaching = int(np.count_nonzero(alignments.raw_score >= choice.min_raw_score))
        self._reaching = min(reaching / choice.left, 1.0)
        return min(reaching, choice.left)


def skip_pairs(
    engines: Sequence[Engine], requirement: Requirement
) -> tuple[Sequence[Engine], Steps, SeedIndex | None]:
    """Wrap engines so that they skip pairs which cannot reach the thresholds.

    Returns
    -------
    engines : sequence of Engine
    steps : Steps
        What they will count.
    index : SeedIndex or None
        The index that was opened.
    """
    return _wrap(engines, open_filter(engines, requirement), requirement)


def open_filter(engines: Sequence[Engine], requirement: Requirement) -> AnyFilter:
    """Open the filter that engines share, see `skip_pairs`; of none, as for the CPU's."""
    problem, both_strands = requirement.problem, requirement.both_strands
    on_gpu = any(engine.is_gpu for engine in engines)
    on_devices = all(engine.on_device is not None for engine in engines)
    make = partial(
        PairFilter,
        thresholds=requirement.thresholds,
        min_raw_score=requirement.min_raw_score,
        threads=requirement.threads,
        subsequences=not on_gpu or (on_devices and not both_strands),
        grams=Grams.ANY if on_gpu else Grams.WHERE_FASTER,
    )
    if not both_strands:
        seeds = requirement.are_all and not on_gpu and requirement.may_have_seeds
        return make(problem, seeds=seeds)
    reverse = replace(problem, targets=reverse_complement_set(problem.others))
    return BothStrandsFilter(make(problem), make(reverse))


def _wrap(
    engines: Sequence[Engine], pair_filter: AnyFilter, requirement: Requirement
) -> tuple[Sequence[Engine], Steps, SeedIndex | None]:
    index = pair_filter.index
    steps = Steps(gram=pair_filter.gram, seed=0 if index is None else index.residues)
    wrapped = [ThresholdEngine(engine, pair_filter, requirement, steps) for engine in engines]
    return wrapped, steps, index


def skip_where_it_pays(
    engines: Sequence[Engine], requirement: Requirement
) -> tuple[Sequence[Engine], Steps | None, SeedIndex | None]:
    """Wrap engines as `skip_pairs` does, unless aligning all pairs is as fast.

    There are thresholds, or a least score.

    Returns
    -------
    engines : sequence of Engine
    steps : Steps or None
        None: the engines are as they were.
    index : SeedIndex or None
    """
    if requirement.thresholds or requirement.demand is not None:
        return skip_pairs(engines, requirement)
    problem = requirement.problem
    if not any(engine.is_gpu for engine in engines):
        requirement = replace(requirement, are_all=False)
        opened = open_filter(engines, requirement)
        if is_worth_looking(opened, problem):
            return _wrap(engines, opened, requirement)
        opened.close()
        return engines, None, None
    if (requirement.min_raw_score or 0) <= 0:
        return engines, None, None
    # Scores alone a GPU finds as fast as the host says which pairs cannot reach them; with a filter
    # of its own it is faster where q-grams say something, and to find that out has a cost.
    if not all(engine.on_device for engine in engines) or requirement.cells < WORTH_FILTERING:
        return engines, None, None
    pair_filter = PairFilter(
        problem,
        requirement.thresholds,
        requirement.min_raw_score,
        threads=requirement.threads,
    )
    if not pair_filter.gram:
        pair_filter.close()
        return engines, None, None
    return _wrap(engines, pair_filter, requirement)


AnyFilter = PairFilter | BothStrandsFilter

WORTH_CHOOSING = 0.9
"""Of more pairs than that, all of a window are aligned: chosen ones cost more each."""

_LOOK, _LOOK_AT_GRAMS, _CHOOSE = 17.0, 30.0, 50.0
_SCORE, _SCORE_A_CELL = 14.0, 1 / 60
"""Nanoseconds of a core with AVX-512 for a pair: to look at it, to choose it, to score it. What
counts are proportions."""

_SAMPLED_WINDOWS, _SAMPLED_SIDE = 64, 32


def is_worth_looking(pair_filter: AnyFilter, problem: Problem) -> bool:
    """Whether to look at pairs and to score what is left takes less time than to score all.

    Some windows say so, always the same ones, since lengths and residues say little of some sets
    and scores of short pairs take less time than a look at them.

    Parameters
    ----------
    pair_filter : PairFilter or BothStrandsFilter
    problem : Problem
        That of the filter.
    """
    draw = np.random.default_rng(1)
    looking = in_dropped_windows = in_others = left_of_others = 0.0
    pairs = left = 0
    for _ in range(_SAMPLED_WINDOWS):
        window = _draw_window(draw, problem)
        choice = pair_filter.choose(window)
        looking += window.pairs * _LOOK
        looking += choice.possible * _LOOK_AT_GRAMS if pair_filter.gram else 0
        scoring = _scoring(window, np.ones(window.pairs, np.bool_), problem)
        if choice.left == 0:
            in_dropped_windows += scoring
        else:
            pairs += window.pairs
            left += choice.left
            in_others += scoring
            left_of_others += _scoring(window, choice.mask, problem) + choice.left * _CHOOSE
    if left > WORTH_CHOOSING * pairs:
        left_of_others = in_others
    return looking < in_dropped_windows + in_others - left_of_others


def _draw_window(draw: np.random.Generator, problem: Problem) -> Window:
    counts = len(problem.queries), len(problem.others)
    row, column = (int(draw.integers(max(1, count - _SAMPLED_SIDE + 1))) for count in counts)
    if problem.is_one_set:
        row, column = min(row, column), max(row, column)
    stops = min(row + _SAMPLED_SIDE, counts[0]), min(column + _SAMPLED_SIDE, counts[1])
    return Window(0, row, stops[0], column, stops[1], problem.is_one_set)


def _scoring(window: Window, mask: Bools, problem: Problem) -> float:
    """Return about how long the pairs of a mask take to score."""
    positions = positions_of_mask(window.bounds, mask)
    lengths = (
        sequences.lengths[sequences.order[places]].astype(np.float64)
        for sequences, places in zip((problem.queries, problem.others), positions, strict=True)
    )
    cells = float(np.dot(*lengths))
    return int(np.count_nonzero(mask)) * _SCORE + cells * _SCORE_A_CELL
