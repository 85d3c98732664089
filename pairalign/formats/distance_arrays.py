"""Distances as arrays: NumPy's .npy and .npz, and Parquet.

A .npy file has the float32 triangle in the order of the input, which is what
`scipy.cluster.hierarchy.linkage` takes and `scipy.spatial.distance.squareform` makes square; of two
sets a rectangle. It has no names.

A .npz file of two sets has the rectangle as ``distances``; one of pairs within a limit is what
``scipy.sparse.load_npz`` reads: of one set the symmetric matrix with its diagonal, of two a
rectangle. An entry of these is the distance plus 1. ``names``, of two sets ``target_names``,
``measure`` and, where there is one, ``limit`` are further arrays.

Parquet has a row a pair: ``query``, ``target``, ``distance``.
"""

from __future__ import annotations

import io
import math
import tokenize
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from pairalign.base.error_types import DistanceError
from pairalign.formats.libraries import BytesSink, arrow
from pairalign.formats.npz import Pieces, names_array, write_npz
from pairalign.formats.output import Output
from pairalign.formats.schemas import MOST_NPY_HEADER_BYTES, SchemaError, check_npy
from pairalign.trees.distance_matrix import (
    AnyDistances,
    DistanceMatrix,
    RectangularDistances,
    TriangleBuilder,
    number_of_pairs,
)
from pairalign.trees.sparse_distances import SparseDistances

Arrays = dict[str, npt.NDArray[Any] | Pieces]

_VALUES_A_WRITE = 1 << 24
_HEADER_ERRORS = (
    *(ValueError, TypeError, EOFError, RecursionError, MemoryError, SyntaxError),
    tokenize.TokenError,
)
_HEADER_READERS = {
    (1, 0): (2, np.lib.format.read_array_header_1_0),
    (2, 0): (4, np.lib.format.read_array_header_2_0),
}
"""By version: in how many bytes the size of a header is, and what reads both."""


def write_array(output: Output, distances: AnyDistances) -> None:
    """Write the condensed triangle, or the rectangle, as .npy."""
    if isinstance(distances, DistanceMatrix):
        values = distances.condensed
    else:
        assert isinstance(distances, RectangularDistances)
        values = distances.values
    header = io.BytesIO()
    about = {"descr": "<f4", "fortran_order": False, "shape": values.shape}
    np.lib.format.write_array_header_1_0(header, about)
    output.write(header.getvalue())
    values = values.ravel()
    for start in range(0, len(values), _VALUES_A_WRITE):
        part = np.ascontiguousarray(values[start : start + _VALUES_A_WRITE], "<f4")
        output.write(part.data.cast("B"))


def write_arrays(output: Output, distances: RectangularDistances | SparseDistances) -> None:
    """Write the rectangle, or the matrix in CSR, with all that is known of it, as .npz."""
    rows, columns = distances.sides
    arrays: Arrays = {}
    if isinstance(distances, SparseDistances):
        arrays |= _csr_arrays(distances)
    else:
        arrays["distances"] = distances.values
    arrays["names"] = names_array(lambda: [rows])
    if columns is not rows:
        arrays["target_names"] = names_array(lambda: [columns])
    arrays |= {name: np.array(value) for name, value in distances.facts.items()}
    write_npz(output, arrays)


def _csr_arrays(distances: SparseDistances) -> Arrays:
    indptr = distances.indptr
    count = int(indptr[-1])
    indices = (columns for _, columns in distances.csr_blocks())
    values = (values for values, _ in distances.csr_blocks())
    return {
        "indices": Pieces(np.dtype(np.int32), count, indices),
        "indptr": indptr,
        "format": np.array(b"csr"),
        "shape": np.array(distances.shape),
        "data": Pieces(distances.dtype, count, values),
    }


def write_parquet(output: Output, distances: RectangularDistances | SparseDistances) -> None:
    """Write the pairs as Parquet; what is known of all is in the metadata of the schema."""
    pa, pq = arrow()
    sides = [pa.array(names, pa.string()) for names in distances.sides]
    named, number = pa.dictionary(pa.int32(), pa.string()), pa.from_numpy_dtype(distances.dtype)
    about = {f"pairalign.{name}": str(value) for name, value in distances.facts.items()}
    schema = pa.schema([("query", named), ("target", named), ("distance", number)], about)
    with pq.ParquetWriter(BytesSink(output), schema, compression="zstd") as writer:
        for *ends, values in distances.blocks():
            columns = [
                pa.DictionaryArray.from_arrays(pa.array(indices), names)
                for indices, names in zip(ends, sides, strict=True)
            ]
            writer.write_table(pa.table([*columns, pa.array(values)], schema=schema))


def read_array(
    file: IO[bytes],
    source: str,
    names: list[str],
    most_bytes: int | None = None,
    *,
    of_first: bool = False,
) -> DistanceMatrix:
    """Read a condensed triangle or a square matrix, of sequences with these names.

    With `of_first`, which are some that come first of these, the array says of how many.

    Nothing is made room for before the array is known to be of the right number of sequences, and
    the file, which holds `most_bytes` at most if that is known, to be large enough.

    Raises
    ------
    DistanceError
        It is neither, or not of the right number of sequences, or cut short.
    """
    try:
        shape, fortran_order, dtype = _read_header(file)
        check_npy(shape, dtype.kind)
    except SchemaError as error:
        raise DistanceError(f"{source}: {error}") from None
    # What is no header, and what NumPy's reader of it makes of nested or wrong ones.
    except _HEADER_ERRORS as error:
        reason = str(error).partition("\n")[0] or "its header is nested too deeply"
        raise DistanceError(f"{source}: not a NumPy array: {reason}") from None
    sequence_count = (1 + math.isqrt(1 + 8 * shape[0])) // 2 if len(shape) == 1 else shape[0]
    names = names[:sequence_count] if of_first else names
    count = len(names)
    if sequence_count != count or (len(shape) == 1 and shape[0] != number_of_pairs(count)):
        raise DistanceError(
            f"{source}: an array of shape {shape} has distances of {sequence_count} sequences, "
            f"but {count} names are given"
        )
    values = _read_values(file, source, shape, dtype, most_bytes)
    if len(shape) == 1:
        return DistanceMatrix(names, values)
    square = values.reshape(shape, order="F" if fortran_order else "C")
    builder = TriangleBuilder(count)
    for name, row in zip(names, square, strict=True):
        builder.add(name, row.astype(np.float64))
    return builder.finish()


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether it is in Fortran's order, and the type that a header tells."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADER_READERS:
        raise ValueError(f"its version {version} is unknown, expected 1.0 or 2.0")
    size_bytes, read = _HEADER_READERS[version]
    size = file.read(size_bytes)
    if int.from_bytes(size, "little") > MOST_NPY_HEADER_BYTES:
        raise ValueError("its header is too large")
    return read(io.BytesIO(size + file.read(int.from_bytes(size, "little"))))


def _read_values(
    file: IO[bytes], source: str, shape: tuple[int, ...], dtype: np.dtype[Any], most: int | None
) -> npt.NDArray[Any]:
    needed = math.prod(shape) * dtype.itemsize
    data = file.read(needed) if most is None or needed <= most else b""
    if len(data) < needed:
        raise DistanceError(
            f"{source}: an array of shape {shape} takes {needed:,} bytes, but the file is smaller"
        )
    if file.read(1):
        raise DistanceError(f"{source}: more follows the array of shape {shape}")
    return np.frombuffer(data, dtype)
