"""Locks that a forked process does not inherit locked."""

from __future__ import annotations

import os
import threading


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
