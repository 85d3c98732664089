"""CRC-32 of what is written or read: in native code if the processor has instructions for it."""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Iterator

from pairalign.base.native import library

Bytes = bytes | bytearray | memoryview

_has_native = library.pairalign_has_crc32
_crc32 = library.pairalign_crc32

_BLOCK_BYTES = 1 << 20  # of which the processor's cache has room for

IS_NATIVE = bool(_has_native())


def add_to_checksum(checksum: int, data: Bytes, size: int | None = None) -> int:
    """Go on with the CRC-32 of ``zlib.crc32``, five times as fast.

    Parameters
    ----------
    checksum : int
        Of what comes before; 0 if that is nothing.
    data : bytes, bytearray or memoryview
    size : int, optional
        Number of its first bytes; default: all.
    """
    view = memoryview(data).cast("B")
    if size is not None:
        view = view[:size]
    if not IS_NATIVE:
        return zlib.crc32(view, checksum)
    if isinstance(data, bytes):
        return int(_crc32(checksum, data, view.nbytes))
    if view.readonly:
        return zlib.crc32(view, checksum)
    place = (ctypes.c_char * view.nbytes).from_buffer(view)
    return int(_crc32(checksum, ctypes.cast(place, ctypes.c_char_p), view.nbytes))


def read_blocks(path: str, size: int | None = None) -> Iterator[bytes]:
    """Read the first `size` bytes of a file, or all; fewer if it is shorter.

    Raises
    ------
    OSError
        It cannot be read.
    """
    with open(path, "rb", buffering=0) as file:
        left = size
        while block := file.read(_BLOCK_BYTES if left is None else min(_BLOCK_BYTES, left)):
            if left is not None:
                left -= len(block)
            yield block


def read_range(path: str, start: int, stop: int) -> Iterator[bytes]:
    """Read some bytes of a file, from one up to another; OSError if that cannot be."""
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        while start < stop and (block := file.read(min(_BLOCK_BYTES, stop - start))):
            start += len(block)
            yield block


def measure_file(path: str, size: int | None = None) -> tuple[int, int]:
    """Return how many bytes `read_blocks` reads, and their CRC-32; OSError as there."""
    count, checksum = 0, 0
    for block in read_blocks(path, size):
        count += len(block)
        checksum = add_to_checksum(checksum, block)
    return count, checksum
