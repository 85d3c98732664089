"""NumPy's .npz, whose arrays may come in pieces: as `numpy.savez` writes whole ones."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.formats.libraries import BytesSink
from pairalign.formats.output import Output, output_error

_VALUES_AT_A_TIME = 1 << 18
_IN_MEMORY = 1 << 18
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


class Spool:
    """An array of one dimension that grows, on disk where it is long; nothing of it is left.

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
            self._file.flush()  # where there is no room for the last of it, this says so
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
        for start in range(0, self._count, _VALUES_AT_A_TIME):
            yield self.read(start, min(start + _VALUES_AT_A_TIME, self._count))

    def pieces(self, *, repeats: bool = False) -> Pieces:
        """Return the array, as `write_npz` takes it."""
        return Pieces(self.kind, len(self), self, repeats)

    def close(self) -> None:
        """Forget all values, also those for which there was no room."""
        with suppress(OSError):
            self._file.close()


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
