"""Lines of pairs from several files, put into the order of output of one set.

What `pairalign update` writes: lines that an earlier run wrote, and lines of new pairs. A line is
copied as it is; which pair it is of is told by its names. Pairs are sorted as windows sort them
(`pairalign.pairs.windows`); lines of the same pair stay in the order in which they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pairalign.alignments.alignment_records import Layout, SetNames, read_lines
from pairalign.alignments.best_hits import number_pairs, pairs_of_numbers
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.error_types import PartsError
from pairalign.formats.output import Output
from pairalign.formats.writer import Writer
from pairalign.pairs.positions import order_keys
from pairalign.sequences.sets import SequenceSet

_BLOCK, _LINE = 4 << 20, 1 << 12
_LINES_A_WRITE = 1 << 16


@dataclass(frozen=True)
class _Lines:
    """Lines of one text: where they are, and `number_pairs` of them, the lower index first."""

    text: memoryview
    starts: Int64s
    ends: Int64s
    pairs: Int64s


class Interleaver:
    """Puts lines of pairs into the order of output.

    Parameters
    ----------
    writer : type of Writer
        A format that has `Writer.lines`.
    columns : (int, int)
        In which columns the names of query and target are.
    sequences : SequenceSet
        Of all pairs.
    window : int
        Rows and columns of a window.
    """

    def __init__(
        self,
        writer: type[Writer],
        columns: tuple[int, int],
        sequences: SequenceSet,
        window: int,
    ) -> None:
        assert writer.lines is not None
        self._lines = writer.lines
        roles = ["ignored"] * (1 + max(columns))
        roles[columns[0]], roles[columns[1]] = "query", "target"
        self._layout = Layout(tuple(roles), quotes=self._lines.quotes)
        self._writer = writer
        self._names = SetNames(sequences)
        self._window = window
        self._count = len(sequences)
        self._positions = np.empty(self._count, np.int64)
        self._positions[sequences.order] = np.arange(self._count)
        self._texts: list[_Lines] = []
        self._header = b""

    def add(self, text: memoryview, *, whole: bool, old: int | None = None) -> None:
        """Take the lines of a text, which stays open until `write`.

        Parameters
        ----------
        whole : bool
            Whether it begins with the header of the format; the last header that comes is written.
        old : int, optional
            All lines must be of pairs of the first `old` sequences.

        Raises
        ------
        PartsError
            A line is of no pair of the sequences.
        """
        start = self._end_of_header(text) if whole else 0
        if whole:
            self._header = bytes(text[:start])
        for first, stop in _blocks(text, start):
            self._texts.append(self._read(text[first:stop], old))

    def pairs(self) -> tuple[Int32s, Int32s]:
        """Return the pairs that have a line, each once: input indices, the lower first."""
        pairs = np.concatenate([np.empty(0, np.int64), *(text.pairs for text in self._texts)])
        return pairs_of_numbers(np.unique(pairs))

    def write(self, output: Output) -> None:
        """Write header and lines."""
        output.write(self._header)
        keys = [self._keys_of(text.pairs) for text in self._texts]
        order = np.argsort(np.concatenate([np.empty(0, np.int64), *keys]), kind="stable")
        del keys
        before = np.cumsum([0, *(len(text.pairs) for text in self._texts)])
        amend = self._writer.amender()
        for start in range(0, len(order), _LINES_A_WRITE):
            block = b"".join(self._runs(order[start : start + _LINES_A_WRITE], before))
            output.write(block if amend is None else amend(block))

    def _keys_of(self, pairs: Int64s) -> Int64s:
        """Return what sorts pairs as windows do."""
        first, second = (self._positions[side] for side in pairs_of_numbers(pairs))
        ends = np.minimum(first, second), np.maximum(first, second)
        return order_keys(*ends, self._count, self._window)

    def _runs(self, numbers: Int64s, before: Int64s) -> Iterator[memoryview]:
        """Yield the text of some lines; lines that follow each other in a text come together."""
        sources = np.searchsorted(before, numbers, side="right") - 1
        breaks = np.flatnonzero((np.diff(numbers) != 1) | (np.diff(sources) != 0)) + 1
        firsts = np.concatenate(([0], breaks))
        lasts = np.concatenate((breaks, [len(numbers)])) - 1
        for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
            lines, offset = self._texts[sources[first]], before[sources[first]]
            yield lines.text[
                lines.starts[numbers[first] - offset] : lines.ends[numbers[last] - offset]
            ]

    def _end_of_header(self, text: memoryview) -> int:
        """Return where the first line of a pair begins."""
        comment, left, end = self._lines.comment, self._lines.header_lines, 0
        while end < len(text) and (
            left > 0 or (comment and text[end : end + len(comment)] == comment)
        ):
            end, left = _after_line(text, end), left - 1
        return end

    def _read(self, text: memoryview, old: int | None) -> _Lines:
        block = bytes(text)
        if block and not block.endswith(b"\n"):
            raise PartsError("the last line of a part is not whole")
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
        starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
        columns = self._lines.as_columns(block)
        records = read_lines(columns, self._layout, (self._names, self._names)).records
        query, target = records["query"], records["target"]
        most = self._count if old is None else old
        wrong = (query < 0) | (target < 0) | (query >= most) | (target >= most)
        if len(records) != len(ends) or wrong.any():
            raise PartsError("a line of a part has a name that no sequence of its run has")
        pairs = number_pairs(np.minimum(query, target), np.maximum(query, target))
        return _Lines(text, starts, ends, pairs)


def _after_line(text: memoryview, start: int) -> int:
    """Return where the line that has a byte ends."""
    for at in range(start, len(text), _LINE):
        end = bytes(text[at : at + _LINE]).find(b"\n")
        if end >= 0:
            return at + end + 1
    return len(text)


def _blocks(text: memoryview, start: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole lines of about `_BLOCK` bytes."""
    while start < len(text):
        stop = _after_line(text, min(start + _BLOCK, len(text)) - 1)
        yield start, stop
        start = stop
