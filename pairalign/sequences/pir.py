"""PIR, which is also called NBRF: sequences with a line of description, that end with ``*``.

A record is ``>P1;NAME``, a line that describes it (which may be empty), and the sequence up to a
``*``; what follows that, up to the next record, are notes. What is before the ``;`` is the kind of
the sequence: ``P1`` a whole protein, ``F1`` a fragment, others nucleic acids.
"""

from __future__ import annotations

import re

from pairalign.base.error_types import FastaError, shown_name
from pairalign.sequences.fasta_records import clean
from pairalign.sequences.sequence_records import Records, join_records

_START = re.compile(rb"^>", re.MULTILINE)
_HEADER = re.compile(rb"(?:P1|F1|D1|DL|DC|RL|RC|N1|N3|XX);[ \t]*[^\s=;]+[ \t]*")


def is_pir(text: bytes) -> bool:
    """Whether a text is PIR: all headers are as there, and none says ``;size=`` as reads do."""
    if not (text[:1] == b">" and _HEADER.match(text, 1)):
        return False
    starts = [found.end() for found in _START.finditer(text)]
    return all(_HEADER.fullmatch(text[at:].split(b"\n", 1)[0]) for at in starts)


def parse_pir(text: bytes, name: str, *, degap: bool) -> Records:
    """Return the sequences of PIR.

    Parameters
    ----------
    text : bytes
    name : str
        What messages call it.
    degap : bool
        Drop ``-`` and ``.``.

    Raises
    ------
    FastaError
        A sequence has no ``*`` at its end.
    """
    names: list[str] = []
    descriptions: list[str] = []
    bodies: list[bytes] = []
    for number, record in enumerate(_START.split(text)[1:], 1):
        header, _, rest = record.partition(b"\n")
        described, _, rest = rest.partition(b"\n")
        own = _decoded(header.partition(b";")[2])
        body, star, _ = rest.partition(b"*")
        if not star:
            raise FastaError(
                f"{name}: record {number} {shown_name(own)}: PIR without * at the end of the "
                "sequence: the file is cut short, or no PIR"
            )
        names.append(own)
        descriptions.append(f"{own} {_decoded(described)}".rstrip())
        bodies.append(clean(body, degap=degap))
    return join_records(names, descriptions, bodies)


def _decoded(text: bytes) -> str:
    try:
        return text.decode().strip()
    except UnicodeDecodeError:
        return text.decode("latin-1").strip()
