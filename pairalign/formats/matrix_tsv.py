"""A distance matrix as a table: names in the first line and column, tabs between.

The first cell is empty, as scikit-bio (``lsmat``) and R write it; any text in it is read.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pairalign.base.error_types import DistanceError, cut_name, shown_name
from pairalign.base.texts import quoted, unquoted
from pairalign.formats.matrix_input import start_triangle
from pairalign.formats.matrix_text import RowText
from pairalign.formats.output import Output
from pairalign.trees.distance_matrix import DistanceMatrix


def write_matrix_tsv(output: Output, matrix: DistanceMatrix) -> None:
    """Write the whole (square) matrix, for scikit-bio, pandas, R and spreadsheets."""
    text = RowText(float(matrix.condensed.max()), b"\t")
    output.write(("\t".join(["", *map(quoted, matrix.names)]) + "\n").encode())
    for index, name in enumerate(matrix.names):
        output.write(quoted(name).encode() + text.format(matrix.row(index)) + b"\n")


def read_matrix_tsv(
    lines: Iterable[str], source: str, most_bytes: int | None = None
) -> DistanceMatrix:
    """Read such a table; `most_bytes` is how much text there can be, if that is known.

    Raises
    ------
    DistanceError
        It is no such table; the message names the line.
    """
    rows = iter(lines)
    names = [unquoted(word) for word in next(rows, "").rstrip("\r\n").split("\t")[1:]]
    if len(names) < 2:
        raise DistanceError(f"{source}: line 1: expected names of two or more columns")
    builder = start_triangle(len(names), len(names) ** 2, f"{source}: line 1", most_bytes)
    row = -1
    for row, line in enumerate(rows):
        name, *words = line.rstrip("\r\n").split("\t")
        name = unquoted(name)
        if row >= len(names) or name != names[row]:
            expected = shown_name(names[row]) if row < len(names) else "the end"
            raise DistanceError(
                f"{source}: line {row + 2}: found {shown_name(name)}, expected {expected}"
            )
        if len(words) != len(names):
            raise DistanceError(
                f"{source}: line {row + 2}: {len(words)} distances, expected {len(names)}"
            )
        try:
            values = np.array(words, np.float64)
        except ValueError as error:
            raise DistanceError(f"{source}: line {row + 2}: {cut_name(str(error))}") from None
        builder.add(name, values)
    if row + 1 != len(names):
        raise DistanceError(f"{source}: {row + 1} rows, expected {len(names)}")
    return builder.finish()
