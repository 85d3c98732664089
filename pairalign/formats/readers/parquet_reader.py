"""Parquet with our columns, by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from pairalign.alignments.alignment_records import (
    CLAIMS,
    FAULTS,
    UNSAID,
    AlignmentRecords,
    SetNames,
    empty_records,
)
from pairalign.base.arrays import Structs
from pairalign.base.error_types import AlignmentFileError, FormatError
from pairalign.formats.libraries import arrow
from pairalign.formats.readers.reader import RecordReader
from pairalign.formats.readers.table_reader import COLUMN_ROLES, not_checked
from pairalign.formats.schemas import PARQUET, SchemaError, check_parquet

if TYPE_CHECKING:
    import pyarrow

_ROWS = 1 << 16
_DECIMALS = 12
"""Digits that are compared of numbers which come as floating point."""
_SPANS = ("query_start", "query_end", "target_start", "target_end")
_KINDS = {
    **{name: "numbers" for name, role in COLUMN_ROLES.items() if role.startswith("says_")},
    **PARQUET,
}
_NOT_COMPARED = ("bits", "evalue", "confidence")
_MOST = 2**62


class ParquetReader(RecordReader):
    """Parquet, as `pairalign.formats.parquet` writes it; columns may be missing but for names.

    The mode is that of the file's metadata.
    """

    name = "parquet"
    suffixes = (".parquet", ".pq")

    def __init__(
        self, path: str, names: tuple[SetNames, SetNames], columns: tuple[str, ...] = ()
    ) -> None:
        pa, pq = arrow()
        if path == "-":
            raise FormatError("Parquet is not read from standard input: give a file")
        super().__init__(path, names, columns)
        try:
            self._table = pq.ParquetFile(self._file)
            self.mode, self._scale = check_parquet(self._table.schema_arrow, _KINDS)
            known_names = {*_KINDS, *_NOT_COMPARED}
            self.not_checked = not_checked(self._table.schema_arrow.names)
            self.unknown = [
                name for name in self._table.schema_arrow.names if name not in known_names
            ]
        except SchemaError as error:
            raise AlignmentFileError(f"{self.source}: {error}") from error
        except (OSError, ValueError, TypeError, pa.ArrowException) as error:
            raise AlignmentFileError(f"{self.source}: is not Parquet: {error}") from error

    def _decompressed(self, raw: IO[bytes]) -> IO[bytes]:
        return raw

    def pieces(self) -> Iterator[Any]:
        """Yield record batches of pyarrow."""
        import pyarrow as pa

        try:
            yield from self._table.iter_batches(_ROWS)
        except (OSError, pa.ArrowException) as error:
            raise self._unreadable(error) from error

    def read(self, piece: pyarrow.RecordBatch) -> AlignmentRecords:
        """Read a record batch.

        Raises
        ------
        AlignmentFileError
            A value is none that its column may have.
        """
        import pyarrow as pa

        try:
            return self._read(piece)
        except (ValueError, pa.ArrowException) as error:
            raise AlignmentFileError(f"{self.source}: {error}") from error

    def _read(self, piece: pyarrow.RecordBatch) -> AlignmentRecords:
        records: Structs = empty_records(piece.num_rows)
        records["line"] = np.arange(piece.num_rows)
        parts: list[bytes] = []
        end = 0
        for side, name in enumerate(("query", "target")):
            end = self._put_names(piece.column(name), side, records, parts, end)
        runs = np.empty(0, np.uint32)
        for place, name in enumerate(piece.schema.names):
            column = piece.column(place)
            if name == "cigar":
                records["first_run"], records["runs"], runs = _runs_of(column)
            elif name in _SPANS:
                records["spans"][:, _SPANS.index(name)] = _whole_numbers(column, name, -1)
            elif name == "strand":
                strands = _whole_numbers(column, name, 1)
                records["turned"] = strands < 0
                wrong = (np.abs(strands) != 1) & (records["fault"] == 0)
                records["fault"][wrong] = FAULTS.index("strand")
            elif COLUMN_ROLES.get(name, "").startswith("says_"):
                claim = CLAIMS.index(COLUMN_ROLES[name].removeprefix("says_"))
                self._put_numbers(column, claim, records)
        return AlignmentRecords(b"".join(parts), records, runs, piece.num_rows)

    def _put_names(
        self, column: pyarrow.Array, side: int, records: Structs, parts: list[bytes], end: int
    ) -> int:
        """Put places and indices of names into records; return where the text ends now."""
        import pyarrow as pa

        name = ("query", "target")[side]
        if not pa.types.is_dictionary(column.type):
            column = column.cast(pa.large_string()).dictionary_encode()
        texts = [text or "" for text in column.dictionary.to_pylist()]
        encoded = [text.encode("utf-8", "surrogateescape") for text in texts]
        codes = column.indices.fill_null(len(texts)).to_numpy(False)  # the last: there is no name
        sizes = np.array([*map(len, encoded), 0], np.int64)
        indices = np.append(self.names[side].find(texts), -1)
        records[f"{name}_name"] = (end + np.cumsum(sizes) - sizes)[codes]
        records[f"{name}_name_bytes"] = sizes[codes]
        records[name] = indices[codes]
        missing = (records[name] < 0) & (records["fault"] == 0)
        records["fault"][missing] = FAULTS.index(name)
        parts += encoded
        return end + int(sizes.sum())

    def _put_numbers(self, column: pyarrow.Array, claim: int, records: Structs) -> None:
        import pyarrow as pa

        is_valid = column.is_valid().to_numpy(False)
        if pa.types.is_floating(column.type):
            values = column.fill_null(0).to_numpy(False).astype(np.float64)
            is_valid &= np.isfinite(values)
            is_score = CLAIMS[claim] == "score"
            unit = self._scale if is_score else 10**_DECIMALS
            scaled = np.rint(np.where(is_valid, values, 0) * unit)
            numbers = np.clip(scaled, -_MOST, _MOST).astype(np.int64)
            records["decimals"][:, claim] = len(str(unit)) - 1
        else:
            numbers = _whole_numbers(column, CLAIMS[claim], 0)
        records["says"][:, claim] = np.where(is_valid, numbers, UNSAID)


def _whole_numbers(column: pyarrow.Array, name: str, missing: int) -> Any:
    """Return the whole numbers of a column, int64; those that are not there are `missing`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(column.type):  # as pandas writes whole numbers where some are missing
        column = pc.if_else(pc.is_nan(column), None, column)
    try:
        return column.cast(pa.int64()).fill_null(missing).to_numpy(False)
    except pa.ArrowException as error:
        raise ValueError(f"column '{name}' has a value that is no 64-bit whole number") from error


def _runs_of(column: pyarrow.Array) -> tuple[Any, Any, Any]:
    """Return where the runs of each record begin, how many they are, and the runs."""
    import pyarrow as pa

    offsets = column.offsets.to_numpy(False).astype(np.int64)
    if column.values.null_count:
        raise ValueError("column 'cigar' has runs that are null")
    runs = np.ascontiguousarray(column.values.cast(pa.uint32()).to_numpy(False))
    counts = np.where(column.is_valid().to_numpy(False), np.diff(offsets), -1)
    return offsets[:-1], counts, runs
