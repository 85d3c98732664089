"""Timing of several jobs in interleaved rounds, so that other load meets all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Clock = Callable[[], float]

CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}
"""On a machine that others use, one thread is better measured by the time it had a core."""


@dataclass(frozen=True)
class Ratio:
    """How often one job fits into another: median, smallest and largest of several rounds."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}-{self.high:.2f})"


def alternate(
    jobs: Mapping[str, Callable[[], object]], rounds: int, clock: Clock = time.perf_counter
) -> dict[str, list[float]]:
    """Seconds of each job in each round. Every round starts with another job than the last."""
    names = list(jobs)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            start = clock()
            jobs[name]()
            seconds[name].append(clock() - start)
    return seconds


def ratio(numerator: list[float], denominator: list[float]) -> Ratio:
    """Quotients of the same rounds."""
    quotients = [a / b for a, b in zip(numerator, denominator, strict=True)]
    return Ratio(statistics.median(quotients), min(quotients), max(quotients))


def gcups(cells: int, seconds: list[float]) -> float:
    """1e9 cells a second, at the median time."""
    return cells / statistics.median(seconds) / 1e9
