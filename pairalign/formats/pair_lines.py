"""What formats with a line for each alignment say of their lines; `interleave` sorts such lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pairalign.base.texts import tsv_of

_NAMES = (("query", "qseqid"), ("target", "sseqid"))


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
