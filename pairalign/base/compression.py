"""Compressed input: gzip, bzip2, xz and zstd, told by their first bytes, of one stream or of many.

bgzip, pbzip2, pixz and pzstd write files of many streams, and programs concatenate compressed
files. All streams are read to their ends: what is damaged, cut short or no stream at all is an
error that says at which byte of the file. So is a whole file of more than 10,000 times the size of
what it is made of, while that is small: no sequences are like that, and a few kilobytes can be
terabytes. A header of xz says how large the dictionary is, which has a bound as well.
"""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

import numpy as np

from pairalign.base.error_types import FastaError, MissingPackageError
from pairalign.base.native import library

Bytes = bytes | bytearray | memoryview

_has_native = library.pairalign_has_crc32
_crc32 = library.pairalign_crc32

_BLOCK_BYTES = 1 << 20  # of which the processor's cache has room for

IS_NATIVE = bool(_has_native())


def add_to_checksum(checksum: int, data: Bytes) -> int:
    """Go on with the CRC-32 of ``zlib.crc32``, five times as fast.

    Parameters
    ----------
    checksum : int
        Of what comes before; 0 if that is nothing.
    data : bytes, bytearray or memoryview
    """
    if not IS_NATIVE:
        return zlib.crc32(data, checksum)
    array = np.frombuffer(data, np.uint8)
    return int(_crc32(checksum, array, len(array)))


def read_blocks(path: str) -> Iterator[bytes]:
    """Read a file block by block; OSError if it cannot be read."""
    with open(path, "rb", buffering=0) as file:
        while block := file.read(_BLOCK_BYTES):
            yield block


MOST_MEMORY_BYTES = 256 << 20
"""For a dictionary: `xz -9` makes files that take 65 MiB."""
_PART_BYTES = 1 << 24
"""What decompressors give back at once, those that can be told."""
_READ_BYTES = 1 << 20
_MOST_TIMES = 10_000
_ALWAYS_TAKEN_BYTES = 1 << 26
"""How much text may come of a file, by its size, and of any."""
_MAGIC_BYTES = 6
_TOO_LARGE = (
    f"its xz dictionary takes more than {MOST_MEMORY_BYTES >> 20} MiB; "
    "pipe it in: xz -dc FILE | pairalign ... -"
)


class _Compression(NamedTuple):
    """How files of one kind are told and read.

    `padding`: zeros may follow, a multiple of this number of bytes. `chunk_bytes`: what is fed to a
    decompressor at once; one that gives back all at once must not make more than 128 MiB of it.
    """

    magic: bytes | tuple[bytes, ...]
    kind: str
    start: Callable[[], Any]
    padding: int
    chunk_bytes: int


def decompress(data: bytes, name: str) -> bytes:
    """Undo the compression that the first bytes of a file tell of.

    Parameters
    ----------
    data : bytes
        The whole file; returned as it is if it is not compressed.
    name : str
        What messages call it.

    Raises
    ------
    FastaError
        A stream is damaged or incomplete, or something else follows the last one. The message
        names the file and the byte, counted from 0, at which that stream, or the rest, begins.

    Notes
    -----
    Zeros behind a stream are padding for gzip, and in groups of four for xz, as for the programs.
    """
    compression = _compression_of(data)
    if compression is None:
        return data
    parts, size = [], 0
    try:
        for part, read in _texts(io.BytesIO(data), compression):
            parts.append(part)
            size += len(part)
            if size > max(_ALWAYS_TAKEN_BYTES, _MOST_TIMES * read):
                raise FastaError(
                    f"{name}: {read:,} compressed bytes have become {size:,}, more than "
                    f"{_MOST_TIMES:,} times as many: no such text is expected; if it is right, "
                    "decompress the file first"
                )
    except FastaError:
        raise
    except ValueError as error:
        raise FastaError(f"{name}: {error}") from error
    return b"".join(parts)


class Parts(io.RawIOBase):
    """A file that reads what comes in parts."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer from its start; return how many bytes were there, 0 at the end."""
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = memoryview(part)
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


class Decompressed(Parts):
    """Reads the text of a compressed file; ValueError for what `decompress` refuses of streams.

    Attributes
    ----------
    most_times : int or None
        How many times as much text there can be; None: there is no bound.
    """

    def __init__(self, file: IO[bytes], compression: _Compression) -> None:
        super().__init__(text for text, _ in _texts(file, compression))
        self.most_times = 1032 if compression.kind == "gzip" else None


def decompressed(file: io.BufferedReader) -> io.BufferedReader:
    """Return a file that reads the text of another; one that is not compressed is returned."""
    compression = _compression_of(file.peek(_MAGIC_BYTES))
    if compression is None:
        return file
    return io.BufferedReader(Decompressed(file, compression), _READ_BYTES)


def _compression_of(data: bytes) -> _Compression | None:
    return next((one for one in _COMPRESSIONS if data.startswith(one.magic)), None)


def _texts(file: IO[bytes], compression: _Compression) -> Iterator[tuple[bytes, int]]:
    """Yield the text of all streams, with how many bytes of the file have been read for it."""
    _, kind, start, padding, chunk_bytes = compression
    damaged, read, rest = f"truncated or damaged {kind} file", 0, b""
    while True:
        while len(rest) < _MAGIC_BYTES and (block := file.read(chunk_bytes)):
            read, rest = read + len(block), _without_padding(rest + block, padding)
        if not rest:
            return
        first = read - len(rest)
        if not rest.startswith(compression.magic):
            raise ValueError(f"{damaged}: what follows from byte {first:,} on is no {kind}")
        stream, where = start(), f"the stream that begins at byte {first:,}"
        # bz2 reports damage as OSError or ValueError, lzma and zstd have errors of their own.
        errors, most = _damage_errors(), (_PART_BYTES,) * hasattr(stream, "needs_input")
        while not stream.eof:
            chunk = b""
            if getattr(stream, "needs_input", True):
                chunk = rest or file.read(chunk_bytes)
                read, rest = read + len(chunk) - len(rest), b""
                if not chunk:
                    raise ValueError(f"{damaged}: it ends within {where}")
            try:
                part = stream.decompress(chunk, *most)
            except errors as error:
                reason = _TOO_LARGE if kind == "xz" and "limit" in str(error) else error
                raise ValueError(f"{damaged}, in {where} ({reason})") from error
            yield part, read
        rest = _without_padding(stream.unused_data, padding)


def _without_padding(data: bytes, unit: int) -> bytes:
    """Return what is behind zeros that may follow a stream."""
    zeros = len(data) - len(data.lstrip(b"\0")) if unit else 0
    return data[zeros - zeros % unit :] if zeros else data


def _gunzip() -> object:
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


def _bunzip2() -> object:
    import bz2  # here and below: a Python may be built without these two

    return bz2.BZ2Decompressor()


def _unxz() -> object:
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY_BYTES)


def _unzstd() -> object:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdDecompressor()
    try:
        import zstandard
    except ImportError:
        raise MissingPackageError(
            "the input is compressed with zstd, which needs zstandard: pip install "
            "'pairalign[zstd]', or pipe the input in: zstd -dc FILE | pairalign ... -"
        ) from None
    return zstandard.ZstdDecompressor().decompressobj()


def _damage_errors() -> tuple[type[Exception], ...]:
    """Return what decompressors raise for damage; of modules that are loaded."""
    errors: list[type[Exception]] = [EOFError, OSError, ValueError, zlib.error]
    for module, name in (
        ("lzma", "LZMAError"),
        ("zstandard", "ZstdError"),
        ("compression.zstd", "ZstdError"),
    ):
        if module in sys.modules:
            errors.append(getattr(sys.modules[module], name))
    return tuple(errors)


_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_ZSTD_SKIPPED = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))
"""What frames begin with that hold no data: pzstd writes such."""

_COMPRESSIONS = (
    _Compression(b"\x1f\x8b", "gzip", _gunzip, 1, 1 << 17),
    _Compression(b"BZh", "bzip2", _bunzip2, 0, 1 << 18),
    _Compression(b"\xfd7zXZ\x00", "xz", _unxz, 4, 1 << 18),
    _Compression((_ZSTD_MAGIC, *_ZSTD_SKIPPED), "zstd", _unzstd, 0, 1 << 12),
)
