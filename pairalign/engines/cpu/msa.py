"""Multiple alignment of posteriors on this machine's cores; see ``cpu/msa/msa.h``."""

from __future__ import annotations

from ctypes import byref, c_int32

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import ONE, SparsePosteriors
from pairalign.base.native import library
from pairalign.errors import CapacityError

MOST_WEIGHT = 1 << 15
"""What the weights of all sequences may sum up to."""


class PosteriorGraph:
    """The posteriors of all pairs of a set, in both directions; `close` gives the memory back.

    Parameters
    ----------
    lengths : ndarray of int32, shape (n,)
        Of the sequences.
    posteriors : SparsePosteriors
        Of all pairs (0, 1), (0, 2), ..., (1, 2), ...
    threads : int

    Raises
    ------
    CapacityError
        Here and in methods: the machine is out of memory.
    """

    def __init__(
        self, lengths: npt.NDArray[np.int32], posteriors: SparsePosteriors, threads: int = 1
    ) -> None:
        self._lengths = np.ascontiguousarray(lengths, np.int32)
        self._threads = threads
        self._handle = library.pairalign_msa_open(
            self._lengths.ctypes.data,
            len(lengths),
            posteriors.queries.ctypes.data,
            posteriors.targets.ctypes.data,
            posteriors.offsets.ctypes.data,
            len(posteriors),
            posteriors.rows.ctypes.data,
            posteriors.columns.ctypes.data,
            posteriors.values.ctypes.data,
        )
        if not self._handle:
            raise _out_of_memory()

    def close(self) -> None:
        """Give the memory back."""
        handle, self._handle = self._handle, None
        if handle:
            library.pairalign_msa_close(handle)

    def relax(self, weights: npt.NDArray[np.int32], least: float) -> None:
        """Make the posteriors consistent with those through all other sequences: one round.

        Parameters
        ----------
        weights : ndarray of int32, shape (n,)
            Of the sequences; at most `MOST_WEIGHT` in all.
        least : float
            Posteriors below are dropped.
        """
        assert weights.sum() <= MOST_WEIGHT
        weights = np.ascontiguousarray(weights, np.int32)
        if library.pairalign_msa_relax(
            self._handle, weights.ctypes.data, round(least * ONE), self._threads
        ):
            raise _out_of_memory()

    def accuracies(self) -> npt.NDArray[np.float64]:
        """Return the expected number of right columns of each pair's best alignment, condensed."""
        count = len(self._lengths)
        sums = np.empty(count * (count - 1) // 2, np.uint64)
        if library.pairalign_msa_accuracies(self._handle, self._threads, sums.ctypes.data):
            raise _out_of_memory()
        return sums / ONE

    def align(
        self, children: npt.NDArray[np.int64], weights: npt.NDArray[np.int32], refinements: int
    ) -> tuple[npt.NDArray[np.int32], int]:
        """Align along a tree.

        Parameters
        ----------
        children : ndarray of int64, shape (n-1, 2)
            As a `pairalign.trees.topology.Topology` has them.
        weights : ndarray of int32, shape (n,)
        refinements : int
            How often the alignment is cut in two and joined anew.

        Returns
        -------
        columns : ndarray of int32, shape (residues,)
            The column of each residue.
        width : int
            How many columns there are.
        """
        children = np.ascontiguousarray(children, np.int64)
        weights = np.ascontiguousarray(weights, np.int32)
        columns = np.empty(int(self._lengths.sum()), np.int32)
        width = c_int32()
        if library.pairalign_msa_align(
            self._handle,
            children.ctypes.data,
            weights.ctypes.data,
            refinements,
            columns.ctypes.data,
            byref(width),
        ):
            raise _out_of_memory()
        return columns, width.value

    def support(self, columns: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """Return for each residue the sum of its posteriors with those in its column."""
        columns = np.ascontiguousarray(columns, np.int32)
        assert len(columns) == self._lengths.sum()
        sums = np.empty(len(columns), np.uint64)
        library.pairalign_msa_support(self._handle, columns.ctypes.data, sums.ctypes.data)
        return sums / ONE


def _out_of_memory() -> CapacityError:
    return CapacityError("out of memory for the posteriors of all pairs of the alignment")
