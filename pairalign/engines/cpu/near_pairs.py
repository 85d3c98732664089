"""Pairs of sequences whose global distance is within a limit: what is compared, and on cores.

For many short sequences, as CDR3s, peptides and barcodes: a pair is a lane of a vector, the limit
holds in the kernel, and nothing is kept of pairs that exceed it. See ``cpu/near/near_kernel.h``.

Notes
-----
A drop is ``min(S(a,a), S(b,b)) - S(a,b)`` of global scores, or 0 where two sequences score more
with each other than one with itself, as X with residues does. Let residues be worth u such that
``2 S(x,y) <= u(x) + u(y)``. A pair costs what it scores less than its residues are worth: ``u(x) +
u(y) - 2 S(x,y)`` for residues opposite one another, ``u(x) + 2 gap_extend`` for one in a gap. No
cost is below 0, and the least cost is what all residues are worth, less twice the score.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.error_types import CapacityError, ScoringError
from pairalign.base.native import Struct, library, struct_fields
from pairalign.base.spelling import spelled
from pairalign.engines.cpu.cpu_engine import READ_AHEAD_BYTES, CpuEngine, instruction_set_of
from pairalign.engines.cpu.native_structs import NativeSet
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import CODES, Scoring
from pairalign.sequences.sets import SequenceSet

_MOST_COST = 2**28
"""Of an alignment: sums of a few of them fit 32 bits."""
PAIR_BYTES = 24
"""Of a pair that is found, while all are put in order."""
_SORTED_AT_ONCE = 1 << 20
PAIRS_AT_ONCE = 2**28
"""Between two calls of `progress`: a second or two of a core."""
_ANY_LENGTHS = PairThresholds()
_OWN_AT_ONCE = 512
"""Sequences that are aligned with themselves at a time: a mask has the square of it."""


class NativeCosts(Struct):
    """What residues and gaps cost: ``pairalign_costs``."""

    _fields_ = struct_fields("pointer opposite gaps; int32 open codes")


class NativeNear(Struct):
    """Which pairs are near: ``pairalign_near``."""

    _fields_ = struct_fields(
        "int32 limit triangular; pointer row_weights column_weights row_spares column_spares "
        "lengths"
    )


@dataclass(frozen=True)
class NearPairs:
    """Pairs within a limit, sorted by row, then by column.

    Attributes
    ----------
    rows, columns : ndarray of int32, shape (pairs,)
        Input indices. Of one set ``row < column``, each pair once.
    values : ndarray of int32, shape (pairs,)
        Raw drops (scaled as scores are) or edits.
    """

    rows: Int32s
    columns: Int32s
    values: Int32s


def pairs_within_drop(
    problem: Problem,
    most_drop: int,
    *,
    find: Finder | None = None,
    threads: int = 1,
    progress: Callable[[int], None] = lambda pairs: None,
    thresholds: PairThresholds = _ANY_LENGTHS,
    memory_bytes: int | None = None,
) -> NearPairs:
    """Find pairs with ``min(S(a,a), S(b,b)) - S(a,b) <= most_drop``, which is 0 or more.

    Parameters
    ----------
    problem : Problem
        Of mode global; `check_sets` of its scoring has accepted the sets.
    most_drop : int
        Raw: times `scoring.scale`.
    find : Finder, optional
        What compares; default: `find_on_cores`.
    progress : callable
        Is called with how many pairs were compared since its last call. What it raises ends the
        search.
    thresholds : PairThresholds
        Pairs beyond its `max_length_ratio` are left out.
    memory_bytes : int or None
        That pairs may take as they are found and put in order.

    Returns
    -------
    NearPairs
        `values` are raw drops, 0 or more.

    Raises
    ------
    ScoringError
        The mode is not global, or costs of alignments exceed 2**28.
    CapacityError
        Out of memory.
    """
    scoring = problem.scoring
    if scoring.mode != "global":
        raise ScoringError(f"drops are of mode global, not of mode {scoring.mode}")
    sets = [_Codes(sequences) for sequences in problem.sets]
    used = np.flatnonzero(np.sum([codes.counts() for codes in sets], axis=0))
    matrix = scoring.matrix.astype(np.int64)
    worth = _worth(matrix, used, scoring.gap_extend)
    opposite = np.zeros((CODES, CODES), np.int64)
    block = np.ix_(used, used)
    opposite[block] = worth[used][:, None] + worth[used] - 2 * matrix[block]
    costs = _Costs(
        opposite,
        np.where(np.isin(np.arange(CODES), used), worth + 2 * scoring.gap_extend, _MOST_COST),
        2 * (scoring.gap_open - scoring.gap_extend),
    )
    most = [codes.sums(worth) for codes in sets]
    weights = [
        _own_scores(codes, scoring, bound, threads) for codes, bound in zip(sets, most, strict=True)
    ]
    spares = [bound - weight for bound, weight in zip(most, weights, strict=True)]
    near = NearProblem(sets, costs, 2 * most_drop, weights, spares, thresholds)
    near_pairs = _find(near, find or find_on_cores(threads), progress, memory_bytes)
    return NearPairs(near_pairs.rows, near_pairs.columns, np.maximum(near_pairs.values // 2, 0))


def pairs_within_edits(
    queries: SequenceSet,
    targets: SequenceSet | None,
    most_edits: int,
    *,
    find: Finder | None = None,
    threads: int = 1,
    progress: Callable[[int], None] = lambda pairs: None,
    thresholds: PairThresholds = _ANY_LENGTHS,
    memory_bytes: int | None = None,
) -> NearPairs:
    """Find pairs whose Levenshtein distance is at most `most_edits`.

    Case does not matter, nor does T or U in DNA; other residues are equal only to themselves.

    Parameters
    ----------
    queries, targets
        `targets` is None for every pair of `queries`.
    find, threads, progress, thresholds, memory_bytes
        As for `pairs_within_drop`.

    Returns
    -------
    NearPairs
        `values` are edits.

    Raises
    ------
    CapacityError
        Out of memory.
    """
    sets = [_Codes(sequences) for sequences in (queries, targets) if sequences is not None]
    costs = _Costs(1 - np.eye(CODES, dtype=np.int64), np.ones(CODES, np.int64), 0)
    nothing = [np.zeros(len(codes.order), np.int64) for codes in sets]
    problem = NearProblem(sets, costs, most_edits, nothing, nothing, thresholds)
    return _find(problem, find or find_on_cores(threads), progress, memory_bytes)


def _find(
    problem: NearProblem,
    find: Finder,
    progress: Callable[[int], None],
    memory_bytes: int | None,
) -> NearPairs:
    parts = find(problem, progress)
    return problem.fitting(gather_pairs(parts, len(problem.rows.order), memory_bytes))


def _worth(matrix: Int64s, used: npt.NDArray[np.intp], gap_extend: int) -> Int64s:
    """Return twice what residues are worth: their own score, or as little more as costs need."""
    worth = np.zeros(CODES, np.int64)
    worth[used] = np.maximum(np.diagonal(matrix)[used], -2 * gap_extend)
    for code in used:
        worth[code] = max(worth[code], (2 * matrix[code, used] - worth[used]).max())
    return worth


def _own_scores(codes: _Codes, scoring: Scoring, most: Int64s, threads: int) -> Int64s:
    """Return the score of each sequence with itself; `most`: bounds, which columns may attain."""
    scores = codes.sums(np.diagonal(scoring.matrix).astype(np.int64))
    doubtful = (scores < most)[codes.order]
    if not doubtful.any():
        return scores
    engine = CpuEngine(Problem(codes.sequences, codes.sequences, scoring), threads=threads)
    try:
        for start in range(0, len(scores), _OWN_AT_ONCE):
            which = doubtful[start : start + _OWN_AT_ONCE]
            stop = start + len(which)
            window = Window(0, start, stop, start, stop, triangular=False)
            alignments = engine.align(window, Want(Detail.SCORE), np.diag(which).ravel())
            scores[alignments.query] = alignments.raw_score
    finally:
        engine.close()
    return scores


class _Codes:
    """The codes of a set as kernels read them."""

    def __init__(self, sequences: SequenceSet) -> None:
        self.sequences = sequences
        self.codes = np.concatenate((sequences.codes, np.zeros(READ_AHEAD_BYTES, np.uint8)))
        self.order = sequences.order

    def counts(self) -> Int64s:
        """Return how often each code occurs."""
        return np.bincount(self.sequences.codes, minlength=CODES)

    def sums(self, values: Int64s) -> Int64s:
        """Return the sum of the values of each sequence's codes, by input index."""
        sums = np.concatenate(([0], np.cumsum(values[self.sequences.codes])))
        return np.diff(sums[self.sequences.offsets])


@dataclass(frozen=True)
class _Costs:
    opposite: Int64s
    gaps: Int64s
    open: int

    def most(self, residues: int) -> int:
        """Return an upper bound of the alignments of pairs of the given lengths."""
        return 2 * self.open + residues * int(self.gaps[self.gaps < _MOST_COST].max(initial=0))


class NearSide:
    """A set as it is compared: longest first, equal lengths by weight, so that lanes are alike.

    Attributes
    ----------
    order : ndarray of int32
        Input index of each position.
    codes : ndarray of uint8
        Of all residues.
    starts, lengths : ndarrays of int64 and int32
        Of each position.
    weights, spares : ndarrays of int32
        See ``cpu/near/near.h``.
    struct : NativeSet
    """

    def __init__(self, codes: _Codes, weights: Int64s, spares: Int64s) -> None:
        sequences = codes.sequences
        self.order = np.lexsort((weights, -sequences.lengths)).astype(np.int32)
        self.codes = codes.codes
        self.starts = np.ascontiguousarray(sequences.offsets[:-1][self.order], np.int64)
        self.lengths = np.ascontiguousarray(sequences.lengths[self.order], np.int32)
        self.weights = weights[self.order].astype(np.int32)
        self.spares = spares[self.order].astype(np.int32)
        self.struct = NativeSet(self.codes, self.starts, self.lengths, self.order, len(self.order))


class NearProblem:
    """Which pairs of one set, or of two, are near, and what alignments cost.

    Attributes
    ----------
    rows, columns : NearSide
        Of one set the same.
    one_set : bool
    opposite, gaps : ndarray of int32, shapes (32, 32) and (32,)
        Costs of residues opposite one another, and of one in a gap.
    open : int
        What a gap costs besides.
    limit : int
        A pair is near up to it, and what ``cpu/near/near.h`` adds.
    lengths : NativeThresholds
        Pairs that it says are too different in length may be left out.

    Raises
    ------
    ScoringError
        Costs of alignments exceed 2**28.
    """

    def __init__(
        self,
        sets: list[_Codes],
        costs: _Costs,
        limit: int,
        weights: list[Int64s],
        spares: list[Int64s],
        thresholds: PairThresholds,
    ) -> None:
        longest = sum(int(sets[k].sequences.lengths.max()) for k in (0, -1))
        most = costs.most(longest)
        heaviest = max(int(np.abs(values).max()) for values in (*weights, *spares))
        if max(most, heaviest) > _MOST_COST:
            raise ScoringError(
                f"distances of these sequences may be as large as {max(most, heaviest)}, above "
                f"{_MOST_COST}; scale the scores down"
            )
        sides = [NearSide(*fields) for fields in zip(sets, weights, spares, strict=True)]
        self.rows, self.columns = sides[0], sides[-1]
        self.one_set = len(sets) == 1
        self.limit = min(limit, _MOST_COST)
        self.opposite = np.minimum(costs.opposite, _MOST_COST).astype(np.int32)
        self.gaps = costs.gaps.astype(np.int32)
        self.open = costs.open
        self.lengths = thresholds.native("global")
        self._thresholds = thresholds
        self._sets = sets[0].sequences, sets[-1].sequences

    def pairs_of(self, start: int, stop: int) -> int:
        """Return the number of pairs of the rows from `start` to `stop`."""
        width = len(self.columns.order)
        if not self.one_set:
            return (stop - start) * width
        return sum(width - row - 1 for row in (start, stop - 1)) * (stop - start) // 2

    def fitting(self, pairs: NearPairs) -> NearPairs:
        """Return the pairs that thresholds of lengths leave."""
        if not self._thresholds:
            return pairs
        fitting = self._thresholds.fitting((pairs.rows, pairs.columns), self._sets)
        return NearPairs(pairs.rows[fitting], pairs.columns[fitting], pairs.values[fitting])


Part = tuple[Int32s, Int32s, Int32s]
"""Rows, columns and values of some pairs, by input index."""
Finder = Callable[[NearProblem, Callable[[int], None]], Iterator[Part]]
"""Finds the near pairs of a problem in any order, and tells how many were compared."""


def find_on_cores(threads: int = 1, instruction_set: str | None = None) -> Finder:
    """Return what finds near pairs on some cores; `instruction_set` as for `CpuEngine`."""

    def find(problem: NearProblem, progress: Callable[[int], None]) -> Iterator[Part]:
        rows, columns = problem.rows, problem.columns
        costs = NativeCosts(problem.opposite, problem.gaps, problem.open, CODES)
        near = NativeNear(
            *(problem.limit, problem.one_set, rows.weights, columns.weights),
            *(rows.spares, columns.spares),
            ctypes.addressof(problem.lengths),
        )
        count = len(rows.order)
        at_once = max(512 * threads, PAIRS_AT_ONCE // max(len(columns.order), 1))
        for start in range(0, count, at_once):
            stop = min(start + at_once, count)
            handle = library.pairalign_find_near(
                *(rows.struct, columns.struct, costs, near),
                *(start, stop, threads, instruction_set_of(instruction_set).encode()),
            )
            yield take_pairs(handle, (rows.order, columns.order), one_set=problem.one_set)
            progress(problem.pairs_of(start, stop))

    return find


def by_input_index(positions: Part, orders: tuple[Int32s, Int32s], *, one_set: bool) -> Part:
    """Return pairs by input index; see `take_pairs`."""
    first, second = (order[indices] for order, indices in zip(orders, positions, strict=False))
    if one_set:
        first, second = np.minimum(first, second), np.maximum(first, second)
    return first, second, positions[2]


def take_pairs(
    handle: int | None, orders: tuple[Int32s, Int32s], *, one_set: bool
) -> tuple[Int32s, Int32s, Int32s]:
    """Return rows, columns and values that native code has found, by input index; frees them.

    Parameters
    ----------
    handle : int or None
        ``pairalign_near_pairs``.
    orders : two ndarrays of int32
        Input index of each row, and of each column.
    one_set : bool
        The smaller index of a pair becomes its row.

    Raises
    ------
    CapacityError
        There are none: out of memory.
    """
    if not handle:
        raise CapacityError("out of memory for the pairs within the limit")
    arrays = [np.empty(library.pairalign_count_near(handle), np.int32) for _ in range(3)]
    library.pairalign_take_near(handle, *arrays)
    return by_input_index((arrays[0], arrays[1], arrays[2]), orders, one_set=one_set)


def gather_pairs(
    parts: Iterable[tuple[Int32s, Int32s, Int32s]], count: int, memory_bytes: int | None
) -> NearPairs:
    """Put pairs of `count` rows in order by row, then by column.

    Raises
    ------
    CapacityError
        They take more than `memory_bytes`.
    """
    kept, pairs = [], 0
    for part in parts:
        kept.append(part)
        pairs += len(part[0])
        if memory_bytes is not None and pairs * PAIR_BYTES > memory_bytes:
            raise CapacityError(
                f"{pairs:,} pairs within the limit, and perhaps more, take {PAIR_BYTES} bytes "
                f"each, above {spelled('memory')} of {memory_bytes:,}: "
                "raise it, or lower the limit"
            )
    return _sort_pairs(kept, count)


def _sort_pairs(parts: list[tuple[Int32s, Int32s, Int32s]], count: int) -> NearPairs:
    """Put pairs in order by row, then by column; takes the parts away one by one."""
    counts = np.zeros(count, np.int64)
    for rows, _, _ in parts:
        counts += np.bincount(rows, minlength=count)
    ends = np.cumsum(counts)
    columns, values = (np.empty(int(ends[-1]), np.int32) for _ in range(2))
    _scatter(parts, ends - counts, columns, values)
    rows = np.repeat(np.arange(count, dtype=np.int32), counts)
    cuts = np.unique((ends - counts) // _SORTED_AT_ONCE, return_index=True)[1].tolist()
    for first, stop in pairwise([*cuts, count]):
        block = slice(int(ends[first] - counts[first]), int(ends[stop - 1]))
        order = np.argsort(rows[block].astype(np.int64) << 32 | columns[block])
        columns[block], values[block] = columns[block][order], values[block][order]
    return NearPairs(rows, columns, values)


def _scatter(
    parts: list[tuple[Int32s, Int32s, Int32s]], places: Int64s, columns: Int32s, values: Int32s
) -> None:
    """Put the pairs of each row together, from its place on; takes the parts away one by one."""
    while parts:
        part = parts.pop()
        for start in range(0, len(part[0]), _SORTED_AT_ONCE):
            some, *rest = (array[start : start + _SORTED_AT_ONCE] for array in part)
            order = np.argsort(some, kind="stable")
            counts = np.bincount(some, minlength=len(places))
            firsts = np.repeat(places - np.cumsum(counts) + counts, counts)
            where = firsts + np.arange(len(some))
            columns[where], values[where] = rest[0][order], rest[1][order]
            places += counts
