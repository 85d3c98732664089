"""How much values of posteriors' rows grow before they are scaled, proven from a model's tables.

Kernels bring the largest value of a row to one size every `GROUP` rows (``cpu/posterior/kernel.h``,
``cuda/posterior/rows.cuh``), and what a row may grow until then has to fit their numbers
(``common/posterior_scaling.h``). Here the recurrences of ``cpu/posterior/model.h`` are applied to
bounds: what each state is at most in any column, where the largest value of the row was 1.

Not all states count for the largest value. The bounds of the others follow from what they add to
those that do, in the same cell. Going forward, what a cell hands to the match states of the next,
A, has ``enter * close * X`` of each gap X, and ``stay * M``. Going backward, a match state has
``open * X`` of the gap of the next row, and ``stay`` times the match that follows it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pairalign.scoring.posterior_models import PosteriorModel

GROUP = 8
"""Rows; as in ``common/posterior_scaling.h``."""


def growth_bits(model: PosteriorModel) -> int:
    """Return the bits that the values of a row grow by within a group at most, rounded up."""
    bounds = (_hmm_forward, _hmm_backward, _partition_forward, _partition_backward)
    return math.ceil(math.log2(max(float(value) for bound in bounds for value in bound(model))))


def _hmm_forward(model: PosteriorModel) -> Iterator[float]:
    emission = model.hmm_emission.max(axis=(1, 2))
    closing = model.enter.max()
    opening = float((model.open_short / model.stay).sum())
    handed = np.ones(model.match_states)
    x1 = model.extend_short / (model.close_short * closing) + opening
    x2 = max(1.0, model.extend_long / (model.close_long * closing))  # it counts, but in column 0
    for _ in range(GROUP):
        match = emission * handed
        opened1, opened2 = float(model.open_short @ match), float(model.open_long @ match)
        gaps1 = x1 + opened1 / (1 - model.extend_short)  # of x, and of y along a row
        gaps2 = x2 + opened2 / (1 - model.extend_long)
        hub = model.leave @ match + model.close_short * gaps1 + model.close_long * gaps2
        handed = model.stay * match + model.enter * hub
        x1, x2 = model.extend_short * x1 + opened1, model.extend_long * x2 + opened2
        yield from (match.max(), handed.max(), gaps1, gaps2, x1, x2)


def _hmm_backward(model: PosteriorModel) -> Iterator[float]:
    emission = model.hmm_emission.max(axis=(1, 2))
    match, x2 = np.ones(model.match_states), 1.0
    entering = float((model.enter / model.stay).sum())
    inside = model.extend_short / model.open_short.max() + model.close_short * entering
    x1 = max(inside, model.start_short / max(model.start_match, model.start_long))
    for _ in range(GROUP):
        matched = emission * match
        entered = float(model.enter @ matched)
        closed1, closed2 = model.close_short * entered, model.close_long * entered
        gaps1 = x1 + closed1 / (1 - model.extend_short)
        gaps2 = x2 + closed2 / (1 - model.extend_long)
        opened = model.open_short * gaps1 + model.open_long * gaps2
        match = model.stay * matched + model.leave * entered + opened
        x1, x2 = model.extend_short * x1 + closed1, model.extend_long * x2 + closed2
        # What is kept has the emission already, which does not count for the largest value.
        yield from ((emission * match).max(), gaps1, gaps2, x1, x2)


def _partition_forward(model: PosteriorModel) -> Iterator[float]:
    """Bound M + X + Y, which counts, and X; in the last column, gaps of x cost nothing.

    Gaps of y cost nothing in the last row: what they add up to there is part of the pair's whole
    alone, which kernels check.
    """
    emission = float(model.partition_emission.max())
    handed, x = 1.0, 2.0
    for _ in range(GROUP):
        match = emission * handed
        y = model.gap_open * match / (1 - model.gap_extend)
        handed = match + x + y
        x = max(model.gap_extend * x + model.gap_open * match, x + match)
        yield from (handed, x)


def _partition_backward(model: PosteriorModel) -> Iterator[float]:
    """Bound M, X and Y, which count; no match follows the last column, whose gaps cost nothing."""
    emission = float(model.partition_emission.max())
    match = x = 1.0
    for _ in range(GROUP):
        matched = emission * match
        y = matched / (1 - model.gap_extend)
        match = max(matched + model.gap_open * (x + y), x + model.gap_open * y)
        x = max(x, matched + model.gap_extend * x)
        yield from (emission * match, x, y)
