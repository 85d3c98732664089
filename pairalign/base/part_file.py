"""Files under a temporary name beside their place: ``.OUT.xxxxxxxxcccccccc.part``.

As long as a process writes one it holds a lock on it, which ends with the process however that
ends. Those of an output that nobody holds were left by a run that was killed: the next one that
writes the same output removes them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterable

from pairalign.base.dry_run import begin
from pairalign.base.run_files import (
    hidden_start_of,
    is_hidden_name,
    new_hidden_name,
    remove_open,
    remove_regular,
    rename,
)

_ANY_FILE = 0o666  # less the umask

_unfinished: set[PartFile] = set()
_published: dict[str, os.stat_result] = {}
"""Complete files that were about to get a name, which the system has given to some."""


class PartFile:
    """A new file that becomes `final` when it is complete.

    Parameters
    ----------
    final : str
        The path that it is to have; what is there is replaced.
    mode : int or None
        Its permissions; None: those of any new file.

    Attributes
    ----------
    path : str
        Where it is until then.
    descriptor : int
        Open for writing; belongs to the caller, who closes it before `publish`.

    Raises
    ------
    OSError
        It cannot be made.
    """

    def __init__(self, final: str, mode: int | None) -> None:
        begin()
        self.final = final
        folder = os.path.dirname(final)
        _remove_dead(folder, hidden_start_of(final))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._held: int | None = None
        self._may_exist = False
        _unfinished.add(self)
        while True:
            self.path = os.path.join(folder, new_hidden_name(final))
            # A signal may come when the file is there and its descriptor not yet known.
            self._may_exist = True
            try:
                self.descriptor = os.open(self.path, flags, _ANY_FILE if mode is None else mode)
            except OSError:  # the name is another's, or the file cannot be made
                self._may_exist = False
                raise
            try:
                if self._hold(mode):
                    break
            except BaseException:  # a signal, too: nobody else knows of the file yet
                with contextlib.suppress(OSError):
                    remove_open(self.path, self.descriptor)
                with contextlib.suppress(OSError):
                    os.close(self.descriptor)
                self._release()
                raise
            os.close(self.descriptor)

    def _hold(self, mode: int | None) -> bool:
        """Lock the new file and set its permissions; False if it has been removed before."""
        _lock(self.descriptor)
        # Another process may have taken it for a dead one before it was locked.
        if not os.fstat(self.descriptor).st_nlink:
            return False
        # Of the same open file: the lock outlives the closing of `descriptor`.
        self._held = os.dup(self.descriptor)
        if mode is not None:
            os.fchmod(self.descriptor, mode)
        return True

    def publish(self) -> None:
        """Give the file its name; OSError if that fails."""
        publish(self.path, self.final)
        self._release()

    def remove(self) -> None:
        """Remove the file unless it was published. Never raises."""
        if self._may_exist:
            with contextlib.suppress(OSError):
                remove_regular(self.path)
            self._release()

    def _release(self) -> None:
        _unfinished.discard(self)
        self._may_exist = False
        descriptor, self._held = self._held, None
        if descriptor is not None:
            with contextlib.suppress(OSError):  # nothing was written by it
                os.close(descriptor)


def _remove_dead(folder: str, start: str) -> None:
    """Remove the hidden files of an output that no process holds."""
    with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
        ours = (one for one in entries if one.name.startswith(start))
        remove_dead([one.path for one in ours if is_hidden_name(one.name, start)])


def remove_dead(paths: Iterable[str]) -> None:
    """Remove those of some hidden files that no process holds. Never raises."""
    for path in paths:
        with contextlib.suppress(OSError):
            _remove_if_dead(path)


def remove_unfinished() -> None:
    """Remove what a signal has left: it may come when nobody is yet to clean up a new file."""
    for part in list(_unfinished):
        part.remove()


def publish(path: str, final: str) -> None:
    """Give a complete file its name, and remember that; OSError if it fails."""
    # Before: a signal may come when the file has its name and nothing else is done.
    _published[os.path.realpath(final)] = os.stat(path)
    rename(path, final)


def was_published(path: str) -> bool:
    """Whether this process has completed a file since `forget_published`."""
    complete = _published.get(os.path.realpath(path))
    try:
        return complete is not None and os.path.samestat(os.stat(path), complete)
    except OSError:
        return False


def count_published(folder: str) -> int:
    """Count the files in a folder that this process has completed since `forget_published`."""
    start = os.path.join(os.path.realpath(folder), "")
    return sum(path.startswith(start) and was_published(path) for path in list(_published))


def forget_published() -> None:
    """Begin a run: what was completed before is no matter of it."""
    _published.clear()


def _lock(descriptor: int) -> None:
    """Lock a new file; where file systems have no locks, dead files stay."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _remove_if_dead(path: str) -> None:
    """Remove a file that no process holds; OSError if one does."""
    # NFS locks only what is open for writing.
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(descriptor)
        is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        if is_ours and status.st_nlink == 1:
            remove_open(path, descriptor)
    finally:
        os.close(descriptor)
