"""A distance matrix as a NumPy file: the float32 triangle in the order of the input.

It is what `scipy.cluster.hierarchy.linkage` takes; `scipy.spatial.distance.squareform` makes it
square. A NumPy file has no names.
"""

from __future__ import annotations

import io
import math
from typing import BinaryIO

import numpy as np

from pairalign.distance_matrix import DistanceMatrix, TriangleBuilder
from pairalign.errors import DistanceError
from pairalign.formats.output import Output

_PART = 1 << 24


def write_matrix_npy(output: Output, matrix: DistanceMatrix) -> None:
    """Write the condensed triangle."""
    header = io.BytesIO()
    values = matrix.condensed
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": values.shape}
    )
    output.write(header.getvalue())
    for start in range(0, len(values), _PART):
        output.write(np.ascontiguousarray(values[start : start + _PART], "<f4").data.cast("B"))


def read_matrix_npy(file: BinaryIO, source: str, names: list[str]) -> DistanceMatrix:
    """Read a condensed triangle or a square matrix, of sequences with these names.

    Raises
    ------
    DistanceError
        It is neither, or not of so many sequences.
    """
    try:
        values = np.load(file, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise DistanceError(f"{source}: not a NumPy array: {error}") from None
    shape = getattr(values, "shape", None)
    if shape is None or values.dtype.kind not in "fiu" or len(shape) not in (1, 2):
        raise DistanceError(f"{source}: expected one array of numbers with one or two dimensions")
    count = (1 + math.isqrt(1 + 8 * shape[0])) // 2 if len(shape) == 1 else shape[0]
    if count != len(names):
        raise DistanceError(
            f"{source}: distances of {count} sequences, but {len(names)} names are given"
        )
    if len(shape) == 1:
        return DistanceMatrix(names, values)
    builder = TriangleBuilder(count)
    if shape[1] != count:
        raise DistanceError(f"{source}: an array of shape {shape}, expected a square")
    for name, row in zip(names, values, strict=True):
        builder.add(name, row.astype(np.float64))
    return builder.finish()
