"""Overlaps in stages: all pairs are scored on both strands, and only those that pass are aligned.

`StagedEngine` wraps an engine and is one itself, so that windows are scheduled, and results ordered
and kept within memory, as those of any other job.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments, concatenate
from pairalign.engines import Engine
from pairalign.engines.filters import PairFilter
from pairalign.thresholds import PairThresholds
from pairalign.want import Detail, Want
from pairalign.windows import Window

Mask = npt.NDArray[np.bool_]

STRANDS = (1, -1)
FILTER, SCORE, ALIGN = "filter", "score", "align"


@dataclass(frozen=True)
class Thresholds:
    """What an overlap must reach.

    Attributes
    ----------
    min_raw_score : int
        At least 1; a pair that scores less on a strand is not aligned.
    min_overlap : int
        Letters, of the shorter of the two spans.
    min_identity : Fraction
        Matches by columns, from 0 to 1.
    all_strands : bool
        Keep both strands of a pair where both pass, not just the one that scores more (of equals,
        the plus strand).
    """

    min_raw_score: int = 1
    min_overlap: int = 1
    min_identity: Fraction = Fraction(0)
    all_strands: bool = False

    def passed(self, found: Alignments) -> Mask:
        """Return which alignments are long and alike enough, bool of shape (n,)."""
        spans = [
            found.field(f"{side}_end") - found.field(f"{side}_start")
            for side in ("query", "target")
        ]
        passed: Mask = np.minimum(*spans) >= max(1, self.min_overlap)
        if self.min_identity:
            alike = np.zeros(len(found), np.bool_)
            alike[PairThresholds(self.min_identity).passing(found)] = True
            passed &= alike
        return passed


@dataclass
class Stage:
    """What a stage has done so far.

    Attributes
    ----------
    alignments : int
        Pairs by strands that it looked at.
    passed : int
        How many of them it let through.
    seconds : float
        Time during which at least one engine was in this stage; stages of several engines overlap.
    """

    alignments: int = 0
    passed: int = 0
    seconds: float = 0.0


@dataclass
class Stages:
    """The stages of a run, counted and timed; engines' threads share it."""

    stages: dict[str, Stage] = field(
        default_factory=lambda: {name: Stage() for name in (FILTER, SCORE, ALIGN)}
    )
    _running: dict[str, int] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __getitem__(self, name: str) -> Stage:
        return self.stages[name]

    def count(self, name: str, alignments: int, passed: int) -> None:
        """Add to what a stage looked at and let through."""
        with self._lock:
            self.stages[name].alignments += alignments
            self.stages[name].passed += passed

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time a ``with`` block as part of a stage."""
        with self._lock:
            if self._running.setdefault(name, 0) == 0:
                self._since[name] = time.perf_counter()
            self._running[name] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[name] -= 1
                if self._running[name] == 0:
                    self.stages[name].seconds += time.perf_counter() - self._since[name]


@dataclass
class SharedFilter:
    """A filter that several engines may ask, one at a time.

    Attributes
    ----------
    pair_filter : PairFilter
    min_raw_score : int
        What a pair must score with the filter's own scoring.
    """

    pair_filter: PairFilter
    min_raw_score: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def passing(self, window: Window) -> Mask:
        """Return which pairs of a window pass."""
        with self.lock:
            return self.pair_filter.passing(window, self.min_raw_score)


class StagedEngine:
    """Scores every pair of a window on both strands, then aligns those that pass.

    Parameters
    ----------
    engine : Engine
        What scores and aligns.
    thresholds : Thresholds
    stages : Stages
        Where what is done is counted.
    shared_filter : SharedFilter, optional
        Asked before anything is scored: what it does not let through cannot reach the least score.
    """

    def __init__(
        self,
        engine: Engine,
        thresholds: Thresholds,
        stages: Stages,
        shared_filter: SharedFilter | None = None,
    ) -> None:
        self.name = engine.name
        self.is_gpu = engine.is_gpu
        self._engine = engine
        self._thresholds = thresholds
        self._stages = stages
        self._filter = shared_filter

    def align(self, window: Window, want: Want, pair_mask: Mask | None = None) -> Alignments:
        """Find the overlaps of a window's pairs, in their order, plus strand first.

        Parameters
        ----------
        window : Window
            Of strand 1: both strands are looked at.
        want : Want
            At least STATS; its minimum is not used.
        pair_mask : None
        """
        assert pair_mask is None
        assert want.detail >= Detail.STATS
        assert window.strand == 1
        windows = [replace(window, strand=strand) for strand in STRANDS]
        pair_masks = self._choose([self._score(one) for one in windows])
        parts: list[Alignments] = []
        order: list[npt.NDArray[np.int64]] = []
        for number, (one, pair_mask) in enumerate(zip(windows, pair_masks, strict=True)):
            if not pair_mask.any() and (parts or number == 0):
                continue
            found = self._align(one, want.detail, pair_mask)
            passed = self._thresholds.passed(found)
            self._stages.count(ALIGN, len(found), int(passed.sum()))
            parts.append(found.take(passed))
            order.append(2 * np.flatnonzero(pair_mask)[passed] + number)
        return concatenate(parts).take(np.argsort(np.concatenate(order)))

    def cancel(self) -> None:
        """Make a running `align` raise InterruptedError soon."""
        if self._filter is not None:
            self._filter.pair_filter.cancel()
        self._engine.cancel()

    def close(self) -> None:
        """Close the engine; whoever opened the filter closes it."""
        self._engine.close()

    def _align(self, window: Window, detail: Detail, mask: Mask) -> Alignments:
        with self._stages.timed(ALIGN):
            found = self._engine.align(window, Want(detail), None if mask.all() else mask)
        if found.strand is not None:
            return found
        return replace(found, strand=np.full(len(found), window.strand, np.int8))

    def _score(self, window: Window) -> npt.NDArray[np.int64]:
        """Score of each pair; one that the filter stops gets less than any threshold."""
        scores = np.full(window.pairs, -(2**31) - 1, np.int64)
        mask = None
        if self._filter is not None:
            with self._stages.timed(FILTER):
                mask = self._filter.passing(window)
            self._stages.count(FILTER, window.pairs, int(mask.sum()))
        place: slice | Mask = slice(None) if mask is None else mask
        with self._stages.timed(SCORE):
            scores[place] = self._engine.align(window, Want(Detail.SCORE), mask).raw_score
        looked_at = window.pairs if mask is None else int(mask.sum())
        passed = int((scores >= self._thresholds.min_raw_score).sum())
        self._stages.count(SCORE, looked_at, passed)
        return scores

    def _choose(self, scores: Sequence[npt.NDArray[np.int64]]) -> tuple[Mask, Mask]:
        """Return which pairs to align on the plus and on the minus strand."""
        plus, minus = scores
        passing = plus >= self._thresholds.min_raw_score, minus >= self._thresholds.min_raw_score
        if self._thresholds.all_strands:
            return passing
        return passing[0] & (plus >= minus), passing[1] & (minus > plus)
