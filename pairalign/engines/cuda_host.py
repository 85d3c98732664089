"""The CPU engine behind the GPUs: it takes the pairs that a device has no room for."""

from __future__ import annotations

import logging
import threading

from pairalign.alignments import Alignments
from pairalign.engines import Want
from pairalign.engines.cpu import CpuEngine
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet
from pairalign.windows import Window

log = logging.getLogger("pairalign")


class HostFallback:
    """A CPU engine that the engines of a run share, opened when the first pair needs it.

    Parameters
    ----------
    queries, targets, scoring, threads, memory_bytes
        See `pairalign.engines.cpu.CpuEngine`.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet | None,
        scoring: Scoring,
        *,
        threads: int = 1,
        memory_bytes: int = 1 << 30,
    ) -> None:
        self._queries = queries
        self._targets = targets
        self._scoring = scoring
        self._threads = threads
        self._memory_bytes = memory_bytes
        self._engine: CpuEngine | None = None
        self._lock = threading.Lock()  # one window at a time: it has all the threads

    def align(self, window: Window, want: Want, device: str) -> Alignments:
        """Align a window; the first time, log that this happens and why.

        What comes back of a window of strand -1 is as kernels of devices leave it, not yet turned
        to the original strands (see `pairalign.strands`).
        """
        with self._lock:
            if self._engine is None:
                self._log(window, device)
                self._engine = CpuEngine(
                    self._queries,
                    self._targets,
                    self._scoring,
                    threads=self._threads,
                    memory_bytes=self._memory_bytes,
                )
            return self._engine.align_as_read(window, want)

    def cancel(self) -> None:
        """Make a running `align` raise."""
        engine = self._engine
        if engine is not None:
            engine.cancel()

    def close(self) -> None:
        """Free the engine's memory; it is opened again if another pair needs it."""
        with self._lock:
            if self._engine is not None:
                self._engine.close()
                self._engine = None

    def _log(self, window: Window, device: str) -> None:
        targets = self._queries if self._targets is None else self._targets
        row = window.row_start
        log.warning(
            "%s: pairs such as '%s' and '%s' need more memory than the device has to spare; "
            "the CPU aligns them",
            device,
            self._queries.names[int(self._queries.order[row])],
            targets.names[int(targets.order[window.first_column(row)])],
        )
