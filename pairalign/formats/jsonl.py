"""JSON Lines: an object a pair, written and read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pairalign.alignments.alignment_records import AlignmentRecords, read_lines
from pairalign.alignments.fields import FIELDS, TEXT_CODES, run_along_query
from pairalign.alignments.tables import column_names
from pairalign.base.error_types import AlignmentFileError
from pairalign.formats.output import Output
from pairalign.formats.readers.table_reader import TsvReader
from pairalign.formats.writer import Content, PairLines, TextWriter
from pairalign.pairs.want import Detail

_SUFFIXES = (".jsonl", ".ndjson")
_NO_OBJECT = "?"


class _Number(str):
    """A number as the file has it, all its digits."""


_DECODER = json.JSONDecoder(
    parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=tuple
)


class JsonLines(PairLines):
    """Lines that are objects, whose values in their order are columns."""

    def as_columns(self, text: bytes) -> bytes:
        """Return the values of whole lines as columns between tabs, as many lines."""
        return _as_columns(text, _keys_of(text))


class JsonlWriter(TextWriter):
    """JSON Lines: an object a line, a line a pair.

    Keys, their order and what values say are those of the columns of `tsv`: with the columns that
    were computed, or those that were chosen. Names, headers, strands, CIGARs, tracebacks, rows and
    ``confidence`` are strings, all others numbers, with the digits of `tsv`. What `tsv` has as
    ``nan`` is null: bits and E-values where statistics are not known, confidence where it is not.
    Pairs of which nothing is aligned are there: identity 0, spans 0, CIGAR ``*``. The file is
    UTF-8; quotes, backslashes, control characters and the line ends of Unicode in names are
    escaped.

    An object has each key once.
    """

    name = "jsonl"
    lines = JsonLines()
    adds_confidence = True
    shows_residues = False
    suffixes = _SUFFIXES
    needs = Detail.SCORE
    of_block = True
    takes_both_ways = True
    either_strand = True
    default_fields = ()
    fields_once = True

    def __init__(self, output: Output, content: Content, threads: int = 1) -> None:
        names = [field.name for field in content.shown.fields] or [
            *column_names(content.detail, content.shown.strands)
        ]
        super().__init__(output, content, threads)
        self._fields = np.array([FIELDS[name].code for name in names], np.int32)
        self._along_query = run_along_query(names)
        before = (f'{"," if place else "{"}"{name}":\n' for place, name in enumerate(names))
        self._before_values = "".join(before).encode()

    def block_header(self) -> bytes:
        """Return what comes before each value, a line each."""
        return self._before_values


class JsonlReader(TsvReader):
    """JSON Lines: objects with the keys of the first, in any order; values as `JsonlWriter` has."""

    name = "jsonl"
    suffixes = _SUFFIXES

    def pieces(self) -> Iterator[bytes]:
        """Yield pieces of whole lines."""
        keys: tuple[str, ...] | None = None
        for piece in self._text_pieces():
            if keys is None:
                self._keys = keys = _keys_of(piece)
                if not keys:
                    raise AlignmentFileError(f"{self.source}: line 1 is no JSON object with keys")
                self._take_header("\t".join(keys).encode())
                self.layout = replace(self.layout, quotes=False)
            yield piece

    def read(self, piece: bytes) -> AlignmentRecords:
        """Read lines; one that is no object with the keys of the first is `truncated`."""
        return read_lines(_as_columns(piece, self._keys), self.layout, self.names)


def _keys_of(text: bytes) -> tuple[str, ...]:
    """Return the keys of the first object; none if that is no object."""
    first = text.lstrip(b"\r\n \t").partition(b"\n")[0]
    return tuple(key for key, _ in _object_of(first) or ())


def _object_of(line: bytes) -> tuple[tuple[str, object], ...] | None:
    """Return keys and values of an object, in their order; None if it is none."""
    try:
        value = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        return None
    return value if line.lstrip().startswith(b"{") else None


def _as_columns(text: bytes, keys: tuple[str, ...]) -> bytes:
    kinds = [_kind_of(key) for key in keys]
    return "\n".join(_row_of(line, keys, kinds) for line in text.split(b"\n")).encode(
        errors="replace"
    )


def _kind_of(key: str) -> type[str] | None:
    """Return what a value is; None: the key is unknown, its value anything."""
    field = FIELDS.get(key)
    if field is None:
        return None
    return str if field.code in TEXT_CODES else _Number


def _row_of(line: bytes, keys: tuple[str, ...], kinds: list[type[str] | None]) -> str:
    """Return the values of a line in the order of keys; a single word if they make no sense."""
    if not line.strip():
        return ""
    members = _object_of(line)
    if members is None or len(members) != len(keys):
        return _NO_OBJECT
    if tuple(key for key, _ in members) != keys:
        members = tuple(
            sorted(members, key=lambda member: keys.index(member[0]) if member[0] in keys else -1)
        )
        if tuple(key for key, _ in members) != keys:
            return _NO_OBJECT
    row = []
    for (key, value), kind in zip(members, kinds, strict=True):
        if value is None and (kind is not str or key == "confidence"):
            row.append("nan")
        elif kind is not None and type(value) is not kind:
            return _NO_OBJECT
        else:
            row.append(str(value))
    joined = "\t".join(row)
    is_one_row = joined.count("\t") == len(row) - 1 and not ("\n" in joined or "\r" in joined)
    return joined if is_one_row else _NO_OBJECT
