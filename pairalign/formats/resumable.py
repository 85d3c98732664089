"""Files whose writing can be resumed: ``OUT.part`` until they are complete, and ``OUT.journal``.

Bytes up to the last commit are on the disk and have a checksum. After a kill, a full disk or a loss
of power the file is cut there, and writing goes on.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
import zlib
from collections.abc import Iterator
from typing import Any

from pairalign.errors import OutputError, PartsError
from pairalign.formats.journal import Commit, Journal, lock_journal
from pairalign.formats.output import Bytes, GzipOutput, Output, output_error

COMMIT_SECONDS = 10.0
_BLOCK_BYTES = 8 << 20


class ResumableFile(Output):
    """A file that is kept when writing ends early.

    Parameters
    ----------
    path : str
        What it is called when it is complete.
    run : dict
        What decides its bytes, see `pairalign.jobs.run_identity`.

    Attributes
    ----------
    last : Commit or None
        Where writing goes on.
    is_done : bool
        It was complete, and has its name now.

    Raises
    ------
    PartsError
        The run that left it was another one, still goes on, or the files are damaged.
    OutputError
        It cannot be written.
    """

    def __init__(self, path: str, run: dict[str, Any]) -> None:
        self.path = path
        self._place = os.path.realpath(path)
        self._part = f"{self._place}.part"
        self._journal = Journal(f"{self._place}.journal", run)
        self._file: int | None = None
        self._size = self._checksum = 0
        try:
            self.last = self._journal.last
            self.is_done = self._finish_before()
            if not self.is_done:
                self._open()
        except OSError as error:
            self.abort()
            raise output_error(path, error) from error
        except BaseException:
            self.abort()
            raise

    def _finish_before(self) -> bool:
        """Finish a file that was complete when its run ended; whether it was."""
        last = self.last
        if last is None or not last.complete:
            return False
        is_renamed = not os.path.exists(self._part)
        path = self._place if is_renamed else self._part
        self._check(path, last)
        if not is_renamed:
            os.replace(self._part, self._place)
        self._journal.remove()
        return True

    def _check(self, path: str, last: Commit) -> None:
        if _measure(path, last.bytes) != (last.bytes, last.checksum):
            raise PartsError(f"'{path}' is not what was written; leave --resume out to begin anew")

    def _open(self) -> None:
        self._file = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        last = self.last
        if last is not None:
            self._check(self._part, last)
            self._size, self._checksum = last.bytes, last.checksum
        os.ftruncate(self._file, self._size)
        os.lseek(self._file, self._size, os.SEEK_SET)

    @property
    def waits_for_readers(self) -> bool:
        """False: it is a regular file."""
        return False

    @property
    def descriptor(self) -> int | None:
        """The open file."""
        return self._file

    def explain(self, error: OSError) -> OSError:
        """Return the error to raise when writing to `descriptor` failed."""
        return error if isinstance(error, OutputError) else output_error(self.path, error)

    def write(self, data: Bytes) -> int:
        """Write all of `data`; return its size."""
        assert self._file is not None, "written after the end"
        rest = memoryview(data)
        size = rest.nbytes
        try:
            while rest.nbytes:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise output_error(self.path, error) from error
        return size

    def commit(
        self,
        pairs: int,
        *,
        number: int = 1,
        state: dict[str, Any] | None = None,
        complete: bool = False,
    ) -> None:
        """Make sure that what has been written is there for good; see `Commit`."""
        assert self._file is not None
        try:
            end = os.lseek(self._file, 0, os.SEEK_CUR)
            self._checksum = _checksum(self._file, self._size, end, self._checksum)
            self._size = end
            os.fdatasync(self._file)
        except OSError as error:
            raise output_error(self.path, error) from error
        self._journal.commit(Commit(pairs, end, self._checksum, number, state or {}, complete))

    def close(self) -> None:
        """Make the result appear under its name."""
        try:
            if self._file is not None:
                last = self._journal.last
                pairs, number = (0, 1) if last is None else (last.pairs, last.number)
                self.commit(pairs, number=number, complete=True)
                os.replace(self._part, self._place)
            self._journal.remove()
        except OSError as error:
            raise self.explain(error) from error
        finally:
            self.abort()

    def blocks(self) -> Iterator[bytes]:
        """Read what has been committed."""
        with open(self._part, "rb") as file:
            left = self._size
            while left > 0 and (block := file.read(min(_BLOCK_BYTES, left))):
                left -= len(block)
                yield block

    def discard(self) -> None:
        """Remove the file and its journal: what was made of it is there."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._part)
        self._journal.remove()
        self.abort()

    def abort(self) -> None:
        """Let go of the file, which stays with what has been written."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                os.close(file)
        self._journal.close()


class Resumable:
    """An output that can be resumed, and when it is committed.

    Parameters
    ----------
    path : str
        ``.gz`` compresses.
    run : dict
        What decides the bytes.
    threads : int
        To compress on.
    seconds : float
        A commit comes about as often.
    """

    def __init__(
        self, path: str, run: dict[str, Any], *, threads: int = 1, seconds: float = COMMIT_SECONDS
    ) -> None:
        check_resumable(path)
        self._file = ResumableFile(path, run)
        self.output: Output = self._file
        self._gzip: GzipOutput | None = None
        if path.endswith(".gz"):
            self.output = self._gzip = GzipOutput(self._file, threads)
            if self.last is not None and not self.is_done:
                self._gzip.restore(self.last.state)
        self._seconds = seconds
        self._committed = time.monotonic()

    @property
    def last(self) -> Commit | None:
        """Where writing goes on."""
        return self._file.last

    @property
    def is_done(self) -> bool:
        """Whether the file was complete, and has its name now."""
        return self._file.is_done

    @property
    def is_due(self) -> bool:
        """Whether it is time for a commit."""
        return time.monotonic() - self._committed >= self._seconds

    def blocks(self) -> Iterator[bytes]:
        """Read what has been committed."""
        return self._file.blocks()

    def discard(self) -> None:
        """Remove what was written and its journal, instead of closing the output."""
        self._file.discard()

    def commit(self, pairs: int, number: int = 1) -> None:
        """Commit what has been written to `output`: the results of so many pairs."""
        state = {} if self._gzip is None else self._gzip.suspend()
        self._file.commit(pairs, number=number, state=state)
        self._committed = time.monotonic()


def check_resumable(path: str) -> None:
    """Raise OutputError for an output that cannot be resumed: it must be a file."""
    if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        raise OutputError("this needs an output that is a file: give its name with -o")


def remove_leftovers(path: str) -> bool:
    """Remove what a resumable run that is dead has left of an output; whether there was any.

    Raises
    ------
    PartsError
        That run still goes on.
    """
    place = os.path.realpath(path)
    try:
        descriptor = os.open(f"{place}.journal", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        lock_journal(descriptor, f"{place}.journal")
        for name in (f"{place}.part", f"{place}.journal"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
    finally:
        os.close(descriptor)
    return True


def _measure(path: str, size: int) -> tuple[int, int]:
    """Return how many of the first bytes of a file there are, and their CRC-32."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0, 0
    try:
        found = min(size, os.fstat(descriptor).st_size)
        return found, _checksum(descriptor, 0, found, 0)
    finally:
        os.close(descriptor)


def _checksum(descriptor: int, start: int, stop: int, checksum: int) -> int:
    """Go on with the CRC-32 of a file."""
    while start < stop:
        block = os.pread(descriptor, min(_BLOCK_BYTES, stop - start), start)
        if not block:
            raise OSError(errno.EIO, "the file became shorter while it was written")
        checksum = zlib.crc32(block, checksum)
        start += len(block)
    return checksum
