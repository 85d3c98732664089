"""Libraries that write to an output of ours: NumPy and PyArrow."""

from __future__ import annotations

from typing import Any

from pairalign.base.errors import FormatError
from pairalign.formats.output import Output


class BytesSink:
    """An output as libraries write to it: forward only."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._size = 0
        self.closed = False

    def write(self, data: Any) -> int:
        """Write all of some bytes; return how many."""
        size = self._output.write(data)
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
    """Return PyArrow and its module of Parquet; FormatError if they are not installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise FormatError(
            "Parquet needs pyarrow, which is not installed: pip install 'pairalign[parquet]'"
        ) from error
    return pa, pq
