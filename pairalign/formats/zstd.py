"""Text compressed with zstd, a frame for each piece; of Python 3.14, else by `zstandard`."""

from __future__ import annotations

import sys

from pairalign.base.packages import needed

ZSTD_LEVEL = 3


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
