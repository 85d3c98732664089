"""EMBOSS srspair: what needle and water write, and we."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pairalign.alignments.alignment_records import AlignmentRecords, read_rows
from pairalign.formats.readers.reader import RecordReader

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
