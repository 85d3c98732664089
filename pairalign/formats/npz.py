"""NumPy's .npz, whose arrays may come in pieces: as `numpy.savez` writes whole ones."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.formats.libraries import BytesSink
from pairalign.formats.output import Output


@dataclass(frozen=True)
class Pieces:
    """An array of one dimension that comes in pieces.

    Attributes
    ----------
    kind : dtype
    count : int
        Values of all pieces.
    pieces : iterable of ndarray
    """

    kind: np.dtype[Any]
    count: int
    pieces: Iterable[npt.NDArray[Any]]


def write_npz(output: Output, arrays: Mapping[str, npt.NDArray[Any] | Pieces]) -> None:
    """Write arrays by name; does not close the output."""
    with zipfile.ZipFile(BytesSink(output), "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                if not isinstance(array, Pieces):
                    np.lib.format.write_array(file, array, allow_pickle=False)
                    continue
                about = {"descr": array.kind.str, "fortran_order": False, "shape": (array.count,)}
                np.lib.format.write_array_header_1_0(file, about)
                for piece in array.pieces:
                    file.write(piece.tobytes())
