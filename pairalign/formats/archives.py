"""NumPy's .npz in pieces: arrays of which no more than a piece is in memory at a time."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from pairalign.formats.libraries import BytesSink
from pairalign.formats.output import Output, Path
from pairalign.formats.spill_file import HeldOutput

_COPIED_BYTES = 1 << 20


class HeldArray:
    """An array of one dimension that grows in a hidden file beside an output.

    Parameters
    ----------
    path : str or path
        The output.
    dtype : numpy.dtype
    """

    def __init__(self, path: Path, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self._file = HeldOutput(path)
        self._size = 0

    def append(self, values: npt.NDArray[Any]) -> None:
        """Add values at the end; OutputError if there is no room for them."""
        data = np.ascontiguousarray(values, self.dtype)
        self._file.write(data.tobytes())
        self._size += len(data)

    def write(self, file: IO[bytes]) -> None:
        """Write it as `numpy.lib.format.write_array` writes an array."""
        about = {"descr": self.dtype.str, "fortran_order": False, "shape": (self._size,)}
        np.lib.format.write_array_header_1_0(file, about)
        with open(self._file.path, "rb") as held:
            while data := held.read(_COPIED_BYTES):
                file.write(data)

    def close(self) -> None:
        """Remove the file."""
        self._file.__exit__()


def write_archive(output: Output, arrays: Mapping[str, npt.NDArray[Any] | HeldArray]) -> None:
    """Write arrays by their names, as `numpy.savez` does; does not close the output."""
    with zipfile.ZipFile(BytesSink(output), "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                if isinstance(array, HeldArray):
                    array.write(file)
                else:
                    np.lib.format.write_array(file, array, allow_pickle=False)
