"""A dry run: a command goes as far as its work, which is then foretold, and writes nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class _Here(threading.local):
    """Of each thread: others, as one that compiles kernels ahead, go on."""

    is_dry = False


_here = _Here()


class WorkBegins(BaseException):
    """A dry run has come to the work of its command.

    Attributes
    ----------
    work : object
        What `pairalign.jobs.run.forecast.foretell` takes; None: there is nothing to align.
    """

    def __init__(self, work: object = None) -> None:
        super().__init__("a dry run ends where work begins")
        self.work = work


@contextmanager
def dry_run(is_dry: bool = True) -> Iterator[None]:
    """Let what is begun in a ``with`` block end it by `WorkBegins`, or, if false, be done."""
    before, _here.is_dry = _here.is_dry, is_dry
    try:
        yield
    finally:
        _here.is_dry = before


def is_dry_run() -> bool:
    """Whether nothing may be written, nor removed."""
    return _here.is_dry


def begin(work: Callable[[], object] | None = None) -> None:
    """Say what is about to be done: here a dry run ends, by `WorkBegins` with what `work` returns.

    Other runs do not call it.
    """
    if _here.is_dry:
        raise WorkBegins(None if work is None else work())
