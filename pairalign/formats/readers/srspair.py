"""EMBOSS srspair: what needle and water write, and we."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pairalign.formats.readers.reader import RecordReader
from pairalign.formats.readers.rows import RowRecords
from pairalign.records import AlignmentRecords

_BEGIN = b"# Aligned_sequences:"
_PROGRAM = re.compile(rb"^# Program:\s+(\w+)", re.MULTILINE)
_FIELDS = re.compile(
    rb"^# (1|2|Length|Identity|Similarity|Gaps|Score):[ \t]*(\S*?)(?:/(\d+) .*)?[ \t]*\r?$",
    re.MULTILINE,
)
_ROW = re.compile(rb"^(\S+)[ \t]+(\d+)[ \t]+(\S+)[ \t]+(\d+)[ \t]*\r?$", re.MULTILINE)
_MODES = {b"needle": "semiglobal", b"needleall": "semiglobal", b"water": "local"}
_GAPS = b"-."


class SrspairReader(RecordReader):
    """EMBOSS srspair.

    The header's ``1``, ``2``, ``Length``, ``Identity``, ``Similarity``, ``Gaps`` and ``Score``, and
    the rows with the positions at their ends. ``# Program`` needle means semiglobal mode, as its
    end gaps are free unless it is told otherwise, and water local mode.
    """

    name = "srspair"
    suffixes = (".srspair", ".emboss", ".needle", ".water")

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole alignments."""
        first = True
        for piece in self._text_pieces():
            if first and (program := _PROGRAM.search(piece)):
                self.mode = _MODES.get(program[1])
            first = False
            yield piece

    def _cut(self, text: bytes) -> int:
        return max(text.rfind(_BEGIN, 1), 0)

    def read(self, piece: bytes) -> AlignmentRecords:
        """Read some alignments."""
        found = RowRecords(self.names)
        parts = piece.split(_BEGIN)
        line = parts[0].count(b"\n")
        for part in parts[1:]:
            self._add(part, line, found)
            line += part.count(b"\n")
        return found.records(piece.count(b"\n"))

    def _add(self, part: bytes, line: int, found: RowRecords) -> None:
        header = {key: (value, whole) for key, value, whole in _FIELDS.findall(part)}
        blocks = _ROW.findall(part)
        says: dict[str, bytes | None] = {}
        for key, claim in ((b"Identity", "matches"), (b"Similarity", "positives")):
            says[claim] = header.get(key, (None,))[0]
        says["gap_letters"] = header.get(b"Gaps", (None,))[0]
        says["columns"] = header.get(b"Length", (None,))[0]
        says["score"] = header.get(b"Score", (None,))[0]
        names = header.get(b"1", (b"",))[0], header.get(b"2", (b"",))[0]
        sides = blocks[0::2], blocks[1::2]
        rows = [b"".join([block[2] for block in side]) for side in sides]
        spans = [number for side in sides for number in _span(side)]
        fault = None if blocks and len(blocks) % 2 == 0 else "columns"
        found.add(line, names, (rows[0], rows[1]), spans, says, fault)


def _span(side: list[tuple[bytes, bytes, bytes, bytes]]) -> tuple[int, int]:
    """Return the span that the positions at the ends of rows say; rows of gaps have no letters."""
    lettered = [block for block in (side[:1] + side[-1:]) if block[2].strip(_GAPS)]
    if len(lettered) < 2:
        lettered = [block for block in side if block[2].strip(_GAPS)]
    if not lettered:
        return 0, 0
    return int(lettered[0][1]) - 1, int(lettered[-1][3])
