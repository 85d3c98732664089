"""PHYLIP: rows of an alignment, interleaved or one after the other, with strict or relaxed names.

The first line says how many sequences there are, and columns. Strict names take ten places, relaxed
ones end before a blank. The file does not say which it has: what gives every row as many columns as
were said is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pairalign.base.error_types import FastaError
from pairalign.sequences.fasta_records import clean
from pairalign.sequences.sequence_records import Records, join_records

_FIRST_LINE = re.compile(rb"\s*(\d{1,9})[ \t]+(\d{1,12})[ \t]*(?:\n|$)")
_ROW = re.compile(rb"[A-Za-z*?.~-]*")
_NAME_PLACES = 10

_Rows = list[tuple[bytes, bytes]]
_Cut = Callable[[bytes], tuple[bytes, bytes]]


def is_phylip(text: bytes) -> bool:
    """Whether a text is PHYLIP: its first line has two numbers."""
    return _FIRST_LINE.match(text) is not None


def parse_phylip(text: bytes, name: str, *, degap: bool) -> Records:
    """Return the sequences of PHYLIP.

    Parameters
    ----------
    name : str
        What messages call it.
    degap : bool
        Drop ``-`` and ``.``.

    Raises
    ------
    FastaError
        No reading gives as many rows and columns as the first line says, or several do.
    """
    first = _FIRST_LINE.match(text)
    assert first is not None
    count, columns = map(int, first.groups())
    if not count or not columns:
        raise FastaError(f"{name}: line 1: PHYLIP of {count} sequences and {columns} columns")
    lines = [line for line in text[first.end() :].split(b"\n") if line.strip()]
    readings: list[_Rows] = []
    for rows in _readings(lines, count, columns):
        if (
            len(rows) == count
            and all(_is_row(*row, columns) for row in rows)
            and rows not in readings
        ):
            readings.append(rows)
    expected = f"{count:,} rows of {columns:,} columns, as its first line says"
    if not readings:
        raise FastaError(f"{name}: not PHYLIP: expected {expected}")
    if len(readings) > 1:
        raise FastaError(
            f"{name}: PHYLIP that can be read in {len(readings)} ways as {expected}: write FASTA"
        )
    names = [row_name.decode("utf-8", "replace") for row_name, _ in readings[0]]
    return join_records(names, names, [clean(row, degap=degap) for _, row in readings[0]])


def _is_row(name: bytes, row: bytes, columns: int) -> bool:
    return bool(name) and len(row) == columns and _ROW.fullmatch(row) is not None


def _readings(lines: list[bytes], count: int, columns: int) -> Iterator[_Rows]:
    for cut in (_relaxed, _strict):
        yield _interleaved(lines, count, cut)
        yield _sequential(lines, columns, cut)


def _relaxed(line: bytes) -> tuple[bytes, bytes]:
    name, _, row = line.strip().replace(b"\t", b" ").partition(b" ")
    return name, _joined(row)


def _strict(line: bytes) -> tuple[bytes, bytes]:
    name = b"_".join(line[:_NAME_PLACES].split())
    return name, _joined(line[_NAME_PLACES:])


def _joined(row: bytes) -> bytes:
    return b"".join(row.split())


def _interleaved(lines: list[bytes], count: int, cut: _Cut) -> _Rows:
    """Read blocks of as many lines as there are rows; names are in the first, or in all."""
    rows = [cut(line) for line in lines[:count]]
    parts = [[row] for _, row in rows]
    for number, line in enumerate(lines[count:]):
        name = rows[number % count][0]
        part = _joined(line)
        parts[number % count].append(part.removeprefix(name) if line[:1].strip() else part)
    joined = (b"".join(pieces) for pieces in parts)
    return [(name, row) for (name, _), row in zip(rows, joined, strict=True)]


def _sequential(lines: list[bytes], columns: int, cut: _Cut) -> _Rows:
    """Read rows that go on until they have all columns."""
    rows: _Rows = []
    for line in lines:
        if rows and len(rows[-1][1]) < columns:
            rows[-1] = (rows[-1][0], rows[-1][1] + _joined(line))
        else:
            rows.append(cut(line))
    return rows
