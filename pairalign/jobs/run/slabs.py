"""Slabs, parts of windows whose results fit the memory; shards, which take about the same time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from pairalign.base.arguments import Shard
from pairalign.base.arrays import Int32s, Int64s
from pairalign.pairs.want import Detail
from pairalign.pairs.windows import UNLIMITED, Lengths, Window, split_rows
from pairalign.sequences.block_set import slices
from pairalign.sequences.residues import NEAR_AFTER_END, WORD, WORDS, words_in_place
from pairalign.sequences.sets import SequenceSet

_PAIR_BYTES = {Detail.SCORE: 16, Detail.STATS: 160, Detail.CIGAR: 180}
"""What a pair's result takes, whatever its length: its fields."""

_RESIDUE_BYTES = {Detail.SCORE: 0.0, Detail.STATS: 0.0, Detail.CIGAR: 2.0}
"""For each residue of both: unrelated sequences have about a CIGAR run for each four residues."""

_LEAST_SHARE = 1 / 8
_SAMPLED_PAIRS = 32
_WORTH_SAMPLING = 5000
_LONG = 1000  # residues: slabs of shorter sequences have many pairs anyway

_SLAB_BYTES = 48 << 20
_GPU_SLAB_BYTES = 256 << 20
_CHOSEN_SLAB_BYTES = 1 << 30
_LEAST_SLAB_BYTES = 1 << 20
_AHEAD_OF_ENGINE = 2
_ROOM_OF_ENGINE = 2 << 30

_CORE_SPEED, _GPU_SPEED = 2 * 10**9, 5 * 10**11
"""Cells a second, about: of a core with CIGARs, and of a GPU."""

_SLABS_A_RESULT = 4
_LEAST_SECONDS = 0.1
"""Smaller slabs leave lanes and threads without work, and disks are no faster."""


def slab_bytes(on_gpu: bool, threads: int, memory_bytes: int, chosen: bool = False) -> int:
    """Return what the results of a slab may take.

    An eighth of the memory at most: few slabs are around at a time, in the engine (twice while it
    is gathered), waiting, being written. A GPU wants more pairs at a time than the cores do, and
    more still where only `chosen` ones are traced: few of most windows are, in batches that take
    no longer if they are larger.
    """
    most_bytes = _SLAB_BYTES * max(1, threads // 4)
    if on_gpu:
        most_bytes = _CHOSEN_SLAB_BYTES if chosen else _GPU_SLAB_BYTES
    return max(_LEAST_SLAB_BYTES, min(memory_bytes // 8, most_bytes))


def slab_cells(
    seconds: float | None, on_gpu: bool, threads: int, rows: Lengths, columns: Lengths
) -> int:
    """Return how many cells a slab may have for results to come at the wanted interval.

    Parameters
    ----------
    seconds : float or None
        How often; None: it does not matter.
    rows, columns : ndarray of int, shape (sequences,)
        Lengths, in any order.
    """
    if seconds is None:
        return UNLIMITED
    speed = _GPU_SPEED if on_gpu else _CORE_SPEED * threads
    longest = int(rows.max(initial=0)) * int(columns.max(initial=0))
    return max(int(max(seconds / _SLABS_A_RESULT, _LEAST_SECONDS) * speed), 4 * threads * longest)


def slabs_ahead(engines: int, memory_bytes: int, limit: int) -> int:
    """Return of how many slabs of `limit` bytes the engine that is idle takes the largest.

    Few an engine, as results are wanted in order: one small slab that all others overtake would
    keep their results in memory to the end.
    """
    if engines == 1:
        return 2
    return max(engines + 1, min(_AHEAD_OF_ENGINE * engines + 2, memory_bytes // 4 // limit))


def waiting_bytes(engines: int, memory_bytes: int) -> int:
    """Return what results may take that wait for those of slabs before them.

    The slab of the longest sequences may take a GPU as long as many others, which the others do
    meanwhile.
    """
    return min(memory_bytes // 4, engines * _ROOM_OF_ENGINE)


def result_bytes(detail: Detail, most_of_pair: int = 1) -> tuple[int, float]:
    """Return what a pair's results take: whatever its length, and for each residue of both.

    Parameters
    ----------
    most_of_pair : int
        Alignments that a pair may have.
    """
    return most_of_pair * _PAIR_BYTES[detail], most_of_pair * _RESIDUE_BYTES[detail]


def expected_bytes(
    detail: Detail,
    most_of_pair: int,
    queries: SequenceSet,
    targets: SequenceSet | None,
    pairs: int,
) -> tuple[int, float]:
    """Return `result_bytes` as expected from a sample of pairs of two sets, or of one.

    Not sampled where `pairs` are so few that slabs of fewer pairs do no harm.
    """
    pair_bytes, residue_bytes = result_bytes(detail, most_of_pair)
    if residue_bytes and pairs >= _WORTH_SAMPLING:
        residue_bytes *= share_of_residues(queries, targets)
    return pair_bytes, residue_bytes


def share_of_residues(queries: SequenceSet, targets: SequenceSet | None) -> float:
    """Return how much of `result_bytes` residues take, by a sample of pairs of long sequences.

    A difference makes two CIGAR runs, so that there are as many as residues differ. Slabs of
    similar genomes then hold up to eight times as many pairs, and a GPU waits less between them.
    Not more: should the pairs of a slab be less alike than the sample, their results take eight
    times what a slab's may at most, which is about what the whole run may.
    """
    other = queries if targets is None else targets
    for sequences in (queries, other):
        if len(sequences) < 2 or sequences.total_residues < _LONG * len(sequences):
            return 1.0
    rows = np.linspace(0, len(queries) - 1, _SAMPLED_PAIRS).astype(np.int64)
    steps = 1 + 7919 * np.arange(_SAMPLED_PAIRS) % (len(other) - 1)
    columns = (rows + steps) % len(other)
    words = [
        words_in_place(queries.codes_of(int(row)), other.codes_of(int(column)), NEAR_AFTER_END)
        for row, column in zip(rows, columns, strict=True)
    ]
    differences = float((1 - np.power(np.divide(words, WORDS), 1 / WORD)).mean())
    return max(_LEAST_SHARE, min(1.0, 4 * differences))


def cut_windows(
    windows: Iterable[Window],
    rows: Lengths,
    columns: Lengths,
    pair_bytes: int,
    residue_bytes: float,
    limit: int,
    most_cells: int = UNLIMITED,
) -> Iterator[Window]:
    """Cut windows into slabs whose results take at most `limit` bytes.

    Parameters
    ----------
    rows, columns, pair_bytes, residue_bytes, limit, most_cells
        As for `pairalign.pairs.windows.split_rows`.
    """
    for window in windows:
        yield from split_rows(window, rows, columns, pair_bytes, residue_bytes, limit, most_cells)


PAIR_CELLS = 3000
"""Cells that a pair costs beside its own: finding it, its columns, its text."""

_WEIGHED, _LONGEST, _TWICE = 20_000, 36_000, 5_000
"""A cell of the CPU engine takes longer where sequences are so long that scores need more bits, and
so fewer pairs fit a vector. Human proteins in all modes, relative to those of usual lengths: about
1.3 times with 22,152 residues, 3.8 times with the 34,350 of titin."""


def weigh_residues(lengths: Lengths) -> Int64s:
    """Return the lengths that sequences count with: the product of two is what their pair takes.

    Parameters
    ----------
    lengths : ndarray of int, shape (sequences,)

    Returns
    -------
    ndarray of int64, shape (sequences,)
        Up to 20,000 residues the lengths, then more, up to 4.2 times as much.
    """
    residues = np.asarray(lengths, np.int64)
    return residues + residues * (np.clip(residues, _WEIGHED, _LONGEST) - _WEIGHED) // _TWICE


def cut_queries(queries: SequenceSet, others: SequenceSet, shard: Shard) -> tuple[int, int]:
    """Find the queries of a shard whose pairs are those of each with all others.

    Returns
    -------
    first, stop : int
        Half-open range of input indices. Of shards in order the ranges follow one another, and
        their pairs take about the same; a few lengths are held at a time.
    """
    number, shards = shard
    residues = sum(_weigh(others, some)[-1] for some in slices(others))
    starts, ends = [0], [0]
    for some in slices(queries):
        starts.append(starts[-1] + len(some))
        ends.append(ends[-1] + _weigh(queries, some)[-1])

    def cost(weights: int, count: int) -> int:
        return residues * weights + PAIR_CELLS * len(others) * count

    def cut(target: int) -> int:
        """Return how many queries cost `target` at least."""
        place = _first(len(ends), target, lambda k: cost(ends[k], starts[k]))
        if place == 0:
            return 0
        start, before = starts[place - 1], ends[place - 1]
        weights = _weigh(queries, np.arange(start, starts[place], dtype=np.int32))
        inside = _first(len(weights), target, lambda k: cost(before + weights[k], start + k + 1))
        return start + inside + 1

    total = cost(ends[-1], len(queries))
    return cut(total * (number - 1) // shards), cut(total * number // shards)


def _weigh(sequences: SequenceSet, some: Int32s) -> list[int]:
    """Return the sums of the weights of some sequences, up to each of them."""
    sums: list[int] = np.cumsum(weigh_residues(sequences.lengths_at(some))).tolist()
    return sums


def _first(count: int, target: int, cost: Callable[[int], int]) -> int:
    """Return the first of `count` numbers whose cost is `target` at least; costs ascend."""
    return bisect_left(range(count), target, key=cost)
