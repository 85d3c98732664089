"""Results of a window, copied from the device straight to where they stay.

See `pairalign.engines.cuda_pool` for why that is pinned memory which is used again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import STATS_COLUMNS, Alignments
from pairalign.engines import Detail, Want
from pairalign.engines.cuda_family import DeviceContext


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
        columns = self._take((4 + stats) * pairs, np.int32).reshape(4 + stats, pairs)
        self._query, self._target, self._score = columns[:3]
        self._stats = list(columns[3 : 3 + stats])
        self._counts: npt.NDArray[np.int32] | None = None
        if want.detail >= Detail.CIGAR:
            self._counts = columns[-1]
            self._offsets = self._take(pairs + 1, np.int64)
            self._offsets[0] = 0
            self._runs: npt.NDArray[np.uint32] = np.empty(0, np.uint32)

    def _take(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        array = self._context.pool.take(count, dtype)
        return np.empty(count, dtype) if array is None else array

    def download(self, first: int, pairs: int, at: dict[str, int], stream: Any) -> None:
        """Start copying columns of the pairs from `first` on from device addresses."""
        copy, part = self._context.driver.memcpy_dtoh_async, slice(first, first + pairs)
        copy(self._query[part], at["query"], stream)
        copy(self._target[part], at["target"], stream)
        copy(self._score[part], at["score"], stream)
        columns = self._stats if self._counts is None else [*self._stats, self._counts]
        for number, column in enumerate(columns):
            copy(column[part], at["fields"] + 4 * pairs * number, stream)

    def place_runs(self, first: int, pairs: int) -> tuple[npt.NDArray[np.int64], int, int]:
        """Find where the runs of pairs go whose counts have arrived.

        Returns
        -------
        offsets : int64[pairs]
            Number of runs before each pair, in the window.
        before, total : int
            Runs before the first of the pairs, and of all of them.
        """
        assert self._counts is not None
        part = self._offsets[first + 1 : first + pairs + 1]
        np.cumsum(self._counts[first : first + pairs], out=part)
        before = int(self._offsets[first])
        part += before
        return self._offsets[first : first + pairs], before, int(part[-1]) - before

    def runs_at(self, first: int, pairs: int) -> npt.NDArray[np.uint32]:
        """Return the place for the runs of pairs that `place_runs` has placed."""
        start, stop = int(self._offsets[first]), int(self._offsets[first + pairs])
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
        columns: dict[str, npt.NDArray[Any]] = {
            "query": self._query,
            "target": self._target,
            "raw_score": self._score,
            **dict(zip(STATS_COLUMNS, self._stats, strict=False)),
        }
        offsets = self._offsets if self._counts is not None else None
        if self._want.min_raw_score is not None:
            keep = np.flatnonzero(self._score >= self._want.min_raw_score)
            columns = {name: column[keep] for name, column in columns.items()}
            if self._counts is not None:  # a pair that drops out has no runs
                counts = self._counts[keep]
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
