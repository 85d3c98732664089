"""Posteriors of pairs: how likely each two residues are to be aligned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

ARITHMETICS = ("float32", "float64", "extended")
"""What a pair is computed with: each holds a wider range than the one before."""

ONE = 65535
"""A posterior of 1, in the units of `SparsePosteriors.values`."""


@dataclass(frozen=True)
class SparsePosteriors:
    """Posteriors of pairs that reach a threshold.

    Attributes
    ----------
    queries, targets : ndarray of int32, shape (pairs,)
        Input indices of the pairs' sequences.
    offsets : ndarray of int64, shape (pairs + 1,)
        Where the entries of each pair begin in the arrays below.
    rows, columns : ndarray of int32, shape (entries,)
        Residues of query and target, from 0; by row, then by column.
    values : ndarray of uint16, shape (entries,)
        Posteriors in 65535ths.
    arithmetic : ndarray of uint8, shape (pairs,)
        Index into `ARITHMETICS`: what each pair was computed with.
    """

    queries: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int32]
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[np.uint16]
    arithmetic: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def probabilities(self) -> npt.NDArray[np.float64]:
        """The posteriors as numbers from 0 to 1, float64 of shape (entries,)."""
        return self.values / ONE

    @property
    def pairs(self) -> npt.NDArray[np.int64]:
        """The pair of each entry, int64 of shape (entries,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))
