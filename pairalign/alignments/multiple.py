"""A multiple alignment: the column of each residue, and how sure each one is."""

from __future__ import annotations

from dataclasses import dataclass

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
        Of each residue the sum of its posteriors with the others in its column.
    tree : GuideTree or None
        What the sequences were joined along; None for a single one.
    """

    sequences: SequenceSet
    columns: npt.NDArray[np.int32]
    width: int
    support: npt.NDArray[np.float64]
    tree: GuideTree | None

    def __len__(self) -> int:
        return len(self.sequences)

    def __repr__(self) -> str:
        return f"<MultipleAlignment: {len(self)} sequences, {self.width} columns>"

    def row(self, index: int) -> npt.NDArray[np.uint8]:
        """Return the row of the sequence at an input index: letters and ``-``, uint8."""
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
        """Mean posterior of each residue with the others in its column; nan where it is alone."""
        others = self.occupancy[self.columns] - 1
        confidence = np.full(len(others), np.nan)
        np.divide(self.support, others, out=confidence, where=others > 0)
        np.minimum(confidence, 1, out=confidence)
        return confidence

    @property
    def column_confidence(self) -> npt.NDArray[np.float64]:
        """Mean posterior of the pairs of residues of each column; nan where there is none."""
        occupancy = self.occupancy
        pairs = occupancy * (occupancy - 1)
        sums = np.bincount(self.columns, self.support, minlength=self.width)
        confidence = np.full(self.width, np.nan)
        np.divide(sums, pairs, out=confidence, where=pairs > 0)
        np.minimum(confidence, 1, out=confidence)
        return confidence

    def order(self, by: str) -> list[int]:
        """Return input indices in the order of the ``"input"`` or of the ``"tree"``."""
        if by == "tree" and self.tree is not None:
            return self.tree.leaves()
        return list(range(len(self)))
