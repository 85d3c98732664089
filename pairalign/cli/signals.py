"""Signals that stop a program: one line on stderr, the shell's exit code, nothing half-written.

Nothing but Python's own small modules is imported here: the handlers go in before the imports that
take time.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

STOP_SIGNALS = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "terminated: the terminal was closed",
    signal.SIGQUIT: "quit",
}

IMPATIENCE_SECONDS = 1.0
"""Signals that come sooner after the first one mean the same: a key is held, or a terminal and a
shell in it send one each."""

PATIENCE_SECONDS = 1.6
"""What cleaning up after the first signal may take; then the process ends as at a second one."""

_FAILED = 1
SIGNAL_CODE = 128
"""Shells add a signal's number to it: 130 for Ctrl-C, 143 for SIGTERM."""


class Stopped(KeyboardInterrupt):
    """A signal asks the program to stop.

    Attributes
    ----------
    number : int
        Of the signal.
    exit_code : int
        128 and the number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(STOP_SIGNALS[signal.Signals(number)])
        self.number = number
        self.exit_code = SIGNAL_CODE + number


class StopHandler:
    """What the process does about a signal: it ends at once, or `Stopped` is raised.

    At first there is nothing to clean up, and an exception in the middle of an import may come out
    of it as another one: the process ends where it is. Once `work_begins`, the first signal raises.
    Who sends another one does not want to wait for what that sets going: the process gives up what
    is half-written and ends where it is.

    Attributes
    ----------
    stopped : Stopped or None
        What the first signal has raised, whatever has become of that on its way.
    """

    def __init__(self) -> None:
        self._give_up: Callable[[BaseException], str] | None = None
        self._is_done = False
        self._late: int | None = None
        self._since = 0.0
        self.stopped: Stopped | None = None

    def work_begins(self, give_up: Callable[[BaseException], str]) -> None:
        """From now on there may be something to clean up.

        Parameters
        ----------
        give_up : callable
            Removes what is half-written, soon, and returns what is to be said of it.
        """
        self._give_up = give_up

    def work_is_done(self) -> None:
        """From now on nothing is raised: the exit code is that of the work."""
        self._is_done = True

    @property
    def late(self) -> int | None:
        """The signal that came when the work was done."""
        return self._late

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Take a signal; for `signal.signal`."""
        if self._is_done:
            self._late = number
            return
        stopped = Stopped(number)
        if self._give_up is None:
            _end(str(stopped), stopped.exit_code)
        now = time.monotonic()
        if self.stopped is None:
            self.stopped, self._since = stopped, now
            raise stopped
        if now - self._since >= IMPATIENCE_SECONDS:
            _end(self._give_up(stopped), stopped.exit_code)

    def has_waited(self, number: int) -> None:
        """End the process: the first signal came a while ago, and what runs has not ended."""
        if self._is_done and self.stopped is None:  # the signal came after the work
            return
        stopped = Stopped(number)
        if self._is_done:
            os._exit(stopped.exit_code)  # what was to be said is
        said = str(stopped) if self._give_up is None else self._give_up(stopped)
        _end(said, stopped.exit_code)

    def cannot_go_on(self) -> None:
        """End the process: a thread had no memory to begin, and who starts it waits forever."""
        if not self._is_done:
            error = MemoryError("out of memory; lower --memory or --threads")
            _end(str(error) if self._give_up is None else self._give_up(error), _FAILED)


def _end(message: str, code: int) -> NoReturn:
    """End the process where it is, with a line of its own on stderr."""
    with suppress(OSError):
        os.write(2, f"{_new_line()}pairalign: error: {message}\n".encode(errors="replace"))
    os._exit(code)


def _watch_signals(stop: StopHandler, reader: int) -> None:
    """End the process if it outlives a signal; the target of a thread of its own.

    The handler is called between steps of Python in the main thread: not while native code runs
    there, and what it raises may wait for other threads on its way, or is dropped where Python
    drops exceptions: as an object is deleted.
    """
    while True:
        number = os.read(reader, 1)[0]
        if number in STOP_SIGNALS:
            time.sleep(PATIENCE_SECONDS)
            stop.has_waited(number)


def _start_watching(stop: StopHandler) -> None:
    """Start the thread that sees to it that the process ends."""
    with suppress(RuntimeError, MemoryError):  # no thread: the handler alone ends it
        reader, writer = os.pipe()  # until the process ends
        os.set_blocking(writer, False)
        with suppress(ValueError):  # not the main thread
            signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
            _thread.start_new_thread(_watch_signals, (stop, reader))


def _has_not_begun(owner: object) -> bool:
    """Whether something is a thread that fails before it can say that it runs."""
    threading = sys.modules.get("threading")
    return threading is not None and isinstance(owner, threading.Thread) and not owner.is_alive()


def _new_line() -> str:
    """Return what ends a progress bar, which only a terminal shows."""
    return "\n" if os.isatty(2) else ""


@contextmanager
def stop_signals(*, is_last: bool = False) -> Iterator[StopHandler]:
    """Handle the signals that stop a program, and restore what handled them before.

    Signals that are ignored stay so: that is what nohup is for. Outside of the main thread, where
    Python takes no handlers, nothing changes.

    Parameters
    ----------
    is_last : bool
        The process ends after this: nothing is restored, and signals change nothing any more.
    """
    stop = StopHandler()
    previous = {}
    for number in STOP_SIGNALS:
        handler = signal.getsignal(number)
        if handler not in (signal.SIG_IGN, None):
            with suppress(ValueError):  # not the main thread
                signal.signal(number, stop.handle)
                previous[number] = handler
    show_dropped = sys.unraisablehook

    def dropped(unraisable: sys.UnraisableHookArgs) -> None:
        if is_last and isinstance(unraisable.exc_value, Stopped):
            return  # the process ends soon all the same, see `_watch_signals`
        if is_last and _has_not_begun(getattr(unraisable.object, "__self__", None)):
            stop.cannot_go_on()
        else:
            show_dropped(unraisable)

    sys.unraisablehook = dropped
    if is_last:
        _start_watching(stop)
    try:
        yield stop
    finally:
        stop.work_is_done()
        sys.unraisablehook = show_dropped
        for number, handler in previous.items():
            # Python gives up handlers of its own long before the process ends.
            signal.signal(number, signal.SIG_IGN if is_last else handler)
        if stop.late in previous and not is_last:
            signal.raise_signal(stop.late)
