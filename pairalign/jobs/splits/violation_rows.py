"""Violations as rows of a table: what audits of groups and of interactions show and write alike."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Protocol

from pairalign.base.choices import TABLE_ENDINGS
from pairalign.base.notebooks import html_table
from pairalign.formats.names import check_ending
from pairalign.jobs.splits.split_files import write_rows


class _Rows(Protocol):
    @property
    def columns(self) -> tuple[str, ...]: ...

    def __iter__(self) -> Iterator[tuple[str, ...]]: ...


class ViolationRows:
    """What iterates over the rows of a table, and has the names of their columns."""

    def _repr_html_(self: _Rows) -> str:
        """Show the first rows, for notebooks."""
        return html_table(self, self.columns, self)

    def write(self: _Rows, path: str | os.PathLike[str]) -> None:
        """Write the rows as CSV, as ``pairalign audit`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses.

        Raises
        ------
        FormatError, OutputError
            The name has another ending, or the disk is full.
        """
        check_ending(path, TABLE_ENDINGS, "violations are written as a table")
        write_rows(path, [self.columns, *self])
