"""Files of sequences in any format that is read: told by their first line, A3M also by its name.

FASTA and FASTQ are read by `pairalign.sequences.fasta_records`, A3M, PIR and PHYLIP by
`pairalign.sequences.other_records`, AIRR tables by `pairalign.sequences.airr`; GenBank, EMBL,
UniProt (text and XML), Stockholm, Clustal and MSF by `pairalign.sequences.database_files`, stores
by `pairalign.sequences.stored_set`. What is not FASTA is loaded where it is read. Rows of
alignments have gaps, which `degap` drops and which else are an error, as in FASTA.
"""

from __future__ import annotations

from pairalign.base.error_types import FastaError
from pairalign.base.spelling import left_out
from pairalign.sequences.fasta_records import Source, parse_records, read_data, unify_lines
from pairalign.sequences.file_kinds import (
    database_format,
    is_a3m,
    is_phylip,
    is_pir,
    may_be_airr,
    refuse_alignments,
)
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.store_format import is_store
from pairalign.sequences.stored_set import StoredSet


def read_file(
    source: Source,
    *,
    degap: bool = False,
    qualities: bool = False,
    skip_empty: bool = False,
    rows: bool = False,
    locus: str | None = None,
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
    skip_empty : bool
        Records without residues are going to be left out.
    rows : bool
        Those of an alignment are wanted: ``.`` is a gap, never a stop.
    locus : str or None
        Of AIRR tables: chains of this locus.

    Returns
    -------
    records : Records
    name : str
        The source as messages call it.

    Raises
    ------
    FastaError
        The source cannot be read or has no format that is known; the message names it.
    WrongTypeError
        `source` is neither a path nor a file.
    """
    data, name = read_data(source, "a file of sequences")
    if is_store(data):
        refuse_locus(locus, name)
        return StoredSet(data, name).records(qualities=qualities), name
    text = unify_lines(data)
    refuse_alignments(text, name)
    if may_be_airr(text):
        from pairalign.sequences.airr import is_airr, parse_airr

        if is_airr(text):
            return parse_airr(text, name, degap=degap, locus=locus), name
    refuse_locus(locus, name)
    format = database_format(text)
    if format is not None:
        from pairalign.sequences.database_files import parse_database

        return parse_database(text, name, format, degap=degap, skip_empty=skip_empty), name
    other = "a3m" if is_a3m(text, name) else "pir" if is_pir(text) else None
    if other is None and is_phylip(text):
        other = "phylip"
    if other is not None:
        from pairalign.sequences.other_records import PARSERS

        return PARSERS[other](text, name, degap=degap), name
    return parse_records(text, name, degap=degap, qualities=qualities, stops=not rows), name


def refuse_locus(locus: str | None, name: str) -> None:
    """Raise FastaError where a locus is named for what has none."""
    if locus is not None:
        raise FastaError(f"{name}: no AIRR table: {left_out('locus')}")
