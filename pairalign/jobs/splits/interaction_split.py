"""A split of interactions: folds of two sets without similar pairs across them in either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pairalign.base.arrays import Int32s, Int64s
from pairalign.sequences.sets import SequenceSet

FOLD = "fold"
"""The heading of the column of folds."""


@dataclass(frozen=True, eq=False, repr=False)
class Side:
    """The folds of one of the sets.

    Attributes
    ----------
    names : sequence of str
    folds : ndarray of int32, shape (n,)
        The fold of each sequence; -1: it was removed.
    clusters : ndarray of int32, shape (n,)
        What similar pairs connect, before anything was removed.
    edges : int
        Similar pairs.
    sequences : SequenceSet or None
        None: clusters were given.
    """

    source: str
    names: tuple[str, ...]
    folds: Int32s
    clusters: Int32s
    edges: int
    sequences: SequenceSet | None

    def __repr__(self) -> str:
        return f"<Side: {len(self.names)} sequences, {len(self.removed)} removed>"

    @property
    def removed(self) -> Int64s:
        """Input indices of the sequences that were removed."""
        return np.flatnonzero(self.folds < 0)

    def members(self, fold: int) -> Int64s:
        """Input indices of the sequences of a fold."""
        return np.flatnonzero(self.folds == fold)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class InteractionSplit:
    """Folds of interactions; iterate over them for the rows of each.

    Attributes
    ----------
    sides : tuple of Side
        The first set and the second; one where both ends are of the same set.
    fold_names : tuple of str
    shares : tuple of Fraction
        What each fold should have of the interactions that are kept.
    tolerance : Fraction
        By how much of its share a fold may be too small.
    header : tuple of str
        Headings of the columns of rows.
    rows : list of tuple of str
        The interactions as they were given.
    ends : ndarray of int32, shape (n, 2)
        Input indices of the two sequences of each.
    folds : ndarray of int32, shape (n,)
        The fold of each interaction; -1: its ends are not in one fold.
    repeated : int
        Interactions that are there before.
    remark : str
        Which folds have fewer than their share; empty where none has.
    """

    sides: tuple[Side, ...]
    fold_names: tuple[str, ...]
    shares: tuple[Fraction, ...]
    tolerance: Fraction
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]
    ends: Int32s
    folds: Int32s
    repeated: int
    remark: str = ""

    def __len__(self) -> int:
        return len(self.fold_names)

    def __iter__(self) -> Iterator[list[tuple[str, ...]]]:
        members = (np.flatnonzero(self.folds == fold).tolist() for fold in range(len(self)))
        return ([self.rows[k] for k in indices] for indices in members)

    def __repr__(self) -> str:
        return (
            f"<InteractionSplit: {len(self)} folds of {len(self.rows)} interactions, "
            f"{len(self.removed)} removed>"
        )

    @property
    def ends_sides(self) -> tuple[Side, Side]:
        """The sets of the first and the second sequence of an interaction."""
        return self.sides[0], self.sides[-1]

    @property
    def sizes(self) -> Int64s:
        """Number of interactions of each fold, shape (folds,)."""
        return np.bincount(self.folds[self.folds >= 0], minlength=len(self))

    @property
    def removed(self) -> Int64s:
        """Numbers of the interactions that were removed."""
        return np.flatnonzero(self.folds < 0)

    def name_of(self, fold: int) -> str:
        """Return the name of a fold; empty for -1."""
        return self.fold_names[fold] if fold >= 0 else ""
