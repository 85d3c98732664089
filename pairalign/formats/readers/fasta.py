"""FASTA pairs: two gapped records a pair."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pairalign.formats.readers.reader import RecordReader
from pairalign.formats.readers.rows import RowRecords
from pairalign.records import AlignmentRecords

_WORD = re.compile(rb" (start|end|score)=(-?\d+(?:\.\d+)?)")
_LINE_ENDS = b"\r\n"


class FastaReader(RecordReader):
    """Two records a pair, the query's and the target's, each on one line or more.

    Of the headers the name, ``start=``, ``end=`` and ``score=``, which need not be there: rows are
    of whole sequences then.
    """

    name = "fasta"
    suffixes = (".fasta", ".fa", ".fas", ".afa")

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole pairs."""
        return self._text_pieces()

    def _cut(self, text: bytes) -> int:
        count = text.count(b"\n>") + text.startswith(b">")
        end = text.rfind(b"\n>") + 1
        if count % 2 == 0:  # then the last one is the second of its pair, and may not be whole
            end = text.rfind(b"\n>", 0, max(end - 1, 0)) + 1
        return end

    def read(self, piece: bytes) -> AlignmentRecords:
        """Read some pairs."""
        found = RowRecords(self.names)
        parts = piece.split(b"\n>")
        line = 0 if parts[0].startswith(b">") else parts[0].count(b"\n") + 1
        if line == 0:
            parts[0] = parts[0][1:]
        else:
            del parts[0]  # what comes before the first record
        for first, second in zip(parts[::2], [*parts[1::2], b""], strict=False):
            headers, rows = zip(*(_split(one) for one in (first, second)), strict=True)
            words = [dict(_WORD.findall(header)) for header in headers]
            fault = None if second else "columns"
            spans = [int(float(one.get(key, b"-1"))) for one in words for key in (b"start", b"end")]
            names = tuple((header.split(None, 1) or [b""])[0] for header in headers)
            says = {"score": words[0].get(b"score")}
            found.add(line, (names[0], names[1]), (rows[0], rows[1]), spans, says, fault)
            line += first.count(b"\n") + second.count(b"\n") + 2
        return found.records(piece.count(b"\n"))


def _split(record: bytes) -> tuple[bytes, bytes]:
    """Return the header of a record, and its row without line ends."""
    header, _, row = record.partition(b"\n")
    return header.rstrip(_LINE_ENDS), row.translate(None, _LINE_ENDS)
