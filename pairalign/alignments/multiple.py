"""A multiple alignment: the column of each residue, how sure each one is, and homologs in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.calibration import calibrate, placed
from pairalign.base.arrays import Bools, Doubles, Int32s, Int64s, UInt8s
from pairalign.sequences.sets import SequenceSet, join_sets
from pairalign.trees.tree import GuideTree


@dataclass(frozen=True, eq=False)
class Homologs:
    """Sequences of a database that a family is aligned with.

    Attributes
    ----------
    sequences : SequenceSet or None
        Trimmed to their hits, from the nearest to the farthest; None: there are none.
    found : int
        How many sequences of the database were hits, those of equal residues once.
    identities : ndarray of float64, shape (n,)
        Of each with the member that it is most similar to: matches by columns.
    """

    sequences: SequenceSet | None
    found: int
    identities: Doubles

    def __len__(self) -> int:
        return len(self.identities)

    def after(self, family: SequenceSet) -> SequenceSet:
        """Return the sequences of the family, then the homologs."""
        if self.sequences is None:
            return family
        return join_sets((family, self.sequences))


GAP = ord("-")


class Unlike(NamedTuple):
    """A sequence that is like no other of its family.

    Attributes
    ----------
    sequence : int
        Its input index.
    evalue : float
        Of its best local alignment with another.
    """

    sequence: int
    evalue: float


class Elsewhere(NamedTuple):
    """A sequence that is like another in another order or place than its row.

    Attributes
    ----------
    sequence, other : int
        Input indices.
    aligned : int
        Pairs of residues of their local alignment.
    together : int
        Those that are in one column.
    """

    sequence: int
    other: int
    aligned: int
    together: int


def describe_unlike(evalue: float) -> str:
    """Say of a sequence that it is like no other."""
    return f"is like no other: its best local alignment has an E-value of {evalue:.2g}"


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
    against : ndarray of float64, shape (total_residues,)
        Of each residue the sum of its largest posteriors with other residues of these sequences.
    tree : GuideTree or None
        What the sequences were joined along; None for a single one.
    unlike : tuple of Unlike
        Sequences that are like no other, as far as is known.
    homologs : Homologs or None
        What the sequences were aligned with, or among them is; None: nothing was looked for.
    other_strand : tuple of int
        Input indices of DNA that is on the other strand than most.
    turned : tuple of int
        Those of DNA that was, and has been turned.
    elsewhere : tuple of Elsewhere
        Sequences that are like another in another order or place, as far as is known.
    """

    sequences: SequenceSet
    columns: Int32s
    width: int
    support: Doubles
    compared: Int32s
    against: Doubles
    tree: GuideTree | None
    unlike: tuple[Unlike, ...] = ()
    homologs: Homologs | None = None
    other_strand: tuple[int, ...] = ()
    turned: tuple[int, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()

    def __len__(self) -> int:
        return len(self.sequences)

    def __repr__(self) -> str:
        return f"<MultipleAlignment: {len(self)} sequences, {self.width} columns>"

    @property
    def named_unlike(self) -> list[tuple[str, float]]:
        """Names and E-values of `unlike`."""
        return [(self.sequences.names[index], evalue) for index, evalue in self.unlike]

    @property
    def named_elsewhere(self) -> list[dict[str, Any]]:
        """What `elsewhere` has, by names."""
        names = self.sequences.names
        return [
            {"name": names[one], "other": names[other], "aligned": aligned, "together": together}
            for one, other, aligned, together in self.elsewhere
        ]

    def row(self, index: int) -> UInt8s:
        """Return the row of the sequence at an input index: residues and ``-``, uint8."""
        row = np.full(self.width, GAP, np.uint8)
        part = slice(*self.sequences.offsets[index : index + 2])
        row[self.columns[part]] = self.sequences.residues[part]
        return row

    def text(self, index: int) -> str:
        """Return the row of the sequence at an input index as text."""
        return self.row(index).tobytes().decode("ascii")

    @property
    def occupancy(self) -> Int64s:
        """How many residues each column has, int64 of shape (width,)."""
        return np.bincount(self.columns, minlength=self.width)

    @property
    def unlike_occupancy(self) -> Int64s:
        """How many of them are of sequences of `unlike`, int64 of shape (width,)."""
        return np.bincount(self.columns[self._are_of_unlike()], minlength=self.width)

    @property
    def residue_confidence(self) -> Doubles:
        """How likely each residue is right with others in its column; nan where there is none.

        That presumes that all sequences are related: see `unlike`.
        """
        return self._confidence(slice(None))

    def confidence_of(self, index: int) -> Doubles:
        """Return `residue_confidence` of the sequence at an input index."""
        return self._confidence(slice(*self.sequences.offsets[index : index + 2].tolist()))

    @property
    def column_confidence(self) -> Doubles:
        """Mean of `residue_confidence` of each column; nan where there is none."""
        weights = np.nan_to_num(self.residue_confidence) * self.compared
        sums = np.bincount(self.columns, weights, minlength=self.width)
        return _means(sums, np.bincount(self.columns, self.compared, minlength=self.width))

    def _confidence(self, part: slice) -> Doubles:
        """Return how likely some residues are right."""
        compared = self.compared[part]
        means, others = _means(self.support[part], compared), _means(self.against[part], compared)
        return calibrate(placed(means, others), self.sequences.alphabet, len(self))

    def _are_of_unlike(self) -> Bools:
        """Return which residues are of sequences of `unlike`."""
        is_unlike = np.zeros(len(self), bool)
        is_unlike[[index for index, _ in self.unlike]] = True
        return np.repeat(is_unlike, self.sequences.lengths)

    def order(self, by: str) -> list[int]:
        """Return input indices in the order of the ``"input"`` or of the ``"tree"``."""
        if by == "tree" and self.tree is not None:
            return self.tree.leaves()
        return list(range(len(self)))


def _means(sums: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Doubles:
    means = np.full(len(sums), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    np.minimum(means, 1, out=means)
    return means
