"""Distances as a list, mothur's `column` format: a line a pair, ``NAME NAME DISTANCE``.

Pairs come in the order of the condensed triangle, so names appear in the order of the input.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from pairalign.base.error_types import DistanceError, shown_name
from pairalign.base.texts import words_of
from pairalign.formats.matrix_text import MOST_PADDED, RowText
from pairalign.formats.output import Output
from pairalign.trees.distance_matrix import (
    DistanceMatrix,
    check_words,
    first_place,
    number_of_pairs,
)

_LINES_A_WRITE = 1 << 16


def write_matrix_column(output: Output, matrix: DistanceMatrix) -> None:
    """Write every pair once, for mothur, mcxload, igraph and spreadsheets; blanks between.

    Raises
    ------
    DistanceError
        A name has a blank.
    """
    check_words(matrix.names)
    text = RowText(float(matrix.condensed.max()), b" ")
    encoded = [name.encode() for name in matrix.names]
    if max(map(len, encoded)) > MOST_PADDED:
        return _write_plainly(output, matrix, encoded, text)
    names = np.array(encoded)
    letters = names.view(np.uint8).reshape(len(names), -1)  # padded with zeros
    count = len(matrix)
    for row, name in enumerate(matrix.names[:-1]):
        place = first_place(row, count) - row - 1
        for start in range(row + 1, count, _LINES_A_WRITE):
            stop = min(count, start + _LINES_A_WRITE)
            values = matrix.condensed[place + start : place + stop]
            numbers = np.frombuffer(text.format(values), np.uint8).reshape(-1, text.width)
            before = np.frombuffer(name.encode() + b" ", np.uint8)
            lines = np.concatenate(
                [
                    np.broadcast_to(before, (stop - start, len(before))),
                    letters[start:stop],
                    numbers[:, :1],
                    np.where(numbers[:, 1:] == ord(" "), 0, numbers[:, 1:]).astype(np.uint8),
                    np.full((stop - start, 1), ord("\n"), np.uint8),
                ],
                axis=1,
            )
            output.write(lines[lines != 0].tobytes())
    return None


def _write_plainly(
    output: Output, matrix: DistanceMatrix, names: list[bytes], text: RowText
) -> None:
    """Write the lines one by one, as names of any length need."""
    for row, name in enumerate(names[:-1]):
        for other, value in zip(names[row + 1 :], matrix.row(row)[row + 1 :], strict=True):
            number = text.format(np.array([value])).replace(b" ", b"")
            output.write(b" ".join((name, other, number)) + b"\n")


def read_matrix_column(
    lines: Iterable[str], source: str, most_bytes: int | None = None
) -> DistanceMatrix:
    """Read such a list; names in the order of their first appearance. All pairs must be there.

    Parameters
    ----------
    source : str
        The file's name, for messages.
    most_bytes : int, optional
        Not needed: what is held grows with what is read.

    Raises
    ------
    DistanceError
        It is no such list, or a pair is missing or there twice; the message names the line.
    """
    numbers: dict[str, int] = {}
    rows, columns, values = array("q"), array("q"), array("f")
    for number, line in enumerate(lines, 1):
        words = words_of(line)
        if not words:
            continue
        try:
            first, second, value = words
            values.append(float(value))
        except ValueError:
            raise DistanceError(
                f"{source}: line {number}: expected two names and a distance, found "
                f"{shown_name(line.strip())}"
            ) from None
        if first == second:
            raise DistanceError(
                f"{source}: line {number}: {shown_name(first)} and itself, expected a pair"
            )
        rows.append(numbers.setdefault(first, len(numbers)))
        columns.append(numbers.setdefault(second, len(numbers)))
    names = list(numbers)
    if len(values) != number_of_pairs(len(names)) or not names:
        raise DistanceError(
            f"{source}: {len(values):,} distances of {len(names):,} sequences, expected "
            f"{number_of_pairs(len(names)):,}, one for each pair"
        )
    firsts, seconds = np.frombuffer(rows, np.int64), np.frombuffer(columns, np.int64)
    low, high = np.minimum(firsts, seconds), np.maximum(firsts, seconds)
    places = low * len(names) - low * (low + 1) // 2 + high - low - 1
    condensed = np.full(len(values), np.nan, np.float32)
    condensed[places] = np.frombuffer(values, np.float32)
    if np.bincount(places, minlength=len(values)).max() > 1:
        twice = int(np.argmax(np.bincount(places)))
        again = int(np.flatnonzero(places == twice)[1])
        raise DistanceError(
            f"{source}: distance {again + 1}: {shown_name(names[firsts[again]])} and "
            f"{shown_name(names[seconds[again]])} "
            "are there twice"
        )
    return DistanceMatrix(names, condensed)
