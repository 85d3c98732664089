"""Results of a window, copied from the device straight to where they stay.

See `pairalign.engines.device.pinned_pool` for why that is pinned memory which is used again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import SCORE_FIELDS, STATS_FIELDS, Alignments
from pairalign.base.arrays import Int32s, UInt32s
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.engines.cuda.packed.batches import Chosen, Work
from pairalign.engines.cuda.packed.parameters import passing_blocks_of
from pairalign.pairs.want import Detail, Want
from pairalign.reads.reaching_pairs import ReachingPairs

_RUN_BYTES_A_RESIDUE = 0.9  # of both; unrelated proteins have 0.8
_LEAST_EXPECTED, _MOST_EXPECTED = 1 << 20, 160 << 20


class PassingPairs:
    """Pairs that reach a minimum, batch by batch in the order of the batches.

    Parameters
    ----------
    is_bounded : bool
        Whether their fields are score and 0 or 1: high enough for where they end; else query,
        target and score.
    """

    def __init__(self, context: DeviceContext, is_bounded: bool) -> None:
        self._context = context
        self._fields = 2 if is_bounded else len(SCORE_FIELDS)
        self._batches: list[Int32s] = []  # number and fields; each [1 + fields, n]

    def download_count(self, at: dict[str, int], pairs: int, slot: Slot) -> None:
        """Start copying how many pairs of a batch passed."""
        last = at["passing_starts"] + 8 * passing_blocks_of(pairs)
        slot.download("passing", 1, np.int64, last)

    def fetch(self, first: int, at: dict[str, int], pairs: int, slot: Slot) -> None:
        """Copy the pairs of a batch that passed; their count has arrived.

        `first`: number of the batch's first pair; `at`: where its arrays lie on the device.
        """
        count = int(slot.pinned("passing", 1, np.int64)[0])
        if not count:
            return
        rows = 1 + self._fields
        batch = take_array(self._context, rows * count, np.int32).reshape(rows, count)
        sources = [at["passing_fields"] + 4 * pairs * number for number in range(self._fields)]
        for row, source in zip(batch, (at["passing_numbers"], *sources), strict=True):
            self._context.driver.memcpy_dtoh_async(row, source, slot.stream)
        slot.stream.synchronize()
        batch[0] += first
        self._batches.append(batch)

    def _row(self, number: int) -> Int32s:
        parts = [batch[number] for batch in self._batches]
        if len(parts) == 1:
            return np.asarray(parts[0])
        return np.concatenate([np.empty(0, np.int32), *parts])

    def numbers(self) -> Int32s:
        """Return the numbers of the pairs, ascending."""
        return self._row(0)

    def reaching(self) -> ReachingPairs:
        """Return the pairs, their scores and whether these are high enough for where they end."""
        return ReachingPairs(self.numbers(), self._row(1), self._row(2))

    def alignments(self) -> Alignments:
        """Return the pairs and their scores."""
        fields = {name: self._row(row) for row, name in enumerate(SCORE_FIELDS, start=1)}
        return new_alignments(self._context, fields)


def take_array(context: DeviceContext, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return an array for results: pinned memory where there is some."""
    array: npt.NDArray[Any] | None = context.pool.take(count, dtype)
    return np.empty(count, dtype) if array is None else array


def expect_results(context: DeviceContext, work: Work, want: Want) -> None:
    """Have memory pinned for the results of some pairs: while their kernels are loaded and run."""
    if want.detail < Detail.CIGAR:
        return
    area = work.rectangle if isinstance(work, Chosen) else work
    rows = context.queries.lengths[area.row_start : area.row_stop]
    columns = context.targets.lengths[area.column_start : area.column_stop]
    residues = float(rows.mean()) + float(columns.mean())
    fields = 4 * (len(SCORE_FIELDS) + len(STATS_FIELDS)) + 8
    expected = int(work.pairs * (fields + _RUN_BYTES_A_RESIDUE * residues))
    if expected >= _LEAST_EXPECTED:
        context.pool.expect(min(expected, _MOST_EXPECTED))


def new_alignments(context: DeviceContext, fields: Mapping[str, Any]) -> Alignments:
    """Return alignments of the engine's sets."""
    return Alignments(
        queries=context.queries.sequences,
        targets=context.targets.sequences,
        scoring=context.scoring,
        **fields,
    )


class WindowResults:
    """Fields and runs of a window's pairs, filled batch by batch in the window's order.

    Parameters
    ----------
    pairs : int
        Pairs of the window.
    """

    def __init__(self, context: DeviceContext, pairs: int, want: Want) -> None:
        self._context = context
        self._pairs = pairs
        self._want = want
        stats = len(STATS_FIELDS) if want.detail >= Detail.STATS else 0
        count = len(SCORE_FIELDS) + stats
        self._fields = take_array(context, count * pairs, np.int32).reshape(count, pairs)
        self.has_runs = want.detail >= Detail.CIGAR
        if self.has_runs:
            self._offsets = take_array(context, pairs + 1, np.int64)
            self._offsets[0] = 0
            self._runs: UInt32s = np.empty(0, np.uint32)

    def download(self, first: int, pairs: int, at: dict[str, int], stream: Any) -> None:
        """Start copying fields and offsets of the pairs from `first` on from device addresses."""
        copy, part = self._context.driver.memcpy_dtoh_async, slice(first, first + pairs)
        if pairs == self._pairs:
            copy(self._fields, at["fields"], stream)
        else:
            for number, field in enumerate(self._fields):
                copy(field[part], at["fields"] + 4 * pairs * number, stream)
        if self.has_runs:  # but for the first offset, which is the last one of the batch before
            copy(self._offsets[first + 1 : first + pairs + 1], at["run_offsets"] + 8, stream)

    def runs_of(self, first: int, pairs: int) -> UInt32s:
        """Return the place for the runs of pairs whose offsets in their batch have arrived."""
        start = int(self._offsets[first])
        if start:  # now offsets in the window
            self._offsets[first + 1 : first + pairs + 1] += start
        stop = int(self._offsets[first + pairs])
        if stop > len(self._runs):
            # The rest of the window is probably like what has come so far.
            room = stop
            if first + pairs < self._pairs:
                room = stop * self._pairs // (first + pairs) * 17 // 16 + 1024
            larger = take_array(self._context, room, np.uint32)
            larger[:start] = self._runs[:start]
            self._runs = larger
        return self._runs[start:stop]

    def finish(self) -> Alignments:
        """Return the alignments of all pairs, or of those that reach the minimum."""
        context = self._context
        names = (*SCORE_FIELDS, *STATS_FIELDS)
        fields: dict[str, Any] = dict(zip(names, self._fields, strict=False))
        offsets = self._offsets if self.has_runs else None
        passing = None
        if self._want.min_raw_score is not None:
            passing = np.flatnonzero(fields["raw_score"] >= self._want.min_raw_score)
        if passing is not None and len(passing) < self._pairs:
            fields = {name: field[passing] for name, field in fields.items()}
            if self.has_runs:  # a pair that drops out has no runs
                counts = np.diff(self._offsets)[passing]
                offsets = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        if offsets is not None:
            fields["cigar"] = self._runs[: int(offsets[-1])]
            fields["cigar_offsets"] = offsets
        return new_alignments(context, fields)
