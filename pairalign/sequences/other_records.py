"""PIR, PHYLIP and A3M as raw records.

Biopython reads neither A3M nor all layouts of PHYLIP; of PIR it knows neither ``N1`` nor notes, and
it passes over lines. `pairalign.sequences.file_kinds` tells which of them a text is.

- PIR, also called NBRF: a record is ``>P1;NAME``, a line that describes it (which may be empty),
  and the sequence up to a ``*``; notes may follow, lines such as ``C;Species``. What is before the
  ``;`` is the kind of the sequence: ``P1`` a whole protein, ``F1`` a fragment, others nucleic
  acids.
- PHYLIP: rows of an alignment, interleaved or one after the other, with strict or relaxed names.
  The first line says how many sequences there are, and columns. Strict names take ten places,
  relaxed ones end before a blank. The file does not say which it has: what gives every row as many
  columns as were said is taken.
- A3M, the alignments of HH-suite and ColabFold: upper-case letters and ``-`` are columns of the
  alignment, lower-case letters residues between columns. All rows have the same number of columns;
  another number means that the file is damaged, or something else. HH-suite puts rows into a file
  that are no sequences: secondary structures and how sure they are. Those are left out, with a
  message.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator

import numpy as np

from pairalign.base.error_types import FastaError, shown_name
from pairalign.sequences.fasta_records import clean, parse_records
from pairalign.sequences.file_kinds import PHYLIP_FIRST_LINE, PIR_CODES
from pairalign.sequences.sequence_records import Origin, Records, join_records

log = logging.getLogger("pairalign")

_PIR_HEADER = re.compile(rb">[ \t]*(?:%b);[ \t]*([^\s=;]+)[ \t]*" % PIR_CODES)
_PIR_NOTE = re.compile(rb"[A-Z];|\s*\Z")

_PHYLIP_ROW = re.compile(rb"[A-Za-z*?.~-]*")
_NAME_PLACES = 10
_Rows = list[tuple[bytes, bytes]]
_Cut = Callable[[bytes], tuple[bytes, bytes]]

_BETWEEN = bytes(range(ord("a"), ord("z") + 1)) + b"."
_NO_SEQUENCES = ("ss_dssp", "sa_dssp", "ss_pred", "ss_conf", "aa_dssp", "aa_pred")
"""Names of HH-suite's rows that are no sequences."""


def parse_pir(text: bytes, name: str, *, degap: bool) -> Records:
    """Return the sequences of PIR.

    Parameters
    ----------
    name : str
        What messages call it.
    degap : bool
        Drop ``-`` and ``.``.

    Raises
    ------
    FastaError
        A line is none of PIR, or a sequence has no ``*`` at its end; the message has its number.
    """
    names: list[str] = []
    descriptions: list[str] = []
    bodies: list[bytes] = []
    lines = iter(enumerate(text.rstrip().split(b"\n"), 1))
    for number, line in lines:
        header = _PIR_HEADER.fullmatch(line)
        if header is None:
            if names and _PIR_NOTE.match(line):
                continue
            raise _unknown(name, number, line, ">P1;NAME, or another code of PIR")
        names.append(_decoded(header[1]))
        number, described = next(lines, (number, b""))
        body: list[bytes] = []
        while not (body and b"*" in body[-1]):
            number, line = next(lines, (number, b">"))
            if line.lstrip().startswith(b">"):
                raise FastaError(
                    f"{name}: line {number:,}: record {len(names)} {shown_name(names[-1])}: PIR "
                    "without * at the end of the sequence: the file is cut short, or no PIR"
                )
            body.append(line)
        if not line.rstrip().endswith(b"*") or line.count(b"*") > 1:
            raise _unknown(name, number, line, "* at the end of the line")
        descriptions.append(f"{names[-1]} {_decoded(described)}".rstrip())
        bodies.append(clean(b"\n".join(body).replace(b"*", b""), degap=degap))
    return join_records(names, descriptions, bodies)


def _unknown(name: str, number: int, line: bytes, expected: str) -> FastaError:
    return FastaError(
        f"{name}: line {number:,} is {shown_name(_decoded(line))}, expected {expected}"
    )


def _decoded(text: bytes) -> str:
    try:
        return text.decode().strip()
    except UnicodeDecodeError:
        return text.decode("latin-1").strip()


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
    first = PHYLIP_FIRST_LINE.match(text)
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
    return bool(name) and len(row) == columns and _PHYLIP_ROW.fullmatch(row) is not None


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


def parse_a3m(text: bytes, name: str, *, degap: bool) -> Records:
    """Return the sequences of A3M: in capitals, with its gaps or without.

    Parameters
    ----------
    name : str
        What messages call it.
    degap : bool
        Drop ``-`` and ``.``.

    Raises
    ------
    FastaError
        A row has another number of columns than the first one.
    """
    rows = parse_records(text, name)
    kept: list[int] = []
    bodies: list[bytes] = []
    columns: int | None = None
    for index, title in enumerate(rows.names):
        if title.startswith(_NO_SEQUENCES):
            continue
        row = rows.residues[rows.offsets[index] : rows.offsets[index + 1]]
        width = len(row.translate(None, _BETWEEN))
        columns = width if columns is None else columns
        if width != columns:
            raise FastaError(
                f"{name}: record {index + 1} {shown_name(title)}: {width:,} columns (capitals and "
                f"-), expected {columns:,} as in record {kept[0] + 1}: this is no A3M"
            )
        kept.append(index)
        bodies.append(row.translate(None, b"-.").upper() if degap else row.upper())
    left_out = len(rows.names) - len(kept)
    if left_out:
        log.info("%s: %s rows are left out: no sequences, such as ss_pred", name, left_out)
    names = [rows.names[index] for index in kept]
    joined = join_records(names, [rows.descriptions[index] for index in kept], bodies)
    origin = Origin(name, np.array(kept, np.int64) + 1)
    return Records(joined.names, joined.descriptions, joined.residues, joined.offsets, (origin,))


PARSERS = {"a3m": parse_a3m, "pir": parse_pir, "phylip": parse_phylip}
