"""GFA: what it says of reads, and of their overlaps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pairalign.alignments.alignment_records import Layout
from pairalign.base.error_types import AlignmentFileError, shown_name
from pairalign.base.texts import is_whole
from pairalign.formats.readers.block_reader import BlockReader, Row, is_known

_RUN = re.compile(r"([0-9]{1,18})([MIDX=])")


class GfaReader(BlockReader):
    """GFA 1 of reads: segments are the sequences, links and containments are records.

    Links and containments have names, orientations, a coordinate, and a CIGAR whose residues must
    be inside of the segments; a contained segment is aligned whole. ``NM`` is of all columns, or of
    a local alignment in them, with all gaps: a CIGAR goes on to the ends of the segments. In
    modes that align ends, it is of all columns.
    """

    name = "gfa"
    suffixes = (".gfa",)
    never_checked = ("tags but LN, NM and on",)
    layout = Layout(
        (
            *("query", "target", "strand", "query_start", "query_end"),
            *("target_start", "target_end", "cigar", "says_edits_of_part"),
        )
    )

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole lines; their segments are checked before.

        Raises
        ------
        AlignmentFileError
            A segment is not one of the sequences.
        """
        self._names: dict[str, str] = {}
        line = 0
        for piece in self._text_pieces():
            for text in piece.split(b"\n"):
                line += 1
                if text.startswith(b"S\t"):
                    self._take_segment(text.decode("utf-8", "surrogateescape").rstrip("\r"), line)
            line -= 1
            yield piece

    def _take_segment(self, text: str, line: int) -> None:
        _, name, residues, *tags = [*text.split("\t"), "", ""]
        sequence_name = next((tag[5:] for tag in tags if tag.startswith("on:Z:")), name)
        said = next((tag[5:] for tag in tags if tag.startswith("LN:i:")), None)
        where = f"{self.source}: line {line}: segment {shown_name(name)}"
        if not any(
            is_known(names, sequence_name, None if residues == "*" else residues)
            for names in self.names
        ):
            raise AlignmentFileError(f"{where} is none of the sequences, or has other residues")
        length = self._length(0, sequence_name, self._length(1, sequence_name, 0))
        if said not in (None, str(length)):
            raise AlignmentFileError(f"{where} has LN:i:{said} and {length:,} residues")
        if name in self._names:
            raise AlignmentFileError(f"{where} comes a second time")
        self._names[name] = sequence_name

    def _rows(self, lines: list[str]) -> Iterator[Row]:
        for number, line in enumerate(lines):
            words = line.split("\t")
            if words[0] in ("L", "C"):
                least = 6 if words[0] == "L" else 7
                names = tuple(self._names.get(words[k], words[k]) for k in (3, 1) if k < len(words))
                is_whole = len(words) >= least and {words[2], words[4]} <= {"+", "-"}
                yield number, self._columns(words, names) if is_whole else names or ("",)
            elif line and line[0] != "#" and not (len(words[0]) == 1 and words[0].isalpha()):
                yield number, ("",)

    def _columns(self, words: list[str], names: tuple[str, ...]) -> tuple[str, ...]:
        """Return columns of a line; its first segment is the target, which D consumes alone."""
        turned = [words[4] == "-", words[2] == "-"]
        written = words[5 + (words[0] == "C")]
        runs = _RUN.findall(written)
        is_read = "".join(length + op for length, op in runs) == written
        if not is_read:
            runs = []
        used = [sum(int(n) for n, op in runs if op != other) for other in ("D", "I")]
        lengths = [self._length(side, names[side], used[side]) for side in (0, 1)]
        if words[0] == "L":
            # The end of the first, as it is oriented, and the beginning of the second.
            starts = [
                lengths[0] - used[0] if turned[0] else 0,
                0 if turned[1] else lengths[1] - used[1],
            ]
        else:
            starts = [0, int(words[5]) if is_whole(words[5]) else -1]
            used[0] = lengths[0]  # all of it
        if turned[1]:  # records run along the target
            runs = runs[::-1]
        cigar = "".join(length + op for length, op in runs) if is_read else "?"
        strand = "-" if turned[0] != turned[1] else "+"
        spans = (
            str(start + more) for start, n in zip(starts, used, strict=True) for more in (0, n)
        )
        return (*names, strand, *spans, cigar, _edits(words[6 + (words[0] == "C") :]))

    def _length(self, side: int, name: str, used: int) -> int:
        place = int(self.names[side].find([name])[0])
        return int(self.names[side].lengths[place]) if place >= 0 else used


def _edits(tags: list[str]) -> str:
    """Return the edits that ``NM`` states; ``*``: none are stated, ``?``: they cannot be read."""
    said = [tag for tag in tags if tag.startswith("NM:")]
    if not said:
        return "*"
    return said[0][5:] if len(said) == 1 and re.fullmatch("NM:i:[0-9]+", said[0]) else "?"
