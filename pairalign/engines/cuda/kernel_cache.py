"""Which kernels of the cache may be run: those that only this user, or root, can have put there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def why_untrusted(path: Path) -> str | None:
    """Return why a folder of kernels, or a kernel, may not be used; None if it may or is not there.

    Whoever can write it decides what this user runs.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return f"'{path}' cannot be looked at: {error.strerror}"
    if status.st_uid not in (os.geteuid(), 0):
        return f"'{path}' belongs to another user (number {status.st_uid})"
    if status.st_mode & _OTHERS_MAY_WRITE:
        return f"others may write '{path}' (to end that: chmod go-w '{path}')"
    return None


def make_folder(path: Path) -> None:
    """Make a folder that only this user may write, whatever the umask is; OSError if that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=0o755, exist_ok=True)
