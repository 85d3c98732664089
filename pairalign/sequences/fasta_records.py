"""FASTA and FASTQ files as raw records: decompression, line endings, comments and headers.

This stage knows nothing of alphabets; `pairalign.sequences.sets` checks what it delivers. What is
accepted, beyond one ``>`` header and its sequence lines per record:

- gzip, bzip2, xz and zstd, told by their first bytes, of several streams too (bgzip, pbzip2);
- line ends of Unix, Windows and old Macs, a UTF-8 byte order mark;
- blank lines anywhere and white space inside sequence lines: dropped;
- lines that start with ``;``, ``#`` or ``!``: comments, dropped, as BLAST+ does;
- white space between ``>`` and the name;
- FASTQ: the qualities are dropped, unless they are wanted; a base that is given as ``.`` is N;
- ``.`` in proteins for a stop, as gffread writes it, see `stops_for_dots`.

The name of a record is the first word of its header; a control-A, which separates the merged
headers of NCBI's databases, ends it as well.
"""

from __future__ import annotations

import io
import logging
import os
import re
import sys
from typing import IO

from pairalign.base.arrays import count_bytes
from pairalign.base.compression import decompress
from pairalign.base.error_types import (
    FastaError,
    NoSequencesError,
    WrongTypeError,
    shown_name,
    unreadable,
)
from pairalign.base.packages import check_biopython
from pairalign.base.spelling import spelled
from pairalign.base.texts import counted, without_mark
from pairalign.sequences.alphabets import PROTEIN, guess_alphabet
from pairalign.sequences.sequence_records import Records, join_records

Source = str | os.PathLike[str] | IO[bytes] | IO[str]
"""Where sequences come from: a path, ``"-"`` for standard input, or an open file."""

GAPS = b"-."

WHITE_SPACE = b" \t\n\v\f\r"
"""What sequences may have in them and is dropped."""

log = logging.getLogger("pairalign")

_PREAMBLE = re.compile(rb"(?:[ \t\v\f]*\n|[;#!][^\n]*(?:\n|\Z))*")
_NOT_PLAIN = (b"\x1c", b"\x1d", b"\x1e", b"\x1f")  # white space in text, but not in bytes
_COMMENT_MARKS = (b"\n;", b"\n#", b"\n!")
_COMMENT_LINE = re.compile(rb"\n[;#!][^\n]*")

# First bytes of files that people do pass, with the way out. UTF-16 is what Windows calls Unicode.
_UNREADABLE = {
    b"\x1f\x9d": "is compressed with compress; pipe it in: gzip -dc FILE | pairalign ... -",
    b"PK\x03\x04": "is a zip archive; pipe it in: unzip -p FILE | pairalign ... -",
    b"\xff\xfe": "is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8",
    b"\xfe\xff": "is UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8",
}


def parse_records(
    text: bytes, name: str, *, degap: bool = False, qualities: bool = False, stops: bool = False
) -> Records:
    """Return the raw records of a FASTA or FASTQ text.

    Parameters
    ----------
    text : bytes
        As `read_text` returns it.
    name : str
        What messages call it.
    qualities : bool
        Keep those of FASTQ.
    stops : bool
        Whether ``.`` may be a stop, see `stops_for_dots`.

    Raises
    ------
    FastaError
        It does not look like FASTA or FASTQ; the message names it.
    """
    start = _find_first_record(text, name)
    headers, bodies, scores = _split_records(text, start, name)
    if scores is not None:
        bodies = [body.replace(b".", b"N") for body in bodies]
    names, descriptions = _decode_headers(headers, name)
    if stops and scores is None:
        bodies = stops_for_dots(bodies, names, name, degap=degap)
    cleaned = [clean(body, degap=degap) for body in bodies]
    records = join_records(names, descriptions, cleaned)
    if not qualities or scores is None:
        return records
    kept = map(_kept_qualities, bodies, scores, cleaned)
    return Records(*records[:-1], b"".join(kept))


def read_text(source: Source, expected: str) -> tuple[bytes, str]:
    """Read a whole text file: decompressed, with line feeds, without a byte order mark.

    Parameters
    ----------
    source : str, path or file object
        A path, ``"-"`` for standard input, or a file open for reading (binary or text).
    expected : str
        What it should be, for messages: "a FASTA or FASTQ file".

    Returns
    -------
    text : bytes
    name : str
        The source as messages call it.

    Raises
    ------
    FastaError
        It cannot be read; the message names it.
    WrongTypeError
        `source` is neither a path nor a file.
    """
    data, name = read_data(source, expected)
    return unify_lines(data), name


def read_data(source: Source, expected: str) -> tuple[bytes, str]:
    """Read a whole file, decompressed, but else as it is; see `read_text`."""
    data, name = _read_bytes(source, expected)
    for magic, advice in _UNREADABLE.items():
        if data.startswith(magic):
            raise FastaError(f"{name}: the file {advice}")
    return decompress(data, name), name


def clean(sequence: bytes, *, degap: bool) -> bytes:
    """Return `sequence` without white space and, with `degap`, without ``-`` and ``.``."""
    return sequence.translate(None, WHITE_SPACE + GAPS if degap else WHITE_SPACE)


def _read_bytes(source: Source, expected: str) -> tuple[bytes, str]:
    """Return everything in `source` and the name to use for it in messages."""
    if not isinstance(source, (str, os.PathLike)):
        if not hasattr(source, "read"):
            raise WrongTypeError(
                f"expected the path of a file or an open one, found {source!r} "
                f"(of type {type(source).__name__})"
            )
        data = source.read()
        name = getattr(source, "name", "<input>")
        text = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else bytes(data)
        return text, str(name)
    name = "<stdin>" if source == "-" else str(os.fspath(source))
    try:
        if source != "-":
            with open(name, "rb") as file:
                return file.read(), name
        if sys.stdin is None:
            raise OSError("it is closed")
        return sys.stdin.buffer.read(), name
    except (OSError, ValueError) as error:
        raise unreadable(FastaError, name, error, expected) from error


def unify_lines(data: bytes) -> bytes:
    """Drop a byte order mark and turn every kind of line end into a line feed."""
    data = without_mark(data)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data


def _find_first_record(text: bytes, name: str) -> int:
    """Return where the first ``>`` or ``@`` is: at the start, after blank lines and comments."""
    preamble = _PREAMBLE.match(text)
    start = preamble.end() if preamble else 0
    if text[start : start + 1] in (b">", b"@"):
        return start
    if not text:
        raise NoSequencesError(f"{name}: the file is empty")
    line = text[start : start + 200].split(b"\n", 1)[0][:40]
    if not line.strip():
        raise NoSequencesError(f"{name}: no sequence in the file")
    shown = ascii(line.decode("latin-1"))
    kind = "binary data" if b"\0" in text[:1000] else f"the text starts with {shown}"
    number = text.count(b"\n", 0, start) + 1
    raise FastaError(
        f"{name}: line {number:,}: expected '>' (FASTA) or '@' (FASTQ) at the start, found {kind}"
    )


def _kept_qualities(body: bytes, scores: bytes, cleaned: bytes) -> bytes:
    """Return the qualities of the residues that stay."""
    if len(scores) == len(cleaned):
        return scores
    dropped = WHITE_SPACE + GAPS
    return bytes(score for base, score in zip(body, scores, strict=True) if base not in dropped)


def _split_records(
    text: bytes, start: int, name: str
) -> tuple[list[bytes], list[bytes], list[bytes] | None]:
    """Return headers and sequence lines of all records from `start` on, and FASTQ's qualities."""
    if text[start : start + 1] == b"@":
        return _split_fastq(text[start:], name)
    text = text[start + 1 :]
    if any(mark[1:] in text and mark in text for mark in _COMMENT_MARKS):  # a residue is found fast
        text = _COMMENT_LINE.sub(b"", text)
    headers, bodies = [], []
    for record in text.split(b"\n>"):
        header, _, body = record.partition(b"\n")
        headers.append(header)
        bodies.append(body)
    return headers, bodies, None


def _split_fastq(text: bytes, name: str) -> tuple[list[bytes], list[bytes], list[bytes]]:
    plain = _split_plain_fastq(text)
    if plain is not None:
        return plain
    check_biopython(f"{name}: FASTQ with records of more than four lines")
    from Bio.SeqIO.QualityIO import FastqGeneralIterator  # takes a while

    headers: list[bytes] = []
    bodies: list[bytes] = []
    qualities: list[bytes] = []
    lines = io.StringIO(text.rstrip(WHITE_SPACE).decode("latin-1") + "\n\n")
    try:
        for title, sequence, scores in FastqGeneralIterator(lines):
            headers.append(title.encode("latin-1"))
            bodies.append(sequence.encode("latin-1"))
            qualities.append(scores.encode("latin-1"))
    except ValueError as error:
        raise FastaError(f"{name}: record {len(headers) + 1}: not FASTQ: {error}") from None
    return headers, bodies, qualities


def _split_plain_fastq(text: bytes) -> tuple[list[bytes], list[bytes], list[bytes]] | None:
    """Return the parts of FASTQ with four plain lines a record; None if it is not."""
    if not text.isascii() or any(mark in text for mark in _NOT_PLAIN):
        return None
    lines = [line.rstrip() for line in text.rstrip().split(b"\n")]
    lines += [b""] * (-len(lines) % 4)  # the last read may have no bases
    titles, bodies, repeated, qualities = (lines[k::4] for k in range(4))
    for title, body, again, quality in zip(titles, bodies, repeated, qualities, strict=True):
        if not title.startswith(b"@") or again not in (b"+", b"+" + title[1:]):
            return None
        if len(body) != len(quality) or body.startswith(b"+") or len(body.split()) > 1:
            return None
    return [title[1:] for title in titles], bodies, qualities


def stops_for_dots(
    bodies: list[bytes], names: list[str], source: str, *, degap: bool
) -> list[bytes]:
    """Return sequences with ``*`` for ``.`` where these are stops, else as they are.

    It is a stop where the file cannot be an alignment: no sequence has ``-``, and they differ in
    length or all end with ``.``. Where an alignment is said to be there (``--degap``), equal
    lengths, or one sequence alone, are enough for gaps.

    Parameters
    ----------
    bodies : list of bytes
        The lines of each sequence.
    source : str
        What messages call the file.
    degap : bool
        Whether the file is said to hold an alignment.
    """
    dotted = [index for index, body in enumerate(bodies) if b"." in body]
    if not dotted or not _are_stops(bodies, degap):
        return bodies
    log.warning(
        "%s: . in %s (the first is %s) is read as *, a stop as gffread writes it: this is no "
        "alignment",
        source,
        counted(len(dotted), "record"),
        shown_name(names[dotted[0]]),
    )
    return [body.replace(b".", b"*") for body in bodies]


def _are_stops(bodies: list[bytes], degap: bool) -> bool:
    if any(b"-" in body for body in bodies):
        return False
    lengths = {len(body) - sum(map(body.count, WHITE_SPACE)) for body in bodies}
    all_end_with_dots = all(body.rstrip().endswith(b".") for body in bodies)
    if len(lengths) == 1 and (degap or not (len(bodies) == 1 or all_end_with_dots)):
        return False
    return guess_alphabet(count_bytes(b"".join(bodies))) == PROTEIN


def _decode_headers(headers: list[bytes], name: str) -> tuple[list[str], list[str]]:
    """Return names and whole headers as text: all at once where all are UTF-8."""
    whole = [header.strip(WHITE_SPACE) for header in headers]
    first = [(header.split(None, 1) or [b""])[0].partition(b"\1")[0] for header in whole]
    try:
        texts = [b"\n".join(parts).decode().split("\n") for parts in (first, whole)]
    except UnicodeDecodeError:
        titles = zip(first, whole, range(1, len(whole) + 1), strict=True)
        pairs = [_decode_header(*title, name) for title in titles]
        return [title[0] for title in pairs], [title[1] for title in pairs]
    return texts[0], texts[1]


def _decode_header(first: bytes, header: bytes, number: int, name: str) -> tuple[str, str]:
    """Return the name and the whole header of a record as text.

    A header that is not UTF-8 is taken as Latin-1, but only outside the name: other programs
    match names byte by byte, so a name is never re-encoded.
    """
    try:
        text = first.decode()
    except UnicodeDecodeError:
        shown = ascii(first.decode("latin-1"))
        raise FastaError(
            f"{name}: record {number}: the name {shown} is not UTF-8 text; "
            "convert the file first: iconv -f LATIN1 -t UTF-8"
        ) from None
    try:
        return text, header.decode()
    except UnicodeDecodeError:
        return text, text + header[len(first) :].decode("latin-1")


def describe_byte(byte: int) -> str:
    """Name a character that should not be there."""
    if 0x20 < byte < 0x7F:
        return f"character '{chr(byte)}'"
    return "white space" if byte in b" \t\n\r" else f"byte 0x{byte:02X}"


def describe_invalid(byte: int) -> tuple[str, str, str | None]:
    """Return what was found, what to do about it, and the option that this advises."""
    letter = f"letter '{chr(byte)}'"
    if byte == ord("."):
        return (
            letter,
            f"a gap is dropped by {spelled('degap', True)}; write an unknown residue as X or N, "
            "a stop as *",
            "degap",
        )
    if byte in GAPS:
        return letter, f"remove gaps first ({spelled('degap', True)})", "degap"
    if byte == ord("*"):
        protein = spelled("alphabet", "protein")
        return letter, f"DNA has no such residue (if it is protein, say {protein})", "alphabet"
    if chr(byte) in "0123456789":
        return f"digit '{chr(byte)}'", "expected letters only", None
    return describe_byte(byte), "expected letters only; is this a text file?", None
