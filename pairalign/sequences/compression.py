"""Compressed input: gzip, bzip2, xz and zstd, told by their first bytes, of one stream or of many.

bgzip, pbzip2, pixz and pzstd write files of many streams, and programs concatenate compressed
files. All streams are read to their ends: what is damaged, cut short or no stream at all is an
error that says at which byte of the file. So is text of more than 10,000 times the size of what it
is made of, while it is small: no sequences are like that, and a few kilobytes can be terabytes.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from pairalign.base.error_types import FastaError, MissingPackageError, PairalignError
from pairalign.base.xz import as_os_error, xz_decompressor

# What is fed to a decompressor at once: what lies behind a stream's end is copied, so not all.
_CHUNK_BYTES = 1 << 18
_SMALL_CHUNK_BYTES = {"gzip": 1 << 17, "zstd": 1 << 12}
"""Of decompressors that give back all at once: at most 128 MiB."""
_PART_BYTES = 1 << 24
"""What others give back at once."""
_MOST_TIMES = 10_000
_ALWAYS_TAKEN_BYTES = 1 << 26
"""How much text may come of a file, by its size, and of any."""


class _Decompressor(Protocol):
    """What the decompressors of zlib, bz2 and lzma have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


class _Compression(NamedTuple):
    """How files of one kind are told and read.

    `padding`: zeros may follow, a multiple of this number of bytes.
    """

    magic: bytes | tuple[bytes, ...]
    kind: str
    start: Callable[[], _Decompressor]
    padding: int


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
    for compression in _COMPRESSIONS:
        if data.startswith(compression.magic):
            return _join_streams(data, name, compression)
    return data


def _join_streams(data: bytes, name: str, compression: _Compression) -> bytes:
    text = _Text(name)
    position = 0
    while position < len(data):
        if not data.startswith(compression.magic, position):
            raise FastaError(
                f"{name}: truncated or damaged {compression.kind} file: the last "
                f"{len(data) - position:,} bytes, from byte {position:,} on, are not compressed "
                f"with {compression.kind}"
            )
        position = _read_stream(data, position, name, compression, text)
        position = _skip_padding(data, position, compression.padding)
    return b"".join(text.parts)


class _Text:
    """What has come of a file; FastaError where it is far more than text can be."""

    def __init__(self, name: str) -> None:
        self.parts: list[bytes] = []
        self._name, self._bytes = name, 0

    def add(self, part: bytes, read: int) -> None:
        """Append a part; `read` bytes of the file have made all there is."""
        self.parts.append(part)
        self._bytes += len(part)
        check_expansion(self._bytes, read, FastaError, self._name)


def check_expansion(text: int, read: int, kind: type[PairalignError], name: str) -> None:
    """Raise an error where much text has come of few compressed bytes.

    Parameters
    ----------
    text, read : int
        Bytes of text, and of the file of which they were made.
    name : str
        What messages call the file.
    """
    if text > max(_ALWAYS_TAKEN_BYTES, _MOST_TIMES * read):
        raise kind(
            f"{name}: {read:,} compressed bytes have become {text:,}, more than {_MOST_TIMES:,} "
            "times as many: no such text is expected; if it is right, decompress the file first"
        )


def _read_stream(data: bytes, start: int, name: str, compression: _Compression, text: _Text) -> int:
    """Append what the stream at `start` holds to `text`; return where it ends."""
    view, position = memoryview(data), start
    where = f"{name}: truncated or damaged {compression.kind} file"
    stream = compression.start()
    size = _SMALL_CHUNK_BYTES.get(compression.kind, _CHUNK_BYTES)
    while not stream.eof:
        chunk = view[position : position + size]
        if not chunk:
            raise FastaError(f"{where}: it ends within the stream that begins at byte {start:,}")
        try:
            for part in _parts_of(stream, chunk):
                text.add(part, position + len(chunk))
        except FastaError:
            raise
        # bz2 reports damage as OSError or ValueError, lzma and zstd have errors of their own.
        except _damage_errors() as error:
            reason = as_os_error(error) if compression.kind == "xz" else error
            raise FastaError(
                f"{where}, in the stream that begins at byte {start:,} ({reason})"
            ) from error
        position += len(chunk)
    return position - len(stream.unused_data)


def _parts_of(stream: Any, chunk: memoryview) -> Iterator[bytes]:
    """Yield what comes of a chunk, in parts where a decompressor can do so."""
    if not hasattr(stream, "needs_input"):
        yield stream.decompress(chunk)
        return
    yield stream.decompress(chunk, _PART_BYTES)
    while not (stream.eof or stream.needs_input):
        yield stream.decompress(b"", _PART_BYTES)


def _skip_padding(data: bytes, position: int, unit: int) -> int:
    """Return where zeros that may follow a stream end."""
    if not unit:
        return position
    rest = position
    while data.startswith(bytes(unit), rest):
        rest += unit
    return rest


def _gunzip() -> _Decompressor:
    return zlib.decompressobj(16 + zlib.MAX_WBITS)


def _bunzip2() -> _Decompressor:
    import bz2  # here and below: a Python may be built without these two

    return bz2.BZ2Decompressor()


def _unzstd() -> _Decompressor:
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
    decompressor: _Decompressor = zstandard.ZstdDecompressor().decompressobj()
    return decompressor


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
    _Compression(b"\x1f\x8b", "gzip", _gunzip, 1),
    _Compression(b"BZh", "bzip2", _bunzip2, 0),
    _Compression(b"\xfd7zXZ\x00", "xz", xz_decompressor, 4),
    _Compression((_ZSTD_MAGIC, *_ZSTD_SKIPPED), "zstd", _unzstd, 0),
)
