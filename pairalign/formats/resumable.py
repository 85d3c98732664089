"""Files whose writing can be resumed: ``OUT.part`` until they are complete, and ``OUT.journal``.

Bytes up to the last commit are on the disk and have a checksum. After a kill, a full disk or a loss
of power the file is cut there, and writing goes on. Disks are waited for in a thread of their own.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

from pairalign.base.checksum import add_to_checksum, measure_file, read_blocks
from pairalign.base.choices import COMMIT_SECONDS
from pairalign.base.error_types import OutputError, PartsError
from pairalign.base.part_file import publish
from pairalign.base.run_files import (
    is_regular,
    journal_of,
    part_of,
    remove_open,
    remove_regular,
)
from pairalign.base.spelling import left_out
from pairalign.formats.journal import Commit, Journal, is_journal, lock_journal, sync_folder
from pairalign.formats.output import (
    Bytes,
    GzipOutput,
    Output,
    compressed,
    map_file,
    open_output,
    output_error,
    write_all,
)
from pairalign.formats.schemas import GZIP_STATE, check_object

Join = Callable[[Iterable[Any], Output], None]


class ResumableFile(Output):
    """A file that is kept when writing ends early.

    Parameters
    ----------
    path : str
        What it is called when it is complete.
    run : dict
        What decides its bytes, see `pairalign.jobs.run.run_identity`.

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
        self._part = part_of(path)
        self._refuse_strangers(journal_of(path))
        self._journal = Journal(journal_of(path), run)
        self._file: int | None = None
        self._size = 0
        self._checksum = ctypes.c_uint32()  # of all that has been written
        self._pool = ThreadPoolExecutor(1, "commit")
        self._committing: Future[None] | None = None
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

    def _refuse_strangers(self, journal: str) -> None:
        """Refuse what is in the place of the unfinished file and is not of a run's making."""
        if not os.path.lexists(self._part):
            return
        if not os.path.lexists(journal) or not is_regular(self._part):
            raise PartsError(f"'{self._part}' is not what a run has left: move it away")

    def _finish_before(self) -> bool:
        """Finish a file that was complete when its run ended; whether it was."""
        last = self.last
        if last is None or not last.complete:
            return False
        is_renamed = not os.path.lexists(self._part)
        path = self._place if is_renamed else self._part
        self._check(path, last)
        if not is_renamed:
            self._publish()
        self._journal.remove()
        return True

    def _publish(self) -> None:
        publish(self._part, self._place)
        sync_folder(self._place)

    def _check(self, path: str, last: Commit) -> None:
        if not os.path.lexists(path) or measure_file(path, last.bytes) != (
            last.bytes,
            last.checksum,
        ):
            raise PartsError(
                f"'{path}' is not what was written; {left_out('resume')} to begin anew"
            )

    def _open(self) -> None:
        last = self.last
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        if not os.path.lexists(self._part):
            if last is not None:
                raise PartsError(f"'{self._part}' is missing; {left_out('resume')} to begin anew")
            flags |= os.O_CREAT | os.O_EXCL
        self._file = os.open(self._part, flags, 0o666)
        if last is not None:
            self._check(self._part, last)
            self._size, self._checksum.value = last.bytes, last.checksum
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

    @property
    def checksum(self) -> ctypes.c_uint32:
        """The CRC-32 of what has been written."""
        return self._checksum

    def explain(self, error: OSError) -> OSError:
        """Return the error to raise when writing to `descriptor` failed."""
        return error if isinstance(error, OutputError) else output_error(self.path, error)

    def write(self, data: Bytes) -> int:
        """Write all of `data`; return its size."""
        assert self._file is not None, "written after the end"
        size = write_all(partial(os.write, self._file), data, self.path)
        self._checksum.value = add_to_checksum(self._checksum.value, data)
        return size

    def read_segments(self) -> Iterator[memoryview]:
        """Return what was written between each two commits, where that is anything."""
        ends = [0, *(commit.bytes for commit in self._journal.history)]
        for start, stop in pairwise(ends):
            if start < stop:
                yield map_file(self._part)[start:stop]

    @property
    def history(self) -> list[Commit]:
        """All commits so far, in order."""
        return list(self._journal.history)

    def commit(
        self,
        pairs: int,
        *,
        number: int = 1,
        state: dict[str, Any] | None = None,
        job: dict[str, Any] | None = None,
        left: dict[str, Any] | None = None,
        summary: dict[str, Any] | None = None,
        complete: bool = False,
    ) -> None:
        """Begin to make sure that what has been written is there for good; see `Commit`.

        Returns as soon as the commit before is done; raises what became of that one.
        """
        assert self._file is not None
        self.wait()
        try:
            end = os.lseek(self._file, 0, os.SEEK_CUR)
        except OSError as error:
            raise output_error(self.path, error) from error
        states = state or {}, job or {}, left or {}, summary or {}
        commit = Commit(pairs, end, self._checksum.value, number, *states, complete=complete)
        self._committing = self._pool.submit(self._commit, commit)

    def _commit(self, commit: Commit) -> None:
        assert self._file is not None
        try:
            os.fdatasync(self._file)
        except OSError as error:
            raise output_error(self.path, error) from error
        self._size = commit.bytes
        self._journal.commit(commit)

    def check(self) -> None:
        """Raise what became of the last commit, if that is known by now."""
        if self._committing is not None and self._committing.done():
            self.wait()

    def wait(self) -> None:
        """Wait until the last commit is done; raise what became of it."""
        committing, self._committing = self._committing, None
        if committing is not None:
            committing.result()

    def close(self) -> None:
        """Make the result appear under its name."""
        try:
            if self._file is not None:
                self.wait()
                last = self._journal.last
                last = last or Commit(0, 0, 0)
                self.commit(last.pairs, number=last.number, summary=last.summary, complete=True)
                self.wait()
                self._publish()
            self._journal.remove()
        except OSError as error:
            raise self.explain(error) from error
        finally:
            self.abort()

    @property
    def size(self) -> int:
        """How many bytes have been committed; waits for the last commit."""
        self.wait()
        return self._size

    def blocks(self) -> Iterator[bytes]:
        """Read what has been committed."""
        self.wait()
        yield from read_blocks(self._part, self._size)

    def discard(self) -> None:
        """Remove the file and its journal: what was made of it is there."""
        try:
            self.wait()
            self._journal.restart()  # or after a kill the file would be missed
            if self._file is not None:
                remove_open(self._part, self._file)
            self._journal.remove()
        except OSError as error:
            raise self.explain(error) from error
        finally:
            self.abort()

    def abort(self) -> None:
        """Let go of the file, which stays with what has been committed; of nothing, nothing stays.

        A command that is refused when all is open can so be given again as it should have been.
        """
        self._pool.shutdown()
        file, self._file = self._file, None
        if file is not None:
            if self._journal.last is None:
                self._remove(file)
            with contextlib.suppress(OSError):
                os.close(file)
        elif self._journal.is_new:  # refused before there was a file
            with contextlib.suppress(OSError):
                self._journal.remove()
        self._journal.close()

    def _remove(self, file: int) -> None:
        """Remove the file, which is open, and its journal, as far as that can be done."""
        with contextlib.suppress(OSError):
            remove_open(self._part, file)
        with contextlib.suppress(OSError):
            self._journal.remove()


class JoinedOutput(Output):
    """Takes files that were ended with each commit; the result is what they are joined to.

    Parameters
    ----------
    file : ResumableFile
        Has them one after the other.
    join : callable
        Takes them, open, and an output: see `pairalign.formats.writer.Writer.join_files`.
    """

    def __init__(self, file: ResumableFile, join: Join) -> None:
        self._file = file
        self._join = join

    @property
    def waits_for_readers(self) -> bool:
        """False: it is a regular file."""
        return False

    def write(self, data: Bytes) -> int:
        """Write all of `data`; return its size."""
        return self._file.write(data)

    def close(self) -> None:
        """Make the result appear under its name; everything is committed before."""
        try:
            self._file.wait()
            with open_output(self._file.path) as output:
                self._join(self._file.read_segments(), output)
            self._file.discard()
        finally:
            self.abort()

    def abort(self) -> None:
        """Let go of the files, which stay."""
        self._file.abort()


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
        Commit interval, about.
    join : callable, optional
        What makes the result of what was written between commits; default: it is the result.
    """

    def __init__(
        self,
        path: str,
        run: dict[str, Any],
        *,
        threads: int = 1,
        seconds: float = COMMIT_SECONDS,
        join: Join | None = None,
    ) -> None:
        check_resumable(path)
        self._file = ResumableFile(path, run)
        self.output: Output = self._file
        self._gzip: GzipOutput | None = None
        if join is not None:
            self.output = JoinedOutput(self._file, join)
        elif (packing := compressed(self._file, path, threads)) is not None:
            self.output = self._gzip = packing
            if self.last is not None and not self.is_done:
                self._restore(self.last.state)
        self._seconds = seconds
        self._committed = time.monotonic()

    def _restore(self, state: dict[str, Any]) -> None:
        assert self._gzip is not None
        try:
            self._gzip.restore(check_object(state, GZIP_STATE))
        except (ValueError, zlib.error) as error:
            self.output.abort()
            journal = f"'{self._file.path}.journal' is damaged in its last line"
            raise PartsError(f"{journal}; {left_out('resume')} to begin anew") from error

    @property
    def last(self) -> Commit | None:
        """Where writing goes on."""
        return self._file.last

    @property
    def is_done(self) -> bool:
        """Whether the file was complete, and has its name now."""
        return self._file.is_done

    @property
    def history(self) -> list[Commit]:
        """All commits so far, in order."""
        return self._file.history

    @property
    def is_due(self) -> bool:
        """Whether it is time for a commit; raises what became of the last one."""
        self._file.check()
        return time.monotonic() - self._committed >= self._seconds

    @property
    def size(self) -> int:
        """How many bytes have been committed; waits for the last commit."""
        return self._file.size

    def blocks(self) -> Iterator[bytes]:
        """Read what has been committed."""
        return self._file.blocks()

    def discard(self) -> None:
        """Remove what was written and its journal, instead of closing the output."""
        self._file.discard()

    def commit(self, pairs: int, number: int = 1, **left: Any) -> None:
        """Commit what has been written to `output`: the results of `pairs` pairs."""
        state = {} if self._gzip is None else self._gzip.suspend()
        self._file.commit(pairs, number=number, state=state, **left)
        self._committed = time.monotonic()


def check_resumable(path: str) -> None:
    """Raise OutputError for an output that cannot be resumed: it must be a file."""
    if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):
        raise OutputError("this needs an output that is a file: give its name with -o")


def remove_leftovers(path: str) -> bool:
    """Remove what a resumable run that is dead has left of an output; whether there was any.

    What does not begin as a journal is not ours and stays, and so does the part beside it.

    Raises
    ------
    PartsError
        That run still goes on, or the part is no file.
    """
    part, journal = part_of(path), journal_of(path)
    try:
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # NFS locks no other
        descriptor = os.open(journal, flags)
    except OSError:
        return False
    try:
        if not is_journal(descriptor):
            return False
        lock_journal(descriptor, journal)
        if os.path.lexists(part) and not is_regular(part):
            raise PartsError(f"'{part}' is not what a run has left: move it away")
        remove_regular(part)
        remove_open(journal, descriptor)
    finally:
        os.close(descriptor)
    return True
