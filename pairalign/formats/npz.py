"""NumPy's .npz, whose arrays may come in pieces: as `numpy.savez` writes whole ones."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.formats.libraries import BytesSink
from pairalign.formats.output import HeldOutput, Output, Path

_VALUES_AT_A_TIME = 1 << 18
_LEVEL = 1  # of compression
_MOST_BLANKS = 4 << 20
"""Characters, of four bytes each."""


@dataclass(frozen=True)
class Pieces:
    """An array of one dimension that comes in pieces.

    Attributes
    ----------
    kind : dtype
    count : int
        Values of all pieces.
    pieces : iterable of ndarray
    repeats : bool
        Whether neighbours are often equal, so that the array is worth compressing.
    """

    kind: np.dtype[Any]
    count: int
    pieces: Iterable[npt.NDArray[Any]]
    repeats: bool = False


class HeldArray:
    """An array of one dimension that grows in a hidden file beside an output.

    Parameters
    ----------
    path : str or path
        The output.
    dtype : numpy.dtype
    repeats : bool
        See `Pieces`.
    """

    def __init__(self, path: Path, dtype: npt.DTypeLike, *, repeats: bool = False) -> None:
        self._dtype = np.dtype(dtype)
        self._repeats = repeats
        self._file = HeldOutput(path)
        self._size = 0

    def append(self, values: npt.NDArray[Any]) -> None:
        """Add values at the end; OutputError if there is no room for them."""
        data = np.ascontiguousarray(values, self._dtype)
        self._file.write(data.tobytes())
        self._size += len(data)

    def pieces(self) -> Pieces:
        """Return the array, as `write_npz` takes it."""
        return Pieces(self._dtype, self._size, self._read(), self._repeats)

    def _read(self) -> Iterator[npt.NDArray[Any]]:
        with open(self._file.path, "rb") as held:
            while len(values := np.fromfile(held, self._dtype, _VALUES_AT_A_TIME)):
                yield values

    def close(self) -> None:
        """Remove the file."""
        self._file.__exit__()


def names_array(some: Callable[[], Iterable[list[str]]]) -> npt.NDArray[np.str_] | Pieces:
    """Return names as an array of texts, shape (n,); of very unequal lengths as one text, shape ().

    An array of texts takes the length of the longest for each. Where that is more than 16 MiB and
    sixteen times the names, they are lines of one text.

    Parameters
    ----------
    some : function
        Gives the names, some at a time, each time that it is called.
    """
    lengths = [len(name) for names in some() for name in names]
    longest, count = max(lengths), len(lengths)
    if longest * count > max(_MOST_BLANKS, 16 * (sum(lengths) + count)):
        return np.array("\n".join(name for names in some() for name in names))
    kind = np.dtype((np.str_, longest))
    return Pieces(kind, count, (np.array(names, kind) for names in some()))


def write_npz(output: Output, arrays: Mapping[str, npt.NDArray[Any] | Pieces]) -> None:
    """Write arrays by name; does not close the output."""
    with zipfile.ZipFile(BytesSink(output), "w", compresslevel=_LEVEL) as archive:
        for name, array in arrays.items():
            repeats = isinstance(array, Pieces) and array.repeats
            archive.compression = zipfile.ZIP_DEFLATED if repeats else zipfile.ZIP_STORED
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                if not isinstance(array, Pieces):
                    np.lib.format.write_array(file, array, allow_pickle=False)
                    continue
                about = {"descr": array.kind.str, "fortran_order": False, "shape": (array.count,)}
                np.lib.format.write_array_header_1_0(file, about)
                for piece in array.pieces:
                    file.write(piece.tobytes())
