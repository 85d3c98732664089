"""What the stages of a search for overlaps have done so far, and how long they took."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

FILTER, SCORE, ALIGN, SUBOPTIMAL = "filter", "score", "align", "suboptimal"


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
        default_factory=lambda: {name: Stage() for name in (FILTER, SCORE, ALIGN, SUBOPTIMAL)}
    )
    _running: dict[str, int] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

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
