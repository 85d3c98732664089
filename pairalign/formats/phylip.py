"""PHYLIP distance matrices: square or lower triangle, relaxed or strict names.

The first line is the number of sequences; then a line each with its name and its distances to all
(square, what Clustal Omega reads) or to those before it (lower triangle). Relaxed names end at the
first blank; strict ones are ten characters, the rest blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from pairalign.base.error_types import DistanceError, FormatError, shown_name
from pairalign.base.spelling import left_out
from pairalign.base.texts import words_of
from pairalign.formats.matrix_input import start_triangle
from pairalign.formats.matrix_text import RowText, padded_width
from pairalign.formats.output import Output
from pairalign.trees.distance_matrix import DistanceMatrix, check_words, number_of_pairs

_COUNT = re.compile(r"[0-9]{1,7}")  # isdigit() and int() differ on other scripts' digits

STRICT_NAME = 10
LONGEST_LINE = 65_535
"""What Clustal Omega reads; it stops at longer ones."""


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
    builder = start_triangle(count, number_of_pairs(count), where, most_bytes)
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


def _numbers(words: list[str], where: str, name: str, needed: int) -> npt.NDArray[np.float64]:
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
