"""Bytes of a run that are never a result: a hidden file beside its output."""

from __future__ import annotations

import os
import tempfile
from typing import IO

from pairalign.base.part_file import PartFile
from pairalign.formats.output import FileOutput, find_place, map_file

_PRIVATE = 0o600  # temporary folders are everybody's


class HeldOutput(FileOutput):
    """Bytes that are of use to the run alone: a hidden file beside an output, which never appears.

    Parameters
    ----------
    path : str or path
        The output; of standard output and devices the file is among temporary ones.

    Attributes
    ----------
    path : str
        Where the bytes are, until the ``with`` block is left.
    """

    def _open(self) -> IO[bytes]:
        place = None if self.path == "-" else find_place(os.fspath(self.path))
        final = os.path.join(tempfile.gettempdir(), "pairalign") if place is None else place[0]
        self._part = PartFile(final, _PRIVATE)
        self.path = self._part.path
        return open(self._part.descriptor, "wb", buffering=0)

    def text(self) -> memoryview:
        """Return what was written."""
        return map_file(os.fspath(self.path)) if os.path.getsize(self.path) else memoryview(b"")

    def close(self) -> None:
        """Nothing: who writes to it may be done, who reads it is not."""

    def abort(self) -> None:
        """Nothing, as `close`."""

    def __exit__(self, *_: object) -> None:
        super().abort()
