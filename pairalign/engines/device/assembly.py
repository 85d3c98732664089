"""Putting the results of a window's batches together into one `Alignments`.

With CUDA the arrays are pinned memory (see `pairalign.engines.device.pinned_pool`); devices copy
into them: what the host does for a batch is the same few steps however many pairs it has.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import STATS_FIELDS, Alignments, runs_of
from pairalign.base.arrays import Int64s, UInt32s
from pairalign.pairs.want import Detail, Want
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

_SCORE_ROWS = ("raw_score", "query", "target")  # the order in which the device writes them


class Pool(Protocol):
    """Where arrays for results come from."""

    def take(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any] | None:
        """Return an array, or None: then it is made of plain memory."""
        ...


class Assembly:
    """Fields of a window's alignments, filled batch by batch in the window's order.

    Parameters
    ----------
    pairs : int
        Pairs of the window.
    want : Want
        What is kept; pairs below ``want.min_raw_score`` drop out in `finish`.
    pool : Pool or None
        Where the arrays come from, if it has room; `pinned_pool.PinnedPool`.

    Attributes
    ----------
    fields : ndarray of int32, shape (3 or 11, pairs)
        In the order of Result in cuda/pair_per_thread/tiles.cuh.
    run_offsets : ndarray of int64, shape (pairs + 1,), or None
        Where each pair's CIGAR runs begin.
    """

    def __init__(self, pairs: int, want: Want, pool: Pool | None) -> None:
        self._want = want
        self._pool = pool
        self._pairs = pairs
        self._names = _SCORE_ROWS + (STATS_FIELDS if want.detail >= Detail.STATS else ())
        count = len(self._names)
        self.fields = self._array(count * pairs, np.int32).reshape(count, pairs)
        self.run_offsets: Int64s | None = None
        if want.detail >= Detail.CIGAR:
            self.run_offsets = self._array(pairs + 1, np.int64)
            self.run_offsets[0] = 0
        self._placed = 0
        self._runs = np.empty(0, np.uint32)
        self._run_count = 0

    def next_place(self, pairs: int) -> slice:
        """Return where the next pairs belong in `fields`; `place` says that they are there."""
        stop = self._placed + pairs
        assert stop <= self._pairs
        return slice(self._placed, stop)

    def place(self, pairs: int) -> slice:
        """Return where the next pairs belong in `fields`; others come after them."""
        place = self.next_place(pairs)
        self._placed = place.stop
        return place

    def add_runs(self, place: slice) -> UInt32s:
        """Return where the CIGAR runs of a batch go, to be filled by the caller.

        `run_offsets` must hold where the batch's own runs end; they become the window's. Batches
        come in order.
        """
        assert self.run_offsets is not None
        offsets = self.run_offsets[place.start + 1 : place.stop + 1]
        runs = int(offsets[-1])
        start, stop = self._run_count, self._run_count + runs
        if start > 0:
            offsets += start
        if stop > len(self._runs):
            # Guess from the pairs done so far, this batch included, what all of them will need.
            guess = stop * self._pairs // max(1, place.stop) * 33 // 32
            larger = self._array(max(stop, guess if place.stop < self._pairs else 0), np.uint32)
            larger[:start] = self._runs[:start]
            self._runs = larger
        self._run_count = stop
        return self._runs[start:stop]

    def add_alignments(self, part: Alignments) -> None:
        """Append the next pairs from another engine's result."""
        place = self.place(len(part))
        for k, name in enumerate(self._names):
            self.fields[k, place] = getattr(part, name)
        if self.run_offsets is not None:
            runs, offsets = runs_of(part)
            self.run_offsets[place.start + 1 : place.stop + 1] = offsets[1:]
            self.add_runs(place)[...] = runs

    def finish(self, queries: SequenceSet, targets: SequenceSet, scoring: Scoring) -> Alignments:
        """Return the alignments of all pairs, or of those that reach the minimum."""
        assert self._placed == self._pairs
        fields: dict[str, Any] = dict(zip(self._names, self.fields, strict=True))
        offsets = self.run_offsets
        minimum = self._want.min_raw_score
        if minimum is not None:
            passing = np.flatnonzero(fields["raw_score"] >= minimum)
            fields = {name: field[passing] for name, field in fields.items()}
            if offsets is not None:  # a pair that drops out has no runs
                offsets = np.concatenate((offsets[:1], offsets[1:][passing]))
        if offsets is not None:
            fields["cigar"] = self._runs[: self._run_count]
            fields["cigar_offsets"] = offsets
        return Alignments(queries=queries, targets=targets, scoring=scoring, **fields)

    def _array(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        array = None if self._pool is None else self._pool.take(count, dtype)
        return np.empty(count, dtype) if array is None else array
