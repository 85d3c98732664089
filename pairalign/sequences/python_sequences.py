"""What Python objects are as sequences: the residues and the name of one item."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Protocol, SupportsIndex, TypeGuard

from pairalign.base.error_types import UsageError, WrongTypeError

_EXPECTED = "expected a str, bytes, or an object with .seq or .residues"
RESIDUES = ("sequence", "seq")
NAMES = ("name", "id")
"""Columns of a table that hold residues and names, in upper or lower case."""
_SPELLED = ("skbio", "biotite")
"""Packages whose sequences are their residues as text."""


def named_residues(
    sequences: Iterable[object] | Mapping[str, str], names: Iterable[object] | None
) -> tuple[list[str], list[bytes]]:
    """Return the names and the residues of several items; these are not checked.

    Items may be pairs of a name and a sequence where no names are given.

    Parameters
    ----------
    sequences, names
        As for `pairalign.sequences.sets.SequenceSet.from_strings`.

    Raises
    ------
    WrongTypeError
        Something is no sequence, or no name; the message says which.
    UsageError
        There are more of the ones than of the others.
    """
    if isinstance(sequences, (str, bytes)):
        raise WrongTypeError("expected several sequences, found one string: put it in a list")
    if isinstance(sequences, Mapping):
        names = list(sequences) if names is None else names
        sequences = sequences.values()
    items = list(sequences)
    if (
        names is None
        and items
        and all(isinstance(item, (tuple, list)) and len(item) == 2 for item in items)
    ):
        names, items = zip(*items, strict=True)  # type: ignore[assignment]
    names = [f"seq{i}" for i in range(1, len(items) + 1)] if names is None else names
    titles = [name_of(name, f"name {i}") for i, name in enumerate(names, 1)]
    if len(titles) != len(items):
        raise UsageError(f"{len(items)} sequences but {len(titles)} names")
    named = enumerate(zip(items, titles, strict=True), 1)
    return titles, [residues_of(item, f"item {i} ({title!r})") for i, (item, title) in named]


class DataTable(Protocol):
    """A DataFrame of pandas or polars, or a table of Arrow."""

    @property
    def columns(self) -> Iterable[object]:
        """The names of its columns, of Arrow the columns."""

    def __getitem__(self, name: str, /) -> Iterable[object]:
        """Return a column."""


def is_table(sequences: object) -> TypeGuard[DataTable]:
    """Whether it has rows and columns."""
    return len(getattr(sequences, "shape", ())) == 2 and hasattr(sequences, "columns")


def titles_of(table: DataTable) -> list[str]:
    """Return the names of the columns of a table."""
    return [str(name) for name in getattr(table, "column_names", table.columns)]


def columns_of(table: DataTable) -> tuple[list[object], list[object] | None]:
    """Return the residues and the names of the rows of a table; None: it has no names.

    Without a column of names its index has them.

    Raises
    ------
    WrongTypeError
        It has no column of sequences, or several.
    """
    titles = titles_of(table)
    residues = [title for title in titles if title.lower() in RESIDUES]
    names = [title for title in titles if title.lower() in NAMES]
    if len(residues) != 1 or len(names) > 1:
        raise WrongTypeError(
            f"found a table (of type {type(table).__name__}) with the columns "
            f"{', '.join(map(repr, titles))}: expected one named {' or '.join(RESIDUES)}, and at "
            f"most one named {' or '.join(NAMES)}; or give one of its columns"
        )
    labels = [_plain(value) for value in table[names[0]]] if names else index_of(table)
    return list(table[residues[0]]), labels


def index_of(sequences: object) -> list[object] | None:
    """Return the index of a Series or DataFrame of pandas; None: it has none but row numbers."""
    index = getattr(sequences, "index", None)
    if index is not None and hasattr(index, "tolist") and type(index).__name__ != "RangeIndex":
        return list(index.tolist())
    return None


def residues_of(item: object, what: str) -> bytes:
    """Return the residues of one item; they are not checked.

    Parameters
    ----------
    item : object
        A str, bytes, an object with residues in ``.seq`` or ``.residues``, such as a record of
        Biopython, Biopython's ``Seq``, which makes bytes of itself, a sequence of scikit-bio or
        biotite, or a value of an Arrow array.
    what : str
        What messages call the item: ``item 3``.

    Raises
    ------
    WrongTypeError
        It is something else. Text is never made of other objects: NAN and NONE are proteins.
    """
    residues = item
    for attribute in ("seq", "residues"):
        if not isinstance(item, (str, bytes)) and hasattr(item, attribute):
            residues = getattr(item, attribute)
            break
    residues = _plain(residues)
    if any(base.__module__.partition(".")[0] in _SPELLED for base in type(residues).__mro__):
        residues = str(residues)
    if isinstance(residues, str):
        return residues.encode("utf-8", "replace")
    if isinstance(residues, (bytes, bytearray)):
        return bytes(residues)
    if hasattr(residues, "__bytes__") and not isinstance(residues, os.PathLike):
        try:
            return bytes(residues)
        except Exception as error:  # a Seq of which only the length is known
            raise WrongTypeError(f"{what}: its residues cannot be read: {error}") from error
    raise WrongTypeError(f"{what} is {_describe(item)}, {_EXPECTED}")


def _plain(value: object) -> object:
    """Return what a value of an Arrow array is in Python."""
    return value.as_py() if hasattr(value, "as_py") else value


def field_of(value: object) -> str:
    """Return a field of a table as a file has it: empty where it is missing (None, nan, NA)."""
    plain = _plain(value)
    try:
        is_missing = plain is None or bool(plain != plain)  # nan is not itself
    except TypeError:
        is_missing = True  # of pandas' NA nobody knows
    return "" if is_missing else str(plain)


def name_of(name: object, what: str) -> str:
    """Return a name as text.

    Parameters
    ----------
    name : str, bytes of UTF-8, or whole number
    what : str
        What messages call it.

    Raises
    ------
    WrongTypeError
        It is something else.
    """
    if isinstance(name, str) or (isinstance(name, SupportsIndex) and not isinstance(name, bool)):
        return str(name)
    if isinstance(name, (bytes, bytearray)):
        try:
            return name.decode()
        except UnicodeDecodeError:
            pass
    raise WrongTypeError(f"{what} is {_describe(name)}, expected a str")


def record_name(item: object) -> object:
    """Return the ``.id`` or ``.name`` of a record, or scikit-bio's id; None for what has none."""
    for attribute in ("id", "name"):
        name: object = getattr(item, attribute, None)
        if name is not None:
            return name
    metadata = getattr(item, "metadata", None)
    return metadata.get("id") if isinstance(metadata, dict) else None


def _describe(item: object) -> str:
    shown = ascii(item)
    return f"{shown[:40]}{'...' * (len(shown) > 40)} (of type {type(item).__name__})"
