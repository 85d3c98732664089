"""What Python does behind the code: locks that forked processes inherit, collection of garbage."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property


def fork_lock() -> threading.RLock:
    """Return a lock of a module that `os.fork` waits for, so that no child inherits it held.

    A child has only the thread that forked. If another thread held the lock at that moment, nobody
    would ever release it there.
    """
    lock = threading.RLock()
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )
    return lock


def _renew_locks() -> None:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "pairalign":
            for member in list(vars(module).values()):
                for value in vars(member).values() if isinstance(member, type) else ():
                    if isinstance(value, cached_property):
                        vars(value)["lock"] = threading.RLock()


if sys.version_info < (3, 12):  # there a property has a lock, which any thread of a parent may hold
    os.register_at_fork(after_in_child=_renew_locks)


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
