"""TSV: a table with one header line and one line a pair, for pandas, R and spreadsheets."""

from __future__ import annotations

from typing import ClassVar

from pairalign.alignments.fields import FIELDS
from pairalign.alignments.tables import COLUMNS, column_names
from pairalign.formats.output import CsvOutput, Output
from pairalign.formats.writer import Content, CsvLines, PairLines, TextWriter
from pairalign.pairs.want import Detail


class TsvWriter(TextWriter):
    """TSV with the columns that were computed.

    ``identity`` is matches by columns as a fraction, rounded half up to 6 decimals. Pairs of which
    nothing is aligned are there too: identity 0.000000, spans 0, CIGAR ``*``.

    Columns can be chosen, see `pairalign.alignments.fields`. ``bits`` and ``evalue`` are ``nan``
    where statistics are not known. Where pairs may be on either strand, a column ``strand``, ``+``
    or ``-``, is the last; on ``-`` CIGARs run along the target, as in PAF.
    """

    name = "tsv"
    lines = PairLines(quotes=True, header_lines=1)
    adds_confidence = True
    shows_residues = False
    suffixes: ClassVar[tuple[str, ...]] = (".tsv", ".tab")
    needs = Detail.SCORE
    of_block = True
    takes_both_ways = True
    either_strand = True
    default_fields = ()

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        if not (content.shown.has_usual_rows or content.shown.fields):
            names = column_names(content.detail, content.shown.strands)
            shown = content.shown._replace(fields=tuple(FIELDS[name] for name in names))
            content = content._replace(shown=shown)
        super().__init__(output, content, threads)

    @property
    def native_name(self) -> str:
        """What native code calls the format."""
        return "columns" if self._content.shown.fields else "tsv"

    def header(self) -> bytes:
        """Return the line of column names."""
        fields = self._content.shown.fields
        names = [field.name for field in fields] or COLUMNS[self._content.detail]
        return ("\t".join(names) + "\n").encode()


class CsvWriter(TsvWriter):
    """CSV: what TSV has, with commas between; names that have some stand between quotes."""

    name = "csv"
    lines = CsvLines(quotes=True, header_lines=1)
    suffixes = (".csv",)

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        super().__init__(CsvOutput(output), content, threads)
