"""PAF and SAM: a line a record, columns that are always the same, and tags."""

from __future__ import annotations

from collections.abc import Iterator

from pairalign.alignments.records import AlignmentRecords, Layout, read_lines
from pairalign.formats.readers.reader import RecordReader


class LineReader(RecordReader):
    """Reads lines of columns.

    Attributes
    ----------
    layout : Layout
        What the columns are.
    """

    layout: Layout

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole lines."""
        return self._text_pieces()

    def read(self, piece: bytes) -> AlignmentRecords:
        """Read lines, in native code."""
        return read_lines(piece, self.layout, self.names)


class PafReader(LineReader):
    """PAF: 12 columns; of the tags ``NM``, ``AS`` and ``cg``.

    Without ``cg`` names, lengths and spans are looked at, and there is nothing to score.
    """

    name = "paf"
    suffixes = (".paf",)
    layout = Layout(
        (
            *("query", "says_query_length", "query_start", "query_end", "strand"),
            *("target", "says_target_length", "target_start", "target_end"),
            *("says_matches", "says_columns", "ignored"),
        ),
        tags=True,
    )


class SamReader(LineReader):
    """SAM as text: flag, position, CIGAR, letters; of the tags ``NM`` and ``AS``.

    What is clipped, softly or hard, says where the query's letters lie. Reads that are not mapped
    are counted and left out.
    """

    name = "sam"
    suffixes = (".sam",)
    layout = Layout(
        (
            *("query", "flag", "target", "target_first", "ignored", "sam_cigar"),
            *("ignored", "ignored", "ignored", "sam_sequence", "ignored"),
        ),
        tags=True,
        comment="@",
    )
