"""CRC-32 of what is written: in native code where the processor has instructions for it."""

from __future__ import annotations

import ctypes
import zlib

from pairalign.base.native import library

Bytes = bytes | bytearray | memoryview

_has_native = library.pairalign_has_crc32
_crc32 = library.pairalign_crc32

IS_NATIVE = bool(_has_native())


def add_to_checksum(checksum: int, data: Bytes, size: int | None = None) -> int:
    """Go on with the CRC-32 of ``zlib.crc32``, five times as fast.

    Parameters
    ----------
    checksum : int
        Of what comes before; 0 if that is nothing.
    data : bytes, bytearray or memoryview
    size : int, optional
        Only so many of its first bytes.

    Returns
    -------
    int
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
