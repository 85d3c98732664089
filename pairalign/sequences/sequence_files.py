"""Files of sequences in any format that is read: told by their first line, A3M also by its name.

FASTA and FASTQ are read by `pairalign.sequences.fasta_records`, A3M by
`pairalign.sequences.a3m_records`, PIR by `pairalign.sequences.pir`, PHYLIP by
`pairalign.sequences.phylip_records`, AIRR tables by `pairalign.sequences.airr`; GenBank, EMBL,
UniProt (text and XML), Stockholm, Clustal and MSF by `pairalign.sequences.database_files`, stores
by `pairalign.sequences.stored_set`. Rows of alignments have gaps, which are dropped where that is
asked for and else are an error, as in FASTA.
"""

from __future__ import annotations

import re

from pairalign.base.error_types import FastaError
from pairalign.base.spelling import left_out
from pairalign.sequences.a3m_records import is_a3m, parse_a3m
from pairalign.sequences.airr import is_airr, parse_airr
from pairalign.sequences.database_files import database_format, parse_database
from pairalign.sequences.fasta_records import Source, parse_records, read_data, unify_lines
from pairalign.sequences.phylip_records import is_phylip, parse_phylip
from pairalign.sequences.pir import is_pir, parse_pir
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.store_format import is_store
from pairalign.sequences.stored_set import StoredSet

_SAM = re.compile(
    rb"@(?:HD\tVN:|SQ\tSN:|RG\tID:|PG\tID:|CO\t)|[^@>;\s][^\t\n]*\t\d+\t[^\t\n]+\t\d+\t\d+\t[^\t\n]+\t"
)
_BINARY = {b"BAM\1": "BAM", b"CRAM": "CRAM"}
_NEXUS = b"#nexus"


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
    TypeError
        `source` is neither a path nor a file.
    """
    data, name = read_data(source, "a file of sequences")
    if is_store(data):
        refuse_locus(locus, name)
        return StoredSet(data, name).records(qualities=qualities), name
    text = unify_lines(data)
    _refuse_alignments(text, name)
    if is_airr(text):
        return parse_airr(text, name, degap=degap, locus=locus), name
    refuse_locus(locus, name)
    format = database_format(text)
    if format is not None:
        return parse_database(text, name, format, degap=degap, skip_empty=skip_empty), name
    if is_a3m(text, name):
        return parse_a3m(text, name, degap=degap), name
    if is_pir(text):
        return parse_pir(text, name, degap=degap), name
    if is_phylip(text):
        return parse_phylip(text, name, degap=degap), name
    return parse_records(text, name, degap=degap, qualities=qualities, stops=not rows), name


def refuse_locus(locus: str | None, name: str) -> None:
    """Raise FastaError where a locus is asked of what has none."""
    if locus is not None:
        raise FastaError(f"{name}: no AIRR table: {left_out('locus')}")


def _refuse_alignments(text: bytes, name: str) -> None:
    """Raise FastaError for SAM, BAM, CRAM and NEXUS, with the way out."""
    if text[:2000].lstrip()[: len(_NEXUS)].lower() == _NEXUS:
        raise FastaError(
            f"{name}: the file is NEXUS, which is not read: of alignments Stockholm, Clustal, MSF, "
            "PHYLIP, A3M, PIR and aligned FASTA are; Biopython converts it: "
            "AlignIO.convert(FILE, 'nexus', 'x.afa', 'fasta')"
        )
    kind = next((kind for magic, kind in _BINARY.items() if text.startswith(magic)), None)
    if kind is None and _SAM.match(text[:2000]):
        kind = "SAM"
    if kind is not None:
        raise FastaError(
            f"{name}: the file is {kind}; pipe its sequences in: samtools fastq FILE | "
            "pairalign ... -"
        )
