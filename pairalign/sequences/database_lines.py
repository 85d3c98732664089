"""Lines of GenBank, EMBL and UniProt (text and XML): each has its place, or is an error.

Biopython's parsers pass over lines that they do not know, and over whole records whose first line
is not as they expect it. So the lines are checked first, by their shape alone.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.parsers import expat

from pairalign.base.error_types import FastaError, shown_name

_END = b"//"


class _Layout(NamedTuple):
    """What the lines of a record begin with.

    `first` is its first line, `about` are lines before its residues, `start` is that after which
    these come, `residues` are theirs; `hidden` is a first line that no page before the first record
    may have.
    """

    first: re.Pattern[bytes]
    about: re.Pattern[bytes]
    start: re.Pattern[bytes]
    residues: re.Pattern[bytes]
    expected: str
    hidden: re.Pattern[bytes] = re.compile(rb"")


_GENBANK = _Layout(
    re.compile(rb"LOCUS {7}\S"),
    re.compile(rb"(?![Ll][Oo][Cc][Uu][Ss]\b)[A-Z][A-Z_]*\b| {2,}(?=\S)"),
    re.compile(rb"ORIGIN\b"),
    re.compile(rb" *[0-9]+(?: [A-Za-z*. -]*)?\Z"),
    "LOCUS and seven blanks",
    re.compile(rb"\s*LOCUS\b", re.IGNORECASE),
)
_EMBL = _Layout(
    re.compile(rb"ID {3}\S"),
    re.compile(rb"(?!ID)(?:[A-Z]{2}(?: {3}|\s*\Z)|\*\*)"),
    re.compile(rb"SQ {3}"),
    re.compile(rb" {5}[A-Za-z*. -]+[0-9]*\Z"),
    "ID and three blanks",
)
_LAYOUTS = {"genbank": _GENBANK, "embl": _EMBL, "swiss": _EMBL}


def check_database_lines(text: bytes, name: str, format: str, *, paged: bool) -> int:
    """Return how many records a text has.

    Parameters
    ----------
    name : str
        What messages call it.
    format : {"genbank", "embl", "swiss"}
        What Biopython calls it.
    paged : bool
        Whether it begins with a page about a release.

    Raises
    ------
    FastaError
        A line is none of the format; the message has its number.
    """
    layout = _LAYOUTS[format]
    records, expected = 0, layout.first
    for number, line in enumerate(text.split(b"\n"), 1):
        line = line.rstrip()
        if not line:
            continue
        if expected is layout.first:
            if layout.first.match(line):
                records, expected = records + 1, layout.about
            elif not (line == _END or (paged and not records and not layout.hidden.match(line))):
                raise _unknown(name, number, line, f"a record, which begins with {layout.expected}")
        elif line == _END:
            expected = layout.first
        elif not expected.match(line):
            what = "residues" if expected is layout.residues else "a line of the record"
            raise _unknown(name, number, line, f"{what}, or // at its end")
        elif layout.start.match(line):
            expected = layout.residues
    return records


def count_entries(text: bytes, name: str) -> int:
    """Return how many entries the XML of UniProt has; FastaError, with the line, for others."""
    path: list[str] = []
    count = 0
    parser = expat.ParserCreate()

    def start(tag: str, _: dict[str, str]) -> None:
        nonlocal count
        path.append(tag)
        if len(path) == 2:
            count += tag == "entry"
            if tag not in ("entry", "copyright"):
                line = parser.CurrentLineNumber
                raise _unknown(name, line, f"<{tag}>".encode(), "<entry> or <copyright>")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: path.pop()
    try:
        parser.Parse(text, True)
    except FastaError:
        raise
    # The others: an encoding that Python does not know, or that expat cannot take from it.
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise FastaError(f"{name}: not UniProt XML: {error}") from None
    return count


def _unknown(name: str, number: int, line: bytes, expected: str) -> FastaError:
    shown = shown_name(line.decode("utf-8", "replace"))
    return FastaError(f"{name}: line {number:,} is {shown}, expected {expected}")
