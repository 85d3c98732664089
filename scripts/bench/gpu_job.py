"""A set on some devices, with engines open: what the GPU benchmarks time."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from pairalign.alignments.problem import Problem
from pairalign.engines import EngineRequest
from pairalign.engines.cuda.cuda_device import CudaDevice
from pairalign.engines.cuda.cuda_engine import open_cuda_engines
from pairalign.jobs.run import schedule
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, count_cells, plan_windows, split_rows
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

SLAB_BYTES = 256 << 20  # results that an engine gathers at a time
HOST_BYTES = 128 << 30  # a quarter of it may be pinned


class Job:
    """One set on some devices with engines open; `seconds` times a pass over all pairs."""

    def __init__(
        self,
        options: argparse.Namespace,
        devices: Sequence[CudaDevice],
        sequences: SequenceSet,
        scoring: Scoring,
        per_device: int,
    ) -> None:
        self.lengths = sequences.lengths[sequences.order]
        self.windows = [
            slab
            for window in plan_windows(len(sequences), None, options.window)
            for slab in split_rows(window, self.lengths, self.lengths, 180, 2.0, SLAB_BYTES)
        ]
        self.gcells = sum(self.cost(window) for window in self.windows) / 1e9
        uses = {"per_device": per_device, "kernel": options.family, "memory_bytes": HOST_BYTES}
        request = EngineRequest(Problem(sequences, None, scoring), **uses)
        self.engines = open_cuda_engines(devices, request)

    def cost(self, window: Window) -> int:
        return count_cells(window, self.lengths, self.lengths)

    def warm_up(self, detail: Detail, windows: Sequence[Window] | None = None) -> None:
        """Load kernels, and let buffers grow to what they will need."""
        self.seconds(detail, windows or self.windows[: 6 * len(self.engines)])

    def seconds(self, detail: Detail, windows: Sequence[Window] | None = None) -> float:
        start = time.perf_counter()
        windows = self.windows if windows is None else windows
        ahead = max(16, 8 * len(self.engines))
        for _ in schedule.run(self.engines, windows, Want(detail), self.cost, ahead):
            pass
        return time.perf_counter() - start

    def repeat(self, detail: Detail, times: int, limit: float) -> list[float]:
        """Seconds of some passes; none begins after `limit` seconds."""
        seconds: list[float] = []
        while len(seconds) < times and (not seconds or sum(seconds) < limit):
            seconds.append(self.seconds(detail))
        return seconds

    def close(self) -> None:
        for engine in self.engines:
            engine.close()
