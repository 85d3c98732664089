"""Parquet: the table of TSV in columns, for pandas, polars, DuckDB, R and Spark (needs pyarrow)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.tables import (
    KNOWN_COLUMNS,
    STATISTICS_COLUMNS,
    arrow_names,
    arrow_schema,
    arrow_table,
    column_names,
)
from pairalign.base.arrays import Int64s, UInt32s
from pairalign.base.error_types import PartsError
from pairalign.formats.libraries import BytesSink, arrow
from pairalign.formats.output import Output
from pairalign.formats.schemas import SchemaError, check_parquet
from pairalign.formats.writer import Content, Writer
from pairalign.pairs.want import Detail
from pairalign.statistics.statements import statistics_by_name

if TYPE_CHECKING:
    import pyarrow as pa

# A row group ends with the pair that reaches one of these: the file then depends on the pairs
# alone, not on how they come in, and memory stays bounded (runs: 4 MB).
GROUP_PAIRS = 1 << 16
GROUP_RUNS = 1 << 20

_CONFIDENCE = "confidence"
_Counts = UInt32s | None


class ParquetWriter(Writer):
    """Parquet with the columns of TSV that were computed.

    ``bits`` and ``evalue``, float64, stand behind the score where they are known. ``query`` and
    ``target`` are strings, dictionary encoded; ``score`` is int64, or float64 when
    costs or matrix have decimals (``score * scale``, rounded, is the exact integer; ``scale`` is
    in the metadata); ``identity`` is float64, null where nothing is aligned; ``cigar`` is a list
    of uint32 runs ``length << 4 | op`` with the SAM operations I = 1, D = 2, ``=`` = 7, X = 8;
    the others are int32. The parameters are in the file's key-value metadata as
    ``pairalign.mode``, ``.matrix``, ``.gap_open``, ``.gap_extend``, ``.scale``, ``.alphabet`` and
    ``.version``; where bits and E-values of the scores are known, what they are made of is in
    ``.lambda``, ``.k``, ``.statistics`` (where these come from), ``.database_letters``,
    ``.database_sequences``, ``.search_space`` (how it is found), ``.comp_based_stats`` and
    ``.mask``. Where pairs may be on either strand, ``strand`` (int8) is 1 or -1. Alignments by
    expected accuracy have a column ``confidence`` at the end, a large string: a mark for each of
    their columns, as TSV has it. Columns can be chosen, among them ``ties`` (uint32); bits and
    E-values are null where they are not known.

    A row group, with the dictionaries of its names (in the order in which they come), follows from
    the pairs and their place in the table alone: what was written in parts, or before and after
    a `flush`, is read and cut again into the row groups of a single run.
    """

    name = "parquet"
    shows_statistics = True
    either_strand = True
    suffixes = (".parquet", ".pq")
    needs = Detail.SCORE
    of_block = True
    compressible = False
    joined = True
    shows_confidence = True
    default_fields = ()
    known_fields = frozenset(KNOWN_COLUMNS)
    needed_fields = ("query", "target")
    fields_once = True
    held_bytes = 64 << 20

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        super().__init__(output, content, threads)
        self._parts: list[tuple[Alignments, _Counts]] = []
        self._groups = _Groups()
        self._names = [arrow_names(content.queries), arrow_names(content.targets)]
        self._schema = _with_statistics(_schema_of(content), content)
        self._file: _TableFile | None = _TableFile(output, self._schema)

    @classmethod
    def check(cls) -> None:
        """Raise FormatError if pyarrow is missing."""
        arrow()

    @classmethod
    def join_files(cls, files: Iterable[memoryview], output: Output, threads: int = 1) -> None:
        """Write one table of several that come one after the other; does not close it.

        Raises
        ------
        PartsError
            One of them is no such table, or they are not of one run.
        """
        import pyarrow as pa

        file: _TableFile | None = None
        groups = _Groups()
        parts: list[pa.Table] = []
        try:
            for table in _read_groups(files):
                file = _TableFile(output, table.schema) if file is None else file
                for start, stop, ends in groups.cut(len(table), _offsets_of(table)):
                    parts.append(table[start:stop])
                    if ends:
                        file.write(_joined(parts))
            assert file is not None
            if parts:
                file.write(_joined(parts))
            file.close()
        except BaseException as error:
            if file is not None:
                file.abort()
            if isinstance(error, (pa.ArrowException, SchemaError)):
                raise PartsError(f"a part is no table of this run: {error}") from error
            raise

    def _write(self, alignments: Alignments) -> None:
        offsets = alignments.cigar_offsets if "cigar" in self._schema.names else None
        for start, stop, ends in self._groups.cut(len(alignments), offsets):
            part = alignments[start:stop]
            self._parts.append((part, None if self._ties is None else self._ties.count(part)))
            if ends:
                self._end_group()

    def _end_group(self) -> None:
        parts, self._parts = self._parts, []
        if self._file is None:
            self._file = _TableFile(self._output, self._schema)
        self._file.write(lambda: self._table(parts))

    def _table(self, parts: list[tuple[Alignments, _Counts]]) -> pa.Table:
        import pyarrow as pa

        alignments, counts = zip(*parts, strict=True)
        group = replace(concatenate(alignments), significance=self._content.significance)
        more: dict[str, pa.Array] = {}
        if _CONFIDENCE in self._schema.names:
            assert self._content.confidence is not None
            marks, offsets = self._content.confidence.marks(group)
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(marks)]
            more[_CONFIDENCE] = pa.Array.from_buffers(pa.large_string(), len(group), buffers)
        if self._ties is not None:
            more["ties"] = pa.array(np.concatenate(counts))
        return arrow_table(group, self._names, self._schema, more)

    def flush(self) -> None:
        """End the file: what comes next is another, for `join`."""
        if self._parts:
            self._end_group()
        self._groups = _Groups()
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def close(self) -> None:
        """Write what is left and make the file appear under its name."""
        try:
            self.flush()
            self._output.close()
        finally:
            self.abort()

    def abort(self) -> None:
        """Give up: remove what was written, where that can be done. Does nothing after `close`."""
        self._parts.clear()
        super().abort()
        if self._file is not None:
            self._file.abort()


def _with_statistics(schema: pa.Schema, content: Content) -> pa.Schema:
    """Add what bits and E-values are made of to the metadata, where that is known."""
    if content.significance is None:
        return schema
    statistics = statistics_by_name(content.significance, content.scoring)
    named = {f"pairalign.{key}": value for key, value in statistics.items()}
    return schema.with_metadata({**schema.metadata, **named})


def _schema_of(content: Content) -> pa.Schema:
    """Return the columns: those that were chosen, or those that were computed."""
    has_statistics = content.significance is not None
    names = [field.name for field in content.shown.fields]
    if not names:
        names += column_names(content.detail, content.shown.strands, has_statistics)
        names += [_CONFIDENCE] if content.confidence is not None else []
    unknown = () if has_statistics else STATISTICS_COLUMNS
    return arrow_schema(content.scoring, names, unknown=unknown)


class _Groups:
    """Says where row groups end."""

    def __init__(self) -> None:
        self._pairs = self._runs = 0

    def cut(self, pairs: int, offsets: Int64s | None) -> Iterator[tuple[int, int, bool]]:
        """Cut the next pairs, by the offsets of runs: start, stop, whether a group ends there."""
        start = 0
        while start < pairs:
            stop = min(pairs, start + GROUP_PAIRS - self._pairs)
            if offsets is not None:
                left = offsets[start] + GROUP_RUNS - self._runs
                stop = min(stop, int(np.searchsorted(offsets[start + 1 :], left)) + start + 1)
                self._runs += int(offsets[stop] - offsets[start])
            self._pairs += stop - start
            ends = self._pairs == GROUP_PAIRS or self._runs >= GROUP_RUNS
            if ends:
                self._pairs = self._runs = 0
            yield start, stop, ends
            start = stop


class _TableFile:
    """A Parquet file of which row groups are given; they are made and written beside the caller.

    Parameters
    ----------
    schema : pyarrow.Schema
    """

    def __init__(self, output: Output, schema: pa.Schema) -> None:
        import pyarrow.parquet as pq

        self._schema = schema
        self._sink = BytesSink(output)
        self._file = pq.ParquetWriter(self._sink, schema, compression="zstd")
        self._writing = ThreadPoolExecutor(1, "parquet")
        self._before: Future[None] | None = None

    def write(self, make: Callable[[], pa.Table]) -> None:
        """Add a row group, when the one before it is written."""
        self._wait()
        self._before = self._writing.submit(self._write, make)

    def _write(self, make: Callable[[], pa.Table]) -> None:
        group = _with_own_dictionaries(make(), self._schema)
        self._file.write_table(group, row_group_size=max(1, len(group)))

    def _wait(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            before.result()

    def close(self) -> None:
        """Write the end of the file."""
        self._wait()
        self._writing.shutdown()
        self._file.close()

    def abort(self) -> None:
        """Give up what waits; does nothing after `close`."""
        self._sink.give_up()
        self._writing.shutdown(wait=False, cancel_futures=True)


def _with_own_dictionaries(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the rows with dictionaries that have their names alone, in the order they come."""
    import pyarrow as pa

    columns: list[Any] = []
    for column in table.columns:
        whole = column.combine_chunks()
        if pa.types.is_dictionary(whole.type):
            whole = whole.cast(whole.type.value_type).dictionary_encode()
        columns.append(whole)
    return table.from_arrays(columns, schema=schema)


def _read_groups(files: Iterable[memoryview]) -> Iterator[pa.Table]:
    """Read the row groups of some files; of one without any, a table without rows."""
    import pyarrow as pa

    for file in files:
        try:
            yield from _groups_of(file)
        except (OSError, ValueError, TypeError, pa.ArrowException) as error:  # PyArrow's, of bytes
            reason = " ".join(str(error).split())
            raise PartsError(f"a part is no table of this run: {reason}") from error


def _groups_of(data: memoryview) -> Iterator[pa.Table]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(pa.BufferReader(pa.py_buffer(data)))
    schema = _as_written(file.schema_arrow)
    check_parquet(schema)
    yield schema.empty_table()
    for number in range(file.num_row_groups):
        yield file.read_row_group(number).cast(schema)


def _as_written(schema: pa.Schema) -> pa.Schema:
    """Undo what reading does to a schema: it names what lists hold as Parquet does."""
    import pyarrow as pa

    for place, field in enumerate(schema):
        if pa.types.is_list(field.type):
            schema = schema.set(place, field.with_type(pa.list_(field.type.value_type)))
    return schema


def _offsets_of(table: pa.Table) -> Int64s | None:
    """Return where the runs of each pair begin, and the end of the last; None if there are none."""
    import pyarrow.compute as pc

    if "cigar" not in table.column_names:
        return None
    if table["cigar"].null_count:
        raise SchemaError("column 'cigar' has nulls")
    lengths = pc.list_value_length(table["cigar"]).to_numpy()
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _joined(parts: list[pa.Table]) -> Callable[[], pa.Table]:
    """Return what makes one table of those that wait; they wait no more."""
    import pyarrow as pa

    waiting = list(parts)
    parts.clear()
    return lambda: pa.concat_tables(waiting)
