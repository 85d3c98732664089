"""Parquet files of one row group each become one file of all: their bytes, with a new footer.

Row groups are encoded beside each other, each by a writer of its own, as if it began its file. Put
one after the other only their places differ, which the footer states. The footer is Parquet's
``FileMetaData`` (https://github.com/apache/parquet-format) in Thrift's compact protocol: fields
are copied as they are but for places, numbers of rows and numbers of row groups, so the file has
the bytes that one writer makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from pairalign.base.dataclass import dataclass

Places = Mapping[int, Any]
"""Of fields that are places True, of structs with such their own."""

MAGIC = b"PAR1"
_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(
    13
)
_INTEGERS = (_I16, _I32, _I64)
_ROWS, _GROUPS = 3, 4
_ORDINAL = 7
_PLACES_OF_COLUMN = {9: True, 10: True, 11: True, 14: True}
"""``ColumnMetaData``: data, index and dictionary pages, bloom filter."""
_CHUNK = {2: True, 3: _PLACES_OF_COLUMN, 4: True, 6: True}
"""``ColumnChunk``: ``file_offset``, ``meta_data``, offset index, column index."""
_GROUP = {1: _CHUNK, 5: True}
"""``RowGroup``: ``columns``, ``file_offset``."""


@dataclass(frozen=True)
class EncodedGroup:
    """A row group as a file of its own.

    Attributes
    ----------
    pages : memoryview
        What stands between the first four bytes and the footer.
    footer : bytes
        ``FileMetaData``.
    """

    pages: memoryview
    footer: bytes


def split_file(data: memoryview) -> EncodedGroup:
    """Cut a Parquet file into its pages and its footer."""
    assert data[:4] == MAGIC
    assert data[-4:] == MAGIC
    size = int.from_bytes(data[-8:-4], "little")
    return EncodedGroup(data[4 : len(data) - 8 - size], bytes(data[len(data) - 8 - size : -8]))


@dataclass
class FooterBuilder:
    """Makes the footer of a file of the footers of its row groups, in order."""

    _footer: bytes = b""
    _groups: list[bytes] = field(default_factory=list)
    _rows: int = 0

    def add(self, footer: bytes, place: int) -> None:
        """Take the footer of a row group whose pages begin at `place`."""
        self._footer = self._footer or footer
        reader = _Reader(footer)
        for number, kind in reader.fields():
            if number == _ROWS:
                self._rows += reader.integer()
            elif number == _GROUPS:
                count, _ = reader.list_header()
                assert count == 1
                made = bytearray()
                moved = _Copier(reader, made, place - len(MAGIC))
                moved.struct(_GROUP, {_ORDINAL: len(self._groups)})
                self._groups.append(bytes(made))
            else:
                reader.skip(kind)

    def add_nothing(self, footer: bytes) -> None:
        """Take the footer of a file without row groups."""
        self._footer = footer

    def footer(self) -> bytes:
        """Return the footer, its size and the last four bytes."""
        reader, made = _Reader(self._footer), bytearray()
        last = 0
        for number, kind in reader.fields():
            _put_field(made, number, last, kind)
            last, start = number, reader.at
            if number == _ROWS:
                reader.integer()
                made += _varint(_zigzag(self._rows))
            elif number == _GROUPS:
                reader.skip(kind)
                _put_list(made, len(self._groups), _STRUCT)
                made += b"".join(self._groups)
            else:
                reader.skip(kind)
                made += self._footer[start : reader.at]
        made.append(_STOP)
        return bytes(made) + len(made).to_bytes(4, "little") + MAGIC


class _Reader:
    """Reads Thrift's compact protocol."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def byte(self) -> int:
        value = self.data[self.at]
        self.at += 1
        return value

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def integer(self) -> int:
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield number and kind of each field; its value is read or skipped before the next."""
        number = 0
        while (head := self.byte()) != _STOP:
            number = number + (head >> 4) if head >> 4 else self.integer()
            yield number, head & 15

    def list_header(self) -> tuple[int, int]:
        head = self.byte()
        return (head >> 4 if head >> 4 < 15 else self.varint()), head & 15

    def skip(self, kind: int, *, in_list: bool = False) -> None:
        if kind in (_TRUE, _FALSE):
            self.at += in_list
        elif kind == _BYTE:
            self.at += 1
        elif kind in _INTEGERS:
            self.varint()
        elif kind == _DOUBLE:
            self.at += 8
        elif kind == _BINARY:
            size = self.varint()
            self.at += size
        elif kind in (_LIST, _SET):
            count, of = self.list_header()
            for _ in range(count):
                self.skip(of, in_list=True)
        elif kind == _MAP:
            self._skip_map()
        else:
            assert kind == _STRUCT
            for _, inner in self.fields():
                self.skip(inner)

    def _skip_map(self) -> None:
        count = self.varint()
        kinds = self.byte() if count else 0
        for _ in range(count):
            self.skip(kinds >> 4, in_list=True)
            self.skip(kinds & 15, in_list=True)


class _Copier:
    """Copies structs with their places moved."""

    def __init__(self, reader: _Reader, made: bytearray, moved_by: int) -> None:
        self._reader = reader
        self._made = made
        self._moved_by = moved_by

    def struct(self, places: Places, values: Mapping[int, int]) -> None:
        """Copy a struct.

        Parameters
        ----------
        places : Places
        values : dict of int
            Integers that other fields get.
        """
        reader, last = self._reader, 0
        for number, kind in reader.fields():
            _put_field(self._made, number, last, kind)
            last, start = number, reader.at
            inside = places.get(number)
            if number in values:
                reader.integer()
                self._made += _varint(_zigzag(values[number]))
            elif inside is True:
                place = reader.integer()
                self._made += _varint(_zigzag(place + self._moved_by if place else 0))
            elif inside is not None and kind == _LIST:
                count, of = reader.list_header()
                _put_list(self._made, count, of)
                for _ in range(count):
                    self.struct(inside, {})
            elif inside is not None:
                self.struct(inside, {})
            else:
                reader.skip(kind)
                self._made += reader.data[start : reader.at]
        self._made.append(_STOP)


def _put_field(made: bytearray, number: int, last: int, kind: int) -> None:
    delta = number - last
    if 0 < delta < 16:
        made.append(delta << 4 | kind)
    else:
        made.append(kind)
        made += _varint(_zigzag(number))


def _put_list(made: bytearray, count: int, kind: int) -> None:
    if count < 15:
        made.append(count << 4 | kind)
    else:
        made.append(15 << 4 | kind)
        made += _varint(count)


def _zigzag(value: int) -> int:
    return value << 1 ^ value >> 63


def _varint(value: int) -> bytes:
    made = bytearray()
    while value >= 0x80:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)
