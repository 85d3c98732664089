"""Which pairs can reach thresholds, before they are aligned: by lengths, residues, pieces.

The source is in ``cpu/filters/``; why nothing is lost is in ``docs/filters.md``.

References
----------
P. Jokinen, E. Ukkonen: Two algorithms for approximate string matching in static texts. Mathematical
Foundations of Computer Science, 1991.
H. Hyyro: Bit-parallel LCS-length computation revisited. AWOCA 2004.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Bools, Int32s, Int64s, Structs, count_bytes
from pairalign.base.error_types import CapacityError
from pairalign.base.native import Struct, library, struct_dtype, struct_fields
from pairalign.engines.cpu.cpu_engine import SharedSet, instruction_set_of
from pairalign.engines.cpu.native_structs import NativeWindow
from pairalign.engines.cpu.representative_index import (
    Representatives,
    open_lane_index,
    open_representative_index,
)
from pairalign.engines.cpu.seed_index import SeedIndex, open_seed_index
from pairalign.pairs.want import Demand, Wanted
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import CODES, Scoring
from pairalign.sequences.sets import SequenceSet


class NativeColumnScores(Struct):
    """What columns score: ``pairalign_column_scores`` of ``cpu/filters/thresholds.h``."""

    _fields_ = struct_fields(
        "int32 least_match most_match worst_mismatch best_mismatch gap_open gap_extend "
        f"has_minimum minimum; int32*{CODES} best_of_row best_of_column"
    )


class NativeFilteredSet(Struct):
    """A set for GPUs: ``pairalign_filtered_set`` of ``cpu/filters/device_tables.cpp``."""

    _fields_ = struct_fields("pointer bits; int64 words; pointer grams best; int64 count")


GRAM_SET = struct_dtype("int64 start; int32 words lost")
"""Where the bits of a sequence are: ``GramSet`` of ``cpu/filters/grams.h``."""

LENGTH_BOUND = struct_dtype("int64 least_best; int32*2 grams score matches")
"""What lengths say of a pair: ``pairalign_length_bound`` of ``cpu/filters/device_tables.cpp``."""


@dataclass(frozen=True)
class FilteredSet:
    """The sequences of a set as a filter sees them, by sorted position; views of its memory.

    Attributes
    ----------
    bits : ndarray of uint64
        Of all sequences; empty where q-grams are not looked at, as `grams`.
    grams : ndarray of GRAM_SET
    best : ndarray of int64
        The most that the residues of a sequence can score; empty without a least score.
    """

    bits: npt.NDArray[np.uint64]
    grams: Structs
    best: Int64s


class LengthClasses:
    """Sequences of a set by their lengths.

    Attributes
    ----------
    lengths : ndarray of int32
        Each once, longest first.
    of_sequence : ndarray of int32
        Which of them each sequence has, by sorted position.
    """

    def __init__(self, lengths: Int32s) -> None:
        changes = np.flatnonzero(np.diff(lengths)) + 1
        firsts = np.concatenate(([0], changes))[: len(lengths)]
        self.lengths = np.ascontiguousarray(lengths[firsts], np.int32)
        self.of_sequence = np.zeros(len(lengths), np.int32)
        self.of_sequence[changes] = 1
        np.cumsum(self.of_sequence, out=self.of_sequence)


@dataclass(frozen=True)
class PairsLeft:
    """What of a window is left.

    Attributes
    ----------
    mask : ndarray of bool, shape (pairs,)
    looked_at, possible, sharing, left : int
        Pairs before anything, after lengths and residues, after q-grams, and after subsequences:
        those of `mask`.
    min_raw_score : int or None
        What every pair that passes scores at least.
    seedless, unwanted : int
        Pairs that share no seed, and others that were of no use, before lengths are looked at.
    """

    mask: Bools
    looked_at: int
    possible: int
    sharing: int
    left: int
    min_raw_score: int | None
    seedless: int = 0
    unwanted: int = 0

    @classmethod
    def of(
        cls,
        mask: Bools,
        looked_at: int,
        possible: int,
        sharing: int,
        left: int,
        least: int,
        **before: int,
    ) -> PairsLeft:
        """Make one; `least`: the least score of the pairs that are left, if that says anything."""
        says = left > 0 and least > -(2**31)
        return cls(mask, looked_at, possible, sharing, left, least if says else None, **before)


class Grams(IntEnum):
    """Whether q-grams of pairs are looked at; the last, only where it saves time on cores."""

    NONE = 0
    ANY = 1
    WHERE_FASTER = 2


class PairFilter:
    """Drops pairs that cannot pass; may be asked from several threads.

    Parameters
    ----------
    problem : Problem
    min_raw_score : int or None
        Raw score that pairs must reach besides.
    subsequences : bool
        Whether longest common subsequences are looked at as well, where they drop some of a sample.
    seeds : bool or int
        Whether pairs are found by an index of seeds instead of q-grams, where that takes less time;
        or of how many residues the seeds are.
    grams : Grams
        Whether q-grams are looked at.
    first : SharedSet, optional
        The queries, in any order for `open_representatives`.

    Attributes
    ----------
    gram : int
        Residues of the q-grams that are compared: those that drop most pairs of a sample. 0: none.

    Notes
    -----
    Memory: one to four bytes a residue of the sets, and two to three where subsequences are looked
    at. Time: some ten nanoseconds a pair and thread; subsequences take a tenth of a score.
    """

    _handle: int | None = None
    index: SeedIndex | None = None

    def __init__(
        self,
        problem: Problem,
        thresholds: PairThresholds,
        min_raw_score: int | None,
        *,
        threads: int,
        subsequences: bool = False,
        seeds: bool | int = False,
        grams: Grams = Grams.ANY,
        first: SharedSet | None = None,
    ) -> None:
        scoring = problem.scoring
        self._sets = problem.queries, problem.others
        self._first = SharedSet(problem.queries) if first is None else first
        self._second = None if problem.targets is None else SharedSet(problem.targets)
        scores = _column_scores(*self._sets, scoring)
        scores.has_minimum = min_raw_score is not None
        scores.minimum = min_raw_score or 0
        arguments = (
            *(self._first.struct, self._second and self._second.struct),
            *(thresholds.native(scoring.mode), scores, scoring.alphabet.unambiguous),
        )
        kernel = instruction_set_of(None).encode() if subsequences else None
        if seeds:
            self._open(*arguments, Grams.NONE, kernel, threads)
            assert self._handle
            self.index = open_seed_index(self._handle, int(seeds) if seeds is not True else 0)
            if self.index is None:
                self.close()
        if self.index is None:
            self._open(*arguments, grams, kernel, threads)
        self.gram: int = library.pairalign_filter_gram(self._handle)

    def _open(self, *arguments: object) -> None:
        self._handle = library.pairalign_open_filter(*arguments)
        if not self._handle:
            raise CapacityError("out of memory for the q-grams of the sequences")

    def choose(
        self, window: Window, pair_mask: Bools | None = None, demand: Demand | None = None
    ) -> PairsLeft:
        """Drop pairs of a window, or of those that `pair_mask` names: bool[pairs].

        With a `demand`, pairs are dropped as well that nobody asks for any more.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        demands = Wanted() if demand is None else demand.of(window)
        seedless = 0
        if pair_mask is not None:
            mask = pair_mask.copy()
        elif self.index is not None:
            mask, pairs = self.index.find(window, demands.rows)
            seedless = pairs - int(np.count_nonzero(mask))
        else:
            mask = np.empty(window.pairs, np.bool_)
        counts = np.zeros(6, np.int64)
        failed = library.pairalign_filter_window(
            *(self._handle, NativeWindow.of(window), pair_mask is None and self.index is None),
            *(demands.native(), mask, counts),
        )
        if failed:
            raise CapacityError("out of memory while pairs are looked at")
        looked_at, asked_for, *left = counts.tolist()
        before = {"seedless": seedless, "unwanted": looked_at - asked_for}
        return PairsLeft.of(mask, looked_at + seedless, *left, **before)

    def open_representatives(self, residues: int = 0) -> Representatives | None:
        """Return what sequences of the set are put into; it is closed before the filter.

        Parameters
        ----------
        residues : int
            Of seeds, 0: what takes the least time by a sample.

        Returns
        -------
        Representatives or None
            By seeds, else by common subsequences; None: neither is of use.
        """
        assert self._handle
        index = open_representative_index(self._handle, residues)
        if index is None:
            index = open_lane_index(self._handle, instruction_set_of(None))
        return index

    def set_of(self, side: int) -> FilteredSet:
        """Return the set of the rows (0) or of the columns (1): views, while the filter is open."""
        native = NativeFilteredSet()
        library.pairalign_filtered_set_of(self._handle, side, native)
        count = native.count if native.grams else 0
        return FilteredSet(
            _view(native.bits, native.words if native.bits else 0, np.dtype(np.uint64)),
            _view(native.grams, count, GRAM_SET),
            _view(native.best, native.count if native.best else 0, np.dtype(np.int64)),
        )

    @property
    def has_subsequences(self) -> bool:
        """Whether longest common subsequences are looked at."""
        return bool(library.pairalign_filter_has_subsequences(self._handle))

    @cached_property
    def length_classes(self) -> tuple[LengthClasses, LengthClasses]:
        """The sequences of the rows and of the columns by their lengths."""
        first, second = (LengthClasses(sequences.sorted_lengths) for sequences in self._sets)
        return first, second

    @cached_property
    def length_bounds(self) -> Structs:
        """What lengths say of pairs: `LENGTH_BOUND`, a row and a column a length."""
        rows, columns = (classes.lengths for classes in self.length_classes)
        bounds = np.empty((len(rows), len(columns)), LENGTH_BOUND)
        library.pairalign_bound_lengths(
            self._handle, len(rows), rows, len(columns), columns, bounds
        )
        return bounds

    def close(self) -> None:
        """Free what the filter holds."""
        if self.index is not None:
            self.index.close()
        handle, self._handle = self._handle, None  # before a signal can come: it is freed once
        if handle:
            library.pairalign_close_filter(handle)

    def __del__(self) -> None:
        self.close()


def _view(address: int | None, count: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return native memory as an array."""
    if not count:
        return np.empty(0, dtype)
    assert address
    memory = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(address)
    return np.ctypeslib.as_array(memory).view(dtype)


def _column_scores(
    queries: SequenceSet, targets: SequenceSet, scoring: Scoring
) -> NativeColumnScores:
    """Extremes of what columns score, over the residues that the sets use."""
    used = [count_bytes(sequences.codes)[:CODES] > 0 for sequences in (queries, targets)]
    table = scoring.matrix.astype(np.int64)
    pairs = used[0][:, None] & used[1][None, :]
    matching = np.diag(np.arange(CODES) < scoring.alphabet.unambiguous) & pairs
    matches, others = table[matching], table[pairs & ~matching]
    if queries is targets:  # one residue of a set can be in both places
        used[1] = used[0]
    best = [np.where(pairs, table, 0).max(axis=axis, initial=0).astype(np.int32) for axis in (1, 0)]
    return NativeColumnScores(
        int(matches.min(initial=2**30)) if len(matches) else 0,
        int(matches.max(initial=-(2**30))) if len(matches) else 0,
        int(others.min()) if len(others) else 0,
        int(others.max()) if len(others) else 0,
        scoring.gap_open,
        scoring.gap_extend,
        best_of_row=tuple(best[0].tolist()),
        best_of_column=tuple(best[1].tolist()),
    )
