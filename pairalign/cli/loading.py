"""Code that is loaded when it is needed, and quickly."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

_keeps = False


def keep_what_is_loaded() -> None:
    """Look for no garbage in what `later` loads: it stays as long as the process."""
    global _keeps
    _keeps = True


@contextmanager
def no_collection() -> Iterator[None]:
    """Collect no garbage meanwhile: loading modules or records makes many objects, drops few."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def later(module: str, function: str) -> Callable[[argparse.Namespace], None]:
    """Return what carries out a command by a function whose module is not loaded before.

    Parameters
    ----------
    module, function : str
        The function takes the parsed options.
    """

    def run(options: argparse.Namespace) -> None:
        with no_collection():
            work = getattr(import_module(module), function)
            if _keeps:
                gc.freeze()
        work(options)

    return run
