"""How many optimal alignments pairs have (``cpu/ties/ties.h``); docs/ties.md defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pairalign.base.error_types import CapacityError
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

Counts = npt.NDArray[np.uint32]


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


class TieCounter:
    """Counts the optimal alignments of pairs.

    Parameters
    ----------
    queries, targets : SequenceSet
        The same object for one set.
    instruction_set : str
        As for the CPU engine; default: the best that the processor has.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet,
        scoring: Scoring,
        threads: int = 1,
        instruction_set: str = "",
    ) -> None:
        self._sets = queries, targets
        self._scoring, self._threads = scoring, threads
        best = library.pairalign_instruction_sets().split(b",")[0]
        self._instruction_set = instruction_set.encode() or best
        self._ranks = rank_rows(queries, targets)
        self._matrix = np.ascontiguousarray(scoring.matrix, np.int32)
        sides = _end_costs(scoring)
        costs = np.array([*sides, *sides[2:], *sides[:2]], np.int32).ravel().tolist()
        self._is_symmetric = sides[:2] == sides[2:]
        self._costs = NativeTieCosts(
            self._matrix,
            *(scoring.gap_open, scoring.gap_extend),
            tuple(costs),
            *(scoring.mode == mode for mode in ("local", "global")),
        )

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
        ValueError
            An alignment is not optimal.
        """
        counts = np.zeros(len(alignments), np.uint32)
        chosen = np.flatnonzero(alignments.columns)
        turned = None if alignments.strand is None else alignments.strand[chosen] < 0
        query, target = alignments.query[chosen], alignments.target[chosen]
        counts[chosen] = self.count_pairs(query, target, alignments.raw_score[chosen], turned)
        wrong = chosen[counts[chosen] == 0]
        if len(wrong):
            raise ValueError(
                f"alignment {wrong[0]} has not the highest score of its pair: optimal alignments "
                "are counted, no others"
            )
        return counts

    def count_pairs(
        self,
        query: npt.NDArray[np.int32],
        target: npt.NDArray[np.int32],
        raw_score: npt.NDArray[np.int32],
        turned: npt.NDArray[np.bool_] | None = None,
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
        query: npt.NDArray[np.int32],
        target: npt.NDArray[np.int32],
        raw_score: npt.NDArray[np.int32],
        turned: npt.NDArray[np.bool_],
    ) -> Counts:
        """Count those of some pairs; pairs of the same two sequences are counted once."""
        ranks = self._ranks[0][query].astype(np.int64), self._ranks[1][target].astype(np.int64)
        swapped = ranks[1] < ranks[0]
        first, second = np.minimum(*ranks), np.maximum(*ranks)
        side = np.zeros_like(swapped) if self._is_symmetric else swapped
        keys = np.stack([second, first, turned, side, raw_score])
        order = np.lexsort(keys)
        is_new = np.append(True, (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0))
        distinct = order[is_new]
        # Lanes have row sequences of one set, and the same one where that is so.
        again = np.lexsort((second[distinct], first[distinct], turned[distinct], swapped[distinct]))
        k = distinct[again]
        counted = np.empty(len(distinct), np.uint32)
        counted[again] = self._call(query[k], target[k], swapped[k], turned[k], raw_score[k])
        counts = np.empty(len(query), np.uint32)
        counts[order] = counted[np.cumsum(is_new) - 1]
        return counts

    def _call(
        self,
        query: npt.NDArray[np.int32],
        target: npt.NDArray[np.int32],
        swapped: npt.NDArray[np.bool_],
        turned: npt.NDArray[np.bool_],
        raw_score: npt.NDArray[np.int32],
    ) -> Counts:
        counts = np.empty(len(query), np.uint32)
        rows, columns = np.where(swapped, target, query), np.where(swapped, query, target)
        arrays: list[npt.NDArray[Any]] = [
            *(np.ascontiguousarray(values, np.int32) for values in (rows, columns, raw_score)),
            *(np.ascontiguousarray(values, np.uint8) for values in (swapped, turned)),
        ]
        complement = self._scoring.alphabet.complement
        sets = [
            (sequences.codes, np.ascontiguousarray(sequences.offsets, np.int64))
            for sequences in self._sets
        ]
        codes, offsets = zip(*sets, strict=True)
        cells = np.cumsum(
            self._sets[0].lengths_at(query).astype(np.float64) * self._sets[1].lengths_at(target)
        )
        start = 0
        while start < len(query):
            most = _CELLS_AT_ONCE + (cells[start - 1] if start else 0)
            stop = max(start + 1, int(np.searchsorted(cells, most)))
            native = NativeTiePairs(
                *(codes, offsets, complement),
                *(array[start:stop] for array in arrays),
                stop - start,
            )
            part: npt.NDArray[np.uint32] = counts[start:stop]
            if library.pairalign_count_ties(
                *(native, self._costs, self._threads, self._instruction_set, part)
            ):
                raise CapacityError("out of memory while optimal alignments are counted")
            start = stop
        return counts


def _end_costs(scoring: Scoring) -> list[tuple[int, int]]:
    """Return what gaps at each end cost, in the order of `pairalign.scoring.end_gaps.ENDS`."""
    usual = GapCost(scoring.gap_open, scoring.gap_extend)
    if scoring.mode == "semiglobal":
        usual = GapCost(0, 0)
    ends = scoring.end_gaps or EndGaps(usual, usual, usual, usual)
    return [(cost.open, cost.extend) for cost in ends.costs]
