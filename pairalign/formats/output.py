"""Where output goes: files that appear only when complete, standard output, pipes; gzip.

An `Output` takes bytes. A regular file is written under a temporary name beside its place and
renamed by `Output.close`; `Output.abort` removes it. Everything else (``"-"``, pipes, devices) is
written directly.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import os
import stat
import sys
import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import IO, TypeVar

from pairalign.base.dry_run import begin, is_dry_run
from pairalign.base.error_types import FormatError, OutputError
from pairalign.base.packages import check_package
from pairalign.base.part_file import PartFile
from pairalign.base.texts import csv_of
from pairalign.formats.names import compression_of

Path = str | os.PathLike[str]
Bytes = bytes | bytearray | memoryview
_AnyResult = TypeVar("_AnyResult", bound="Abortable")

# Uncompressed bytes of one gzip member: a constant, so that the file depends on its text alone.
GZIP_MEMBER_BYTES = 1 << 20
GZIP_LEVEL = 4
ZSTD_LEVEL = 3
_PRIVATE = 0o600  # temporary folders are everybody's

# Other names of standard streams: where they lead may be a regular file that is not ours to rename.
_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")


class Abortable(ABC):
    """A result that is being written; a context manager that aborts when something was raised."""

    @abstractmethod
    def close(self) -> None:
        """Make the result appear under its name; if that fails, remove it."""

    @abstractmethod
    def abort(self) -> None:
        """Remove what has been written, where that can be done. Never raises; may come twice."""

    def __enter__(self: _AnyResult) -> _AnyResult:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


class Output(Abortable):
    """Takes the bytes of one result."""

    @abstractmethod
    def write(self, data: Bytes) -> int:
        """Write all of `data`; return its size."""

    @property
    def waits_for_readers(self) -> bool:
        """Whether a `write` may take forever, as into a pipe that nobody reads."""
        return True

    @property
    def descriptor(self) -> int | None:
        """An open file to which native code may write as well; None: only `write` may."""
        return None

    @property
    def folder(self) -> str | None:
        """The folder of the file that it becomes; None: it is none."""
        return None

    @property
    def checksum(self) -> ctypes.c_uint32 | None:
        """A CRC-32 of what is written, with which who writes to `descriptor` has to go on."""
        return None

    def explain(self, error: OSError) -> OSError:
        """Return the error to raise when writing to `descriptor` failed."""
        return error


def open_output(path: Path, *, threads: int = 1) -> Output:
    """Open a file for the bytes of a result.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output. What has a name ending in ``.gz`` or ``.zst``, in small letters
        or capitals, is compressed.
    threads : int
        Compress on up to this many threads; the bytes do not depend on it.

    Raises
    ------
    OutputError
        Here or later, if it cannot be written; ``errno`` says why. When the reader of a pipe has
        gone it is a BrokenPipeError as well (`ReaderGoneError`): callers may want to end quietly.
    """
    if compression_of(path) == ".zst":
        check_zstd()
    output = FileOutput(path)
    ending = compression_of(path)
    if ending == ".gz":
        return GzipOutput(output, threads)
    return GzipOutput(output, threads, compress_frame) if ending == ".zst" else output


def open_table(path: Path, format: str, *, threads: int = 1) -> Output:
    """Open a file for a table: an output that takes TSV, and writes CSV where `format` is "csv"."""
    output = open_output(path, threads=threads)
    return CsvOutput(output) if format == "csv" else output


class CsvOutput(Output):
    """Takes whole lines of TSV, whose names are quoted, and writes CSV."""

    def __init__(self, output: Output) -> None:
        self._output = output

    @property
    def waits_for_readers(self) -> bool:
        """As the output that it writes to."""
        return self._output.waits_for_readers

    def explain(self, error: OSError) -> OSError:
        """As the output that it writes to."""
        return self._output.explain(error)

    def write(self, data: Bytes) -> int:
        """Write all of `data`; return its size."""
        self._output.write(csv_of(bytes(data)))
        return len(data)

    def close(self) -> None:
        """Make the result appear under its name; if that fails, remove it."""
        self._output.close()

    def abort(self) -> None:
        """Remove what has been written, where that can be done."""
        self._output.abort()


class ReaderGoneError(OutputError, BrokenPipeError):
    """The reader of a pipe, or of standard output, has gone."""


def output_error(path: Path, error: OSError) -> OutputError:
    """Return the error to raise when `path` cannot be written because of `error`."""
    name = "standard output" if path == "-" else f"'{os.fspath(path)}'"
    reason = error.strerror or str(error)
    if error.errno == errno.ENOENT:
        folder = os.path.dirname(os.path.abspath(path))
        reason = f"there is no directory '{folder}'"
    kind = ReaderGoneError if isinstance(error, BrokenPipeError) else OutputError
    converted = kind(f"cannot write {name}: {reason}")
    converted.errno = error.errno
    return converted


def map_file(path: str) -> memoryview:
    """Return the bytes of a file, which is not empty, without reading it into memory."""
    with open(path, "rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def check_writable(path: Path) -> None:
    """Raise OutputError if a result could not be written; leave everything as it is.

    Pipes and devices are not opened for that: opening and closing them says something to readers.

    Raises
    ------
    OutputError
        See `open_output`.
    FormatError
        See `pairalign.formats.names.compression_of`.
    """
    compression_of(path)
    try:
        if path == "-":
            _standard_output()
            return
        place = find_place(os.fspath(path))
        if place is not None and is_dry_run():
            _check_access(os.path.join(os.path.dirname(place[0]), ""))
        elif place is not None:
            probe = PartFile(*place)
            try:
                os.close(probe.descriptor)
            finally:
                probe.remove()
    except OSError as error:
        raise output_error(path, error) from error


def check_usable(folder: str) -> None:
    """Raise OutputError if a folder is none and could not be made; leave everything as it is."""
    there = folder
    while not os.path.lexists(there):
        there = os.path.dirname(os.path.abspath(there))
    try:
        os.scandir(there).close()
        if there != folder:
            _check_access(there)
    except OSError as error:
        raise folder_error(folder, error) from error


def _check_access(folder: str) -> None:
    os.stat(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def folder_error(folder: str, error: OSError) -> OutputError:
    """Return the error to raise when files cannot go into a folder because of `error`."""
    reason = "it is a file" if os.path.isfile(folder) else error.strerror
    return OutputError(f"cannot use '{folder}' as a folder: {reason}")


def write_all(write: Callable[[memoryview], int | None], data: Bytes, path: Path) -> int:
    """Write all of `data` with a function that may take a part of it; return its size.

    Raises
    ------
    OutputError
        Names `path`.
    """
    rest = memoryview(data)
    size = rest.nbytes
    try:
        while rest.nbytes:
            rest = rest[write(rest) or 0 :]
    except OSError as error:
        raise output_error(path, error) from error
    return size


class FileOutput(Output):
    """Bytes to a file (renamed into place by `close`), a pipe, a device or standard output."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._new: PartFile | None = None
        self._is_null = False
        self._file: IO[bytes] | None = None
        try:
            self._file = self._open()
        except OSError as error:
            self.abort()
            raise output_error(path, error) from error
        except BaseException:
            self.abort()
            raise

    def _open(self) -> IO[bytes]:
        begin()
        if self.path == "-":
            return _standard_output()
        path = os.fspath(self.path)
        place = find_place(path)
        if place is None:
            self._is_null = os.path.realpath(path) == os.devnull
            return open(path, "wb", buffering=0)
        self._new = PartFile(*place)
        return open(self._new.descriptor, "wb", buffering=0)

    @property
    def waits_for_readers(self) -> bool:
        """False for a regular file, and for the null device."""
        return self._new is None and not self._is_null

    @property
    def descriptor(self) -> int | None:
        """The file, unless a `write` may take forever."""
        return None if self._file is None or self.waits_for_readers else self._file.fileno()

    @property
    def folder(self) -> str | None:
        """The folder of a regular file."""
        return None if self._new is None else os.path.dirname(self._new.final) or "."

    def explain(self, error: OSError) -> OSError:
        """Return the error to raise when writing to `descriptor` failed."""
        return error if isinstance(error, OutputError) else output_error(self.path, error)

    def write(self, data: Bytes) -> int:
        """Write all of `data`; return its size."""
        assert self._file is not None, "written after the end"
        return write_all(self._file.write, data, self.path)

    def close(self) -> None:
        """Make the result appear under its name; if that fails, remove it."""
        try:
            if self._file is not None:
                self._file.flush()
                self._close_file()
            if self._new is not None:
                self._new.publish()
                self._new = None
        except OSError as error:
            raise output_error(self.path, error) from error
        finally:
            self.abort()

    def abort(self) -> None:
        """Remove what has been written, where that can be done."""
        with contextlib.suppress(OSError):
            self._close_file()
        new, self._new = self._new, None
        if new is not None:
            new.remove()

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None and self.path != "-":
            file.close()


class HeldOutput(FileOutput):
    """Bytes that are of use to the run alone: a hidden file beside an output, which never appears.

    Parameters
    ----------
    path : str or path
        The output; of standard output and devices the file is among temporary ones.

    Attributes
    ----------
    path : str
        Where the bytes are, until the ``with`` block is left.
    """

    def _open(self) -> IO[bytes]:
        from tempfile import gettempdir  # few runs need it

        place = None if self.path == "-" else find_place(os.fspath(self.path))
        final = os.path.join(gettempdir(), "pairalign") if place is None else place[0]
        self._new = PartFile(final, _PRIVATE)
        self.path = self._new.path
        return open(self._new.descriptor, "wb", buffering=0)

    def text(self) -> memoryview:
        """Return what was written."""
        return map_file(os.fspath(self.path)) if os.path.getsize(self.path) else memoryview(b"")

    def close(self) -> None:
        """Nothing: who writes to it may be done, who reads it is not."""

    def abort(self) -> None:
        """Nothing, as `close`."""

    def __exit__(self, *_: object) -> None:
        super().abort()


def find_place(path: str) -> tuple[str, int | None] | None:
    """Return where a regular file goes and the permissions of the one that it replaces.

    None for what is written directly. A link stays a link: the file it leads to is replaced.

    Raises
    ------
    OSError
        There cannot be a file of that name.
    """
    mode = None
    try:
        status = os.stat(path)
    except FileNotFoundError:
        if not os.path.basename(path):  # nothing, or a slash at the end
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)) from None
    else:
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode) or path.startswith(_STREAMS):
            return None
        if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        mode = stat.S_IMODE(status.st_mode)
    return os.path.realpath(path), mode


def _standard_output() -> IO[bytes]:
    """Open standard output without Python's buffer: nothing stays in it when the reader goes."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed")
    sys.stdout.flush()
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, AttributeError):  # replaced by something in memory
        return sys.stdout.buffer
    return open(descriptor, "wb", buffering=0, closefd=False)


class GzipOutput(Output):
    """Compress into members of a fixed amount of text, several at a time, written in order.

    Parameters
    ----------
    compress : callable, optional
        Makes a member, or a frame of zstd, of text; default: `compress_member`.
    """

    def __init__(
        self, output: Output, threads: int = 1, compress: Callable[[Bytes], bytes] | None = None
    ) -> None:
        self._output = output
        self._compress = compress or compress_member
        self._rest = bytearray()
        self._members = 0
        self._pending: deque[Future[bytes]] = deque()
        self._ahead = 2 * threads
        self._pool = ThreadPoolExecutor(threads, "gzip") if threads > 1 else None

    @property
    def waits_for_readers(self) -> bool:
        """As the output that takes the compressed bytes."""
        return self._output.waits_for_readers

    def write(self, data: Bytes) -> int:
        """Compress and write all of `data`; return its size."""
        rest = memoryview(data).cast("B")
        size = rest.nbytes
        while rest.nbytes:
            room = GZIP_MEMBER_BYTES - len(self._rest)
            self._rest += rest[:room]
            rest = rest[room:]
            if len(self._rest) == GZIP_MEMBER_BYTES:
                self._end_member()
        return size

    def _end_member(self) -> None:
        text, self._rest = self._rest, bytearray()
        self._members += 1
        if self._pool is None:
            self._output.write(self._compress(text))
            return
        self._pending.append(self._pool.submit(self._compress, text))
        self._drain(self._ahead)

    def _drain(self, left: int) -> None:
        while len(self._pending) > left:
            self._output.write(self._pending.popleft().result())

    def close(self) -> None:
        """Make the result appear under its name; if that fails, remove it."""
        try:
            if self._rest or not self._members:  # a gzip file has at least one member
                self._end_member()
            self._drain(0)
            self._output.close()
        finally:
            self.abort()

    def abort(self) -> None:
        """Remove what has been written, where that can be done."""
        self._pending.clear()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        self._output.abort()


def compress_member(text: Bytes) -> bytes:
    """Compress `text` into a gzip member without name and time: equal text gives equal bytes."""
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return compressor.compress(text) + compressor.flush()


def refuse_inputs(output: str, inputs: Iterable[str | None]) -> None:
    """Refuse to replace a file that is read.

    Parameters
    ----------
    output : str
        The path of a file to write, or ``-``.
    inputs : iterable of str or None
        Paths that are read; names that are no files (a matrix's, ``-``) do no harm.

    Raises
    ------
    FormatError
        The output is one of the inputs.
    """
    if not os.path.exists(output):
        return
    for path in inputs:
        # Not devices: /dev/stdin and /dev/stdout may well be one terminal.
        if path is not None and os.path.isfile(path) and os.path.samefile(path, output):
            raise FormatError(f"'{output}' is an input; choose another output")


def check_zstd() -> None:
    """Raise MissingPackageError if there is nothing to compress with."""
    if sys.version_info < (3, 14):
        check_package("zstandard", "zstd", "zstandard", "'pairalign[zstd]'")


def compress_frame(text: bytes | bytearray | memoryview) -> bytes:
    """Compress `text` into a frame with its size and a checksum."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        parameter = zstd.CompressionParameter
        options = {parameter.compression_level: ZSTD_LEVEL, parameter.checksum_flag: 1}
        return bytes(zstd.compress(text, options=options))
    import zstandard

    return bytes(zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compress(text))
