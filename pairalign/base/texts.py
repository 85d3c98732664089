"""Texts of files: byte order marks, and lines, words, names and tables as files have them.

Python's ``str.split`` and ``str.splitlines`` cut at Unicode's blanks and line ends as well, which
may stand in names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from pairalign.base.choices import COMPRESSED_INPUTS, TABLES

UTF8_MARK = b"\xef\xbb\xbf"

_WORD = re.compile(r"[^ \t\n\v\f\r]+")
_CSV_CELL = re.compile(rb'(?:^|(?<=,))(?:"(?:[^"]|"")*"|[^,]*)(?=,|\r?$)')
_FORMULA = ("=", "+", "-", "@")
_WHOLE = re.compile(r"[0-9]{1,18}")  # what fits 64 bits


def without_mark(text: bytes) -> bytes:
    """Return the start of a UTF-8 text, or all of it, without a byte order mark."""
    return text.removeprefix(UTF8_MARK)


def without_endings(name: str, endings: Iterable[str]) -> str:
    """Return a file's name less the ends of compression that it has, each once, in their order."""
    for ending in endings:
        name = name.removesuffix(ending)
    return name


def stem_of(path: str, compressions: Iterable[str]) -> str:
    """Return a file's name without its folders, the ends of compression and its ending."""
    return os.path.splitext(without_endings(os.path.basename(path), compressions))[0]


def counted(number: int, what: str) -> str:
    """Return a number and of what it is: ``1 pair``, ``2,000 pairs``."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def words_of(line: str) -> list[str]:
    """Return the words of a line, between ASCII blanks."""
    words: list[str] = _WORD.findall(line)
    return words


def lines_of(text: str) -> list[str]:
    """Return the lines of a text; they end in a line feed, with a carriage return or not."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def is_whole(word: str) -> bool:
    """Whether a word is a whole number without a sign that fits 64 bits."""
    return _WHOLE.fullmatch(word) is not None


def quoted(name: str, marks: str = "") -> str:
    """Return a name as tables have it: between quotes, its own doubled, where it has some.

    So is one that has some of `marks`, which mean something in the table, and one that begins with
    one of ``=+-@``, which a spreadsheet may take for a formula.
    """
    if '"' in name or name.startswith(_FORMULA) or any(mark in name for mark in marks):
        return '"' + name.replace('"', '""') + '"'
    return name


def unquoted(word: str) -> str:
    """Return the name that a word of a table is, see `quoted`; other words as they are."""
    inner = word[1:-1]
    if len(word) < 2 or word[0] != '"' or word[-1] != '"' or '"' in inner.replace('""', ""):
        return word
    return inner.replace('""', '"')


def as_tsv(text: bytes, path: str, *, quotes: bool = True) -> bytes:
    """Return a table as TSV, whose file may be CSV by its name; names are `quoted`, or not."""
    is_csv = without_endings(path.lower(), COMPRESSED_INPUTS).endswith(TABLES["csv"])
    return tsv_of(text, quotes=quotes) if is_csv else text


def csv_of(text: bytes) -> bytes:
    """Return whole lines of TSV, whose names are `quoted`, as CSV."""
    if b"," not in text:
        return text.replace(b"\t", b",")
    lines = (map(_csv_cell, line.split(b"\t")) for line in text.split(b"\n"))
    return b"\n".join(map(b",".join, lines))


def _csv_cell(cell: bytes) -> bytes:
    return b'"' + cell + b'"' if b"," in cell and not cell.startswith(b'"') else cell


def tsv_of(text: bytes, *, quotes: bool = True) -> bytes:
    """Return lines of CSV as TSV, whose names are `quoted`, or as they are; as many lines."""
    if b'"' not in text:
        return text.replace(b",", b"\t")
    return b"\n".join(b"\t".join(_cells_of(line, quotes=quotes)) for line in text.split(b"\n"))


def _cells_of(line: bytes, *, quotes: bool) -> list[bytes]:
    cells: list[bytes] = _CSV_CELL.findall(line)
    return [_tsv_cell(cell, quotes=quotes) if cell.startswith(b'"') else cell for cell in cells]


def _tsv_cell(cell: bytes, *, quotes: bool) -> bytes:
    name = unquoted(cell.decode("utf-8", "surrogateescape"))
    return (quoted(name) if quotes else name).encode("utf-8", "surrogateescape")
