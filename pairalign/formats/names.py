"""A format by its name, or by the end of a file's name; and the names that a format can hold."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, TypeVar

from pairalign.base.arrays import has_none
from pairalign.base.choices import COMPRESSED_INPUTS, COMPRESSED_SUFFIXES, TABLE_ENDINGS, TABLES
from pairalign.base.error_types import FormatError
from pairalign.base.texts import without_endings
from pairalign.sequences.block_set import slices
from pairalign.sequences.sets import SequenceSet

_Value = TypeVar("_Value")


class LazyDict(Mapping[str, _Value]):
    """Names and what they stand for, each found once, when it is first looked up.

    Parameters
    ----------
    find : callable
        Returns what a name stands for.
    """

    def __init__(self, names: Iterable[str], find: Callable[[str], _Value]) -> None:
        self._names = tuple(names)
        self._find = find
        self._found: dict[str, _Value] = {}

    def __getitem__(self, name: str) -> _Value:
        if name not in self._found:
            if name not in self._names:
                raise KeyError(name)
            self._found[name] = self._find(name)
        return self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names  # finds nothing

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


Suffixes = Mapping[str, tuple[str, ...]]
"""Ends of file names, in lower case and with the dot, by the name of the format."""


class HasSuffixes(Protocol):
    """A writer's type, as far as names of files go."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Ends of file names, in lower case and with the dot."""


def suffixes_of(writers: Mapping[str, HasSuffixes]) -> Suffixes:
    """Return the ends of file names of some formats."""
    return LazyDict(writers, lambda name: writers[name].suffixes)


def compression_of(path: str | os.PathLike[str]) -> str:
    """Return the end of a file's name that says how it is compressed, in lower case, or ``""``.

    Raises
    ------
    FormatError
        It says a compression that is read, but not written.
    """
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending in COMPRESSED_SUFFIXES:
        return ending
    if ending in COMPRESSED_INPUTS:
        endings = " or ".join(COMPRESSED_SUFFIXES)
        raise FormatError(f"'{os.fspath(path)}': what is written is compressed as {endings}")
    return ""


def format_by_suffix(path: str | os.PathLike[str], suffixes: Suffixes) -> str | None:
    """Return the format that a file's name means, compressed or not; None if it tells none.

    Parameters
    ----------
    suffixes : mapping of str to tuple of str
    """
    suffix = os.path.splitext(_uncompressed(path))[1]
    return next((name for name, endings in suffixes.items() if suffix in endings), None)


def check_ending(path: str | os.PathLike[str], endings: tuple[str, ...], what: str) -> None:
    """Refuse a file's name that says something else than what is written; without an end it may be.

    Parameters
    ----------
    endings : tuple of str
        The ends that say it, in lower case and with the dot.
    what : str
        What is written, for the message: "folds are written as a table".

    Raises
    ------
    FormatError
        The name has another end.
    """
    name = _uncompressed(path)
    if os.path.splitext(name)[1] and not name.endswith(endings):
        raise FormatError(
            f"{what}, which the name '{os.fspath(path)}' does not say: use {' or '.join(endings)}"
        )


def table_format(path: str | os.PathLike[str], default: str = "tsv") -> str:
    """Return "csv" or "tsv", as the end of a table's name says it."""
    name = _uncompressed(path)
    if name.endswith(TABLE_ENDINGS):
        return "csv" if name.endswith(TABLES["csv"]) else "tsv"
    return default


def _uncompressed(path: str | os.PathLike[str]) -> str:
    """Return a file's name in lower case, less the ends of compression."""
    return without_endings(os.fspath(path).lower(), COMPRESSED_SUFFIXES)


def choose_format(
    path: str | os.PathLike[str],
    name: str | None,
    suffixes: Suffixes,
    what: str,
    stream: str = "standard output",
) -> str:
    """Return a format's name, or find the one that the end of a file's name means.

    Parameters
    ----------
    path : str or path
        ``"-"`` needs a name.
    name : str or None
        The format of the request.
    suffixes : mapping of str to tuple of str
        What there is to choose from.
    what : str
        What the file holds, for the message: "distances".
    stream : str
        What ``"-"`` is.

    Raises
    ------
    FormatError
        There is no such format, or the file's name does not tell.
    """
    if name is not None:
        if name not in suffixes:
            raise FormatError(f"unknown format '{name}', expected one of {', '.join(suffixes)}")
        return name
    if os.fspath(path) == "-":
        raise FormatError(f"{stream} needs a format: one of {', '.join(suffixes)}")
    format_name = format_by_suffix(path, suffixes)
    if format_name is None:
        shown = "; ".join(f"{format}: {' '.join(endings)}" for format, endings in suffixes.items())
        raise FormatError(
            f"the name '{os.fspath(path)}' does not tell the format of {what}; name one, or use a "
            f"known ending ({shown}; text also with .gz or .zst)"
        )
    return format_name


class NameRule(NamedTuple):
    """Which names a format can hold.

    Attributes
    ----------
    allowed : str
        A regular expression that names match from their first character on.
    says : str
        The rule, for the message.
    suspects : str
        Names without these characters of ASCII, and with no other than ASCII, are allowed; empty:
        there are none such.
    """

    allowed: str
    says: str
    suspects: str = ""

    def check(self, sequences: SequenceSet) -> None:
        """Raise FormatError for a name that is not allowed."""
        is_allowed = re.compile(self.allowed).match
        for some in slices(sequences):
            names = sequences.names_at(some)
            if self.suspects and "".join(names).isascii() and has_none(names, self.suspects):
                continue
            for index, name in zip(some.tolist(), names, strict=True):
                if not is_allowed(name):
                    raise FormatError(
                        f"{sequences.source}: {sequences.record(index)}: {self.says}; rename it, "
                        "or write another format"
                    )


FASTA = NameRule(
    r"[\S \t\v\f]+\Z",
    "readers of FASTA end names at Unicode's blanks",
    "\x1c\x1d\x1e\x1f",
)
NO_COMMENT = NameRule(r"(?!#)", "a line that begins with '#' is a comment", "#")
STOCKHOLM = NameRule(
    r"(?!#|//)\S+\Z",
    "a row of Stockholm cannot begin with '#' or '//', and readers end names at Unicode's blanks",
    "#/",
)
TC_LIB = NameRule(
    r"(?![#!])[^();:,]{1,150}\Z",
    "T-Coffee ends at names that begin with '#' or '!', have one of '();:,' or more than 150 "
    "characters",
)
MAF = NameRule(
    r"\S+\Z", "names of MAF are without Unicode's blanks, where readers end them", "\x7f"
)
SRSPAIR = NameRule(
    r"(?!#)\S+\Z",
    "names of srspair do not begin with '#', and are without Unicode's blanks, where readers end "
    "them",
    "#",
)
CLUSTAL = NameRule(
    r"\S{1,255}\Z",
    "names of Clustal have up to 255 characters, since each line has one, and are without "
    "Unicode's blanks, where readers end them",
)
