"""Which format a text of sequences has: told by its first line, A3M also by the file's name."""

from __future__ import annotations

import re

from pairalign.base.choices import COMPRESSED_INPUTS
from pairalign.base.error_types import FastaError
from pairalign.base.texts import without_endings

PIR_CODES = rb"P1|F1|D1|DL|DC|RL|RC|N1|N3|XX"
"""What stands before the ``;`` of a name in PIR."""
PHYLIP_FIRST_LINE = re.compile(rb"\s*(\d{1,9})[ \t]+(\d{1,12})[ \t]*(?:\n|$)")
RELEASE = b"Genetic Sequence Data Bank"
"""What the first line of GenBank's release files has, which begin with a page about the release."""

_PIR_FORM = re.compile(rb">[ \t]*..[ \t]*;[ \t]*[^\s=;]+[ \t]*")
_PIR_ANY_CASE = re.compile(rb">[ \t]*(?:%b)[ \t]*;" % PIR_CODES, re.IGNORECASE)
_RESIDUES = re.compile(rb"[A-Za-z.-]+\*?[ \t]*")
_A3M_MARK = b"#A3M#"
_AIRR_NAMES = (b"sequence_id", b"contig_id")
_CLUSTAL = (b"CLUSTAL", b"PROBCONS", b"MUSCLE", b"MSAPROBS", b"Kalign")
_MSF = (b"!!AA_MULTIPLE_ALIGNMENT", b"!!NA_MULTIPLE_ALIGNMENT", b"PileUp")
_FIRST_WORDS = {
    b"LOCUS": "genbank",
    b"ID": "embl",
    **dict.fromkeys(_CLUSTAL, "clustal"),
    **dict.fromkeys(_MSF, "msf"),
}
"""Biopython's names of formats, by the word that their files begin with."""
_EMBL_SEQUENCE = b"\nSQ   Sequence "
_SAM = re.compile(
    rb"@(?:HD\tVN:|SQ\tSN:|RG\tID:|PG\tID:|CO\t)|[^@>;\s][^\t\n]*\t\d+\t[^\t\n]+\t\d+\t\d+\t[^\t\n]+\t"
)
_BINARY = {b"BAM\1": "BAM", b"CRAM": "CRAM"}
_NEXUS = b"#nexus"


def may_be_airr(text: bytes) -> bool:
    """Whether the first line has the name of a column that AIRR's and 10x's tables have."""
    first = text.partition(b"\n")[0]
    return any(name in first for name in _AIRR_NAMES)


def database_format(text: bytes) -> str | None:
    """Return what Biopython calls the format of a text; None: it is none of its databases' formats.

    Parameters
    ----------
    text : bytes
        As `pairalign.sequences.fasta_records.unify_lines` returns it.
    """
    if text[:1] in (b">", b"@", b";"):
        return None
    line = text[:2000].lstrip().split(b"\n", 1)[0].rstrip()
    if line.startswith(b"# STOCKHOLM"):
        return "stockholm"
    if line.startswith((b"<?xml", b"<uniprot")) and b"<uniprot" in text[:2000]:
        return "uniprot-xml"
    if RELEASE in line:
        return "genbank"
    format = _FIRST_WORDS.get((line.split() or [b""])[0])
    # UniProt's text begins as EMBL does, whose proteins have AA as well.
    if format == "embl" and line.endswith((b" AA.", b" AA")) and _EMBL_SEQUENCE not in text:
        return "swiss"
    return format


def is_a3m(text: bytes, name: str) -> bool:
    """Whether a text is A3M: by its first line, or by the ending of the file's name."""
    bare = without_endings(name.lower(), COMPRESSED_INPUTS)
    return bare.endswith(".a3m") or text.startswith(_A3M_MARK)


def is_pir(text: bytes) -> bool:
    """Whether a text is PIR, and not FASTA with names such as ``P1;x``.

    PIR has a line of description where FASTA has residues, of the case of those that follow and in
    lines none of which is longer than the first.
    """
    if not (text[:1] == b">" and _PIR_FORM.fullmatch(text[:1000].partition(b"\n")[0])):
        return False
    records = text.rstrip().split(b"\n>")
    records[1:] = [b">" + record for record in records[1:]]
    if not any(map(_PIR_ANY_CASE.match, records)):
        return False
    return not all(map(_is_fasta, records))


def _is_fasta(record: bytes) -> bool:
    first, _, rest = record.partition(b"\n")[2].partition(b"\n")
    if not rest.strip():
        return True
    is_wrapped = all(len(line) <= len(first) for line in rest.split(b"\n"))
    is_alike = first.isupper() == rest.isupper()
    return _RESIDUES.fullmatch(first) is not None and is_wrapped and is_alike


def is_phylip(text: bytes) -> bool:
    """Whether a text is PHYLIP: its first line has two numbers."""
    return PHYLIP_FIRST_LINE.match(text) is not None


def refuse_alignments(text: bytes, name: str) -> None:
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
