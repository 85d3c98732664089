"""Libraries that write to an output of ours: NumPy and PyArrow."""

from __future__ import annotations

import sys
from typing import Any

from pairalign.base.error_types import FormatError
from pairalign.base.limits import check_room
from pairalign.base.packages import needed
from pairalign.formats.names import Suffixes, choose_format, compression_of
from pairalign.formats.output import Output, Path

_PACKED = ("npz", "parquet", "biom2")
"""Formats that have their own compression."""
_ARROW_BYTES = 256 << 20
"""That PyArrow maps; what it does where there are fewer is anybody's guess."""


class BytesSink:
    """An output as libraries write to it: forward only."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._size = 0
        self._is_given_up = False
        self.closed = False

    def give_up(self) -> None:
        """Take what comes and write it nowhere: libraries end their files whatever has happened."""
        self._is_given_up = True

    def write(self, data: bytes) -> int:
        """Write all of some bytes; return how many."""
        size = memoryview(data).nbytes if self._is_given_up else self._output.write(data)
        self._size += size
        return size

    def read(self, *_: int) -> bytes:  # NumPy takes what has it for a file
        """Raise OSError."""
        raise OSError("not for reading")

    def tell(self) -> int:
        """Return how many bytes there are."""
        return self._size

    def flush(self) -> None:
        """Do nothing: nothing waits here."""

    def seekable(self) -> bool:
        """Return False."""
        return False

    def readable(self) -> bool:
        """Return False."""
        return False

    def writable(self) -> bool:
        """Return True."""
        return True

    def seek(self, *_: int) -> int:
        """Raise OSError."""
        raise OSError("not for seeking")

    def close(self) -> None:
        """Do nothing: who has opened the output closes it."""


def arrow() -> tuple[Any, Any]:
    """Return PyArrow and its module of Parquet.

    Raises
    ------
    FormatError
        They are not installed.
    MemoryError
        There is no memory for them.
    """
    if "pyarrow.parquet" not in sys.modules:
        check_room(_ARROW_BYTES)
    with needed("Parquet", "pyarrow", "'pairalign[parquet]'", FormatError):
        import pyarrow as pa
        import pyarrow.parquet as pq
    return pa, pq


def array_format(path: Path, format: str | None, suffixes: Suffixes, what: str) -> str:
    """Return the format of arrays that is meant, and refuse what cannot be written.

    Parameters
    ----------
    path, format, suffixes, what
        As `pairalign.formats.names.choose_format` takes them.

    Raises
    ------
    FormatError
        There is no such format, it has its own compression, or what writes it is not installed.
    """
    chosen = choose_format(path, format, suffixes, what)
    if chosen in _PACKED and compression_of(path):
        raise FormatError(f"{chosen} is binary and not compressed again: leave .gz or .zst out")
    if chosen == "parquet":
        arrow()
    if chosen == "biom2":
        biom_table()
    return chosen


def biom_table() -> tuple[Any, Any]:
    """Return the class of tables of biom-format, and h5py.

    Raises
    ------
    FormatError
        They are not installed.
    """
    with needed("BIOM 2.1", "biom-format", "'pairalign[biom]'", FormatError):
        import biom
        import h5py
    return biom.Table, h5py
