"""xz with a bound: a header says how large the dictionary is, and that decides the memory."""

from __future__ import annotations

import io
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from lzma import LZMADecompressor

MOST_MEMORY_BYTES = 256 << 20
"""For a dictionary: `xz -9` makes files that take 65 MiB."""

_BLOCK_BYTES = 1 << 18


def xz_decompressor() -> LZMADecompressor:
    """Return what decompresses one stream of xz, within `MOST_MEMORY_BYTES`.

    Its LZMAError is to be made an OSError by `as_os_error`.
    """
    import lzma  # a Python may be built without it

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY_BYTES)


def as_os_error(error: Exception) -> OSError:
    """Return the error of a file whose stream of xz has raised `error`."""
    if "limit" in str(error):
        return OSError(
            f"its xz dictionary takes more than {MOST_MEMORY_BYTES >> 20} MiB; "
            "pipe it in: xz -dc FILE | pairalign ... -"
        )
    return OSError(str(error))


class XzFile(io.RawIOBase):
    """Reads what a file compressed with xz holds, of all its streams.

    Parameters
    ----------
    raw : file
        The compressed bytes.

    Raises
    ------
    OSError, EOFError
        While it is read: it is damaged, takes too much memory, or is cut short.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._stream = xz_decompressor()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer from its start; return how many bytes were there, 0 at the end."""
        from lzma import LZMAError

        data = b""
        while not data:
            block = b""
            if self._stream.eof:
                block = self._next_stream()
                if not block:
                    return 0
            elif self._stream.needs_input:
                block = self._raw.read(_BLOCK_BYTES)
                if not block:
                    raise EOFError("it ends within a stream of xz")
            try:
                data = self._stream.decompress(block, len(buffer))
            except LZMAError as error:
                raise as_os_error(error) from error
        buffer[: len(data)] = data
        return len(data)

    def _next_stream(self) -> bytes:
        """Begin the next stream, behind any padding; return its first bytes, none at the end."""
        block = self._stream.unused_data.lstrip(b"\0")
        while not block:
            read = self._raw.read(_BLOCK_BYTES)
            if not read:
                return b""
            block = read.lstrip(b"\0")
        self._stream = xz_decompressor()
        return block
