"""What a command says: messages, and standard streams that fail."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

log = logging.getLogger("pairalign")


_SHOWN_AS_THEY_ARE = (ord("\t"), ord("\n"))
_CONTROL = {
    code: f"\\x{code:02x}"
    for code in (*range(32), *range(127, 160))
    if code not in _SHOWN_AS_THEY_ARE
}


def printable(text: str) -> str:
    """Return a text with its control characters in hexadecimal: terminals obey some of them."""
    return text.translate(_CONTROL)


def say(text: str) -> None:
    """Print on stderr; a run does not fail because nobody can read what it says."""
    if sys.stderr is None:
        return
    try:
        print(printable(text), file=sys.stderr, flush=True)
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
