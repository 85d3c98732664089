"""MAF, the multiple alignment format of UCSC and LAST: a block of two rows a pair."""

from __future__ import annotations

from pairalign.formats.names import MAF
from pairalign.formats.writer import TextWriter
from pairalign.pairs.want import Detail


class MafWriter(TextWriter):
    """MAF 1.

    A block a pair: ``a score=...``, then a row of the target, which readers take for the
    reference, and one of the query: name, start (from 0), residues in the row, strand, always
    ``+``, length of the sequence, row. Rows are the aligned parts in every mode: starts and sizes
    say what is outside of them. Pairs of which nothing is aligned are left out.
    """

    name = "maf"
    suffixes = (".maf",)
    needs = Detail.CIGAR
    of_block = True
    name_rules = (MAF, MAF)

    def header(self) -> bytes:
        """Return the line that names the version."""
        return b"##maf version=1 program=pairalign\n\n"
