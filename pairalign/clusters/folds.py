"""A split: which fold each sequence of a set is in, so that no similar pair is across folds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Doubles, Int32s, Int64s
from pairalign.sequences.sets import SequenceSet


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Split:
    """The folds of a set; iterate over it for the names of each.

    Attributes
    ----------
    sequences : SequenceSet
    thresholds : PairThresholds
        No pair of sequences in two folds reaches them; one that just reaches them does.
    max_evalue : float or None
        Pairs with larger E-values, either way round, do not reach the thresholds.
    fold_names : tuple of str
    folds : ndarray of int32, shape (n,)
        The fold of each sequence, by input index; -1: it was removed.
    labels : tuple of str, or None
        Of each sequence.
    clusters : ndarray of int32, shape (n,)
        What pairs that reach the thresholds connect, numbered from 0 by first sequences, the
        longest first (`SequenceSet.canonical_order`); before anything was removed.
    edges : int
        Pairs that reach the thresholds.
    least_removed : int
        No split into folds of these sizes removes fewer: a proven bound.
    nearest : ndarray of int32, shape (n,)
        Input index of the most similar sequence in another fold, of equals that which is first in
        `SequenceSet.canonical_order`; -1: none reaches `nearest_from`, or the sequence was removed.
    nearest_identity : ndarray of float64, shape (n,)
        Its identity; NaN without one.
    nearest_from : float
        The least identity at which nearest sequences were looked for.
    leakage : float
        What part of the identities of pairs that reach `nearest_from` is across folds, from 0 to 1;
        see `pairalign.jobs.splits.edges`.
    remark : str
        Which folds have no sequence, and why; empty where all have some.
    """

    sequences: SequenceSet
    thresholds: PairThresholds
    fold_names: tuple[str, ...]
    folds: Int32s
    labels: tuple[str, ...] | None
    clusters: Int32s
    edges: int
    least_removed: int
    nearest: Int32s
    nearest_identity: Doubles
    nearest_from: float
    leakage: float = 0.0
    remark: str = ""
    max_evalue: float | None = None

    def __len__(self) -> int:
        return len(self.fold_names)

    def __iter__(self) -> Iterator[list[str]]:
        names = self.sequences.names
        return ([names[k] for k in self.members(fold)] for fold in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"<Split: {len(self)} folds of {len(self.sequences)} sequences, "
            f"{len(self.removed)} removed>"
        )

    @property
    def sizes(self) -> Int64s:
        """Number of sequences of each fold, shape (folds,)."""
        return np.bincount(self.folds[self.folds >= 0], minlength=len(self))

    @property
    def removed(self) -> Int64s:
        """Input indices of the sequences that were removed."""
        return np.flatnonzero(self.folds < 0)

    def members(self, fold: int) -> Int64s:
        """Input indices of the sequences of a fold."""
        return np.flatnonzero(self.folds == fold)

    def count_labels(self) -> dict[str, list[int]]:
        """Count each label in each fold; labels in the order of their names."""
        assert self.labels is not None
        counts = {label: [0] * len(self) for label in sorted(set(self.labels))}
        for label, fold in zip(self.labels, self.folds.tolist(), strict=True):
            if fold >= 0:
                counts[label][fold] += 1
        return counts
