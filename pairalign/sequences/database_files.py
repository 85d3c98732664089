"""GenBank, EMBL, UniProt (text and XML), Stockholm, Clustal and MSF as raw records, by Biopython.

Its parsers see a file that ends as an error where they would wait for more lines. They pass over
lines that they do not know, and over whole records whose first line is not as they expect it: lines
of GenBank, EMBL and UniProt are checked first, by their shape alone; each has its place, or is an
error. What a record says of its own length and checksum is compared with its residues.
"""

from __future__ import annotations

import io
import logging
import re
import warnings
from typing import Any, NamedTuple
from xml.parsers import expat

from pairalign.base.error_types import FastaError, RecordError, cut_name, shown_name
from pairalign.base.packages import check_biopython
from pairalign.base.spelling import spelled
from pairalign.sequences.fasta_records import clean
from pairalign.sequences.file_kinds import RELEASE
from pairalign.sequences.sequence_records import Records, join_records

log = logging.getLogger("pairalign")

_TITLES = {
    "genbank": "GenBank",
    "embl": "EMBL",
    "swiss": "UniProt",
    "uniprot-xml": "UniProt XML",
    "stockholm": "Stockholm",
    "clustal": "Clustal",
    "msf": "MSF",
}
_END = b"//"
_ENDED = ("genbank", "embl", "swiss", "stockholm")
"""Formats whose records end with a line of their own: what lacks it has been cut short."""
_WRONG_LENGTH = "Expected sequence length"
_UNIPROT_SEQUENCE = re.compile(
    rb"^SQ +SEQUENCE +([0-9]{1,18}) AA;(?:[^\n]* ([0-9A-F]{16}) CRC64;)?", re.MULTILINE
)
"""How long UniProt says that a sequence is, and its checksum; old releases have none."""
_MARKS = re.compile(rb"^[ \t]+[*:. \t]+$", re.MULTILINE)
"""Of Clustal below columns. Biopython wants its blanks at the end, which an editor may have cut."""
_MOST_READS_AT_END = 100
_MOST_OF_A_REASON = 300
"""Characters; Biopython quotes whole lines."""


def parse_database(
    text: bytes, name: str, format: str, *, degap: bool = False, skip_empty: bool = False
) -> Records:
    """Return the records of a text; what Biopython warns of is said, a wrong length an error.

    Parameters
    ----------
    name : str
        What messages call it.
    format : str
        As `database_format` returns it.
    degap : bool
        Drop ``-`` and ``.``.
    skip_empty : bool
        Records that have a length, but no residues, are kept without any instead of refused.

    Raises
    ------
    FastaError
        It is no such text, or damaged; the message names file and record.
    """
    title = _TITLES[format]
    check_biopython(f"{name}: {title}")
    from Bio import BiopythonWarning, SeqIO

    parse: Any = SeqIO.parse  # which has no types
    if format in _ENDED and not text.rstrip().endswith(_END):
        raise FastaError(f"{name}: {title} without // at its end: the file is cut short")
    records = _count_records(text, name, format)
    if format == "clustal":
        text = _MARKS.sub(b"", text)
    file = _Text(_decoded(text))
    names: list[str] = []
    descriptions: list[str] = []
    bodies: list[bytes] = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", BiopythonWarning)
        try:
            # XML says itself how it is encoded.
            for record in parse(io.BytesIO(text) if format == "uniprot-xml" else file, format):
                residues = _residues(record, skip_empty=skip_empty)
                identifier = str(record.id)
                names.append(identifier)
                rest = str(record.description).removeprefix(identifier).strip()
                descriptions.append(f"{identifier} {rest}".strip().replace("\n", " "))
                bodies.append(clean(residues, degap=degap))
            if format != "uniprot-xml" and file.read().strip():
                raise ValueError("more lines than Biopython reads, as behind an empty alignment")
        except RecordError as error:
            raise RecordError(f"{name}: record {len(names) + 1}: {error}", error.advises) from None
        # Biopython's parsers raise whatever comes: ValueError, AssertionError, IndexError, ...
        except Exception as error:
            reason = cut_name(" ".join(str(error).split()), _MOST_OF_A_REASON)
            where = f"record {len(names) + 1}, in the lines up to {file.lines:,}"
            reason = reason or f"a line that {title} does not have"
            raise FastaError(f"{name}: {where}: not {title}: {reason}") from error
    _tell(said, name)
    if records is not None and len(names) != records:
        raise FastaError(
            f"{name}: {title} of {records:,} records, of which {len(names):,} are read"
        )
    if format == "swiss":
        _check_statements(text, name, names, bodies)
    return join_records(names, descriptions, bodies)


class _Text(io.StringIO):
    """A text that a parser cannot read for ever: some wait for a line after the last one.

    `lines` says how many lines have been read.
    """

    lines = 0
    _reads_at_end = 0

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        line = super().readline(-1 if size is None else size)
        self.lines += bool(line)
        if not line:
            self._reads_at_end += 1
            if self._reads_at_end > _MOST_READS_AT_END:
                raise EOFError("it ends where a record was expected to go on")
        return line

    def __next__(self) -> str:  # type: ignore[override]
        line = self.readline()
        if not line:
            raise StopIteration
        return line


def _count_records(text: bytes, name: str, format: str) -> int | None:
    """Return how many records a text has where Biopython may pass over some; check its lines."""
    if format == "uniprot-xml":
        return _count_entries(text, name)
    if format in ("genbank", "embl", "swiss"):
        paged = RELEASE in text.lstrip().partition(b"\n")[0]
        return _check_lines(text, name, format, paged=paged)
    return None


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _residues(record: Any, *, skip_empty: bool) -> bytes:
    """Return the residues of a record; a GenBank record may say no more than how long it is.

    RecordError, with no file in it: it does so, or its residues are not what it says of them.
    """
    from Bio.Seq import UndefinedSequenceError

    if record.seq is None:
        return b""
    try:
        residues = bytes(record.seq)
    except UndefinedSequenceError:
        if skip_empty:
            return b""
        raise RecordError(
            f"{shown_name(str(record.id))} has a length, but no residues: take the file with them, "
            f"or leave such records out ({spelled('on_empty', 'skip')})",
            "on_empty",
        ) from None
    said = record.annotations
    if "sequence_length" in said:  # UniProt XML
        _check_residues(residues, said["sequence_length"], said.get("sequence_checksum"))
    return residues


def _check_statements(text: bytes, name: str, names: list[str], bodies: list[bytes]) -> None:
    """Compare the sequences of UniProt's text with what the lines before them say of them."""
    statements = _UNIPROT_SEQUENCE.findall(text)
    if len(statements) != len(bodies):
        raise FastaError(
            f"{name}: not UniProt: {len(statements):,} lines SQ say how long a sequence is, "
            f"expected {len(bodies):,}, one a record"
        )
    for number, (body, (length, checksum)) in enumerate(zip(bodies, statements, strict=True), 1):
        try:
            _check_residues(body, int(length), checksum.decode())
        except RecordError as error:
            shown = shown_name(names[number - 1])
            raise FastaError(f"{name}: record {number} {shown}: {error}") from None


def _check_residues(residues: bytes, length: object, checksum: str | None) -> None:
    """Raise RecordError where a sequence is not as long as was said, or has another CRC64."""
    from Bio.SeqUtils.CheckSum import crc64

    if str(length) != str(len(residues)):
        raise RecordError(
            f"{len(residues):,} residues, expected {cut_name(str(length))}, as the record says: "
            "the file is cut short or damaged"
        )
    compute: Any = crc64
    if checksum and compute(residues.decode("latin-1")) != f"CRC-{checksum}":
        raise RecordError(
            f"its residues do not have the CRC64 {cut_name(checksum)} that the record states: the "
            "file is damaged"
        )


def _tell(said: list[warnings.WarningMessage], name: str) -> None:
    for message in dict.fromkeys(str(warning.message) for warning in said):
        if message.startswith(_WRONG_LENGTH):
            raise FastaError(
                f"{name}: record with a wrong length: {cut_name(message, _MOST_OF_A_REASON)}: the "
                "file is cut short or damaged"
            )
        log.warning("%s: %s", name, cut_name(" ".join(message.split()), _MOST_OF_A_REASON))


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


def _check_lines(text: bytes, name: str, format: str, *, paged: bool) -> int:
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


def _count_entries(text: bytes, name: str) -> int:
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
