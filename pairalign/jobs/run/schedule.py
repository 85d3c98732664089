"""Windows to engines, results in order, or as they come to threads beside the engines'.

Every engine has a thread. The next window goes to whichever engine is idle: the one with the most
cells of those that may start (largest processing time first, as in gpu-pairAlign's task manager;
Blazewicz et al. 2011). Few windows may start at a time, counted from the first that has not, so
that none is overtaken by many; and none may while too many results would wait for earlier ones, so
that memory stays bounded.
"""

from __future__ import annotations

import contextlib
import heapq
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools
from pairalign.base.error_types import DeviceError, PairalignError
from pairalign.engines import Engine
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window

_LOOK_SECONDS = 1.0
"""Seconds between looks of the consumer, told or not: telling it takes memory."""


class Room(NamedTuple):
    """Memory for results that wait for those of earlier windows.

    Attributes
    ----------
    needed_by : callable
        The bytes that a window's results take at most.
    """

    size_bytes: int
    needed_by: Callable[[Window], int]


def run(
    engines: Sequence[Engine],
    windows: Iterable[Window],
    want: Want,
    cost: Callable[[Window], int],
    ahead: int,
    room: Room | None = None,
) -> Generator[tuple[Window, Alignments], None, None]:
    """Align windows on some engines; yield them in the order given.

    Parameters
    ----------
    engines : sequence of Engine
        Not closed by this function. If the run ends early, their work is cancelled.
    windows : iterable of Window
        Asked for as they may start, by one thread at a time: few are held, however many there are.
    cost : callable
        The work that a window takes; only the order matters.
    ahead : int
        An engine takes the costliest of the next `ahead` windows that have not been started, at
        least 1; no more than `ahead` are started beyond the one to be yielded next.
    room : Room, optional
        More than that may be started while their results, and those before, have room.

    Yields
    ------
    window : Window
    alignments : Alignments

    Raises
    ------
    PairalignError
        What an engine raised. Anything else it raises becomes a DeviceError that names engine and
        window.
    """
    run = _Schedule(windows, want, cost, max(1, ahead), room)
    threads = [
        threading.Thread(target=run.work, args=(engine,), name=engine.name, daemon=True)
        for engine in engines
    ]
    finished = False
    try:
        for thread in threads:
            _start(thread)
        while run.wait():
            yield run.take()
        finished = True
    finally:
        run.stop()
        if not finished:
            for engine in engines:
                engine.cancel()
        for thread in threads:
            if thread.ident is not None:  # it was started
                thread.join()


def _start(thread: threading.Thread) -> None:
    try:
        with _interrupts_come_through():
            thread.start()
    except RuntimeError as error:  # the system allows no more
        raise DeviceError(f"{thread.name}: {error}") from error


@contextlib.contextmanager
def _interrupts_come_through() -> Iterator[None]:
    """Raise a KeyboardInterrupt that came while a condition was taking its lock again.

    The lock is then left open, and what leaves the ``with`` block of the condition is a
    RuntimeError about that.
    """
    try:
        yield
    except RuntimeError as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise


class _Schedule:
    """The state that the engines' threads and the consumer share."""

    def __init__(
        self,
        windows: Iterable[Window],
        want: Want,
        cost: Callable[[Window], int],
        ahead: int,
        room: Room | None,
    ) -> None:
        self._coming = iter(windows)
        self._windows: dict[int, Window] = {}  # startable or started, by place; not yet taken
        self._want = want
        self._cost = cost
        self._ahead = ahead
        self._room = room
        self._needed_bytes = 0  # by the results of `_windows`
        self._changed = threading.Condition()
        self._startable: list[tuple[int, int]] = []  # a heap: less the cost, place; not yet started
        self._seen = 0  # places before were startable at some time
        self._started_early: set[int] = set()  # after the first that has not started
        self._first_unstarted = 0
        self._results: dict[int, Alignments] = {}
        self._next = -1  # place that the consumer waits for, or uses the result of
        self._error: BaseException | None = None
        self._stopped = False
        self._upcoming = next(self._coming, None)  # its place is `_seen`

    def work(self, engine: Engine) -> None:
        """Align windows until none is left; the target of an engine's thread.

        However it ends, the consumer gets to know: an error of any kind is kept for it, even where
        there is no memory to explain it.
        """
        try:
            while (place := self._claim()) is not None:
                self._align(engine, place)
        except BaseException as error:
            self._fail(error)

    def _align(self, engine: Engine, place: int) -> None:
        window = self._windows[place]  # stays until its result is taken
        try:
            result = engine.align(window, self._want)
        except BaseException as error:
            explained = _explain(engine, window, error)
            raise explained from explained.__cause__
        with self._changed:
            self._results[place] = result
            self._changed.notify_all()

    def wait(self) -> bool:
        """Wait for the next window's result; whether there is one. The one before has been used."""
        with _interrupts_come_through(), self._changed:
            used = self._windows.pop(self._next, None)
            if used is not None and self._room is not None:
                self._needed_bytes -= self._room.needed_by(used)
            self._next += 1
            self._admit()
            self._changed.notify_all()
            if self._next == self._seen:
                return False
            while self._next not in self._results and self._error is None:
                self._changed.wait(_LOOK_SECONDS)
            if self._error is not None:
                raise self._error
            return True

    def take(self) -> tuple[Window, Alignments]:
        """Return the window that was waited for, and its result."""
        with self._changed:
            return self._windows[self._next], self._results.pop(self._next)

    def stop(self) -> None:
        """Let no engine start another window."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _admit(self) -> None:
        """Let windows start that may do so now."""
        while self._upcoming is not None:
            window, place = self._upcoming, self._seen
            if place >= self._first_unstarted + self._ahead:
                return
            needed = 0 if self._room is None else self._room.needed_by(window)
            if place >= self._next + self._ahead and not self._has_room(needed):
                return
            heapq.heappush(self._startable, (-self._cost(window), place))
            self._windows[place] = window
            self._needed_bytes += needed
            self._seen += 1
            self._upcoming = next(self._coming, None)

    def _has_room(self, needed: int) -> bool:
        return self._room is not None and self._needed_bytes + needed <= self._room.size_bytes

    def _claim(self) -> int | None:
        with self._changed:
            while not self._stopped:
                if self._startable:
                    return self._start_largest()
                if self._upcoming is None:
                    break
                self._changed.wait()
            return None

    def _start_largest(self) -> int:
        _, place = heapq.heappop(self._startable)
        self._started_early.add(place)
        while self._first_unstarted in self._started_early:
            self._started_early.remove(self._first_unstarted)
            self._first_unstarted += 1
        self._admit()
        return place

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            if self._error is None and not self._stopped:
                self._error = error
            self._stopped = True
            self._changed.notify_all()


def _explain(engine: Engine, window: Window, error: BaseException) -> BaseException:
    as_it_is = (PairalignError, MemoryError, KeyboardInterrupt, SystemExit, InterruptedError)
    if isinstance(error, as_it_is):
        return error
    explained = DeviceError(
        f"{engine.name} failed in window {window.index} (rows {window.row_start}-"
        f"{window.row_stop}, columns {window.column_start}-{window.column_stop}): "
        f"{type(error).__name__}: {error}"
    )
    explained.__cause__ = error
    return explained


_USERS = 2  # each takes some 50 million pairs a second


class Consumers:
    """Threads that use results while engines go on; an engine waits when all of them are busy."""

    def __init__(self, use: Callable[[Alignments], None]) -> None:
        self._use = use
        self._pool = ThreadPoolExecutor(_USERS, "use")
        self._idle = threading.Semaphore(_USERS)
        self._error: BaseException | None = None

    def take(self, alignments: Alignments) -> None:
        """Use some results soon; raises what using others has raised."""
        self._idle.acquire()
        if self._error is not None:
            self._idle.release()
            raise self._error
        try:
            self._pool.submit(self._work, alignments)
        except BaseException:  # no thread, or no memory
            self._idle.release()
            raise

    def _work(self, alignments: Alignments) -> None:
        try:
            self._use(alignments)
        except BaseException as error:
            self._error = self._error or error
        finally:
            del alignments
            self._idle.release()

    def __enter__(self) -> Consumers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._pool.shutdown(cancel_futures=kind is not None)
        if kind is None and self._error is not None:
            raise self._error


class HandingEngine(WrappedEngine):
    """An engine whose results go to others; what it returns is empty."""

    def __init__(self, engine: Engine, users: Consumers) -> None:
        super().__init__(engine)
        self._users = users

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of a window and hand on what was found."""
        alignments = self._engine.align(window, want, pair_mask)
        self._users.take(alignments)
        return alignments.take([])
