"""Pairs of reads that share seeds, and on which strand: ``cpu/suboptimal/seed_pairs.cpp``.

Nothing is aligned in full. With a least score, a pair is taken if an alignment near its
seeds reaches it, as far as 8 bits can tell.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pairalign.base.arrays import Int32s
from pairalign.base.error_types import CapacityError
from pairalign.base.native import Struct, library, struct_fields
from pairalign.engines.cpu.cpu_engine import instruction_set_of
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet


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
