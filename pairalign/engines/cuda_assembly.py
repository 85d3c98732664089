"""Putting the results of a window's batches together into one `Alignments`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.engines import Detail, Want
from pairalign.engines.cuda_pool import PinnedPool
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet

SCORE_COLUMNS = ("raw_score", "query", "target")
STATS_COLUMNS = (
    "query_start",
    "query_end",
    "target_start",
    "target_end",
    "matches",
    "mismatches",
    "gap_openings",
    "gap_letters",
)


class Assembly:
    """Columns of a window, filled batch by batch in the window's order.

    Parameters
    ----------
    pairs : int
        Pairs of the window.
    want : Want
        What is kept; pairs below ``want.min_raw_score`` drop out in `finish`.
    pool : PinnedPool
        Where the CIGAR runs go, if it has room.
    """

    def __init__(self, pairs: int, want: Want, pool: PinnedPool) -> None:
        self._want = want
        self._pool = pool
        names = SCORE_COLUMNS + (STATS_COLUMNS if want.detail >= Detail.STATS else ())
        self._columns = {name: np.empty(pairs, np.int32) for name in names}
        self._pairs = pairs
        self._done = 0
        self._counts = np.zeros(pairs + 1, np.int64) if want.detail >= Detail.CIGAR else None
        self._runs = np.empty(0, np.uint32)
        self._run_count = 0

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in the order of Result in cuda/tiles.cuh."""
        return tuple(self._columns)

    def room_for_runs(self, runs: int, pairs: int) -> npt.NDArray[np.uint32]:
        """Return where the CIGAR runs of the next `pairs` pairs go, to be filled before `add`."""
        stop = self._run_count + runs
        if stop > len(self._runs):
            # Guess from the pairs done so far, this batch included, what all of them will need.
            guess = stop * self._pairs // max(1, self._done + pairs) * 33 // 32
            room = self._pool.take(max(stop, guess), np.uint32)
            if room is None:
                room = np.empty(max(stop, guess), np.uint32)  # pages never written cost nothing
            room[: self._run_count] = self._runs[: self._run_count]
            self._runs = room
        return self._runs[self._run_count : stop]

    def add(
        self,
        columns: Mapping[str, npt.NDArray[np.int32]],
        counts: npt.NDArray[np.int32] | npt.NDArray[np.int64] | None = None,
    ) -> None:
        """Append the next pairs: columns, and the number of CIGAR runs of each; copied."""
        stop = self._done + len(columns["raw_score"])
        for name, column in self._columns.items():
            column[self._done : stop] = columns[name]
        if self._counts is not None:
            assert counts is not None
            self._counts[self._done + 1 : stop + 1] = counts
            self._run_count += int(counts.sum(dtype=np.int64))
        self._done = stop

    def add_alignments(self, part: Alignments) -> None:
        """Append the next pairs from another engine's result."""
        columns = {name: getattr(part, name) for name in self._columns}
        if self._counts is None:
            self.add(columns)
        else:
            assert part.cigar is not None
            assert part.cigar_offsets is not None
            counts = np.diff(part.cigar_offsets)
            self.room_for_runs(int(counts.sum()), len(part))[...] = part.cigar
            self.add(columns, counts)

    def finish(self, queries: SequenceSet, targets: SequenceSet, scoring: Scoring) -> Alignments:
        """Return the alignments of all pairs, or of those that reach the minimum."""
        assert self._done == self._pairs
        fields: dict[str, Any] = dict(self._columns)
        counts = self._counts
        minimum = self._want.min_raw_score
        if minimum is not None:
            keep = np.flatnonzero(self._columns["raw_score"] >= minimum)
            fields = {name: column[keep] for name, column in fields.items()}
            if counts is not None:  # a pair that drops out has no runs
                counts = np.concatenate((counts[:1], counts[1:][keep]))
        if counts is not None:
            fields["cigar"] = self._runs[: self._run_count]
            fields["cigar_offsets"] = np.cumsum(counts)
        return Alignments(queries=queries, targets=targets, scoring=scoring, **fields)
