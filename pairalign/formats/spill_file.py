"""Bytes of a run that are never a result: a hidden file beside its output."""

from __future__ import annotations

import io
import os
import tempfile

from pairalign.base.error_types import OutputError
from pairalign.base.part_file import PartFile
from pairalign.formats.output import (
    Bytes,
    Output,
    Path,
    find_place,
    map_file,
    output_error,
    write_all,
)

_PRIVATE = 0o600  # temporary folders are everybody's


class HeldOutput(Output):
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

    def __init__(self, path: Path) -> None:
        try:
            place = None if path == "-" else find_place(os.fspath(path))
            final = os.path.join(tempfile.gettempdir(), "pairalign") if place is None else place[0]
            self._part = PartFile(final, _PRIVATE)
        except OSError as error:
            raise output_error(path, error) from error
        self.path = self._part.path
        self._file = io.FileIO(self._part.descriptor, "wb")

    @property
    def waits_for_readers(self) -> bool:
        """Return False: it is a regular file."""
        return False

    @property
    def descriptor(self) -> int:
        """The file."""
        return self._file.fileno()

    def explain(self, error: OSError) -> OSError:
        """Return the error to raise when writing to `descriptor` failed."""
        return error if isinstance(error, OutputError) else output_error(self.path, error)

    def write(self, data: Bytes) -> int:
        """Write all of `data`; return its size."""
        return write_all(self._file.write, data, self.path)

    def text(self) -> memoryview:
        """Return what was written."""
        return map_file(self.path) if os.path.getsize(self.path) else memoryview(b"")

    def close(self) -> None:
        """Nothing: who writes to it may be done, who reads it is not."""

    def abort(self) -> None:
        """Nothing, as `close`."""

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._part.remove()
