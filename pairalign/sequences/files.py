"""Files of sequences in any format that is read: told by their first line, A3M also by its name.

FASTA and FASTQ are read by `pairalign.sequences.fasta`, A3M by `pairalign.sequences.a3m`; GenBank,
EMBL, UniProt (text and XML), Stockholm and Clustal by Biopython, stores by
`pairalign.sequences.stored_set`. Rows of alignments have gaps,
which are dropped where that is asked for and else are an error, as in FASTA.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator
from typing import Any

from pairalign.base.errors import FastaError, shown_name
from pairalign.sequences.a3m import is_a3m, parse_a3m
from pairalign.sequences.fasta import Source, clean, parse_records, read_data, unify_lines
from pairalign.sequences.records import Records, join_records
from pairalign.sequences.store_format import is_store
from pairalign.sequences.stored_set import StoredSet

log = logging.getLogger("pairalign")

_CLUSTAL = (b"CLUSTAL", b"PROBCONS", b"MUSCLE", b"MSAPROBS", b"Kalign")
_FIRST_WORDS = {
    b"LOCUS": "genbank",
    b"ID": "embl",
    **dict.fromkeys(_CLUSTAL, "clustal"),
}
"""Biopython's names of formats, by the word that their files begin with."""
_TITLES = {
    "genbank": "GenBank",
    "embl": "EMBL",
    "swiss": "UniProt",
    "uniprot-xml": "UniProt XML",
    "stockholm": "Stockholm",
    "clustal": "Clustal",
}
_END = b"//"
_ENDED = ("genbank", "embl", "swiss", "stockholm")
"""Formats whose records end with a line of their own: what lacks it has been cut short."""
_WRONG_LENGTH = "Expected sequence length"


def read_file(
    source: Source, *, degap: bool = False, qualities: bool = False
) -> tuple[Records, str]:
    """Read the raw records of a file of sequences.

    Parameters
    ----------
    source : str, path or file object
        A path, ``"-"`` for standard input, or a file open for reading (binary or text).
    degap : bool
        Drop ``-`` and ``.`` from the sequences.
    qualities : bool
        Keep those of FASTQ and of a store.

    Returns
    -------
    records : Records
    name : str
        The source as messages call it.

    Raises
    ------
    FastaError
        The source cannot be read or has no format that is known; the message names it.
    TypeError
        `source` is neither a path nor a file.
    """
    data, name = read_data(source, "a file of sequences")
    if is_store(data):
        return StoredSet(data, name).records(qualities=qualities), name
    text = unify_lines(data)
    format = _biopython_format(text)
    if format is not None:
        return _parse_with_biopython(text, name, format, degap=degap), name
    if is_a3m(text, name):
        return parse_a3m(text, name, degap=degap), name
    return parse_records(text, name, degap=degap, qualities=qualities), name


def _biopython_format(text: bytes) -> str | None:
    """Return what Biopython calls the format of a text; None: it is one of our own."""
    if text[:1] in (b">", b"@", b";"):
        return None
    line = text[:2000].lstrip().split(b"\n", 1)[0].rstrip()
    if line.startswith(b"# STOCKHOLM"):
        return "stockholm"
    if line.startswith((b"<?xml", b"<uniprot")) and b"<uniprot" in text[:2000]:
        return "uniprot-xml"
    format = _FIRST_WORDS.get((line.split() or [b""])[0])
    if format == "embl" and line.endswith((b" AA.", b" AA")):  # UniProt's text has that of EMBL
        return "swiss"
    return format


def _parse_with_biopython(text: bytes, name: str, format: str, *, degap: bool) -> Records:
    """Return the records of a text; what Biopython warns of is said, a wrong length an error."""
    from Bio import BiopythonWarning

    names: list[str] = []
    descriptions: list[str] = []
    bodies: list[bytes] = []
    if format in _ENDED and not text.rstrip().endswith(_END):
        raise FastaError(f"{name}: {_TITLES[format]} without // at its end: the file is cut short")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", BiopythonWarning)
        try:
            for record in _records(text, format):
                title = str(record.id)
                names.append(title)
                rest = str(record.description).removeprefix(title).strip()
                descriptions.append(f"{title} {rest}".strip().replace("\n", " "))
                bodies.append(clean(_residues(record), degap=degap))
        # Biopython's parsers raise whatever comes: ValueError, AssertionError, IndexError, ...
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise FastaError(
                f"{name}: record {len(names) + 1}: not {_TITLES[format]}: {reason}"
            ) from error
    for message in dict.fromkeys(str(warning.message) for warning in said):
        if message.startswith(_WRONG_LENGTH):
            raise FastaError(f"{name}: {message}: the file is cut short or damaged")
        log.warning("%s: %s", name, " ".join(message.split()))
    return join_records(names, descriptions, bodies)


def _records(text: bytes, format: str) -> Iterator[Any]:
    from Bio import SeqIO

    parse: Any = SeqIO.parse  # which has no types
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        decoded = text.decode("latin-1")
    records: Iterator[Any] = parse(io.StringIO(decoded), format)
    return records


def _residues(record: Any) -> bytes:
    """Return the residues of a record; a GenBank record may say no more than how long it is."""
    from Bio.Seq import UndefinedSequenceError

    try:
        return bytes(record.seq)
    except UndefinedSequenceError:
        raise ValueError(
            f"{shown_name(str(record.id))} has a length, but no residues: take the file with them"
        ) from None
