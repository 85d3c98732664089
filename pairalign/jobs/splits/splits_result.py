"""Splits as functions return them: files and tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from pairalign.base.choices import TABLE_ENDINGS
from pairalign.base.notebooks import html_table
from pairalign.base.packages import make_frame
from pairalign.clusters import folds
from pairalign.formats.names import check_ending
from pairalign.jobs.splits import interaction_split
from pairalign.jobs.splits.interaction_split import FOLD
from pairalign.jobs.splits.split_files import write_rows
from pairalign.results.tabular import Result

if TYPE_CHECKING:
    import pandas


class Split(Result, folds.Split):
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the fold of each sequence as CSV, as ``pairalign split`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses.

        Raises
        ------
        FormatError, OutputError
            The name has another ending, or the disk is full.
        """
        from pairalign.formats.names import check_ending
        from pairalign.jobs.splits.split_files import write_split

        check_ending(path, TABLE_ENDINGS, "folds are written as a table")
        write_split(path, self)

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a ``pandas.DataFrame``, a row a sequence, in the order of the input.

        Returns
        -------
        pandas.DataFrame
            The columns of the file that `write` makes. Sequences that were removed are there
            as well: their fold is missing.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        names = self.sequences.names
        folds = [self.fold_names[fold] if fold >= 0 else None for fold in self.folds.tolist()]
        nearest = [names[near] if near >= 0 else None for near in self.nearest.tolist()]
        return make_frame(
            {
                "name": list(names),
                "label": list(self.labels) if self.labels else [None] * len(names),
                "fold": folds,
                "cluster": self.clusters,
                "nearest": nearest,
                f"nearest_{self.thresholds.identity_column}": self.nearest_identity,
            }
        )

    def _repr_html_(self) -> str:
        """Show the folds as a table, for notebooks."""
        rows = [*zip(self.fold_names, self.sizes.tolist(), strict=True)]
        return html_table(self, ["fold", "sequences"], [*rows, ("removed", len(self.removed))])


class InteractionSplit(Result, interaction_split.InteractionSplit):
    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the interactions that are kept with their folds, as ``pairalign split`` does.

        Parameters
        ----------
        path : str or path
            CSV. The file appears when it is complete; ``.gz`` compresses.

        Raises
        ------
        FormatError, OutputError
            The name has another ending, or the disk is full.
        """
        from pairalign.formats.names import check_ending
        from pairalign.jobs.splits.interaction_tables import write_interactions

        check_ending(path, TABLE_ENDINGS, "interactions are written as a table")
        write_interactions(path, self)

    def _repr_html_(self) -> str:
        """Show the folds as a table, for notebooks."""
        rows = [*zip(self.fold_names, self.sizes.tolist(), strict=True)]
        return html_table(self, [FOLD, "interactions"], [*rows, ("removed", len(self.removed))])


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
