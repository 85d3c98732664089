"""TSV: a table with one header line and one line a pair, for pandas, R and spreadsheets."""

from __future__ import annotations

from pairalign.formats.writer import TextWriter
from pairalign.tables import COLUMNS
from pairalign.want import Detail


class TsvWriter(TextWriter):
    """TSV with the columns that were computed.

    ``identity`` is matches by columns as a fraction, rounded half up to 6 decimals. Pairs of which
    nothing is aligned are there too: identity 0.000000, spans 0, CIGAR ``*``.
    """

    name = "tsv"
    suffixes = (".tsv", ".tab")
    needs = Detail.SCORE

    def header(self) -> bytes:
        """Return the line of column names."""
        return ("\t".join(COLUMNS[self._content.detail]) + "\n").encode()
