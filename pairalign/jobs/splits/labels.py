"""Labels and priorities of sequences: from their headers, or from a table."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence, Sized
from typing import Any, TypeVar

from pairalign.base.error_types import SplitError, WrongTypeError, shown_name
from pairalign.base.texts import words_of
from pairalign.formats.group_files import TableRows, text_of
from pairalign.sequences.sets import SequenceSet

_Value = TypeVar("_Value")


def read_values(
    sequences: SequenceSet,
    name: str,
    table: str | os.PathLike[str] | None = None,
) -> list[str]:
    """Return a value of each sequence.

    Parameters
    ----------
    name : str
        What it is called: ``name=value`` in headers, between ``|`` or, where no such part has it,
        blanks; the heading of a column in a table.
    table : path, optional
        CSV or TSV with a header line; names of sequences are in its first column. Default: headers.

    Raises
    ------
    SplitError
        A sequence has no such value, or the table cannot be read.
    """
    if table is None:
        values = [_in_header(header, name) for header in sequences.descriptions]
        where = f"its header has no '{name}='"
    else:
        of_name = _read_column(table, name)
        values = [of_name.get(sequence) for sequence in sequences.names]
        where = f"it is not in {os.fspath(table)}"
    texts = []
    for sequence, value in zip(sequences.names, values, strict=True):
        if value is None:
            raise SplitError(f"{sequences.source}: no '{name}' of {shown_name(sequence)}: {where}")
        texts.append(value)
    return texts


def as_values(
    sequences: SequenceSet,
    given: Sequence[_Value] | str,
    what: str,
    table: str | os.PathLike[str] | None = None,
) -> list[_Value] | list[str]:
    """Return a value of each sequence, where a text names headers' values: see `read_values`.

    Raises
    ------
    SplitError
        As `read_values`; or there are more or fewer values than sequences.
    """
    if isinstance(given, str):
        return read_values(sequences, given, table)
    if not isinstance(given, Sized):
        raise WrongTypeError(
            f"{what} {given!r}: expected one for each sequence, or the name of a value"
        )
    if len(given) != len(sequences):
        raise SplitError(f"{what}: {len(given):,} of them for {len(sequences):,} sequences")
    return list(given)


def as_priorities(
    sequences: SequenceSet,
    given: Sequence[float] | str,
    table: str | os.PathLike[str] | None = None,
) -> list[float]:
    """Return a priority of each sequence, a number of at least 0; see `as_values`.

    Raises
    ------
    SplitError
        As `as_values`; or a priority is no such number.
    """
    priorities = []
    values: list[Any] = list(as_values(sequences, given, "priorities", table))
    for name, value in zip(sequences.names, values, strict=True):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not 0 <= number < math.inf:
            raise SplitError(
                f"{sequences.source}: priority {value!r} of {shown_name(name)}, expected a number "
                "of at least 0"
            )
        priorities.append(number)
    return priorities


def _in_header(header: str, name: str) -> str | None:
    """Return what a header says after ``name=``."""
    parts = header.split("|")
    words = [word for part in parts for word in words_of(part)]
    for part in [*parts, *words] if len(parts) > 1 else words:
        key, sign, value = part.strip().partition("=")
        if sign and key == name:
            return value.strip()
    return None


def _read_column(table: str | os.PathLike[str], name: str) -> dict[str, str]:
    source = os.fspath(table)
    rows = TableRows(text_of(source), source)
    header = next(rows, [])
    if name not in header:
        raise SplitError(f"{source}: no column '{name}' in its first line")
    column = header.index(name)
    values: dict[str, str] = {}
    for row in rows:
        if not row:
            continue
        if len(row) <= column:
            raise SplitError(f"{source}: line {rows.line} has no column '{name}'")
        if row[0] in values:
            raise SplitError(f"{source}: line {rows.line} has {shown_name(row[0])} again")
        values[row[0]] = row[column].strip()
    return values
