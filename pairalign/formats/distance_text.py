"""Distances as text: PHYLIP, tables, lists of pairs.

PHYLIP: the first line is the number of sequences; then a line each with its name and its distances
to all (square, what Clustal Omega reads) or to those before it (lower triangle). Relaxed names end
at the first blank; strict ones are ten characters, the rest blanks.

Table: names in the first line and column, tabs between. The first cell is empty, as scikit-bio
(``lsmat``) and R write it; any text in it is read. Within a limit a table has a row a pair:
``query``, ``target``, ``distance``.

``column``: mothur's list, a line a pair, ``NAME NAME DISTANCE``, row by row.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import add

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Doubles
from pairalign.base.error_types import DistanceError, FormatError, cut_name, shown_name
from pairalign.base.native import library
from pairalign.base.spelling import left_out
from pairalign.base.texts import quoted, unquoted, words_of
from pairalign.formats.output import Output
from pairalign.trees.distance_matrix import (
    AnyDistances,
    DistanceMatrix,
    TriangleBuilder,
    check_words,
    number_of_pairs,
)
from pairalign.trees.sparse_distances import SparseDistances

DECIMALS = 6
"""As in ``cpu/text/numbers.cpp``."""

MOST_PADDED = 255
"""Characters to which names are padded at most: one that is longer would make each line so long."""


def padded_width(names: Iterable[str]) -> int:
    """Return to how many characters names are padded, so that what follows them is in line."""
    return min(max(map(len, names)), MOST_PADDED)


_format_numbers = library.pairalign_format_numbers


class RowText:
    """Writes rows of numbers that are 0 or more, each with a separator before it.

    Parameters
    ----------
    largest : float
        Of all numbers to come: it decides the width.
    separator : bytes
        One byte.

    Raises
    ------
    FormatError
        The largest has no text of this kind: it is 9e12 or more.
    """

    def __init__(self, largest: float, separator: bytes) -> None:
        assert len(separator) == 1
        if not largest * 10**DECIMALS < 2**63:
            raise FormatError(f"{largest:g} is too large for text with {DECIMALS} decimals")
        self._separator = separator[0]
        whole = max(1, len(str(int(largest + 1))))
        self._whole = whole
        self.width = 1 + whole + 1 + DECIMALS

    def format(self, values: npt.NDArray[np.floating]) -> bytes:
        """Write one row: ``0.123456`` each, padded to the width of the largest number."""
        numbers = np.ascontiguousarray(values, np.float64)
        text = np.empty((len(numbers), self.width), np.uint8)
        arguments = numbers, len(numbers), self._separator, self._whole
        _format_numbers(*arguments, text)
        return text.tobytes()


STRICT_NAME = 10
LONGEST_LINE = 65_535
"""What Clustal Omega reads; it stops at longer ones."""

_COUNT = re.compile(r"[0-9]{1,7}")  # isdigit() and int() differ on other scripts' digits
_DISTANCE_BYTES = 2
"""The shortest text of a distance: a digit, and what parts it from the next."""
_PAIRS_A_WRITE = 1 << 16


def write_phylip(
    output: Output, matrix: DistanceMatrix, *, lower: bool = False, strict: bool = False
) -> int:
    """Write a matrix; return the length of the longest line.

    Raises
    ------
    FormatError
        `strict`, and a name is longer than ten characters.
    DistanceError
        A name has a blank.
    """
    check_words(matrix.names)
    if strict:
        check_strict_names(matrix.names)
    width = STRICT_NAME if strict else padded_width(matrix.names)
    text = RowText(float(matrix.condensed.max()), b" ")
    output.write(f"{len(matrix)}\n".encode())
    longest = 0
    for index, name in enumerate(matrix.names):
        row = matrix.row(index)
        line = name.ljust(width).encode() + text.format(row[:index] if lower else row)
        longest = max(longest, len(line))
        output.write(line + b"\n")
    return longest


def check_strict_names(names: Iterable[str], source: str | None = None) -> None:
    """Raise FormatError for a name, of the file `source`, that does not fit strict PHYLIP."""
    prefix = "" if source is None else f"{source}: "
    for index, name in enumerate(names):
        if len(name) > STRICT_NAME:
            raise FormatError(
                f"{prefix}sequence {index + 1} {shown_name(name)}: {len(name)} characters, "
                "strict PHYLIP has "
                f"room for {STRICT_NAME}; shorten it in the FASTA file, or "
                f"{left_out('strict_names', True)}"
            )


def write_table(output: Output, distances: AnyDistances | SparseDistances) -> None:
    """Write a row a sequence, for scikit-bio, pandas and R; within a limit a row a pair."""
    if isinstance(distances, SparseDistances):
        return _write_pairs(output, distances)
    rows, columns = distances.sides
    text = RowText(distances.summary[1], b"\t")
    output.write(("\t".join(["", *map(quoted, columns)]) + "\n").encode())
    for index, name in enumerate(rows):
        output.write(quoted(name).encode() + text.format(distances.row(index)) + b"\n")
    return None


def _write_pairs(output: Output, distances: SparseDistances) -> None:
    queries, targets = ([quoted(name) for name in side] for side in distances.sides)
    output.write(b"query\ttarget\tdistance\n")
    for block in distances.blocks(_PAIRS_A_WRITE):
        pairs = zip(*(field.tolist() for field in block), strict=True)
        lines = [f"{queries[row]}\t{targets[column]}\t{value}\n" for row, column, value in pairs]
        output.write("".join(lines).encode())


def write_list(output: Output, distances: AnyDistances) -> None:
    """Write every pair once, for mothur, mcxload, igraph and spreadsheets; blanks between.

    Raises
    ------
    DistanceError
        A name has a blank.
    """
    names, others = distances.sides
    for side in (names, others):
        check_words(side)
    text = RowText(distances.summary[1], b" ")
    columns = [f"{name} " for name in others]
    for rows, places, values in distances.blocks(_PAIRS_A_WRITE):
        starts = np.flatnonzero(np.diff(rows, prepend=-1)).tolist()
        for start, stop in pairwise([*starts, len(rows)]):
            name, first = names[rows[start]], int(places[start])
            numbers = text.format(values[start:stop]).decode().split()
            lines = map(add, columns[first : first + stop - start], numbers)
            output.write((f"{name} " + f"\n{name} ".join(lines) + "\n").encode())


def read_phylip(lines: Iterable[str], source: str, most_bytes: int | None = None) -> DistanceMatrix:
    """Read a matrix, square or lower triangle without its diagonal, with names without blanks.

    A square matrix may go on over several lines; it is one if the first line has any distance.
    `most_bytes` is how much text there can be, if that is known.

    Raises
    ------
    DistanceError
        It is not such a matrix; the message names the line.
    """
    numbered = ((number, words_of(line)) for number, line in enumerate(lines, 1))
    numbered = ((number, words) for number, words in numbered if words)
    first, count = _read_count(numbered, source)
    # Of a lower triangle, the smaller of the two.
    where = f"{source}: line {first}"
    builder = _start_triangle(count, number_of_pairs(count), where, most_bytes)
    square = False
    for row in range(count):
        number, words = next(numbered, (0, []))
        if not words:
            raise DistanceError(f"{source}: ends after {row} sequences, expected {count}")
        name = words[0]
        if row == 0:
            square = len(words) > 1
        needed = count if square else row
        value_count = len(words) - 1
        values = [_numbers(words[1:], f"{source}: line {number}", name, needed)]
        while square and value_count < needed:
            further, words = next(numbered, (0, []))
            if not words:
                break
            number = further
            values.append(_numbers(words, f"{source}: line {number}", name, needed))
            value_count += len(words)
        if value_count != needed:
            raise DistanceError(
                f"{source}: line {number}: {value_count} distances of {shown_name(name)}, expected "
                f"{needed} "
                f"({'square' if square else 'lower triangle'})"
            )
        builder.add(name, np.concatenate(values))
    for number, _ in numbered:
        raise DistanceError(f"{source}: line {number}: more than {count} sequences")
    return builder.finish()


def _read_count(numbered: Iterator[tuple[int, list[str]]], source: str) -> tuple[int, int]:
    """Return the line with the number of sequences, and that number."""
    number, words = next(numbered, (1, []))
    if len(words) != 1 or not _COUNT.fullmatch(words[0]) or int(words[0]) < 2:
        raise DistanceError(
            f"{source}: line {number}: expected the number of sequences, found "
            f"{' '.join(words)[:40]!r}: is this a PHYLIP distance matrix?"
        )
    return number, int(words[0])


def _numbers(words: list[str], where: str, name: str, needed: int) -> Doubles:
    try:
        return np.array(words, np.float64)
    except ValueError:
        wrong = next(word for word in words if not _is_number(word))
        raise DistanceError(
            f"{where}: found {shown_name(wrong)}, expected {needed} distances of "
            f"{shown_name(name)}; names must be "
            "without blanks"
        ) from None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def read_table(lines: Iterable[str], source: str, most_bytes: int | None = None) -> DistanceMatrix:
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
    builder = _start_triangle(len(names), len(names) ** 2, f"{source}: line 1", most_bytes)
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


def read_list(lines: Iterable[str], source: str, most_bytes: int | None = None) -> DistanceMatrix:
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


def _start_triangle(
    count: int, distances: int, where: str, most_bytes: int | None
) -> TriangleBuilder:
    """Make room for a matrix, unless the file is too small to hold what it promises.

    Parameters
    ----------
    count : int
        Sequences, as the file says.
    distances : int
        How many distances it must then hold at least.
    where : str
        Where it says so, for messages: file and line.
    most_bytes : int or None
        The file cannot hold more text than that; None if that is not known.

    Raises
    ------
    DistanceError
        The file is too small, or there is no memory for the distances.
    """
    needed = _DISTANCE_BYTES * distances
    if most_bytes is not None and needed > most_bytes:
        raise DistanceError(
            f"{where}: {count:,} sequences, whose distances take at least {needed:,} bytes, but "
            f"the file has {most_bytes:,} at most: it is cut short, or is no distance matrix"
        )
    try:
        return TriangleBuilder(count)
    except MemoryError:
        gigabytes = 4 * number_of_pairs(count) / 2**30
        raise DistanceError(
            f"{where}: {count:,} sequences, whose distances need {gigabytes:.1f} GiB of memory: "
            "there is not enough"
        ) from None
