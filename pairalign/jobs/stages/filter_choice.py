"""Whether it pays to look at pairs before they are scored, if a score is the only threshold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.alignments.problem import Problem
from pairalign.engines.cpu.cpu_pair_filter import PairFilter
from pairalign.jobs.stages.strand_engine import BothStrandsFilter
from pairalign.pairs.positions import positions_of_mask
from pairalign.pairs.windows import Window

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


def _scoring(window: Window, mask: npt.NDArray[np.bool_], problem: Problem) -> float:
    """Return about how long the pairs of a mask take to score."""
    positions = positions_of_mask(window.bounds, mask)
    lengths = (
        sequences.lengths[sequences.order[places]].astype(np.float64)
        for sequences, places in zip((problem.queries, problem.others), positions, strict=True)
    )
    cells = float(np.dot(*lengths))
    return int(np.count_nonzero(mask)) * _SCORE + cells * _SCORE_A_CELL
