"""Putting the results of a window's batches together into one `Alignments`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.engines import Detail, Want
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
    """

    def __init__(self, pairs: int, want: Want) -> None:
        self._want = want
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

    def add(
        self,
        columns: dict[str, npt.NDArray[np.int32]],
        counts: npt.NDArray[np.int32] | npt.NDArray[np.int64] | None = None,
        runs: npt.NDArray[np.uint32] | None = None,
    ) -> None:
        """Append the next pairs: columns, number of CIGAR runs of each, and the runs."""
        size = len(columns["raw_score"])
        stop = self._done + size
        for name, column in self._columns.items():
            column[self._done : stop] = columns[name]
        if self._counts is not None:
            assert counts is not None
            assert runs is not None
            self._counts[self._done + 1 : stop + 1] = counts
            self._reserve(self._run_count + len(runs), stop)
            self._runs[self._run_count : self._run_count + len(runs)] = runs
            self._run_count += len(runs)
        self._done = stop

    def add_alignments(self, part: Alignments) -> None:
        """Append the next pairs from another engine's result."""
        columns = {name: getattr(part, name) for name in self._columns}
        if self._counts is None:
            self.add(columns)
        else:
            assert part.cigar_offsets is not None
            self.add(columns, np.diff(part.cigar_offsets), part.cigar)

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

    def _reserve(self, needed: int, done: int) -> None:
        """Make room for `needed` runs; guess from the first `done` pairs what all will need."""
        if needed <= len(self._runs):
            return
        guess = needed * self._pairs // max(1, done) * 33 // 32
        # A large array is remapped, not copied, and pages never written take no memory.
        self._runs.resize(max(needed, guess), refcheck=False)
