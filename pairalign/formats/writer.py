"""What the writers of all formats share; a text format adds little more than its header."""

from __future__ import annotations

import itertools
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.fields import TIES, TITLE_CODES, Field, run_along_query
from pairalign.base.arrays import Bools, Int32s, Int64s, UInt8s
from pairalign.base.choices import OVERLAP_KINDS, WEIGHTS
from pairalign.base.error_types import FormatError
from pairalign.base.texts import tsv_of
from pairalign.formats.names import NameRule
from pairalign.formats.output import Abortable, Output
from pairalign.formats.text import Besides, FileText, PairText, SetText
from pairalign.formats.text_queue import Behind, Carrier, NativeCarrier, TextQueue
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.block_set import whole_of
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.alignments.tie_counts import OpenTally, TieCounter
    from pairalign.statistics.significance import Significance


_NAMES = (("query", "qseqid"), ("target", "sseqid"))

Amender = Callable[[bytes], bytes]
"""Takes some whole lines of a file, in order; returns them as they are after those before."""


def renumber(number: re.Pattern[bytes], lines: int = 1) -> Amender:
    """Return what numbers the pairs of a file, each of which has some lines with its number.

    Parameters
    ----------
    number : re.Pattern
        What is before a number, and the number.
    """
    count = itertools.count(lines)
    return partial(number.sub, lambda match: match[1] + b"%d" % (next(count) // lines))


@dataclass(frozen=True)
class PairLines:
    """Lines of columns between tabs, after a header at most.

    Attributes
    ----------
    names : (int, int)
        The columns of query and target, where columns are not chosen.
    quotes : bool
        Whether names that have quotes are between quotes.
    comment : bytes
        What lines of the header begin with; empty: there are none such.
    header_lines : int
        Lines of another header.
    """

    names: tuple[int, int] = (0, 1)
    quotes: bool = False
    comment: bytes = b""
    header_lines: int = 0

    def columns_of_names(self, fields: Sequence[str]) -> tuple[int, int] | None:
        """Return the columns of query and target; None: one is in none.

        Parameters
        ----------
        fields : sequence of str
            The columns that were chosen; empty: those of the format.
        """
        if not fields:
            return self.names
        columns = [_first_of(names, fields) for names in _NAMES]
        return None if columns[0] is None or columns[1] is None else (columns[0], columns[1])

    def as_columns(self, text: bytes) -> bytes:
        """Return whole lines as columns between tabs, as many lines."""
        return text


class CsvLines(PairLines):
    """Lines of cells between commas."""

    def as_columns(self, text: bytes) -> bytes:
        """Return whole lines as columns between tabs, as many lines."""
        return tsv_of(text)


def _first_of(names: Sequence[str], fields: Sequence[str]) -> int | None:
    return next((place for place, field in enumerate(fields) if field in names), None)


CHUNK_BYTES = 1 << 20  # text of one piece at most; usually about half of it
MOST_FORMATTERS = 32  # of some 400 MB a second each: they keep up with the fastest disks and GPUs

PLAIN_CIGAR = "M"
TAGS = {"tp": 1, "cs": 2, "MD": 4, PLAIN_CIGAR: 8, "pp": 16}
"""What lines may have besides, and CIGARs with M for = and X; bits of ``pairalign_tag``."""


class Piece(NamedTuple):
    """Which part of a whole file is written; the parts, one after the other, are the file.

    Attributes
    ----------
    first, last : bool
        Whether it has what comes before all pairs, and after them.
    number : int
        Of its first pair, counted from 1, where a format numbers pairs.
    """

    first: bool = True
    last: bool = True
    number: int = 1


WHOLE = Piece()


class Confidence(Protocol):
    """Says how sure each column is: `pairalign.engines.posterior_engines` has it."""

    def marks(self, alignments: Alignments) -> tuple[UInt8s, Int64s]:
        """Return a mark for each column, and where those of each alignment begin."""


class Shown(NamedTuple):
    """What a file shows of pairs besides what its format has.

    Attributes
    ----------
    fields : tuple of Field
        The columns of a table, where they were chosen.
    both_ways : bool
        Whether each pair comes a second time with query and target exchanged.
    tags : frozenset of str
        Some of `TAGS`.
    weight : str
        What the weight of an edge is, one of `WEIGHTS`.
    strands : bool
        Whether pairs may be on either strand, which tables then say.
    """

    fields: tuple[Field, ...] = ()
    both_ways: bool = False
    tags: frozenset[str] = frozenset()
    weight: str = WEIGHTS[0]
    strands: bool = False

    @property
    def has_usual_rows(self) -> bool:
        """Whether a table has a row a pair, with the columns of one strand."""
        return not (self.both_ways or self.strands or self.fields)

    @property
    def has_ties(self) -> bool:
        """Whether optimal alignments are counted."""
        return any(field.code == TIES for field in self.fields)


NOTHING_MORE = Shown()


class Content(NamedTuple):
    """What a file is going to hold.

    Attributes
    ----------
    queries, targets : SequenceSet
        The same object when one set is aligned with itself.
    detail : Detail
        What was computed for each pair.
    shown : Shown
        What is shown besides what the format has.
    max_overhang : int or None
        Of overlaps, whose kinds a format may show: see `pairalign.reads.overlap_kinds.classify`.
        None: the pairs are not looked at as overlaps.
    labels : ndarray of int32, or None
        Number of each query's cluster, for networks.
    significance : Significance or None
        What bit scores and E-values are made of; None: they are not known.
    kept : ndarray of bool, or None
        Of overlaps: reads that are in a graph; None: all.
    confidence : Confidence or None
        How sure columns are, where that is shown.
    open_tally : callable, or None
        Opens devices that count optimal alignments; None: cores count.
    """

    queries: SequenceSet
    targets: SequenceSet
    scoring: Scoring
    detail: Detail
    shown: Shown = NOTHING_MORE
    max_overhang: int | None = None
    piece: Piece = WHOLE
    labels: Int32s | None = None
    significance: Significance | None = None
    kept: Bools | None = None
    confidence: Confidence | None = None
    open_tally: OpenTally | None = None

    @property
    def are_overlaps(self) -> bool:
        """Whether the pairs are looked at as overlaps."""
        return self.max_overhang is not None

    def tie_counter(self, threads: int) -> TieCounter | None:
        """Return what counts the optimal alignments of pairs; None where no column shows them."""
        if not self.shown.has_ties:
            return None
        from pairalign.alignments.tie_counts import TieCounter

        sets = self.queries, self.targets
        return TieCounter(*sets, self.scoring, threads, open_tally=self.open_tally)


class Writer(Abortable):
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
    takes_both_ways : bool
        Whether it can have each pair a second time with query and target exchanged.
    pairs_once : bool
        Whether it has a pair once, whichever sequence is the query.
    joined : bool
        Whether `join_files` makes one of its parts, and of what is before and after a `flush`.
    lines : PairLines or None
        How it has a line for each alignment, if it has: `update` then copies lines.
    adds_pairs : bool
        Whether `join_files` adds pairs of more sequences to those of a run, and `pairs_of` reads
        them: of formats without an order.
    weighted : bool
        Of networks: whether an edge has one weight.
    shows_statistics : bool
        Whether it says what E-values are made of, whatever it shows of a pair.
    adds_confidence : bool
        Whether a table of alignments by expected accuracy has a column of their confidence, where
        columns are not chosen.
    shows_confidence : bool
        Whether alignments by expected accuracy come with that of their columns.
    held_bytes : int
        What it holds at most, where that is much.
    shows_qualities : bool
        Whether it has the qualities of queries, where they are known.
    kind_counts : ndarray of int64, shape (5,)
        How many overlaps of each kind it was given, see `pairalign.reads.overlap_kinds`; 0 of
        alignments.
    of_block : bool
        Whether the sequences of a part will do, and `pairalign.sequences.block_set.slices` of all.
    default_fields : tuple of Field or None
        The columns of a table, where they can be chosen; empty: they follow from what was computed.
    known_fields : frozenset of str or None
        The columns that it can have; None: all.
    needed_fields : tuple of str
        Those that it cannot be without, where columns are chosen.
    fields_once : bool
        Whether it can have a column once.
    known_tags : tuple of str
        Some of `TAGS` that it can have.
    name_rules : tuple of NameRule
        Which names of queries and of targets it can hold; empty: all.

    Raises
    ------
    FormatError
        By the constructor, for a name that the format cannot hold.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    needs: ClassVar[Detail]
    compressible: ClassVar[bool] = True
    either_strand: ClassVar[bool] = False
    takes_both_ways: ClassVar[bool] = False
    pairs_once: ClassVar[bool] = False
    joined: ClassVar[bool] = False
    lines: ClassVar[PairLines | None] = None
    adds_pairs: ClassVar[bool] = False
    weighted: ClassVar[bool] = False
    shows_statistics: ClassVar[bool] = False
    adds_confidence: ClassVar[bool] = False
    shows_confidence: ClassVar[bool] = False
    shows_qualities: ClassVar[bool] = False
    held_bytes: ClassVar[int] = 0
    of_block: ClassVar[bool] = False
    default_fields: ClassVar[tuple[Field, ...] | None] = None
    known_fields: ClassVar[frozenset[str] | None] = None
    needed_fields: ClassVar[tuple[str, ...]] = ()
    fields_once: ClassVar[bool] = False
    known_tags: ClassVar[tuple[str, ...]] = ()
    shows_residues: ClassVar[bool] = True  # without tags and chosen columns
    name_rules: ClassVar[tuple[NameRule, ...]] = ()

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        self._check_names(content)
        self._output = output
        self._content = content
        self._threads = threads
        self._ties = content.tie_counter(threads)
        self.kind_counts = np.zeros(len(OVERLAP_KINDS), np.int64)

    def _check_names(self, content: Content) -> None:
        """Raise FormatError for a name that the format cannot hold; a first piece looks at all."""
        sets = (content.queries, content.targets)[: len(self.name_rules)]
        for rule, sequences in zip(self.name_rules, sets, strict=True):
            rule.check(whole_of(sequences) if content.piece.first else sequences)

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
        if alignments.strand is not None and (alignments.strand < 0).any():
            if not self.either_strand:
                raise FormatError(f"{self.name} has no strands: write PAF, SAM or TSV instead")
            assert content.shown.strands, "opened for pairs of one strand"
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

    @classmethod
    def join_files(cls, files: Iterable[Any], output: Output, threads: int = 1) -> None:
        """Make one file of several, in order, where the format is `joined`; does not close it."""
        raise NotImplementedError

    @classmethod
    def amender(cls) -> Amender | None:
        """Return what is given all lines of a file, where some depend on what comes before them."""
        return None

    @classmethod
    def pairs_of(cls, data: memoryview) -> tuple[Int32s, Int32s]:
        """Return input indices of the pairs of a file of one set, the lower first."""
        raise NotImplementedError

    @abstractmethod
    def close(self) -> None:
        """Write what is left and make the file appear under its name."""

    @abstractmethod
    def flush(self) -> None:
        """Wait until the output has all that was written."""

    def abort(self) -> None:
        """Give up: remove what was written, where that can be done. Does nothing after `close`."""
        self._output.abort()
        if self._ties is not None:
            self._ties.close()


class TextWriter(Writer):
    """A text format: pairs are formatted in native code, in pieces, on several threads.

    The native code of a format has its name: ``pairalign_format_NAME``, see
    cpu/text/text_format.h.

    `write` hands pairs over and waits for those of the call before the last: formatting never
    pauses between calls. Pieces are written in order and the text of a pair depends on nothing but
    the pair and its number, so bytes depend neither on threads nor on how pairs come in. A file is
    written behind: while the disk takes text, `write` goes on, and what cannot be written is said
    by a later `write` or by `close`. Memory: two buffers of `CHUNK_BYTES` for every thread and two
    more (where one pair has more text, that), and the alignments of two calls.
    """

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        super().__init__(output, content, threads)
        fields = content.shown.fields or self.default_fields or ()
        shown = bool(self.shows_residues or content.shown.tags or content.shown.fields)
        titles = any(field.code in TITLE_CODES for field in fields)
        texts = {
            sequences: self.set_text(sequences, shown, titles)
            for sequences in {content.queries, content.targets}
        }
        self._sets = texts[content.queries], texts[content.targets]
        self._fields: Int32s | None = None
        if fields:
            self._fields = np.array([field.code for field in fields], np.int32)
        self._along_query = run_along_query(field.name for field in fields)
        if content.piece.first:
            self._output.write(self.header())
        self._queue = TextQueue(min(threads, MOST_FORMATTERS), CHUNK_BYTES, content.piece.number)
        self._carrier: Carrier
        if output.descriptor is not None:
            self._carrier = NativeCarrier(self._queue, output)
        elif not output.waits_for_readers:
            self._carrier = Behind(self._queue, output)
        else:  # only the main thread can be interrupted while it waits for a reader
            self._carrier = Carrier(self._queue, output)

    def set_text(self, sequences: SequenceSet, residues: bool, titles: bool) -> SetText:
        """Return what native code writes of a set, without `residues` names alone."""
        return SetText(sequences, residues=residues, titles=titles)

    def header(self) -> bytes:
        """Text before the first pair."""
        return b""

    @property
    def native_name(self) -> str:
        """What native code calls the format."""
        return self.name

    def secondary(self, alignments: Alignments) -> Bools | None:
        """Which pairs are secondary alignments, for formats that say so; called in order."""
        return None

    def footer(self) -> bytes:
        """Text after the last pair."""
        return b""

    def block_header(self) -> bytes:
        """Text in the header of every pair, see cpu/text/text.h."""
        return b""

    def _write(self, alignments: Alignments) -> None:
        try:
            self._queue.submit(self._text(alignments))
            self._carrier.submitted()
        except OSError as error:
            raise self._output.explain(error) from error

    def _text(self, alignments: Alignments) -> PairText:
        overhang, kinds = self._content.max_overhang, None
        if overhang is not None:
            from pairalign.reads.overlap_kinds import classify_and_count

            kinds, counts = classify_and_count(alignments, overhang)
            self.kind_counts += counts
        confidence = self._content.confidence
        besides = Besides(
            kinds=kinds,
            secondary=self.secondary(alignments),
            marks=None if confidence is None else confidence.marks(alignments),
            ties=None if self._ties is None else self._ties.count(alignments),
        )
        return PairText(alignments, self._file_text, besides)

    @cached_property
    def _file_text(self) -> FileText:
        return FileText(
            *self._sets,
            self.native_name,
            self.block_header(),
            fields=self._fields,
            dual=self._content.shown.both_ways,
            significance=self._content.significance,
            tags=sum(TAGS[tag] for tag in self._content.shown.tags),
            along_query=self._along_query,
        )

    def flush(self) -> None:
        """Wait until the output has all that was written."""
        try:
            self._carrier.flush()
        except OSError as error:
            raise self._output.explain(error) from error

    def close(self) -> None:
        """Write what is left and make the file appear under its name."""
        try:
            self._carrier.finish()
            if self._content.piece.last:
                self._output.write(self.footer())
            self._output.close()
        except OSError as error:
            raise self._output.explain(error) from error
        finally:
            self.abort()

    def abort(self) -> None:
        """Give up: remove what was written, where that can be done. Does nothing after `close`."""
        self._carrier.stop()
        self._queue.close()
        super().abort()
