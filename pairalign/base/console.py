"""What a command says: messages, and standard streams that fail."""

from __future__ import annotations

import logging
import os
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

from pairalign.base.error_types import OutputError

log = logging.getLogger("pairalign")
_log_files: list[TextIO] = []
"""That of ``--log``, while a command is carried out."""
_outputs: list[str] = []
"""What a command writes, as messages name it."""


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
    for file in _log_files:
        with suppress(OSError):
            print(time.strftime("%Y-%m-%d %H:%M:%S"), printable(text), file=file, flush=True)
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
def messages(quiet: bool, verbose: bool = False) -> Iterator[None]:
    """Show what the package logs on stderr; with `quiet` only errors, with `verbose` all."""
    handler, level = _Messages(), log.level
    log.addHandler(handler)
    _outputs.clear()
    log.setLevel(logging.ERROR if quiet else logging.DEBUG if verbose else logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        while _log_files:
            with suppress(OSError):
                _log_files.pop().close()


def name_output(path: str) -> str:
    """Return the path of the output, which messages name from now on when a run is stopped."""
    _outputs[:] = [path]
    return path


def named_output() -> str | None:
    """Return what `name_output` was given last by the command."""
    return _outputs[0] if _outputs else None


def log_into(path: str, given: Sequence[str]) -> None:
    """Append from now on to a file what is said, with the time, and first the command line.

    Parameters
    ----------
    given : sequence of str
        The arguments of the command.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    try:
        file = open(path, "a", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
        print(time.strftime("%Y-%m-%d %H:%M:%S"), shlex.join(["pairalign", *given]), file=file)
        file.flush()
    except OSError as error:
        raise OutputError(f"{path}: cannot write: {error.strerror}") from error
    _log_files.append(file)
