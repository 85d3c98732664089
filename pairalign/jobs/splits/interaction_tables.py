"""Tables of interactions: a name of one set and one of another a line, and what else there is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairalign.base.arrays import Bools, Int32s
from pairalign.base.error_types import SplitError, WrongTypeError, shown_name
from pairalign.clusters.groups import NameFinder
from pairalign.formats.group_files import TableRows, fold_column, text_of
from pairalign.formats.output import Path
from pairalign.jobs.splits.interaction_split import FOLD, InteractionSplit
from pairalign.jobs.splits.split_files import (
    check_places,
    fasta_of,
    fold_stem,
    table_text,
    write_rows,
    write_together,
)
from pairalign.sequences.python_sequences import field_of, is_table, titles_of

AnyInteractions = Any
"""A path, a table of pandas or polars, or rows whose first two items are names."""

_ENDS = 2
_GIVEN = "pairs"
_NO_ENDS = np.zeros((0, _ENDS), np.int32)


@dataclass(frozen=True)
class InteractionTable:
    """Interactions between sequences.

    Attributes
    ----------
    header : tuple of str
        Headings of the columns; made up where there are none.
    lines : list of int
        Where each row ends in a file; of rows that were given, numbers from 1.
    ends : ndarray of int32, shape (n, 2)
        Index of the two sequences of each in their sets.
    """

    source: str
    header: tuple[str, ...]
    has_header: bool
    rows: list[tuple[str, ...]]
    lines: list[int]
    ends: Int32s


def read_interactions(
    interactions: AnyInteractions, finders: tuple[NameFinder, NameFinder]
) -> InteractionTable:
    """Read interactions; names are those of sequences.

    Parameters
    ----------
    interactions : path, table, or iterable of rows
        CSV or TSV, compressed or not, ``"-"`` is standard input. A first line of which neither name
        is known has the headings of the columns.
    finders : tuple of NameFinder
        Of the set of the first names, and of the second.

    Raises
    ------
    SplitError
        It cannot be read, names what is not in a set, lines are too short, or there is none.
    """
    is_file = isinstance(interactions, (str, os.PathLike))
    table = _read(interactions) if is_file else _as_given(interactions)
    if table.rows and is_file:
        first = table.rows[0]
        if len(first) >= _ENDS and not any(map(_knows, finders, first)):
            table = replace(table, header=first, has_header=True)
            table = replace(table, rows=table.rows[1:], lines=table.lines[1:])
    if not table.rows:
        raise SplitError(f"{table.source}: no interaction in it")
    if FOLD in table.header:
        raise SplitError(f"{table.source}: has a column {FOLD}, which is to be written: rename it")
    ends = [_find_ends(table, k, finders) for k in range(len(table.rows))]
    header = table.header or _headings(len(table.rows[0]))
    return replace(table, header=header, ends=np.array(ends, np.int32).reshape(-1, _ENDS))


def read_interaction_folds(
    path: str, finders: tuple[NameFinder, NameFinder], request: str | None
) -> tuple[InteractionTable, list[str]]:
    """Read interactions that have folds; those without one are left out.

    Parameters
    ----------
    path : str
        With a line of headings.
    request : str or None
        The heading of the column of folds; None: as for folds of sequences.

    Raises
    ------
    SplitError
        As `read_interactions`; or there is no such column.
    """
    table = _read(path)
    header = table.rows[0] if table.rows else ()
    column = fold_column(list(header), request, path, _ENDS)
    table = replace(table, header=header, has_header=True)
    chosen = [
        k
        for k in range(1, len(table.rows))
        if len(table.rows[k]) <= column or table.rows[k][column]
    ]
    rows, lines = [table.rows[k] for k in chosen], [table.lines[k] for k in chosen]
    table = replace(table, rows=rows, lines=lines)
    if not rows:
        raise SplitError(f"{path}: no interaction in it has a fold")
    ends = [_find_ends(table, k, finders) for k in range(len(rows))]
    interactions = replace(table, ends=np.array(ends, np.int32).reshape(-1, _ENDS))
    return interactions, [row[column] for row in rows]


def _read(path: str | os.PathLike[str]) -> InteractionTable:
    source = os.fspath(path)
    reader = TableRows(text_of(source), source)
    rows, lines = [], []
    for row in reader:
        if any(field.strip() for field in row):
            rows.append(tuple(row))
            lines.append(reader.line)
    return InteractionTable(source, (), False, rows, lines, _NO_ENDS)


def _as_given(interactions: Any) -> InteractionTable:
    header: tuple[str, ...] = ()
    if is_table(interactions):
        header = tuple(titles_of(interactions))
        interactions = zip(*(list(interactions[name]) for name in header), strict=True)
    if not isinstance(interactions, Iterable):
        raise WrongTypeError(
            f"{_GIVEN}: found {interactions!r}, expected a path, a table or rows of names"
        )
    rows = []
    for number, row in enumerate(interactions, 1):
        if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            raise WrongTypeError(f"{_GIVEN}: row {number} is {row!r}, expected two names")
        rows.append(tuple(map(field_of, row)))
    return InteractionTable(
        _GIVEN, header, bool(header), rows, [*range(1, len(rows) + 1)], _NO_ENDS
    )


def _headings(count: int) -> tuple[str, ...]:
    return ("first", "second", *(f"column_{k}" for k in range(_ENDS + 1, count + 1)))


def _knows(finder: NameFinder, name: str) -> bool:
    try:
        finder.find(name, "")
    except SplitError:
        return False
    return True


def _find_ends(
    table: InteractionTable, k: int, finders: tuple[NameFinder, NameFinder]
) -> tuple[int, int]:
    row, expected = table.rows[k], len(table.header or table.rows[0])
    each = "row" if table.source == _GIVEN else "line"
    where = f"{table.source}: {each} {table.lines[k]}"
    if len(row) < _ENDS or not all(row[:_ENDS]):
        raise SplitError(f"{where}: expected two names, found {', '.join(map(shown_name, row))}")
    if len(row) != expected:
        raise SplitError(f"{where}: {len(row)} columns, expected {expected} as in the first {each}")
    first, second = (finder.find(name, where) for finder, name in zip(finders, row, strict=False))
    return first, second


def write_interactions(path: Path, split: InteractionSplit) -> None:
    """Write the interactions that are kept, each with its fold, as CSV."""
    write_rows(path, _kept_rows(split))


def write_removed_interactions(path: Path, split: InteractionSplit) -> None:
    """Write the other interactions, and why: folds of their two sequences, empty where removed."""
    rows = [(*split.header, "first_fold", "second_fold")]
    for k in np.flatnonzero(split.folds < 0).tolist():
        sides = zip(split.ends_sides, split.ends[k].tolist(), strict=True)
        rows.append((*split.rows[k], *(split.name_of(side.folds[end]) for side, end in sides)))
    write_rows(path, rows)


def write_members(path: Path, split: InteractionSplit) -> None:
    """Write the fold of each sequence of both sets; empty: it was removed."""
    rows: list[tuple[object, ...]] = [("set", "name", FOLD, "cluster")]
    for number, side in enumerate(split.sides, 1):
        columns = side.names, side.folds.tolist(), side.clusters.tolist()
        rows += [
            (number, name, split.name_of(fold), cluster)
            for name, fold, cluster in zip(*columns, strict=True)
        ]
    write_rows(path, rows)


def interaction_places(folder: str, fold_names: Sequence[str], sides: int) -> list[str]:
    """Return the files of `write_interaction_folder`: ``train.csv``, ``train.1.fasta``.

    Raises
    ------
    FormatError
        See `check_places`.
    """
    stems = [fold_stem(name) for name in fold_names]
    fasta = [f"{stem}.{number}.fasta" for number in range(1, sides + 1) for stem in stems]
    names = [*(f"{stem}.csv" for stem in stems), *fasta]
    places = [os.path.join(folder, name) for name in names]
    check_places(folder, places)
    return places


def write_interaction_folder(folder: str, split: InteractionSplit) -> None:
    """Write the interactions of each fold, and the sequences of each set in it as FASTA.

    All files appear, or none; none is replaced.
    """
    numbers = range(len(split.fold_names))
    texts: list[Iterable[str]] = [
        [table_text(_kept_rows(split, split.folds == fold))] for fold in numbers
    ]
    sides = [side for side in split.sides if side.sequences is not None]
    for side in sides:
        assert side.sequences is not None
        texts += [fasta_of(side.sequences, side.members(fold).tolist()) for fold in numbers]
    write_together(folder, interaction_places(folder, split.fold_names, len(sides)), texts)


def _kept_rows(split: InteractionSplit, chosen: Bools | None = None) -> list[tuple[object, ...]]:
    kept = np.flatnonzero(split.folds >= 0 if chosen is None else chosen).tolist()
    rows: list[tuple[object, ...]] = [(*split.header, FOLD)]
    return rows + [(*split.rows[k], split.name_of(split.folds[k])) for k in kept]
