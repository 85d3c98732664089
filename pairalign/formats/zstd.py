"""Text compressed with zstd, a frame for each piece; of Python 3.14, else by `zstandard`."""

from __future__ import annotations

import io
import sys
from typing import IO, Any

from pairalign.base.packages import needed

ZSTD_LEVEL = 3
_BLOCK = 1 << 20


def check_zstd() -> None:
    """Raise MissingPackageError if there is nothing to compress with."""
    if sys.version_info >= (3, 14):
        return
    with needed("zstd", "zstandard", "'pairalign[zstd]'"):
        import zstandard  # noqa: F401


def compress_frame(text: bytes | bytearray | memoryview) -> bytes:
    """Compress `text` into a frame with its size and a checksum."""
    if sys.version_info >= (3, 14):
        from compression import zstd

        parameter = zstd.CompressionParameter
        options = {parameter.compression_level: ZSTD_LEVEL, parameter.checksum_flag: 1}
        return bytes(zstd.compress(text, options=options))
    import zstandard

    return bytes(zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compress(text))


def read_zstd(raw: IO[bytes]) -> Any:
    """Return a file that reads the frames of another; ValueError or OSError for damage."""
    check_zstd()
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(raw)
    return _Frames(raw)


class _Frames(io.RawIOBase):
    """Reads frames of `zstandard`; what is damaged or cut short is a ValueError."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._frame: Any = None
        self._text = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; return how many bytes that was, 0 at the end."""
        while not self._text and self._take():
            pass
        size = min(len(buffer), len(self._text))
        buffer[:size], self._text = self._text[:size], self._text[size:]
        return size

    def _take(self) -> bool:
        """Decompress the next block; False at the end."""
        import zstandard

        block = self._raw.read(_BLOCK)
        if not block and self._frame is not None:
            raise ValueError("truncated zstd file")
        rest = block
        while rest:
            self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
            try:
                self._text += self._frame.decompress(rest)
            except zstandard.ZstdError as error:
                raise ValueError(f"damaged zstd file: {error}") from error
            rest = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        return bool(block)
