"""What a command says and what stops it: messages, signals, standard streams that fail."""

from __future__ import annotations

import logging
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

STOP_SIGNALS = {
    signal.SIGINT: "interrupted",
    signal.SIGTERM: "terminated",
    signal.SIGHUP: "terminated: the terminal was closed",
}

CLEANUP_SECONDS = 5.0

log = logging.getLogger("pairalign")


def say(text: str) -> None:
    """Print on stderr; a run does not fail because nobody can read what it says."""
    if sys.stderr is None:
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        _redirect_to_null(2)  # or Python tries again at its end


def give_up_stdout() -> None:
    """Drop what is still in stdout's buffer if it cannot be written."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        _redirect_to_null(1)


def _redirect_to_null(descriptor: int) -> None:
    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, descriptor)
        os.close(null)


class _Messages(logging.Handler):
    """Shows what the package logs."""

    def emit(self, record: logging.LogRecord) -> None:
        kind = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}: "
        say(f"pairalign: {kind}{record.getMessage()}")


@contextmanager
def messages(quiet: bool) -> Iterator[None]:
    """Show what the package logs on stderr; with `quiet` only errors."""
    handler, level = _Messages(), log.level
    log.addHandler(handler)
    log.setLevel(logging.ERROR if quiet else logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


@contextmanager
def stop_signals() -> Iterator[None]:
    """Let the signals that stop a program raise KeyboardInterrupt, which says which it was.

    More of them would disturb cleaning up, so they count again only after `CLEANUP_SECONDS`.
    """
    last = -math.inf

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < CLEANUP_SECONDS:
            return
        last = now
        raise KeyboardInterrupt(STOP_SIGNALS[signal.Signals(number)])

    previous = {}
    if threading.current_thread() is threading.main_thread():
        # Ignored ones stay so: that is what nohup is for.
        handlers = {one: signal.getsignal(one) for one in STOP_SIGNALS}
        previous = {one: h for one, h in handlers.items() if h not in (signal.SIG_IGN, None)}
        for one in previous:
            signal.signal(one, stop)
    try:
        yield
    finally:
        for one, handler in previous.items():
            signal.signal(one, handler)
