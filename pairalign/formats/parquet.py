"""Parquet: the table of TSV in columns, for pandas, polars, DuckDB, R and Spark (needs pyarrow)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments import Alignments, concatenate
from pairalign.errors import FormatError
from pairalign.formats.output import Output
from pairalign.formats.writer import Content, Writer
from pairalign.tables import arrow_names, arrow_schema, arrow_table
from pairalign.want import Detail

if TYPE_CHECKING:
    pass

# A row group ends with the pair that reaches one of these: the file then depends on the pairs
# alone, not on how they come in, and memory stays bounded (runs: 32 MB).
GROUP_PAIRS = 1 << 16
GROUP_RUNS = 1 << 23


class ParquetWriter(Writer):
    """Parquet with the columns of TSV that were computed.

    ``query`` and ``target`` are strings, dictionary encoded; ``score`` is int64, or float64 when
    costs or matrix have decimals (``score * scale``, rounded, is the exact integer; ``scale`` is
    in the metadata); ``identity`` is float64, null where nothing is aligned; ``cigar`` is a list
    of uint32 runs ``length << 4 | op`` with the SAM operations I = 1, D = 2, ``=`` = 7, X = 8;
    the others are int32. The parameters are in the file's key-value metadata as
    ``pairalign.mode``, ``.matrix``, ``.gap_open``, ``.gap_extend``, ``.scale``, ``.alphabet`` and
    ``.version``.
    """

    name = "parquet"
    suffixes = (".parquet", ".pq")
    needs = Detail.SCORE
    compressible = False
    resumable = False

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        import pyarrow.parquet as pq

        super().__init__(output, content, threads)  # but one thread keeps up
        self._parts: list[Alignments] = []
        self._pairs = self._runs = 0
        self._names = [arrow_names(content.queries), arrow_names(content.targets)]
        self._schema = arrow_schema(content.scoring, content.detail)
        self._sink = _Sink(output)
        self._file = pq.ParquetWriter(
            self._sink,
            self._schema,
            compression="zstd",
        )

    @classmethod
    def check(cls) -> None:
        """Raise FormatError if pyarrow is missing."""
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError as error:
            raise FormatError(
                "Parquet needs pyarrow, which is not installed: pip install 'pairalign[parquet]'"
            ) from error

    def _write(self, alignments: Alignments) -> None:
        start = 0
        while start < len(alignments):
            stop = min(len(alignments), start + GROUP_PAIRS - self._pairs)
            offsets = alignments.cigar_offsets
            if offsets is not None:
                left = offsets[start] + GROUP_RUNS - self._runs
                stop = min(stop, int(np.searchsorted(offsets[start + 1 :], left)) + start + 1)
                self._runs += int(offsets[stop] - offsets[start])
            self._parts.append(alignments[start:stop])
            self._pairs += stop - start
            start = stop
            if self._pairs == GROUP_PAIRS or self._runs >= GROUP_RUNS:
                self._end_group()

    def _end_group(self) -> None:
        group = concatenate(self._parts)
        self._parts.clear()
        self._pairs = self._runs = 0
        table = arrow_table(group, self._names, self._schema)
        self._file.write_table(table, row_group_size=len(group))

    def close(self) -> None:
        """Write what is left and make the file appear under its name."""
        try:
            if self._parts:
                self._end_group()
            self._file.close()
            self._output.close()
        finally:
            self.abort()

    def abort(self) -> None:
        """Give up: remove what was written, where that can be done. Does nothing after `close`."""
        self._parts.clear()
        self._output.abort()
        # pyarrow ends the file when its writer is deleted: let it do that now, into nothing.
        self._sink.discards = True
        with contextlib.suppress(Exception):
            self._file.close()


class _Sink:
    """The part of a Python file that pyarrow writes to."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self.closed = False
        self.discards = False
        self._position = 0

    def write(self, data: bytes) -> int:
        self._position += len(data) if self.discards else self._output.write(data)
        return len(data)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None: ...

    def close(self) -> None:
        self.closed = True
