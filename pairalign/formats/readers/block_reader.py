"""MAF, Stockholm and A3M: blocks of lines, read as lines of a table."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator

import numpy as np

from pairalign.alignments.alignment_records import AlignmentRecords, Layout, SetNames, read_lines
from pairalign.base.error_types import AlignmentFileError
from pairalign.base.texts import is_whole, words_of
from pairalign.formats.readers.reader import RecordReader, no_pairs

_RANGE = re.compile(r"(.*)/([0-9]{1,18})-([0-9]{1,18})\Z", re.DOTALL)
_SPANS_AND_ROWS = (
    *("query", "target", "query_start", "query_end", "target_start", "target_end"),
    *("query_row", "target_row", "says_score"),
)
Row = tuple[int, tuple[str, ...]]
"""The number of a line, from 0 in its piece, and the columns of the layout; fewer where the block
is not whole."""


class BlockReader(RecordReader):
    """Reads blocks: each becomes a line of columns, which native code reads.

    Attributes
    ----------
    layout : Layout
        What the columns are.
    """

    layout: Layout

    def read(self, piece: bytes) -> AlignmentRecords:
        """Read some blocks."""
        lines = piece.decode("utf-8", "surrogateescape").replace("\r", "").split("\n")
        rows = list(self._rows(lines))
        # A line without anything would be no record.
        table = "".join(("\t".join(columns) or "*") + "\n" for _, columns in rows)
        batch = read_lines(table.encode("utf-8", "surrogateescape"), self.layout, self.names)
        batch.records["line"] = np.array([line for line, _ in rows], np.int64)
        return AlignmentRecords(
            batch.text, batch.records, batch.runs, piece.count(b"\n"), batch.others
        )

    @abstractmethod
    def _rows(self, lines: list[str]) -> Iterator[Row]:
        """Yield the columns of each block."""


class MafReader(BlockReader):
    """MAF of two rows a block: first the target, then the query, as LAST and UCSC have it.

    ``score=``, and of rows name, start, size, strand, length and residues. On strand ``-`` starts
    count from the other end. Lines of other kinds are not looked at.
    """

    name = "maf"
    suffixes = (".maf",)
    never_checked = ("lines but a and s",)
    layout = Layout(
        (*_SPANS_AND_ROWS, "strand", "says_query_length", "says_target_length"),
    )

    def _cut(self, text: bytes) -> int:
        return text.rfind(b"\na") + 1

    def _rows(self, lines: list[str]) -> Iterator[Row]:
        block: list[list[str]] = []
        first, score = -1, "*"
        for number, line in enumerate([*lines, "a"]):
            if line[:1] == "a":
                if first >= 0:
                    yield first, self._columns(block, score)
                block, first = [], number
                words = dict(word.partition("=")[::2] for word in words_of(line)[1:])
                score = words["score"].replace("*", "?") if "score" in words else "*"
            elif line[:1] == "s":
                block.append(words_of(line)[1:])
                if first < 0:  # no line that begins a block
                    yield number, ("",)

    @staticmethod
    def _columns(block: list[list[str]], score: str) -> tuple[str, ...]:
        if len(block) != 2 or any(len(row) != 6 for row in block):
            names = [row[0] for row in block if row]
            return tuple((*names[1:2], *names[:1])) or ("",)
        target, query = block
        if target[3] != "+":
            query = [*query[:3], "?", *query[4:]]  # refused: what is along the target has no strand
        spans = (*_maf_span(query), *_maf_span(target))
        rows = (query[5], target[5], score, query[3], query[4], target[4])
        return (query[0], target[0], *spans, *rows)


def _maf_span(row: list[str]) -> tuple[str, str]:
    """Return start and end on the original strand; what is no number stays as it is."""
    if not all(is_whole(word) for word in (row[1], row[2], row[4])):
        return row[1], row[4] if is_whole(row[2]) else row[2]
    start, size, length = int(row[1]), int(row[2]), int(row[4])
    if row[3] == "-":
        start = length - start - size
    return str(start), str(start + size)


class StockholmReader(BlockReader):
    """Stockholm of two rows an alignment: query and target.

    Rows are named ``NAME/FIRST-LAST``, from 1; without that they show whole sequences. ``#=GF SC``
    is the score. Rows may come in several blocks.
    """

    name = "stockholm"
    suffixes = (".sto", ".stk", ".stockholm")
    never_checked = ("#= lines but SC",)
    layout = Layout(_SPANS_AND_ROWS)

    def _cut(self, text: bytes) -> int:
        end = text.rfind(b"\n//")
        return text.find(b"\n", end + 1) + 1 if end >= 0 else 0

    def _rows(self, lines: list[str]) -> Iterator[Row]:
        rows: dict[str, str] = {}
        score, first = "*", -1
        for number, line in enumerate(lines):
            if line.startswith("//"):
                if len(rows) > 2:
                    raise AlignmentFileError(f"{self.source}: {no_pairs()}")
                yield max(first, 0), self._columns(rows, score)
                rows, score, first = {}, "*", -1
            elif not words_of(line):
                continue
            else:
                if first < 0 and not line.startswith("# STOCKHOLM 1."):
                    raise AlignmentFileError(
                        f"{self.source}: {line[:20]!r} begins an alignment, expected '# STOCKHOLM'"
                    )
                first = number if first < 0 else first
                words = words_of(line)
                if words[:2] == ["#=GF", "SC"]:
                    score = " ".join(words[2:]).replace("*", "?")
                elif line[0] != "#":
                    rows[words[0]] = rows.get(words[0], "") + "".join(words[1:])
        if first >= 0:
            yield first, tuple(_named(name)[0] for name in rows)[:2] or ("",)

    @staticmethod
    def _columns(rows: dict[str, str], score: str) -> tuple[str, ...]:
        if len(rows) != 2:
            return tuple(_named(name)[0] for name in rows)[:2] or ("",)
        query_row, target_row = rows.values()
        spans: list[int] = []
        names: list[str] = []
        for name, row in rows.items():
            plain, span = _named(name)
            names.append(plain)
            spans += span or (0, sum(letter not in "-." for letter in row))
        return (*names, *map(str, spans), query_row, target_row, score)


def _named(name: str) -> tuple[str, tuple[int, int] | None]:
    """Take a row's name apart; coordinates from 0."""
    match = _RANGE.match(name)
    return (match[1], (int(match[2]) - 1, int(match[3]))) if match else (name, None)


class A3mReader(BlockReader):
    """A3M: the query, then a record a target.

    Capital residues and ``-`` stand under the query's residues, small ones between them; the
    headers' ``start=``, ``end=`` and ``score=``. In modes without free ends gaps at the ends are
    part of the alignment, else the query's residues opposite them are left out.
    """

    name = "a3m"
    suffixes = (".a3m",)
    layout = Layout(_SPANS_AND_ROWS)
    has_two_readings = True

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole records; the query is that of the first."""
        pieces = self._text_pieces()
        first = next(pieces, b"")
        while first.count(b"\n>") < 1 and (more := next(pieces, None)) is not None:
            first += more
        end = first.find(b"\n>") + 1 or len(first)
        lines = first[:end].decode("utf-8", "surrogateescape").split("\n")
        if first and not lines[0].startswith(">"):
            raise AlignmentFileError(f"{self.source}: line 1: no record of the query")
        self._query = (words_of(lines[0][1:]) or [""])[0]
        self._residues = "".join(lines[1:]).strip()
        self.lines_before = first[:end].count(b"\n")
        is_named = is_known(self.names[0], self._query, None)  # else its records say so
        rest = first[end:].strip()
        is_checked = bool(first) and (is_named or not rest)
        if is_checked and not is_known(self.names[0], self._query, self._residues):
            raise AlignmentFileError(f"{self.source}: its query is none of the sequences")
        if rest:
            yield first[end:]
        yield from pieces

    def _cut(self, text: bytes) -> int:
        return text.rfind(b"\n>") + 1

    def _rows(self, lines: list[str]) -> Iterator[Row]:
        header, row, first = "", "", -1
        for number, line in enumerate([*lines, ">"]):
            if line.startswith(">"):
                if first >= 0:
                    yield first, self._columns(header, row)
                header, row, first = line[1:], "", number
            else:
                row += line.strip()

    def _columns(self, header: str, row: str) -> tuple[str, ...]:
        name, *words = words_of(header) or [""]
        said = dict(word.partition("=")[::2] for word in words)
        query, rows = iter(self._residues), ["", ""]
        for letter in row:
            between = letter.islower()
            if letter != ".":
                rows[0] += "-" if between else next(query, "?")
                rows[1] += letter
        rows[0] += "".join(query)  # too short a row: rows of different lengths
        start, end = 0, len(self._residues)
        if not self.whole:
            start = len(rows[1]) - len(rows[1].lstrip("-"))
            behind = len(rows[1]) - len(rows[1].rstrip("-"))
            rows = [gapped_row[start : len(gapped_row) - behind] for gapped_row in rows]
            end -= behind
        residues = len(row.replace("-", "").replace(".", ""))
        spans = (str(start), str(end), said.get("start", "0"), said.get("end", str(residues)))
        return (self._query, name, *spans, *rows, said.get("score", "*"))


def is_known(names: SetNames, name: str, residues: str | None) -> bool:
    """Whether a set has a sequence of this name and, where they are said, of these residues."""
    place = int(names.find([name])[0])
    if place < 0:
        return False
    return residues is None or names.residues_of(place).upper() == residues.upper()
