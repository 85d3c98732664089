"""Multiple alignment of posteriors on this machine's cores; see ``cpu/msa/msa.h``."""

from __future__ import annotations

from ctypes import c_int32
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import ONE, SparsePosteriors
from pairalign.base.arrays import Doubles, Int32s, Int64s, UInt8s
from pairalign.base.error_types import CapacityError
from pairalign.base.native import Struct, library, struct_fields
from pairalign.scoring.posterior_models import ProfileCosts

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

    Raises
    ------
    CapacityError
        Here and in methods: the machine is out of memory.
    """

    def __init__(self, lengths: Int32s, posteriors: SparsePosteriors, threads: int = 1) -> None:
        self._lengths = np.ascontiguousarray(lengths, np.int32)
        self._threads = threads
        self._handle = library.pairalign_msa_open(
            self._lengths, len(lengths), *_arguments_of(posteriors)
        )
        if not self._handle:
            raise _out_of_memory()

    def close(self) -> None:
        """Give the memory back."""
        handle, self._handle = self._handle, None
        if handle:
            library.pairalign_msa_close(handle)

    def relax(self, weights: Int32s, least: float) -> None:
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
        if library.pairalign_msa_relax(self._handle, weights, round(least * ONE), self._threads):
            raise _out_of_memory()

    def accuracies(self) -> Doubles:
        """Return the expected number of right columns of each pair's best alignment, condensed."""
        count = len(self._lengths)
        sums = np.empty(count * (count - 1) // 2, np.uint64)
        if library.pairalign_msa_accuracies(self._handle, self._threads, sums):
            raise _out_of_memory()
        return sums / ONE

    def align(
        self, children: Int64s, weights: Int32s, refinements: int, *, rejoins: bool = False
    ) -> tuple[Int32s, int]:
        """Align along a tree.

        Parameters
        ----------
        children : ndarray of int64, shape (n-1, 2)
            As a `pairalign.trees.tree.GuideTree` has them.
        weights : ndarray of int32, shape (n,)
        refinements : int
            How often the alignment is cut in two and joined anew.
        rejoins : bool
            Whether each sequence is then moved that has more posterior elsewhere: 0.1 for each of
            its residues with each other sequence, weighted.

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
            *(self._handle, children, weights, refinements, rejoins, columns, width)
        ):
            raise _out_of_memory()
        return columns, width.value


class Support:
    """How much the posteriors of some pairs speak for the columns of a multiple alignment.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Where the residues of each sequence begin.
    columns : ndarray of int32, shape (residues,)
        The column of each residue.

    Attributes
    ----------
    sums : ndarray of uint64, shape (residues,)
        Of each residue its posteriors with residues in its column, in 65535ths.
    against : ndarray of uint64, shape (residues,)
        Of each residue and these sequences, its largest posteriors with residues elsewhere.
    compared : ndarray of int32, shape (residues,)
        How many residues in its column there were in the pairs.
    """

    def __init__(self, offsets: Int64s, columns: Int32s) -> None:
        assert len(columns) == offsets[-1]
        self._offsets = np.ascontiguousarray(offsets, np.int64)
        self._columns = np.ascontiguousarray(columns, np.int32)
        self.sums = np.zeros(len(columns), np.uint64)
        self.against = np.zeros(len(columns), np.uint64)
        self.compared = np.zeros(len(columns), np.int32)

    def add(self, posteriors: SparsePosteriors) -> None:
        """Count pairs."""
        if library.pairalign_msa_support(
            *(self._offsets, self._columns, *_arguments_of(posteriors)),
            *(self.sums, self.against, self.compared),
        ):
            raise _out_of_memory()


def join_columns(
    first: Int32s,
    second: Int32s,
    values: npt.NDArray[np.uint16],
    widths: tuple[int, int],
) -> tuple[Int32s, Int32s, int]:
    """Join two alignments by posteriors between their columns; see ``cpu/msa/chain.cpp``.

    Parameters
    ----------
    first, second : ndarray of int32, shape (n,)
        Of each posterior the columns of its two residues.
    values : ndarray of uint16, shape (n,)
        Posteriors in 65535ths.
    widths : (int, int)
        How many columns the two alignments have.

    Returns
    -------
    first_places, second_places : ndarray of int32, shape (width of the alignment,)
        The column of the join in which each column is.
    width : int
        How many columns the join has.

    Raises
    ------
    CapacityError
        The machine is out of memory.
    """
    first, second = (np.ascontiguousarray(columns, np.int32) for columns in (first, second))
    values = np.ascontiguousarray(values, np.uint16)
    places = [np.empty(width, np.int32) for width in widths]
    width = library.pairalign_msa_join(first, second, values, len(values), *widths, *places)
    if width < 0:
        raise _out_of_memory()
    return places[0], places[1], width


class Side(NamedTuple):
    """Sequences that are aligned, for `join_profiles`.

    Attributes
    ----------
    codes : ndarray of uint8, shape (residues,)
        Below 32; one sequence after the other.
    columns : ndarray of int32, shape (residues,)
    starts : ndarray of int64, shape (n + 1,)
        Where the residues of each sequence begin.
    """

    codes: UInt8s
    columns: Int32s
    starts: Int64s
    width: int


class NativeSide(Struct):
    """`pairalign_msa_side`."""

    _fields_ = struct_fields("pointer codes columns starts; int32 count width")


class NativeCosts(Struct):
    """`pairalign_msa_costs`."""

    _fields_ = struct_fields("int32*1024 scores; int32 gap_open posterior")


def join_profiles(
    first: Side,
    second: Side,
    costs: ProfileCosts,
    posteriors: tuple[Int32s, Int32s, npt.NDArray[np.uint16]],
    pairs: int,
) -> tuple[Int32s, Int32s, int]:
    """Join two alignments by posteriors and as profiles; see ``cpu/msa/profiles.cpp``.

    Parameters
    ----------
    posteriors : (ndarray of int32, ndarray of int32, ndarray of uint16), each of shape (n,)
        The two columns of each posterior, and its value in 65535ths.
    pairs : int
        How many pairs of sequences they are of.

    Returns
    -------
    As `join_columns`.

    Raises
    ------
    CapacityError
        The machine is out of memory.
    """
    kept = [
        (
            np.ascontiguousarray(side.codes, np.uint8),
            np.ascontiguousarray(side.columns, np.int32),
            np.ascontiguousarray(side.starts, np.int64),
        )
        for side in (first, second)
    ]
    sides = [
        NativeSide(*arrays, len(arrays[2]) - 1, side.width)
        for arrays, side in zip(kept, (first, second), strict=True)
    ]
    scores = np.ctypeslib.as_ctypes(np.ascontiguousarray(costs.scores.ravel(), np.int32))
    native_costs = NativeCosts(scores, costs.gap_open, costs.posterior)
    columns, others, values = posteriors
    columns, others = (np.ascontiguousarray(array, np.int32) for array in (columns, others))
    values = np.ascontiguousarray(values, np.uint16)
    places = [np.empty(side.width, np.int32) for side in (first, second)]
    width = library.pairalign_msa_join_profiles(
        *(*sides, native_costs, columns, others, values, len(values), pairs), *places
    )
    if width < 0:
        raise _out_of_memory()
    return places[0], places[1], width


def _arguments_of(posteriors: SparsePosteriors) -> tuple[object, ...]:
    ends = posteriors.queries, posteriors.targets
    entries = posteriors.rows, posteriors.columns, posteriors.values
    return *ends, posteriors.offsets, len(posteriors), *entries


def _out_of_memory() -> CapacityError:
    return CapacityError("out of memory for the posteriors of all pairs of the alignment")
