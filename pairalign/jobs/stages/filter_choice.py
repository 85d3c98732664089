"""Whether it pays to look at pairs before they are scored, if all that is asked is a score."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.engines.cpu.cpu_pair_filter import PairFilter
from pairalign.jobs.stages.strand_engine import BothStrandsFilter
from pairalign.pairs.positions import positions_of_mask
from pairalign.pairs.windows import Window
from pairalign.sequences.sets import SequenceSet

AnyFilter = PairFilter | BothStrandsFilter

WORTH_CHOOSING = 0.9
"""Of more pairs than that, all of a window are aligned: chosen ones cost more each."""

_LOOK, _LOOK_AT_GRAMS, _CHOOSE = 17.0, 30.0, 50.0
_SCORE, _SCORE_A_CELL = 14.0, 1 / 60
"""Nanoseconds of a core with AVX-512 for a pair: to look at it, to choose it, to score it. What
counts are proportions."""

_SAMPLED_WINDOWS, _SAMPLED_SIDE = 64, 32


def is_worth_looking(pair_filter: AnyFilter, sets: tuple[SequenceSet, SequenceSet | None]) -> bool:
    """Whether to look at pairs and to score what is left takes less time than to score all.

    Some windows say so, always the same ones, since lengths and residues say little of some sets
    and scores of short pairs take less time than a look at them.

    Parameters
    ----------
    pair_filter : PairFilter or BothStrandsFilter
    sets : two SequenceSets
        Those of the filter; the second is None for every pair of the first.
    """
    draw = np.random.default_rng(1)
    looking = in_dropped_windows = in_others = left_of_others = 0.0
    pairs = left = 0
    for _ in range(_SAMPLED_WINDOWS):
        window = _draw_window(draw, *sets)
        choice = pair_filter.choose(window)
        looking += window.pairs * _LOOK
        looking += choice.possible * _LOOK_AT_GRAMS if pair_filter.gram else 0
        scoring = _scoring(window, np.ones(window.pairs, np.bool_), sets)
        if choice.left == 0:
            in_dropped_windows += scoring
        else:
            pairs += window.pairs
            left += choice.left
            in_others += scoring
            left_of_others += _scoring(window, choice.mask, sets) + choice.left * _CHOOSE
    if left > WORTH_CHOOSING * pairs:
        left_of_others = in_others
    return looking < in_dropped_windows + in_others - left_of_others


def _draw_window(
    draw: np.random.Generator, first: SequenceSet, second: SequenceSet | None
) -> Window:
    count = len(first if second is None else second)
    row, column = (
        int(draw.integers(max(1, length - _SAMPLED_SIDE + 1))) for length in (len(first), count)
    )
    if second is None:
        row, column = min(row, column), max(row, column)
    stops = min(row + _SAMPLED_SIDE, len(first)), min(column + _SAMPLED_SIDE, count)
    return Window(0, row, stops[0], column, stops[1], second is None)


def _scoring(
    window: Window, mask: npt.NDArray[np.bool_], sets: tuple[SequenceSet, SequenceSet | None]
) -> float:
    """Return about how long the pairs of a mask take to score."""
    columns = sets[1] or sets[0]
    positions = positions_of_mask(window.bounds, mask)
    lengths = (
        sequences.lengths[sequences.order[places]].astype(np.float64)
        for sequences, places in zip((sets[0], columns), positions, strict=True)
    )
    cells = float(np.dot(*lengths))
    return int(np.count_nonzero(mask)) * _SCORE + cells * _SCORE_A_CELL
