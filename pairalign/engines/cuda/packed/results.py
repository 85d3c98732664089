"""Results of a window, copied from the device straight to where they stay.

See `pairalign.engines.device.pinned_pool` for why that is pinned memory which is used again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import SCORE_COLUMNS, STATS_COLUMNS, Alignments
from pairalign.engines.cuda.family import DeviceContext
from pairalign.want import Detail, Want


class WindowResults:
    """Columns and runs of a window's pairs, filled batch by batch in the window's order.

    Parameters
    ----------
    context : DeviceContext
    pairs : int
        Pairs of the window.
    want : Want
    """

    def __init__(self, context: DeviceContext, pairs: int, want: Want) -> None:
        self._context = context
        self._pairs = pairs
        self._want = want
        stats = len(STATS_COLUMNS) if want.detail >= Detail.STATS else 0
        count = len(SCORE_COLUMNS) + stats
        self._columns = self._take(count * pairs, np.int32).reshape(count, pairs)
        self.has_runs = want.detail >= Detail.CIGAR
        if self.has_runs:
            self._offsets = self._take(pairs + 1, np.int64)
            self._offsets[0] = 0
            self._runs: npt.NDArray[np.uint32] = np.empty(0, np.uint32)

    def _take(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        array = self._context.pool.take(count, dtype)
        return np.empty(count, dtype) if array is None else array

    def download(self, first: int, pairs: int, at: dict[str, int], stream: Any) -> None:
        """Start copying columns and offsets of the pairs from `first` on from device addresses."""
        copy, part = self._context.driver.memcpy_dtoh_async, slice(first, first + pairs)
        if pairs == self._pairs:
            copy(self._columns, at["columns"], stream)
        else:
            for number, column in enumerate(self._columns):
                copy(column[part], at["columns"] + 4 * pairs * number, stream)
        if self.has_runs:  # but for the first offset, which is the last one of the batch before
            copy(self._offsets[first + 1 : first + pairs + 1], at["run_offsets"] + 8, stream)

    def runs_of(self, first: int, pairs: int) -> npt.NDArray[np.uint32]:
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
            larger = self._take(room, np.uint32)
            larger[:start] = self._runs[:start]
            self._runs = larger
        return self._runs[start:stop]

    def finish(self) -> Alignments:
        """Return the alignments of all pairs, or of those that reach the minimum."""
        context = self._context
        names = (*SCORE_COLUMNS, *STATS_COLUMNS)
        columns: dict[str, npt.NDArray[Any]] = dict(zip(names, self._columns, strict=False))
        offsets = self._offsets if self.has_runs else None
        if self._want.min_raw_score is not None:
            passing = np.flatnonzero(columns["raw_score"] >= self._want.min_raw_score)
            columns = {name: column[passing] for name, column in columns.items()}
            if self.has_runs:  # a pair that drops out has no runs
                counts = np.diff(self._offsets)[passing]
                offsets = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        fields: dict[str, Any] = dict(columns)
        if offsets is not None:
            fields["cigar"] = self._runs[: int(offsets[-1])]
            fields["cigar_offsets"] = offsets
        return Alignments(
            queries=context.queries.sequences,
            targets=context.targets.sequences,
            scoring=context.scoring,
            **fields,
        )
