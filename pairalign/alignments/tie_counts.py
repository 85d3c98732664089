"""How many optimal alignments pairs have (``cpu/ties/ties.h``); docs/ties.md defines them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Int32s, Int64s, UInt8s, UInt32s
from pairalign.base.error_types import CapacityError, UsageError
from pairalign.base.native import Struct, library, struct_fields
from pairalign.scoring.end_gaps import EndGaps, GapCost
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.row_order import rank_rows
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.alignments.alignments import Alignments

MOST_TIES = 2**32 - 1
"""What a count stops at."""

_CELLS_AT_ONCE = 1 << 32
"""Between two calls a run can be interrupted."""

Counts = UInt32s
_Bytes = UInt8s


class NativeTiePairs(Struct):
    """``pairalign_tie_pairs``."""

    _fields_ = struct_fields(
        "pointer*2 codes offsets; pointer complement rows columns best row_set turned; int64 count"
    )


class NativeTieCosts(Struct):
    """``pairalign_tie_costs``."""

    _fields_ = struct_fields(
        "pointer matrix; int32 open extend; int32*16 end_costs; int32 local whole"
    )


@dataclass(frozen=True)
class TiePairs:
    """Pairs of sequences with residues, each with its best score; those of a row together.

    Attributes
    ----------
    rows, columns, best : ndarray of int32, shape (n,)
    row_set, turned : ndarray of uint8, shape (n,)
        See ``pairalign_tie_pairs`` in ``cpu/ties/ties.h``.
    widths, cells : ndarray of int64, shape (n,)
        Residues of the columns, and cells of the matrix.
    """

    rows: Int32s
    columns: Int32s
    best: Int32s
    row_set: _Bytes
    turned: _Bytes
    widths: Int64s
    cells: Int64s

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.rows)

    def __getitem__(self, part: slice | npt.NDArray[np.integer]) -> TiePairs:
        """Return some of the pairs."""
        return TiePairs(*(getattr(self, field.name)[part] for field in fields(self)))

    def cut(self, cells: int, pairs: int | None = None) -> Iterator[slice]:
        """Cut the pairs into parts that have no more cells, unless it is one pair, nor pairs."""
        sums = np.cumsum(self.cells)
        start = 0
        while start < len(self):
            most = cells + (sums[start - 1] if start else 0)
            stop = max(start + 1, int(np.searchsorted(sums, most, "right")))
            stop = stop if pairs is None else min(stop, start + pairs)
            yield slice(start, stop)
            start = stop


class TieProblem:
    """What pairs are of, and what their alignments cost.

    Attributes
    ----------
    sets : two SequenceSet
    is_symmetric : bool
        Whether it makes no difference which sequence is the query.
    is_local : bool
    matrix : ndarray of int32, shape (32, 32)
    complement : ndarray of uint8, or None
        Of codes, where there are two strands.
    costs : NativeTieCosts
    """

    def __init__(self, queries: SequenceSet, targets: SequenceSet, scoring: Scoring) -> None:
        self.sets = queries, targets
        self.complement = scoring.alphabet.complement
        self.matrix = np.ascontiguousarray(scoring.matrix, np.int32)
        self.is_local = scoring.mode == "local"
        sides = _end_costs(scoring)
        costs = np.array([*sides, *sides[2:], *sides[:2]], np.int32).ravel().tolist()
        self.is_symmetric = sides[:2] == sides[2:]
        self.costs = NativeTieCosts(
            self.matrix,
            *(scoring.gap_open, scoring.gap_extend),
            tuple(costs),
            *(self.is_local, scoring.mode == "global"),
        )


class TieTally(Protocol):
    """Counts on devices; `pairalign.engines.tie_engines` has one."""

    def count(self, pairs: TiePairs) -> Counts | None:
        """Return the numbers of pairs as cores count them; None: cores do."""

    def close(self) -> None:
        """Free what is on devices."""


OpenTally = Callable[[TieProblem], TieTally]


class TieCounter:
    """Counts the optimal alignments of pairs.

    Parameters
    ----------
    queries, targets : SequenceSet
        The same object for one set.
    instruction_set : str
        As for the CPU engine; default: the best that the processor has.
    open_tally : callable, optional
        Returns what is asked before cores count; then `close` the counter.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet,
        scoring: Scoring,
        threads: int = 1,
        instruction_set: str = "",
        open_tally: OpenTally | None = None,
    ) -> None:
        self._sets = queries, targets
        self._problem, self._threads = TieProblem(queries, targets, scoring), threads
        best = library.pairalign_instruction_sets().split(b",")[0]
        self._instruction_set = instruction_set.encode() or best
        self._ranks = rank_rows(queries, targets)
        self._tally = None if open_tally is None else open_tally(self._problem)

    def close(self) -> None:
        """Free what is on devices."""
        if self._tally is not None:
            self._tally.close()

    def count(self, alignments: Alignments) -> Counts:
        """Return the number of optimal alignments of each pair, at most `MOST_TIES`.

        Parameters
        ----------
        alignments : Alignments
            Of these sets, with spans and counts.

        Returns
        -------
        ndarray of uint32, shape (n,)
            0 where nothing is aligned.

        Raises
        ------
        CapacityError
            The machine is out of memory.
        UsageError
            An alignment is not optimal.
        """
        counts = np.zeros(len(alignments), np.uint32)
        chosen = np.flatnonzero(alignments.columns)
        turned = None if alignments.strand is None else alignments.strand[chosen] < 0
        query, target = alignments.query[chosen], alignments.target[chosen]
        counts[chosen] = self.count_pairs(query, target, alignments.raw_score[chosen], turned)
        wrong = chosen[counts[chosen] == 0]
        if len(wrong):
            raise UsageError(
                f"alignment {wrong[0]} has not the highest score of its pair: optimal alignments "
                "are counted, no others"
            )
        return counts

    def count_pairs(
        self,
        query: Int32s,
        target: Int32s,
        raw_score: Int32s,
        turned: Bools | None = None,
    ) -> Counts:
        """Return the number of alignments with at least one column that have a pair's best score.

        Parameters
        ----------
        query, target : ndarray of int32, shape (n,)
            Input indices.
        raw_score : ndarray of int32, shape (n,)
        turned : ndarray of bool, shape (n,), optional
            Pairs of strand -1.

        Returns
        -------
        ndarray of uint32, shape (n,)
            0 where the score is not the best.
        """
        counts = np.ones(len(query), np.uint32)  # of an empty sequence: all is one gap
        lengths = self._sets[0].lengths_at(query), self._sets[1].lengths_at(target)
        chosen = np.flatnonzero((lengths[0] > 0) & (lengths[1] > 0))
        if len(chosen):
            turned = np.zeros(len(query), np.bool_) if turned is None else turned
            counts[chosen] = self._count_distinct(
                query[chosen], target[chosen], raw_score[chosen], turned[chosen]
            )
        return counts

    def _count_distinct(
        self,
        query: Int32s,
        target: Int32s,
        raw_score: Int32s,
        turned: Bools,
    ) -> Counts:
        """Count those of some pairs; pairs of the same two sequences are counted once."""
        ranks = self._ranks[0][query].astype(np.int64), self._ranks[1][target].astype(np.int64)
        swapped = ranks[1] < ranks[0]
        first, second = np.minimum(*ranks), np.maximum(*ranks)
        side = np.zeros_like(swapped) if self._problem.is_symmetric else swapped
        keys = np.stack([second, first, turned, side, raw_score])
        order = np.lexsort(keys)
        is_new = np.append(True, (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0))
        distinct = order[is_new]
        # Lanes have row sequences of one set, and the same one where that is so.
        again = np.lexsort((second[distinct], first[distinct], turned[distinct], swapped[distinct]))
        k = distinct[again]
        counted = np.empty(len(distinct), np.uint32)
        pairs = self._pairs_of(query[k], target[k], swapped[k], turned[k], raw_score[k])
        counted[again] = self._count_pairs(pairs)
        counts = np.empty(len(query), np.uint32)
        counts[order] = counted[np.cumsum(is_new) - 1]
        return counts

    def _pairs_of(
        self,
        query: Int32s,
        target: Int32s,
        swapped: Bools,
        turned: Bools,
        raw_score: Int32s,
    ) -> TiePairs:
        rows, columns = np.where(swapped, target, query), np.where(swapped, query, target)
        lengths = self._sets[0].lengths_at(query), self._sets[1].lengths_at(target)
        return TiePairs(
            np.ascontiguousarray(rows, np.int32),
            np.ascontiguousarray(columns, np.int32),
            np.ascontiguousarray(raw_score, np.int32),
            swapped.astype(np.uint8),
            turned.astype(np.uint8),
            np.minimum(*lengths).astype(np.int64),  # the longer sequence is the row's
            lengths[0].astype(np.int64) * lengths[1],
        )

    def _count_pairs(self, pairs: TiePairs) -> Counts:
        if self._tally is not None:
            counted = self._tally.count(pairs)
            if counted is not None:
                return counted
        counts = np.empty(len(pairs), np.uint32)
        sets = [
            (sequences.codes, np.ascontiguousarray(sequences.offsets, np.int64))
            for sequences in self._sets
        ]
        codes, offsets = zip(*sets, strict=True)
        for part in pairs.cut(_CELLS_AT_ONCE):
            some, counted = pairs[part], counts[part]
            native = NativeTiePairs(
                *(codes, offsets, self._problem.complement),
                *(some.rows, some.columns, some.best, some.row_set, some.turned),
                len(some),
            )
            if library.pairalign_count_ties(
                *(native, self._problem.costs, self._threads, self._instruction_set, counted)
            ):
                raise CapacityError("out of memory while optimal alignments are counted")
        return counts


def _end_costs(scoring: Scoring) -> list[tuple[int, int]]:
    """Return what gaps at each end cost, in the order of `pairalign.scoring.end_gaps.ENDS`."""
    usual = GapCost(scoring.gap_open, scoring.gap_extend)
    if scoring.mode == "semiglobal":
        usual = GapCost(0, 0)
    ends = scoring.end_gaps or EndGaps(usual, usual, usual, usual)
    return [(cost.open, cost.extend) for cost in ends.costs]
