"""One query at a time against a database on GPUs, scores only: what both papers time.

Timed is what Dohi et al. time, less the copy of one query: alignment, copying the scores to the
host, and sorting them there. The database is on the devices before, cut into pieces of about equal
residues that go to the least loaded device, the longest first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import numpy as np

from pairalign.engines.cpu.engine import CpuEngine
from pairalign.engines.cuda.cuda_device import CudaDevice
from pairalign.engines.cuda.engine import CudaEngine
from pairalign.engines.cuda.family import KernelFamily
from pairalign.jobs.run import schedule
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, count_cells
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

SCORES = Want(Detail.SCORE)


class Search:
    """Queries against a database by one kernel after the other; a context manager."""

    def __init__(
        self,
        devices: Sequence[CudaDevice],
        queries: SequenceSet,
        database: SequenceSet,
        scoring: Scoring,
    ) -> None:
        self.queries, self.database, self.scoring = queries, database, scoring
        self.devices = devices
        self.number = len(devices)  # of those that search
        self.engines = [
            CudaEngine(device, queries, database, scoring, family="striped", detail=Detail.SCORE)
            for device in devices
        ]
        self._rows = queries.lengths[queries.order].astype(np.int64)
        self._columns = database.lengths[database.order].astype(np.int64)

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *_: object) -> None:
        for engine in self.engines:
            engine.close()

    def use(self, make: Callable[[], KernelFamily]) -> None:
        """Go on with a variant of a kernel; the database stays where it is."""
        for engine in self.engines:
            engine.use_family(make())

    def row_of(self, query: int) -> int:
        """Sorted position of a query, given its place in the set."""
        return int(np.flatnonzero(self.queries.order == query)[0])

    def gcells(self, query: int) -> float:
        """1e9 cells of a query against the database."""
        return float(self.queries.lengths[query]) * float(self._columns.sum()) / 1e9

    def windows(self, query: int) -> list[Window]:
        """The database's pieces, one for each device."""
        row = self.row_of(query)
        pieces = self.number
        # Each piece begins where a share of all residues ends.
        ends = np.searchsorted(
            np.cumsum(self._columns), np.arange(1, pieces + 1) * self._columns.sum() / pieces
        )
        stops = [*(int(end) + 1 for end in ends[:-1]), len(self._columns)]
        starts = [0, *stops[:-1]]
        return [
            Window(number, row, row + 1, start, stop, False)
            for number, (start, stop) in enumerate(zip(starts, stops, strict=True))
            if start < stop
        ]

    def scores(self, query: int) -> np.ndarray:
        """Scores of a query, in the order of the length-sorted database."""
        windows = self.windows(query)
        if self.number == 1:
            return self.engines[0].align(windows[0], SCORES).raw_score
        engines = self.engines[: self.number]
        results = schedule.run(engines, windows, SCORES, self._cost, len(windows))
        return np.concatenate([found.raw_score for _, found in results])

    def seconds(self, query: int) -> float:
        """Time of aligning, copying and sorting."""
        start = time.perf_counter()
        scores = self.scores(query).astype(np.int64)
        np.sort(scores << 32 | np.arange(len(scores)))  # of equal scores, the earlier is first
        return time.perf_counter() - start

    def seconds_of_all(self) -> float:
        """Time of all queries in one run, pieces of the longest first; without sorting."""
        start = time.perf_counter()
        windows = [one for query in range(len(self.queries)) for one in self.windows(query)]
        engines = self.engines[: self.number]
        for _ in schedule.run(engines, windows, SCORES, self._cost, len(windows)):
            pass
        return time.perf_counter() - start

    def timed(self, query: int, repeat: int) -> list[float]:
        """Some times, after one run to warm up."""
        self.seconds(query)
        return [self.seconds(query) for _ in range(repeat)]

    def _cost(self, window: Window) -> int:
        return count_cells(window, self._rows, self._columns)


def verify(
    devices: Sequence[CudaDevice],
    queries: SequenceSet,
    database: SequenceSet,
    scoring: Scoring,
    variants: dict[str, Callable[[], KernelFamily]],
) -> None:
    """Hold every variant to the CPU engine, on a part of the database."""
    part = SequenceSet.from_strings(
        {database[k].name: database[k].letters for k in range(0, len(database), 37)},
        alphabet=database.alphabet,
    )
    cpu = CpuEngine(queries, part, scoring, threads=os.cpu_count() or 1)
    window = Window(0, 0, len(queries), 0, len(part), False)
    expected = cpu.align(window, SCORES).raw_score
    cpu.close()
    with Search(devices[:1], queries, part, scoring) as search:
        for name, make in variants.items():
            search.use(make)
            found = search.engines[0].align(window, SCORES).raw_score
            if not np.array_equal(expected, found):
                raise SystemExit(f"{name}: scores differ from the CPU engine's")


def repeated(sequences: SequenceSet, times: int, longest: int = 1 << 30) -> SequenceSet:
    """The sequences up to a length, several copies of each, for a database of the papers' size."""
    return SequenceSet.from_strings(
        {
            f"{one.name}_{k}": one.letters
            for k in range(times)
            for one in sequences
            if len(one.letters) <= longest
        },
        alphabet=sequences.alphabet,
    )
