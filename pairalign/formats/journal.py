"""The journal of a run that can be resumed: what has been written for good, a JSON line a commit.

The first line describes the run and is there from the beginning (it is renamed into place). Every
line ends with a checksum of its own. A last line without an end was cut by a kill and does not
count; any other damage is an error, never a guess.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import logging
import os
import stat
import zlib
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import IO, Any

from pairalign.base.error_types import OutputError, PartsError
from pairalign.base.part_file import PartFile
from pairalign.base.run_files import is_regular, remove_open
from pairalign.base.spelling import left_out
from pairalign.formats.parts import find_differences
from pairalign.formats.schemas import (
    COMMIT,
    JOB_LEFT,
    JOURNAL_HEAD,
    SUMMARY_LEFT,
    WRITER_LEFT,
    Schema,
    SchemaError,
    check_object,
    read_object,
)

_log = logging.getLogger("pairalign")
_IS_HELD = (errno.EWOULDBLOCK, errno.EACCES)
_VERSION = 2
_SHOWN_DIFFERENCES = 6
_MAGIC = b'{"journal": '  # what a journal begins with, also one that was damaged later
_MOST_BYTES = 64 << 20  # then what earlier commits said of the output is left out


@dataclass(frozen=True)
class Commit:
    """What has been written, and is on the disk.

    Attributes
    ----------
    pairs : int
        Pairs of the run whose results are in the file.
    bytes : int
        Size of the file up to there.
    checksum : int
        CRC-32 of these bytes.
    number : int
        Of the next pair, in formats that number them.
    state : dict
        What the output needs besides to go on; that of the last commit counts.
    job : dict
        What the job needs besides to go on; that of the last commit counts.
    left : dict
        What the writer needs to know of what came since the commit before, see
        `pairalign.formats.writer.Writer.leave`.
    summary : dict
        What `pairalign.jobs.commands.summary` has to know of the results so far; that of the
        last commit counts.
    complete : bool
        Whether the file is complete and about to get its name.
    """

    pairs: int
    bytes: int
    checksum: int
    number: int = 1
    state: dict[str, Any] = field(default_factory=dict)
    job: dict[str, Any] = field(default_factory=dict)
    left: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    complete: bool = False


class Journal:
    """The journal of one output, held by one process at a time.

    Parameters
    ----------
    run : dict
        What decides the bytes of the output; a journal of another run is refused.

    Attributes
    ----------
    last : Commit or None
        Where the run that left it had got to.
    history : list of Commit
        All commits, without what counts of the last one alone.
    is_new : bool
        There was none before.

    Raises
    ------
    PartsError
        It is damaged, of another run, or another process holds it.
    OutputError
        It cannot be written.
    """

    def __init__(self, path: str, run: dict[str, Any]) -> None:
        self.path = path
        self.last: Commit | None = None
        self.history: list[Commit] = []
        self._file: IO[bytes]
        self._head = {"journal": _VERSION, "run": run}
        try:
            self.is_new = not os.path.lexists(path)
            if self.is_new:
                _create(path, [_pack(self._head)]).close()
            elif not is_regular(path):
                raise PartsError(f"'{path}' is no journal of pairalign: move it away")
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            self._file = open(descriptor, "r+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise OutputError(f"cannot write '{path}': {error.strerror}") from error
        try:
            if not is_journal(self._file.fileno()):
                raise PartsError(f"'{path}' is no journal of pairalign: move it away")
            lock_journal(self._file.fileno(), path)
            self._read(run)
        except BaseException:
            self._file.close()
            raise

    def _read(self, run: dict[str, Any]) -> None:
        lines = self._file.read().split(b"\n")
        cut = lines.pop()  # nothing, unless the last line was cut
        if not lines:
            raise PartsError(_damaged(self.path, 1))
        head = _unpack(lines[0], self.path, 1, JOURNAL_HEAD)
        # As JSON has it: tuples are lists.
        differences = find_differences(head["run"], json.loads(json.dumps(run)))
        if differences:
            raise PartsError(
                f"'{self.path}' is of another run: "
                + "; ".join(differences[:_SHOWN_DIFFERENCES])
                + f" (then and now); {left_out('resume')} to begin anew"
            )
        commits = [_read_commit(line, self.path, at) for at, line in enumerate(lines[1:], 2)]
        for place, (commit, following) in enumerate(pairwise(commits), 3):
            if following.pairs < commit.pairs or following.bytes < commit.bytes:
                raise PartsError(_damaged(self.path, place))
        self.last = commits[-1] if commits else None
        self.history = [_without_states(commit) for commit in commits]
        if cut:
            self._file.truncate(os.fstat(self._file.fileno()).st_size - len(cut))
        self._file.seek(0, os.SEEK_END)

    def commit(self, commit: Commit) -> None:
        """Add a commit; it is on the disk when this returns."""
        line = _pack(asdict(commit))
        start = self._file.tell()
        if start > _MOST_BYTES:
            start = self._shorten()
        try:
            while line:
                line = line[self._file.write(line) :]
            os.fdatasync(self._file.fileno())
        except OSError as error:  # a full disk: no half line is left
            self._file.truncate(start)
            raise OutputError(f"cannot write '{self.path}': {error.strerror}") from error
        self.last = commit
        self.history.append(_without_states(commit))

    def _shorten(self) -> int:
        """Write the journal again with no more than is still of use; return its size."""
        assert self.last is not None
        commits = [*self.history[:-1], self.last]
        try:
            file = _create(
                self.path, [_pack(self._head), *(_pack(asdict(commit)) for commit in commits)]
            )
        except OSError as error:
            raise OutputError(f"cannot write '{self.path}': {error.strerror}") from error
        self._file.close()
        self._file = file
        return file.tell()

    def restart(self) -> None:
        """Forget all commits: nothing of what was written is of use any more."""
        head = len(_pack(self._head))
        self._file.truncate(head)
        self._file.seek(head)
        os.fdatasync(self._file.fileno())
        self.last, self.history = None, []

    def close(self) -> None:
        """Let go of the journal, which stays. May come twice."""
        self._file.close()

    def remove(self) -> None:
        """Remove the journal: the run is done, or has done nothing. May come twice."""
        if not self._file.closed:  # afterwards a journal of this name is another run's
            remove_open(self.path, self._file.fileno())
            self.close()


def _without_states(commit: Commit) -> Commit:
    return replace(commit, state={}, job={}, summary={})


def is_journal(descriptor: int) -> bool:
    """Whether an open file begins as a journal of pairalign does; nothing is changed."""
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return False
    return os.pread(descriptor, len(_MAGIC), 0) == _MAGIC


def lock_journal(descriptor: int, path: str) -> None:
    """Take a journal, which is open for writing; PartsError if another process holds it.

    Where the file system has no locks, as Lustre without ``-o flock``, a warning says so.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _IS_HELD:
            raise PartsError(f"'{path}': another run is writing this output") from error
        _log.warning(
            "'%s' cannot be locked (%s): no other run may write this output meanwhile",
            path,
            error.strerror,
        )
    if not os.fstat(descriptor).st_nlink:
        raise PartsError(f"'{path}': another run has just finished this output")


def sync_folder(path: str) -> None:
    """Make sure that the name of a file in its folder is there for good, where that can be done."""
    descriptor = os.open(os.path.dirname(os.path.realpath(path)), os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # some file systems do not sync folders
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _create(path: str, lines: list[bytes]) -> IO[bytes]:
    """Put a journal into its place, whole and locked; return the open file."""
    part = PartFile(os.path.realpath(path), None)
    file = open(part.descriptor, "wb", buffering=0)  # noqa: SIM115
    try:
        for line in lines:
            while line:
                line = line[file.write(line) :]
        os.fsync(file.fileno())
        part.publish()
        sync_folder(path)
    except BaseException:
        file.close()
        raise
    finally:
        part.remove()
    return file


def _pack(record: dict[str, Any]) -> bytes:
    text = json.dumps(record).encode()
    return text + b" #%08x\n" % zlib.crc32(text)


def _unpack(line: bytes, path: str, place: int, schema: Schema) -> dict[str, Any]:
    text, _, checksum = line.rpartition(b" #")
    try:
        if int(checksum, 16) != zlib.crc32(text):
            raise ValueError
        return read_object(text, schema)
    except ValueError as error:
        raise PartsError(_damaged(path, place)) from error


def _read_commit(line: bytes, path: str, place: int) -> Commit:
    commit = Commit(**_unpack(line, path, place, COMMIT))
    try:
        check_object(commit.left, WRITER_LEFT)
        if commit.job:
            check_object(commit.job, JOB_LEFT)
        if commit.summary:
            check_object(commit.summary, SUMMARY_LEFT)
    except SchemaError as error:
        raise PartsError(_damaged(path, place)) from error
    return commit


def _damaged(path: str, place: int) -> str:
    return f"'{path}' is damaged in line {place}; {left_out('resume')} to begin anew"
