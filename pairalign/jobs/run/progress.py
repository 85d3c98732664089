"""How far a job is: a bar on a terminal or in a notebook, a line in a log; counts of its stages."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

LINE_SECONDS = 30.0
"""Interval between lines of a log, about."""

Progress = bool | Literal["lines"]
"""Whether to show progress; lines also on a terminal."""


Doing = Literal["aligning", "checking", "clustering", "comparing", "computing"]
"""What is done with what is counted."""

_DONE: dict[Doing, str] = {
    "aligning": "aligned",
    "checking": "checked",
    "clustering": "clustered",
    "comparing": "compared",
    "computing": "computed",
}


class Meter(Protocol):
    """Something that is told how much has been done."""

    def update(self, cells: int) -> object:
        """Add cells to those that are done."""


@contextmanager
def show_progress(
    total: int, progress: Progress, unit: str = "cells", doing: Doing = "aligning"
) -> Iterator[Meter]:
    """Show on stderr how many of `total` cells are done.

    A bar on a terminal; in a notebook a widget, or a line that moves; else lines.
    """
    if not progress or sys.stderr is None:
        yield _Silent()
    elif progress == "lines" or not (sys.stderr.isatty() or _is_notebook()):
        yield Lines(total, unit, doing)
    else:
        with _bar()(total=total, unit=unit, unit_scale=True, desc=doing, dynamic_ncols=True) as bar:
            yield bar


def _is_notebook() -> bool:
    """Whether a kernel of Jupyter runs this, as tqdm knows it."""
    return "ipykernel.zmqshell" in sys.modules


def _bar() -> Any:
    """Load the bar that fits; help on a command does without."""
    if _is_notebook():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without ipywidgets: a line that moves
            from tqdm.autonotebook import tqdm as bar
    else:
        from tqdm import tqdm as bar
    return bar


class _Silent:
    def update(self, cells: int) -> None:
        """Say nothing."""


class Lines:
    """Writes a line to stderr when `LINE_SECONDS` have passed since the last one.

    Parameters
    ----------
    total : int
        Cells to do.
    unit : str
        What they are.
    """

    def __init__(self, total: int, unit: str = "cells", doing: Doing = "aligning") -> None:
        self._unit, self._done_to = unit, _DONE[doing]
        self._total = max(total, 1)
        self._done = 0
        self._started = self._last = time.monotonic()

    def update(self, cells: int) -> None:
        """Add cells to those that are done; write a line if it is time for one."""
        self._done += cells
        now = time.monotonic()
        if now - self._last < LINE_SECONDS:
            return
        self._last = now
        from tqdm import tqdm

        passed = now - self._started
        left = passed * (self._total - self._done) / max(self._done, 1)
        with suppress(OSError):  # a run does not fail because nobody can read this
            print(
                f"pairalign: {self._done_to} {100 * self._done / self._total:.1f}% of "
                f"{self._total:.3g} {self._unit} in {tqdm.format_interval(passed)}, about "
                f"{tqdm.format_interval(left)} left",
                file=sys.stderr,
                flush=True,
            )


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
