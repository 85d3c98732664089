"""What the writers of all formats share; a text format adds little more than its header."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.errors import FormatError
from pairalign.formats.output import Output
from pairalign.formats.text import PairText, SetText
from pairalign.overlap_kinds import classify
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet
from pairalign.want import Detail

AnyWriter = TypeVar("AnyWriter", bound="Writer")
Buffer = npt.NDArray[np.uint8]

# Text of one chunk at most (bounds are generous: usually about half of it).
CHUNK_BYTES = 2 << 20
# A thread formats some 400 MB a second: so many keep up with the fastest disks and GPUs.
MOST_FORMATTERS = 16


@dataclass(frozen=True)
class Content:
    """What a file is going to hold.

    Attributes
    ----------
    queries, targets : SequenceSet
        The same object when one set is aligned with itself.
    scoring : Scoring
    detail : Detail
        What was computed for each pair.
    max_overhang : int or None
        Of overlaps, whose kinds a format may show: see `pairalign.overlap_kinds.classify`. None:
        the pairs are not looked at as overlaps.
    both_ways : bool
        Whether each pair comes a second time with query and target exchanged.
    """

    queries: SequenceSet
    targets: SequenceSet
    scoring: Scoring
    detail: Detail
    max_overhang: int | None = None
    both_ways: bool = False


class Writer(ABC):
    """Writes alignments to one output; a context manager that aborts when something was raised.

    Attributes
    ----------
    name : str
        What ``--format`` calls the format.
    suffixes : tuple of str
        Ends of file names that mean this format.
    needs : Detail
        The least that must have been computed for it.
    compressible : bool
        Whether ``.gz`` makes sense.
    either_strand : bool
        Whether it can hold alignments of a reverse-complemented query.
    of_pairs, of_overlaps : bool
        Whether it is a format of alignments, and of overlaps.
    both_ways : bool
        Whether it can have each pair a second time with query and target exchanged.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    needs: ClassVar[Detail]
    compressible: ClassVar[bool] = True
    either_strand: ClassVar[bool] = False
    of_pairs: ClassVar[bool] = True
    of_overlaps: ClassVar[bool] = False
    both_ways: ClassVar[bool] = False

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        self._output = output
        self._content = content
        self._threads = threads

    @classmethod
    def check(cls) -> None:
        """Raise FormatError if the format cannot be written here; before anything is opened."""
        return

    def write(self, alignments: Alignments) -> None:
        """Append alignments, in the order given. How they are cut into calls makes no difference.

        Parameters
        ----------
        alignments : Alignments
            Of the sets that the writer was opened for, with at least the detail it was opened for;
            more is not written.

        Raises
        ------
        FormatError
            If there are alignments of strand -1, and the format cannot say so.
        OutputError
            If they cannot be written; then call `abort` (leaving the ``with`` block does).
        """
        content = self._content
        strand = alignments.strand
        if not self.either_strand and strand is not None and (strand < 0).any():
            raise FormatError(f"{self.name} has no strands: write PAF or GFA instead")
        assert alignments.queries is content.queries
        assert alignments.targets is content.targets
        assert alignments.has_stats >= (content.detail >= Detail.STATS)
        assert alignments.has_cigar >= (content.detail >= Detail.CIGAR)
        if len(alignments):
            stats, cigar = content.detail < Detail.STATS, content.detail < Detail.CIGAR
            self._write(alignments.without(stats=stats, cigar=cigar))

    @abstractmethod
    def _write(self, alignments: Alignments) -> None:
        """Append at least one pair."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left and make the file appear under its name."""

    def abort(self) -> None:
        """Give up: remove what was written, where that can be done. Does nothing after `close`."""
        self._output.abort()

    def __enter__(self: AnyWriter) -> AnyWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


class TextWriter(Writer):
    """A text format: pairs are formatted in native code, in chunks, on several threads.

    Chunks are written in order and the text of a pair depends on nothing but the pair and its
    number, so bytes depend neither on threads nor on how pairs come in. With several threads a
    file is written behind: while the disk takes text, `write` goes on, and what cannot be written
    is said by a later `write` or by `close`. Memory: two buffers of `CHUNK_BYTES` for every
    thread and two more, or the text of one pair where that is larger.
    """

    format_code: ClassVar[int]

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        super().__init__(output, content, threads)
        queries = SetText(content.queries)
        same = content.targets is content.queries
        self._sets = queries, queries if same else SetText(content.targets)
        self._number = 1
        self._spare: list[Buffer] = []
        self._workers = min(threads, MOST_FORMATTERS)
        self._pool = ThreadPoolExecutor(self._workers, "format") if self._workers > 1 else None
        self._pending: deque[tuple[Future[int], Buffer]] = deque()
        # Not where a reader may make it wait: then only the main thread can be interrupted.
        behind = self._pool is not None and not output.waits_for_readers
        self._behind = ThreadPoolExecutor(1, "write") if behind else None
        self._unwritten: deque[Future[None]] = deque()
        self._output.write(self.header())

    def header(self) -> bytes:
        """Text before the first pair."""
        return b""

    def footer(self) -> bytes:
        """Text after the last pair."""
        return b""

    def block_header(self) -> bytes:
        """Text in the header of every pair, see cpu/text/text.h."""
        return b""

    def _write(self, alignments: Alignments) -> None:
        text = self._text(alignments)
        end = 0
        while end < len(alignments):
            begin = end
            end, shown, needed = text.plan(begin, CHUNK_BYTES)
            buffer = self._buffer(needed)
            if self._pool is None:
                self._flush(text.format(begin, end, self._number, buffer), buffer)
            else:
                arguments = begin, end, self._number, buffer
                self._pending.append((self._pool.submit(text.format, *arguments), buffer))
                self._drain(self._workers)
            self._number += shown
        self._drain(0)

    def _text(self, alignments: Alignments) -> PairText:
        overhang = self._content.max_overhang
        return PairText(
            alignments,
            *self._sets,
            self.format_code,
            self.block_header(),
            kinds=None if overhang is None else classify(alignments, overhang),
            dual=self._content.both_ways,
        )

    def _buffer(self, needed: int) -> Buffer:
        if needed <= CHUNK_BYTES and self._spare:
            return self._spare.pop()
        return np.empty(max(needed, CHUNK_BYTES), np.uint8)

    def _drain(self, left: int) -> None:
        while len(self._pending) > left:
            future, buffer = self._pending.popleft()
            self._flush(future.result(), buffer)

    def _flush(self, size: int, buffer: Buffer) -> None:
        if self._behind is None:
            self._write_out(size, buffer)
            return
        self._wait_for_writes(self._workers)
        self._unwritten.append(self._behind.submit(self._write_out, size, buffer))

    def _wait_for_writes(self, left: int) -> None:
        while len(self._unwritten) > left:
            self._unwritten.popleft().result()

    def _write_out(self, size: int, buffer: Buffer) -> None:
        self._output.write(buffer[:size].data)
        if buffer.nbytes == CHUNK_BYTES:
            self._spare.append(buffer)

    def close(self) -> None:
        """Write what is left and make the file appear under its name."""
        try:
            self._wait_for_writes(0)
            self._output.write(self.footer())
            self._output.close()
        finally:
            self.abort()

    def abort(self) -> None:
        """Give up: remove what was written, where that can be done. Does nothing after `close`."""
        self._pending.clear()
        self._unwritten.clear()
        for pool in (self._pool, self._behind):
            if pool is not None:
                pool.shutdown(cancel_futures=True)
        super().abort()
