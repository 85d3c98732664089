"""Files of distances of two sets: a table, a list, arrays of NumPy, and Parquet.

TSV has a line a query, with the targets' names in the first line; ``column`` and Parquet have a row
a pair, as they have of one set and within a limit. In .npz the arrays are ``distances``,
``names``, ``target_names`` and ``measure``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pairalign.base.choices import RECTANGLE_SUFFIXES, TABLES
from pairalign.base.texts import quoted
from pairalign.formats.libraries import BytesSink, array_format, arrow
from pairalign.formats.matrix_text import RowText
from pairalign.formats.npz import names_array, write_npz
from pairalign.formats.output import Output, Path
from pairalign.trees.rectangular_distances import RectangularDistances

_PAIRS_A_WRITE = 1 << 20


def rectangle_format(path: Path, format: str | None) -> str:
    """Return the format that is meant, and refuse what cannot be written.

    Raises
    ------
    FormatError
        There is no such format, it has its own compression, or PyArrow is not installed.
    """
    return array_format(path, format, RECTANGLE_SUFFIXES, "distances of two sets")


def write_rectangle(output: Output, distances: RectangularDistances, format: str) -> None:
    """Write distances of two sets in a format that `rectangle_format` has returned."""
    _WRITERS[format](output, distances)


def _write_tsv(output: Output, distances: RectangularDistances) -> None:
    text = RowText(distances.summary[1], b"\t")
    output.write(("\t".join(["", *map(quoted, distances.target_names)]) + "\n").encode())
    for name, values in zip(distances.query_names, distances.values, strict=True):
        output.write(quoted(name).encode() + text.format(values) + b"\n")


def _write_column(output: Output, distances: RectangularDistances) -> None:
    text = RowText(distances.summary[1], b" ")
    for name, values in zip(distances.query_names, distances.values, strict=True):
        numbers = text.format(values).decode().split()
        rows = zip(distances.target_names, numbers, strict=True)
        output.write("".join(f"{name} {other} {number}\n" for other, number in rows).encode())


def _write_npy(output: Output, distances: RectangularDistances) -> None:
    np.lib.format.write_array(BytesSink(output), distances.values, allow_pickle=False)


def _write_npz(output: Output, distances: RectangularDistances) -> None:
    arrays = {
        "distances": distances.values,
        "names": names_array(lambda: [distances.query_names]),
        "target_names": names_array(lambda: [distances.target_names]),
        "measure": np.array(distances.measure),
    }
    write_npz(output, arrays)


def _write_parquet(output: Output, distances: RectangularDistances) -> None:
    pa, pq = arrow()
    queries, targets = (pa.array(names, pa.string()) for names in _sides(distances))
    columns = distances.shape[1]
    rows_a_write = max(1, _PAIRS_A_WRITE // columns)
    named = pa.dictionary(pa.int32(), pa.string())
    fields = [("query", named), ("target", named), ("distance", pa.float32())]
    schema = pa.schema(fields, {"pairalign.measure": distances.measure})
    with pq.ParquetWriter(BytesSink(output), schema, compression="zstd") as writer:
        for start in range(0, len(distances), rows_a_write):
            values = distances.values[start : start + rows_a_write]
            rows = np.arange(start, start + len(values), dtype=np.int32)
            indices = (
                np.repeat(rows, columns),
                np.tile(np.arange(columns, dtype=np.int32), len(rows)),
            )
            sides = (
                pa.DictionaryArray.from_arrays(pa.array(some), names)
                for some, names in zip(indices, (queries, targets), strict=True)
            )
            writer.write_table(pa.table([*sides, pa.array(values.ravel())], schema=schema))


def _sides(distances: RectangularDistances) -> tuple[list[str], list[str]]:
    return distances.query_names, distances.target_names


_WRITERS: dict[str, Callable[[Output, RectangularDistances], None]] = {
    **dict.fromkeys(TABLES, _write_tsv),
    "column": _write_column,
    "npy": _write_npy,
    "npz": _write_npz,
    "parquet": _write_parquet,
}
