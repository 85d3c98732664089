"""Indices of seeds: pairs that can pass high identities, and pairs of reads that share seeds.

The source of the first, with the proof that no such pair is missed, is in ``cpu/index/``. Of the
second (``cpu/suboptimal/seed_pairs.cpp``) nothing is aligned in full: with a least score, a pair is
taken if an alignment near its seeds reaches it, as far as 8 bits can tell.

References
----------
G. Navarro, R. Baeza-Yates: A hybrid indexing method for approximate string matching. Journal of
Discrete Algorithms 1(1), 2000.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np

from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.error_types import CapacityError
from pairalign.base.native import Struct, library, struct_fields
from pairalign.engines.cpu.cpu_engine import instruction_set_of
from pairalign.engines.cpu.native_structs import NativeWindow
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

LEAST_IDENTITY = Fraction(95, 100)
"""Below, seeds are so short that all sequences have them."""

LEAST_SEQUENCES = 20_000
"""Of fewer the other filters look at all pairs in the time that the index takes to be made."""


class SeedIndex:
    """Finds the pairs of windows that share a seed; may be asked from several threads.

    Parameters
    ----------
    pair_filter : int
        The handle of a filter, which stays open.
    residues : int
        Of a seed; 0: what takes the least time by a sample.

    Attributes
    ----------
    residues : int
        Of a seed. 0: there is no index; `open_seed_index` returns None instead.
    """

    def __init__(self, pair_filter: int, residues: int = 0) -> None:
        self._handle: int | None = library.pairalign_open_seed_index(pair_filter, residues)
        self.residues: int = library.pairalign_seed_residues(self._handle) if self._handle else 0

    def find(self, window: Window, rows_left: Bools | None = None) -> tuple[Bools, int]:
        """Find the pairs of a window that can pass.

        Parameters
        ----------
        rows_left : ndarray of bool, shape (rows,), optional
            Whose pairs are looked for. Default: of all rows.

        Returns
        -------
        mask : ndarray of bool, shape (pairs,)
            Which pairs are found; what is not cannot pass.
        looked_at : int
            Pairs of the rows.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        mask = np.empty(window.pairs, np.bool_)
        looked_at = np.zeros(1, np.int64)
        failed = library.pairalign_find_seeded(
            self._handle, NativeWindow.of(window), rows_left, mask, looked_at
        )
        if failed:
            raise CapacityError("out of memory while seeds are looked up")
        return mask, int(looked_at[0])

    def reach(self, window: Window) -> Window:
        """Return a window without its last columns that are too short to pass with any row."""
        native = NativeWindow.of(window)
        stop = int(library.pairalign_seeded_columns(self._handle, native))
        return window if stop == window.column_stop else replace(window, column_stop=stop)

    def count(self, window: Window, step: int, width: int) -> Int64s:
        """Count the pairs that are found of every `step`-th row.

        Returns
        -------
        ndarray of int64
            A number for each `width` columns of the window.
        """
        columns = window.column_stop - window.column_start
        counts = np.zeros(-(-columns // width), np.int64)
        failed = library.pairalign_count_seeded(
            self._handle, NativeWindow.of(window), step, width, counts
        )
        if failed:
            raise CapacityError("out of memory while seeds are looked up")
        return counts

    def close(self) -> None:
        """Free what the index holds, before the filter is closed."""
        handle, self._handle = self._handle, None
        if handle:
            library.pairalign_close_seed_index(handle)


def open_seed_index(pair_filter: int, residues: int = 0) -> SeedIndex | None:
    """Return an index of the columns of a filter.

    None where the thresholds permit no seeds, or all pairs are looked at in less time.
    """
    index = SeedIndex(pair_filter, residues)
    return index if index.residues else None


class NativeSeedReads(Struct):
    """pairalign_seed_reads of cpu/suboptimal/seed_pairs.h."""

    _fields_ = struct_fields(
        "pointer codes offsets matrix cancelled; int32 reads gap_open gap_extend unambiguous word "
        "least_seeds least_score"
    )


def pairs_with_seeds(
    reads: SequenceSet,
    scoring: Scoring,
    *,
    word: int,
    least_seeds: int,
    least_score: int,
    threads: int,
    instruction_set: str | None = None,
) -> Int32s:
    """Find the pairs of reads that share seeds near one diagonal.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.
    word : int
        Residues of a seed, at most 12.
    least_seeds : int
        Points, at least 1: three for a seed, one for each residue that it goes on.
    least_score : int
        Raw, of a local alignment near the seeds; 0: any will do.
    instruction_set : str, optional
        See `pairalign.engines.cpu.cpu_engine.instruction_set_of`.

    Returns
    -------
    ndarray of int32, shape (n, 3)
        First read, second read, strand; by first read, strand and second read.

    Raises
    ------
    CapacityError
        Out of memory.
    """
    codes = np.ascontiguousarray(reads.codes)
    offsets = np.ascontiguousarray(reads.offsets, np.int64)
    matrix = np.ascontiguousarray(scoring.matrix, np.int32)
    cancelled = np.zeros(1, np.int32)
    described = NativeSeedReads(
        *(codes, offsets, matrix, cancelled),
        *(len(reads), scoring.gap_open, scoring.gap_extend, reads.alphabet.unambiguous),
        *(word, least_seeds, least_score),
    )
    isa = instruction_set_of(instruction_set).encode()
    seeds = library.pairalign_open_read_seeds(described)
    if not seeds:
        raise CapacityError("out of memory for the seeds of the reads")

    def partners(read: int) -> Int32s:
        buffer = np.empty(2 * len(reads), np.int32)
        count = library.pairalign_seed_pairs(seeds, read, isa, buffer)
        if count < 0 and not cancelled[0]:
            raise CapacityError(f"out of memory for the seeds of read {reads.names[read]!r}")
        others = buffer[: max(0, count)]
        strands = 1 - 2 * (others & 1)
        return np.stack([np.full(len(others), read, np.int32), others >> 1, strands], axis=1)

    try:
        with ThreadPoolExecutor(threads) as pool:
            try:
                table = list(pool.map(partners, range(len(reads))))
            except BaseException:
                cancelled[0] = 1
                raise
    finally:
        library.pairalign_close_read_seeds(seeds)
    return np.concatenate([np.empty((0, 3), np.int32), *table])
