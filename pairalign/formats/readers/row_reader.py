"""FASTA pairs and EMBOSS srspair, what needle and water write, and we: two gapped rows a pair."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from pairalign.alignments.alignment_records import AlignmentRecords, read_rows
from pairalign.base.error_types import AlignmentFileError
from pairalign.formats.readers.reader import RecordReader, no_pairs

_BOTH_GAPS = (ord("-"), ord("-"))
_BEGIN = b"# Aligned_sequences:"
_PROGRAM = re.compile(rb"^# Program:\s+(\w+)", re.MULTILINE)
_MODES = {b"needle": "semiglobal", b"needleall": "semiglobal", b"water": "local"}


class SrspairReader(RecordReader):
    """EMBOSS srspair.

    The header's ``1``, ``2``, ``Length``, ``Identity``, ``Similarity``, ``Gaps`` and ``Score``, and
    the rows with the positions at their ends. ``# Program`` needle means semiglobal mode, as its
    end gaps are free unless it is told otherwise, and water local mode.
    """

    name = "srspair"
    suffixes = (".srspair", ".emboss", ".needle", ".water")
    never_checked = ("matrix and penalties in headers",)

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole alignments."""
        first = True
        for piece in self._text_pieces():
            if first and (program := _PROGRAM.search(piece)):
                self.mode = _MODES.get(program[1])
            first = False
            yield piece

    def _cut(self, text: bytes) -> int:
        return text.rfind(b"\n" + _BEGIN) + 1

    def read(self, piece: bytes) -> AlignmentRecords:
        """Read some alignments, in native code."""
        return read_rows(piece, self.name, piece.count(_BEGIN), self.names)


class FastaReader(RecordReader):
    """Two records a pair, the query's and the target's, each on one line or more.

    Of the headers the name, ``start=``, ``end=`` and ``score=``, which need not be there: rows are
    of whole sequences then.
    """

    name = "fasta"
    suffixes = (".fasta", ".fa", ".fas", ".afa")

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole pairs; a text without any record is an error."""
        headers = 1  # an empty file has no pairs
        pieces = self._text_pieces()
        first = [*itertools.islice(pieces, 2)]
        if _is_multiple(b"".join(first)):
            raise AlignmentFileError(f"{self.source}: {no_pairs()}")
        for number, piece in enumerate(itertools.chain(first, pieces)):
            headers = _headers(piece) + (headers if number else 0)
            yield piece
        if not headers:
            raise AlignmentFileError(f"{self.source}: no line begins with '>', expected FASTA")

    def _cut(self, text: bytes) -> int:
        end = text.rfind(b"\n>") + 1
        if _headers(text) % 2 == 0:  # the last one is the second of its pair, and may not be whole
            end = text.rfind(b"\n>", 0, max(end - 1, 0)) + 1
        return end

    def read(self, piece: bytes) -> AlignmentRecords:
        """Read some pairs, in native code."""
        return read_rows(piece, self.name, (_headers(piece) + 1) // 2, self.names)


def _is_multiple(text: bytes) -> bool:
    """Whether rows are of one alignment of several: as pairs they make no sense."""
    rows = [
        b"".join(record.split(b"\n")[1:]).replace(b"\r", b"") for record in text.split(b">")[1:]
    ]
    if len(rows) < 3 or len(set(map(len, rows))) > 1:
        return False
    pairs = zip(rows[::2], rows[1::2], strict=False)
    columns = itertools.chain.from_iterable(zip(*pair, strict=True) for pair in pairs)
    return len(rows) % 2 == 1 or any(column == _BOTH_GAPS for column in columns)


def _headers(text: bytes) -> int:
    return text.count(b"\n>") + text.startswith(b">")
