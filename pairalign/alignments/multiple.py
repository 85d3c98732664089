"""A multiple alignment: the column of each residue, and how sure each one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree

GAP = ord("-")


@dataclass(frozen=True, eq=False, repr=False)
class MultipleAlignment:
    """Sequences in rows of one width.

    Attributes
    ----------
    sequences : SequenceSet
    columns : ndarray of int32, shape (total_residues,)
        The column of each residue, from 0; ascending within a sequence.
    width : int
        How many columns there are.
    support : ndarray of float64, shape (total_residues,)
        Of each residue the sum of its posteriors with others in its column.
    compared : ndarray of int32, shape (total_residues,)
        How many others in its column that is of: all of them, or those of sampled sequences.
    tree : GuideTree or None
        What the sequences were joined along; None for a single one.
    """

    sequences: SequenceSet
    columns: npt.NDArray[np.int32]
    width: int
    support: npt.NDArray[np.float64]
    compared: npt.NDArray[np.int32]
    tree: GuideTree | None

    def __len__(self) -> int:
        return len(self.sequences)

    def __repr__(self) -> str:
        return f"<MultipleAlignment: {len(self)} sequences, {self.width} columns>"

    def row(self, index: int) -> npt.NDArray[np.uint8]:
        """Return the row of the sequence at an input index: residues and ``-``, uint8."""
        row = np.full(self.width, GAP, np.uint8)
        own = slice(*self.sequences.offsets[index : index + 2])
        row[self.columns[own]] = self.sequences.letters[own]
        return row

    def text(self, index: int) -> str:
        """Return the row of the sequence at an input index as text."""
        return self.row(index).tobytes().decode("ascii")

    @property
    def occupancy(self) -> npt.NDArray[np.int64]:
        """How many residues each column has, int64 of shape (width,)."""
        return np.bincount(self.columns, minlength=self.width)

    @property
    def residue_confidence(self) -> npt.NDArray[np.float64]:
        """Mean posterior of each residue with others in its column; nan where there is none."""
        return _means(self.support, self.compared)

    @property
    def column_confidence(self) -> npt.NDArray[np.float64]:
        """Mean posterior of pairs of residues of each column; nan where there is none."""
        sums = np.bincount(self.columns, self.support, minlength=self.width)
        return _means(sums, np.bincount(self.columns, self.compared, minlength=self.width))

    def order(self, by: str) -> list[int]:
        """Return input indices in the order of the ``"input"`` or of the ``"tree"``."""
        if by == "tree" and self.tree is not None:
            return self.tree.leaves()
        return list(range(len(self)))


def _means(sums: npt.NDArray[Any], counts: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    means = np.full(len(sums), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    np.minimum(means, 1, out=means)
    return means
