"""What readers of alignment files have in common: pieces of whole records, decompressed."""

from __future__ import annotations

import copy
import io
import os
import stat
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import IO, Any, ClassVar, cast

from pairalign.alignments.alignment_records import AlignmentRecords, SetNames
from pairalign.base.compression import decompressed
from pairalign.base.error_types import (
    AlignmentFileError,
    FormatError,
    PairalignError,
    cut_name,
    describe_unreadable,
    error_by_cause,
)
from pairalign.base.spelling import spelled
from pairalign.base.texts import UTF8_MARK, without_mark

PIECE_BYTES = 4 << 20
_MOST_OF_A_REASON = 300


def no_pairs() -> str:
    """Return what is said of a multiple alignment, which `verify` does not take."""
    return (
        "rows of a multiple alignment; verify takes pairs of rows, each a query and a target ("
        f"{spelled('confidence_of')} of msa says how sure a multiple alignment is)"
    )


class RecordReader(ABC):
    """Reads the records of a file, a piece at a time.

    Parameters
    ----------
    path : str
        ``"-"`` is standard input.
    names : two SetNames
        Of the queries and of the targets.
    columns : tuple of str
        Of tables without a header.

    Attributes
    ----------
    name : str
        The format's.
    suffixes : tuple of str
        Ends of names of its files.
    has_columns : bool
        Whether `columns` mean something.
    has_two_readings : bool
        Whether gaps at the ends may be part of its alignments or not, see `read_whole`.
    source : str
        What messages call the file.
    mode : str or None
        The mode that the file says its alignments have; known once there is a piece.
    lines_before : int
        Lines before those of the first piece.
    unknown : list of str
        Names of the file's columns that mean nothing here; known once there is a piece.
    unplaced : list of str
        Sides whose coordinates no column has, so that whole sequences are expected; likewise.
    not_checked : list of str
        What the file states that is not compared with anything, or only as far as it can be; known
        once there is a piece.
    whole : bool
        Whether alignments are of whole sequences, gaps at ends included: as the request has it,
        before there is a piece.

    Raises
    ------
    FormatError
        Columns are given to a format that has none to choose.
    AlignmentFileError
        The file cannot be read.
    """

    name: ClassVar[str]
    suffixes: ClassVar[tuple[str, ...]]
    has_columns: ClassVar[bool] = False
    has_two_readings: ClassVar[bool] = False
    never_checked: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, path: str, names: tuple[SetNames, SetNames], columns: tuple[str, ...] = ()
    ) -> None:
        if columns and not self.has_columns:
            option = spelled("columns")
            raise FormatError(f"{option} is for tables without a header, {self.name} is none")
        self.source = "<stdin>" if path == "-" else path
        self.names = names
        self.mode: str | None = None
        self.lines_before = 0
        self.unknown: list[str] = []
        self.unplaced: list[str] = []
        self.not_checked = list(self.never_checked)
        self.whole = False
        try:
            self._raw = open_raw(path)
            self._file = self._decompressed(self._raw)
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from error

    def pieces(self) -> Iterator[Any]:
        """Yield the file in pieces of whole records, in their order."""
        return self._text_pieces()

    @abstractmethod
    def read(self, piece: Any) -> AlignmentRecords:
        """Read a piece; from any thread."""

    def read_whole(self, piece: Any) -> AlignmentRecords:
        """Read a piece as `read` does, gaps at the ends being part of alignments."""
        other = copy.copy(self)
        other.whole = True
        return other.read(piece)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def size(self) -> int:
        """Bytes of the file as it is; 0 where that is not known."""
        status = os.fstat(self._raw.fileno())
        return status.st_size if stat.S_ISREG(status.st_mode) else 0

    @property
    def position(self) -> int:
        """How many of them have been read."""
        return self._raw.tell() if self._raw.seekable() and not self._raw.closed else 0

    def _decompressed(self, raw: io.BufferedReader) -> IO[bytes]:
        return decompressed(raw)

    def _unreadable(self, error: Exception) -> PairalignError:
        if not isinstance(error, (OSError, ValueError)):
            error = ValueError(str(error))
        reason = cut_name(describe_unreadable(error, "an alignment file"), _MOST_OF_A_REASON)
        return error_by_cause(AlignmentFileError, f"{self.source}: {reason}", error)

    def _blocks(self) -> Iterator[bytes]:
        """Yield all bytes, decompressed, without a byte order mark."""
        try:
            is_first = True
            while block := self._file.read(PIECE_BYTES):
                yield self._without_mark(block) if is_first else block
                is_first = False
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from error

    def _without_mark(self, block: bytes) -> bytes:
        """Return the beginning of the file without a byte order mark that is not of a name."""
        if not block.startswith(UTF8_MARK):
            return block
        name = block.partition(b"\t")[0].decode("utf-8", "replace")
        return block if self.names[0].find([name])[0] >= 0 else without_mark(block)

    def _text_pieces(self) -> Iterator[bytes]:
        """Yield pieces that end where `_cut` says; the last has what is left."""
        blocks: list[bytes] = []  # joined when there is an end in it: a record may be long
        for block in self._blocks():
            blocks.append(block)
            if self._may_end(block):
                text = b"".join(blocks)
                end = self._cut(text)
                if end:
                    yield text[:end]
                blocks = [text[end:]]
        text = b"".join(blocks)
        if text.strip():
            yield text

    def _may_end(self, block: bytes) -> bool:
        """Whether a record may end in a block."""
        return b"\n" in block

    def _cut(self, text: bytes) -> int:
        """Return where the last whole record of a text ends; 0: there is none."""
        return text.rfind(b"\n") + 1


def open_raw(path: str) -> io.BufferedReader:
    """Open a file for reading; ``"-"`` is standard input."""
    if path != "-":
        return open(path, "rb")
    if sys.stdin is None:
        raise OSError("it is closed")
    return cast("io.BufferedReader", sys.stdin.buffer)
