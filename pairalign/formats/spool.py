"""Values that wait until all are known: few in memory, many in a file without a name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.formats.output import FileOutput, Output, find_place, output_error

AT_A_TIME = 1 << 18
"""Values that are read, or sorted, at once."""

_IN_MEMORY = 8 << 20


class Spool:
    """An array that grows; nothing of it is left when the process ends, however it does.

    Parameters
    ----------
    kind : dtype
    folder : str or None
        Where the file is, if there is one. None: among temporary files.
    """

    def __init__(self, kind: npt.DTypeLike, folder: str | None) -> None:
        self.kind, self._folder = np.dtype(kind), folder
        from tempfile import SpooledTemporaryFile  # not in runs that only know of the format

        self._file = SpooledTemporaryFile(_IN_MEMORY, dir=folder)  # noqa: SIM115
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def like(self, kind: npt.DTypeLike) -> Spool:
        """Return an empty one beside this."""
        return Spool(kind, self._folder)

    def append(self, values: npt.NDArray[Any]) -> None:
        """Add values at the end."""
        self.put(self._count, values)

    def put(self, place: int, values: npt.NDArray[Any]) -> None:
        """Write values at a place."""
        try:
            self._file.seek(place * self.kind.itemsize)
            self._file.write(values.astype(self.kind, copy=False).tobytes())
        except OSError as error:
            from tempfile import gettempdir

            raise output_error(self._folder or gettempdir(), error) from error
        self._count = max(self._count, place + len(values))

    def read(self, start: int, stop: int) -> npt.NDArray[Any]:
        """Return the values from one place up to another."""
        self._file.seek(start * self.kind.itemsize)
        return np.frombuffer(self._file.read((stop - start) * self.kind.itemsize), self.kind)

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        """Give all values, some at a time."""
        for start in range(0, self._count, AT_A_TIME):
            yield self.read(start, min(start + AT_A_TIME, self._count))

    def close(self) -> None:
        """Forget all values."""
        self._file.close()


def folder_of(output: Output) -> str | None:
    """Return the folder of the file that an output becomes; None: it is none."""
    if not isinstance(output, FileOutput) or output.path == "-":
        return None
    place = find_place(os.fspath(output.path))
    return None if place is None else os.path.dirname(place[0]) or "."
