"""Distances of the pairs, of a set or of two, within a limit, and nothing of all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s
from pairalign.base.texts import counted
from pairalign.trees.distance_matrix import BLOCK, Block, Distances

_MOST_BLOCKS = 64
"""Of rows of one set that are put in order: the pairs are looked through for each."""


@dataclass(frozen=True, eq=False)
class SparseDistances(Distances):
    """Distances of pairs of a set, or of two, that are at most a limit.

    Attributes
    ----------
    names : list of str
        In the order of the input.
    queries, targets : ndarray of int32, shape (pairs,)
        Input indices, of one set ``query < target``, sorted by query, then by target; each pair
        once.
    values : ndarray of int32, shape (pairs,)
        Their distances, 0 or more.
    limit : int
        The largest distance there can be.
    measure : str
        ``"drop"``: ``min(S(a,a), S(b,b)) - S(a,b)`` of global scores, or 0 if that is more;
        ``"edits"``: Levenshtein's; ``"tcrdist"``: that of `pairalign.jobs.receptors.tcrdist`.
    target_names : list of str or None
        Of the second set; None: there is one set.
    """

    storage = "sparse"

    names: list[str]
    queries: Int32s
    targets: Int32s
    values: Int32s
    limit: int
    measure: str
    target_names: list[str] | None = None

    @property
    def other_names(self) -> list[str]:
        """Names of the targets."""
        return self.names if self.target_names is None else self.target_names

    @property
    def sides(self) -> tuple[list[str], list[str]]:
        """Names of the queries and of the targets."""
        return self.names, self.other_names

    @property
    def facts(self) -> dict[str, str | int]:
        """The measure, and the limit."""
        return {"measure": self.measure, "limit": self.limit}

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix: how many queries and targets there are."""
        return len(self.names), len(self.other_names)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.values)

    def __repr__(self) -> str:
        of = " by ".join(f"{size:,}" for size in self.shape[: 1 + (self.target_names is not None)])
        return (
            f"<SparseDistances: {counted(len(self), 'pair')} of {of} sequences, "
            f"{self.measure} of at most {self.limit}>"
        )

    def blocks(self, size: int = BLOCK) -> Iterator[Block]:
        """Give the pairs; of none an empty block."""
        for start in range(0, max(1, len(self)), size):
            part = slice(start, start + size)
            yield self.queries[part], self.targets[part], self.values[part].astype(self.dtype)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest of uint8, uint16 and uint32 that holds ``limit + 1``."""
        return np.dtype(np.min_scalar_type(self.limit + 1))

    def csr_arrays(self) -> tuple[npt.NDArray[Any], Int32s, npt.NDArray[np.signedinteger[Any]]]:
        """Return the matrix in CSR: of one set symmetric, with its diagonal.

        What is stored of a distance d is d + 1: a pair without an entry is beyond the limit.

        Returns
        -------
        data : ndarray of `dtype`, shape (entries,)
        indices : ndarray of int32, shape (entries,)
        indptr : ndarray of int32 or int64, shape (n + 1,)
        """
        indptr = self.indptr
        data = np.empty(int(indptr[-1]), self.dtype)
        indices = np.empty(len(data), np.int32)
        start = 0
        for some, columns in self.csr_blocks():
            stop = start + len(some)
            data[start:stop], indices[start:stop] = some, columns
            start = stop
        return data, indices, indptr

    @property
    def indptr(self) -> npt.NDArray[np.signedinteger[Any]]:
        """Where the rows of `csr_arrays` begin, and the last one ends."""
        count = len(self.names)
        indptr = np.zeros(count + 1, np.int64)
        entries = np.bincount(self.queries, minlength=count)
        if self.target_names is None:
            entries += 1 + np.bincount(self.targets, minlength=count)
        np.cumsum(entries, out=indptr[1:])
        return indptr.astype(np.int32) if indptr[-1] <= np.iinfo(np.int32).max else indptr

    def csr_blocks(self) -> Iterator[tuple[npt.NDArray[Any], Int32s]]:
        """Give data and indices of `csr_arrays`, those of some rows at a time.

        Yields
        ------
        data : ndarray
            Distances plus 1, of `dtype`.
        indices : ndarray of int32
            Their columns.
        """
        if self.target_names is not None:  # the pairs are in order
            for _, columns, values in self.blocks():
                yield values + self.dtype.type(1), columns
            return
        indptr = self.indptr.astype(np.int64)
        size = max(BLOCK, int(indptr[-1]) // _MOST_BLOCKS)
        blocks = np.unique(indptr[:-1] // size, return_index=True)[1].tolist()
        for start, stop in pairwise([*blocks, len(self.names)]):
            first, last = np.searchsorted(self.queries, (start, stop)).tolist()
            above = slice(first, last)
            below = np.flatnonzero((self.targets[:last] >= start) & (self.targets[:last] < stop))
            diagonal = np.arange(start, stop, dtype=np.int32)
            rows = np.concatenate((self.targets[below], diagonal, self.queries[above]))
            columns = np.concatenate((self.queries[below], diagonal, self.targets[above]))
            stored = self.values[below], np.zeros_like(diagonal), self.values[above]
            data = np.ones(len(rows), self.dtype) + np.concatenate(stored).astype(self.dtype)
            # Each row comes in order: what is below the diagonal, on it, above it.
            order = np.argsort(rows, kind="stable")
            yield data[order], columns[order]
