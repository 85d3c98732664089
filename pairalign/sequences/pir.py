"""PIR, which is also called NBRF: sequences with a line of description, that end with ``*``.

A record is ``>P1;NAME``, a line that describes it (which may be empty), and the sequence up to a
``*``; notes may follow, lines such as ``C;Species``. What is before the ``;`` is the kind of the
sequence: ``P1`` a whole protein, ``F1`` a fragment, others nucleic acids. (Biopython knows neither
``N1`` nor notes.)
"""

from __future__ import annotations

import re

from pairalign.base.error_types import FastaError, shown_name
from pairalign.sequences.fasta_records import clean
from pairalign.sequences.sequence_records import Records, join_records

_CODES = rb"P1|F1|D1|DL|DC|RL|RC|N1|N3|XX"
_FORM = re.compile(rb">[ \t]*..[ \t]*;[ \t]*[^\s=;]+[ \t]*")
_ANY_CASE = re.compile(rb">[ \t]*(?:%b)[ \t]*;" % _CODES, re.IGNORECASE)
_HEADER = re.compile(rb">[ \t]*(?:%b);[ \t]*([^\s=;]+)[ \t]*" % _CODES)
_NOTE = re.compile(rb"[A-Z];|\s*\Z")
_RESIDUES = re.compile(rb"[A-Za-z.-]+\*?[ \t]*")


def is_pir(text: bytes) -> bool:
    """Whether a text is PIR, and not FASTA with names such as ``P1;x``.

    PIR has a line of description where FASTA has residues, of the case of those that follow and in
    lines none of which is longer than the first.
    """
    if not (text[:1] == b">" and _FORM.fullmatch(text[:1000].partition(b"\n")[0])):
        return False
    records = text.rstrip().split(b"\n>")
    records[1:] = [b">" + record for record in records[1:]]
    if not any(map(_ANY_CASE.match, records)):
        return False
    return not all(map(_is_fasta, records))


def _is_fasta(record: bytes) -> bool:
    first, _, rest = record.partition(b"\n")[2].partition(b"\n")
    if not rest.strip():
        return True
    is_wrapped = all(len(line) <= len(first) for line in rest.split(b"\n"))
    is_alike = first.isupper() == rest.isupper()
    return _RESIDUES.fullmatch(first) is not None and is_wrapped and is_alike


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
        header = _HEADER.fullmatch(line)
        if header is None:
            if names and _NOTE.match(line):
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
