"""Lines of pairs from several files, put into the order of output of one set.

What `pairalign update` writes: lines that an earlier run wrote, and lines of new pairs. A line is
copied as it is; which pair it is of is told by its names. Pairs are sorted as windows sort them
(`pairalign.pairs.windows`), hits as they are ranked; lines of the same pair stay in the order in
which they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.alignments.best_hits import number_pairs, pairs_of_numbers
from pairalign.alignments.records import CLAIMS, UNSAID, Layout, SetNames, read_lines
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.errors import PartsError
from pairalign.formats.output import Output
from pairalign.pairs.positions import order_keys
from pairalign.sequences.sets import SequenceSet

COLUMNS_OF_NAMES = {"paf": (0, 5), "sam": (0, 2), "abc": (0, 1)}
"""In which columns the names of query and target are, of formats where that is always so."""
LINE_FORMATS = (*COLUMNS_OF_NAMES, "tsv", "blast6", "blast7")
"""Formats that have a line for each alignment, and a header at most."""
_COLUMNS_BEFORE_TAGS = {"paf": 12, "sam": 11}
"""Of formats whose lines say the score in a tag."""
_SCORES = ("score", "raw")
_COMMENTS = {"sam": b"@", "blast7": b"#"}
_HEADER_LINES = {"tsv": 1}
_BLOCK = 4 << 20
_LINES_A_WRITE = 1 << 16
_FLAG = re.compile(rb"^([^\t\n]+)\t(\d+)\t", re.MULTILINE)
_SECONDARY = 256


@dataclass(frozen=True)
class _Lines:
    """Lines of one text: where they are, the keys of their pairs, and their scores if asked."""

    text: memoryview
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    keys: npt.NDArray[np.int64]
    scores: npt.NDArray[np.int64]


class Interleaver:
    """Puts lines of pairs into the order of output.

    Parameters
    ----------
    format : str
        One of `LINE_FORMATS`.
    columns : (int, int)
        In which columns the names of query and target are.
    sequences : SequenceSet
        Of all pairs.
    window : int
        Rows and columns of a window.
    scale : int, optional
        Lines are of hits, whose score they say: a raw score is the score times this.
    score : int, optional
        The column of the score, where that is no tag.
    """

    def __init__(
        self,
        format: str,
        columns: tuple[int, int],
        sequences: SequenceSet,
        window: int,
        *,
        scale: int | None = None,
        score: int | None = None,
    ) -> None:
        tags = _COLUMNS_BEFORE_TAGS.get(format, 0) if scale is not None else 0
        roles = ["ignored"] * max(*(k + 1 for k in columns), tags, 1 + (score or 0))
        roles[columns[0]], roles[columns[1]] = "query", "target"
        if score is not None:
            roles[score] = "says_score"
        self._layout = Layout(tuple(roles), quotes=format == "tsv", tags=tags > 0)
        self._scale = scale
        self._format = format
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
        text : memoryview
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

    def hits(self) -> tuple[Int32s, Int32s, Int32s] | None:
        """Return query, target and raw score of each hit; None where a line does not say it."""
        keys = self._keys()
        scores = np.concatenate([np.empty(0, np.int64), *(one.scores for one in self._texts)])
        if (scores == UNSAID).any():
            return None
        order = np.lexsort((-scores, keys))  # of several alignments the best
        keys, first = np.unique(keys[order], return_index=True)
        return *pairs_of_numbers(keys), scores[order][first].astype(np.int32)

    def pairs(self) -> tuple[Int32s, Int32s]:
        """Return the pairs that have a line, each once: input indices, the lower first."""
        keys = np.unique(self._keys())
        if self._scale is None:
            return self._indices_of(keys)
        query, target = pairs_of_numbers(keys)
        pairs = number_pairs(np.minimum(query, target), np.maximum(query, target))
        return pairs_of_numbers(np.unique(pairs))

    def _keys(self) -> npt.NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *(one.keys for one in self._texts)])

    def write(self, output: Output, ranked: Int64s | None = None) -> int:
        """Write header and lines; return how many lines that is.

        Parameters
        ----------
        output : Output
        ranked : ndarray of int64, optional
            Of hits `number_pairs` in the order of output; lines of others are left out.
        """
        output.write(self._header)
        keys = self._keys()
        if ranked is not None:
            keys = _places(keys, ranked)
        order = np.argsort(keys, kind="stable")
        order = order[np.searchsorted(keys[order], 0) :]
        counts = [len(one.keys) for one in self._texts]
        before = np.cumsum([0, *counts])
        del keys
        seen: set[bytes] = set()
        for start in range(0, len(order), _LINES_A_WRITE):
            block = b"".join(self._runs(order[start : start + _LINES_A_WRITE], before))
            output.write(_with_first_records(block, seen) if self._format == "sam" else block)
        return len(order)

    def _runs(
        self, numbers: npt.NDArray[np.int64], before: npt.NDArray[np.int64]
    ) -> Iterator[memoryview]:
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
        comment, lines = _COMMENTS.get(self._format), _HEADER_LINES.get(self._format, 0)
        end = 0
        for first, stop in _blocks(text, 0):
            block = bytes(text[first:stop])
            at = 0
            while at < len(block):
                if lines == 0 and (comment is None or block[at : at + 1] != comment):
                    return end
                at = block.find(b"\n", at) + 1 or len(block)
                end, lines = first + at, max(lines - 1, 0)
        return end

    def _read(self, text: memoryview, old: int | None) -> _Lines:
        block = bytes(text)
        if block and not block.endswith(b"\n"):
            raise PartsError("the last line of a part is not whole")
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
        starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
        records = read_lines(block, self._layout, (self._names, self._names)).records
        query, target = records["query"].astype(np.int64), records["target"].astype(np.int64)
        most = self._count if old is None else old
        wrong = (query < 0) | (target < 0) | (query >= most) | (target >= most)
        if len(records) != len(ends) or wrong.any():
            raise PartsError("a line of a part has a name that no sequence of its run has")
        scores = np.empty(0, np.int64)
        if self._scale is None:
            first, second = self._positions[query], self._positions[target]
            keys = order_keys(
                np.minimum(first, second), np.maximum(first, second), self._count, self._window
            )
        else:
            keys = number_pairs(records["query"], records["target"])
            scores = _raw_scores(records, self._scale)
        return _Lines(text, starts, ends, keys, scores)

    def _indices_of(self, keys: npt.NDArray[np.int64]) -> tuple[Int32s, Int32s]:
        size = self._window * self._window
        blocks = -(-self._count // self._window)
        window, place = np.divmod(keys, size)
        rows = window // blocks * self._window + place // self._window
        columns = window % blocks * self._window + place % self._window
        indices = np.empty(self._count, np.int32)
        indices[self._positions] = np.arange(self._count, dtype=np.int32)
        first, second = indices[rows], indices[columns]
        return np.minimum(first, second), np.maximum(first, second)


def columns_of_names(format: str, fields: Sequence[str]) -> tuple[int, int] | None:
    """Return the columns of query and target of a format; None where they are not told by lines.

    Parameters
    ----------
    format : str
    fields : sequence of str
        The columns that were chosen; empty: those of the format.
    """
    if format not in LINE_FORMATS:
        return None
    if format in COLUMNS_OF_NAMES:
        return COLUMNS_OF_NAMES[format]
    if not fields:
        return 0, 1
    found = [
        next((place for place, field in enumerate(fields) if field in names), None)
        for names in (("query", "qseqid"), ("target", "sseqid"))
    ]
    if found[0] is None or found[1] is None:
        return None
    return found[0], found[1]


def column_of_score(format: str, fields: Sequence[str], header: bytes) -> int | None:
    """Return the column of a table that has the score; None: none has.

    Parameters
    ----------
    format : str
        One of `LINE_FORMATS`.
    fields : sequence of str
        The columns that were chosen; empty: those of the format.
    header : bytes
        The first line.
    """
    names = list(fields)
    if format == "tsv" and not names:
        names = header.decode().split()
    return next((place for place, name in enumerate(names) if name in _SCORES), None)


def _raw_scores(records: npt.NDArray[np.void], scale: int) -> npt.NDArray[np.int64]:
    """Return raw scores of lines; `UNSAID` where one says none that there can be."""
    place = CLAIMS.index("score")
    says, unit = records["says"][:, place], 10 ** records["decimals"][:, place].astype(np.int64)
    are_said = says != UNSAID
    scaled = np.where(are_said, says, 0) * scale
    found: npt.NDArray[np.int64] = np.where(are_said & (scaled % unit == 0), scaled // unit, UNSAID)
    return found


def _places(keys: npt.NDArray[np.int64], ranked: Int64s) -> npt.NDArray[np.int64]:
    """Return where keys are in `ranked`, -1 where they are not."""
    if not len(ranked):
        return np.full(len(keys), -1)
    order = np.argsort(ranked)
    places = np.searchsorted(ranked[order], keys)
    places[places == len(order)] = 0
    found = order[places]
    return np.where(ranked[found] == keys, found, -1)


def _blocks(text: memoryview, start: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole lines of about `_BLOCK` bytes."""
    while start < len(text):
        stop = min(start + _BLOCK, len(text))
        while stop < len(text):
            end = bytes(text[start:stop]).rfind(b"\n") + 1
            if end:
                stop = start + end
                break
            stop = min(stop + _BLOCK, len(text))
        yield start, stop
        start = stop


def _with_first_records(text: bytes, seen: set[bytes]) -> bytes:
    """Make the first record of each query primary and the others secondary; add queries."""

    def amend(found: re.Match[bytes]) -> bytes:
        flag = int(found[2]) & ~_SECONDARY
        if found[1] in seen:
            flag |= _SECONDARY
        seen.add(found[1])
        return b"%s\t%d\t" % (found[1], flag)

    return _FLAG.sub(amend, text)
