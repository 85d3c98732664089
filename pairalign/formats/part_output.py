"""An output that becomes the pieces of a part, see `pairalign.formats.pieces`.

A piece appears under its name, and is in the manifest, when it is cut off; after a kill, a full
disk or a loss of power what comes after it is written anew.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import logging
import os
from collections.abc import Callable
from typing import IO, Any

from pairalign.base.compression import add_to_checksum
from pairalign.base.dry_run import begin
from pairalign.base.error_types import PartsError
from pairalign.base.part_file import PartFile
from pairalign.base.run_files import parts_folder_of, remove_empty_folder, remove_regular
from pairalign.formats.output import Bytes, FileOutput, output_error
from pairalign.formats.pieces import (
    Part,
    check_place,
    find_differences,
    is_whole,
    prepare_folder,
    read_manifest,
    remove_parts,
)

_log = logging.getLogger("pairalign")
ANEW = "delete it and the pieces beside it to begin anew"
"""The advice of what cannot go on."""
_IS_HELD = (errno.EWOULDBLOCK, errno.EACCES)


class PartOutput(FileOutput):
    """Writes the pieces of a part.

    Parameters
    ----------
    part : Part
        Of which there is nothing yet. Its folder is made where there is none.
    resume : bool
        Whether pieces stay when writing ends early, and those that are there are not written again.

    Attributes
    ----------
    part : Part
        With what has been written.
    last : callable
        Returns the arguments of `cut` for what `close` ends; set by who closes it.

    Raises
    ------
    PartsError
        What is there is of another run, of a run that still goes on, damaged or not pairalign's.
    OutputError
        It cannot be written.
    """

    def __init__(self, part: Part, *, resume: bool) -> None:
        begin()
        self.part = part
        self._keeps = resume
        self._is_begun = False
        self._lock: int | None = None
        self._new: PartFile | None = None
        self._file: IO[bytes] | None = None
        self._checksum = ctypes.c_uint32()
        self.last: Callable[[], tuple[int, int, dict[str, Any]]] | None = None
        self._makes_folder = not os.path.isdir(part.folder)
        prepare_folder(part.folder)
        try:
            self._lock = take(part)
            if resume and self._lock is not None:
                self._go_on()
            if not self.part.is_begun:
                self._begin()
            super().__init__(self.part.next_piece())
        except BaseException:
            self.abort()
            raise

    def _go_on(self) -> None:
        """Take over what a run before has kept, if that is anything."""
        before = read_manifest(self.part.begun)
        if not before.is_begun:
            return
        differences = find_differences(
            *({**part.run, "format": part.format} for part in (before, self.part))
        )
        if differences:
            raise PartsError(
                f"'{self.part.begun}' is of another run: {differences} (then and now); {ANEW}"
            )
        for piece in before.pieces:
            if not is_whole(piece):
                raise PartsError(f"'{piece.path}' is not what was written; {ANEW}")
        self.part = before

    def _begin(self) -> None:
        """Say that the part is begun, and remove what another run has made in its place.

        That of the same run stays until it is replaced: a task of a cluster may run twice, and its
        part may be merged meanwhile.
        """
        before = check_place(self.part)
        if before:
            _log.warning("'%s' was there before and is made again", self.part.piece())
        self._save()
        if not any(one.complete and one.run == self.part.run for one in before):
            remove_regular(self.part.manifest)

    def _save(self) -> None:
        """Write the manifest, and hold it if nobody else may go on with the part."""
        file = self.part.write(self.part.begun)
        self._is_begun = True
        self._unlock()
        if self._keeps:
            self._lock = file
        else:
            os.close(file)

    def _unlock(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    def _open(self) -> IO[bytes]:
        """Open the next piece; its descriptor is that of the one before."""
        self._checksum.value = 0
        self._new = PartFile(os.path.realpath(self.path), None)
        if self._file is None:
            return open(self._new.descriptor, "wb", buffering=0)
        os.dup2(self._new.descriptor, self._file.fileno())  # native code writes to it
        os.close(self._new.descriptor)
        return self._file

    @property
    def checksum(self) -> ctypes.c_uint32:
        """The CRC-32 of what has been written of the piece."""
        return self._checksum

    def write(self, data: Bytes) -> int:
        """Write all of `data`; return its size."""
        size = super().write(data)
        self._checksum.value = add_to_checksum(self._checksum.value, data)
        return size

    def cut(
        self,
        start: int,
        pairs: int,
        summary: dict[str, Any] | None = None,
        *,
        job: dict[str, Any] | None = None,
    ) -> None:
        """End a piece, of all that came since the one before; see `Part` and `Piece`."""
        self._end(start, pairs, summary or {}, job or {})
        if self._keeps:
            self._save()
        if self._new is None:
            self.path = self.part.next_piece()
            try:
                self._file = self._open()
            except OSError as error:
                raise output_error(self.path, error) from error

    def _end(self, start: int, pairs: int, summary: dict[str, Any], job: dict[str, Any]) -> None:
        """End a piece, of which the manifest does not know yet: after a kill it is made again."""
        assert self._file is not None
        try:
            size = self._file.tell()
            if size:
                assert self._new is not None
                if self._keeps:
                    os.fdatasync(self._file.fileno())
                self._new.publish()
                self._new = None
        except OSError as error:
            raise self.explain(error) from error
        if size or pairs:
            self.part.add(start, pairs, size, f"{self._checksum.value:08x}")
        self.part.summary, self.part.job = summary, job

    def close(self) -> None:
        """End the last piece; the part is complete. May come twice."""
        if self._file is None:
            return
        assert self.last is not None
        try:
            self._end(*self.last(), {})
        finally:
            super().abort()

    def finish(self) -> None:
        """Put the manifest of the complete part into its place; what was there before goes."""
        os.close(self.part.write(self.part.manifest))
        self.part.tidy()
        self._unlock()

    def discard(self) -> None:
        """Remove the part: what was made of it is there."""
        super().abort()
        self.part.pieces, self.part.job = [], {}  # or after a kill pieces would be missed
        self._save()
        remove_parts([self.part])
        self._unlock()

    def abort(self) -> None:
        """Let go of the part, whose pieces stay; of one without any, nothing stays.

        A command that is refused when all is open can so be given again as it should have been.
        """
        super().abort()
        part = self.part
        if not (part.is_begun or part.named()):
            with contextlib.suppress(OSError):
                if self._is_begun:
                    remove_regular(part.begun)
                if self._makes_folder:
                    remove_empty_folder(part.folder)
        self._unlock()


def whole_part(output: str) -> Part:
    """Return the part that is kept beside an output that can be resumed, which is a file."""
    return Part(parts_folder_of(output), 1, 1)


def take(part: Part) -> int | None:
    """Open and lock the manifest of a part that is begun; None if there is none.

    Where the file system has no locks, as Lustre without ``-o flock``, a warning says so.

    Raises
    ------
    PartsError
        It is no manifest, or another process holds it.
    """
    path = part.begun
    try:
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # NFS locks no other
        file = os.open(path, flags)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PartsError(f"'{path}' is no manifest of pairalign: move it away") from error
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _IS_HELD:
                raise PartsError(f"'{path}': another run is writing this output") from error
            _log.warning(
                "'%s' cannot be locked (%s): no other run may write this output meanwhile",
                path,
                error.strerror,
            )
        if not os.fstat(file).st_nlink:
            raise PartsError(f"'{path}': another run has just finished this output")
    except BaseException:
        os.close(file)
        raise
    return file
