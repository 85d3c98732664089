"""The CPU engine behind the GPUs: it takes the pairs that a device has no room for."""

from __future__ import annotations

import logging
import threading

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.base.error_types import KernelBuildError, shown_name
from pairalign.engines.cpu.cpu_engine import CpuEngine, Pruning
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window

log = logging.getLogger("pairalign")


class HostFallback:
    """A CPU engine that the engines of a run share, opened when the first pair needs it.

    Parameters
    ----------
    problem, threads, memory_bytes
        See `pairalign.engines.cpu.cpu_engine.CpuEngine`.
    replaces_kernels : bool
        It may align what needs kernels that cannot be had.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        threads: int = 1,
        memory_bytes: int = 1 << 30,
        replaces_kernels: bool = False,
    ) -> None:
        self._problem = problem
        self._threads = threads
        self._memory_bytes = memory_bytes
        self._replaces_kernels = replaces_kernels
        self._has_warned = False
        self._engine: CpuEngine | None = None
        self._lock = threading.Lock()  # one window at a time: it has all the threads

    def align(
        self,
        window: Window,
        want: Want,
        device: str,
        pair_mask: npt.NDArray[np.bool_] | None = None,
        *,
        long: bool = False,
    ) -> Alignments:
        """Align a window, or its pairs that `pair_mask` names; the first time, log that and why.

        `long`: not for want of memory, but since these pairs would leave most of the device idle.
        What comes back of a window of strand -1 is as kernels of devices leave it, not yet turned
        to the original strands (see `pairalign.alignments.strands`).
        """
        with self._lock:
            if self._engine is None:
                if not self._has_warned:
                    self._log(window, device, pair_mask, long)
                self._engine = CpuEngine(
                    self._problem,
                    threads=self._threads,
                    memory_bytes=self._memory_bytes,
                    pruning=Pruning("auto"),
                )
            return self._engine.align_as_read(window, want, pair_mask)

    def may_replace_kernels(self, device: str, error: KernelBuildError) -> bool:
        """Tell whether `align` is to be asked after an error; the first time, warn that it is."""
        with self._lock:
            if self._replaces_kernels and not self._has_warned:
                self._has_warned = True
                log.warning(
                    "%s: the CPU aligns what needs kernels that are not there: %s", device, error
                )
        return self._replaces_kernels

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

    def _log(
        self, window: Window, device: str, pair_mask: npt.NDArray[np.bool_] | None, long: bool
    ) -> None:
        rows, columns = window.positions()
        pair = 0 if pair_mask is None else int(np.argmax(pair_mask))
        queries, targets = self._problem.queries, self._problem.others
        names = (
            shown_name(queries.names[int(queries.order[rows[pair]])]),
            shown_name(targets.names[int(targets.order[columns[pair]])]),
        )
        if long:
            log.info("%s: the CPU aligns long pairs such as %s and %s", device, *names)
            return
        log.warning(
            "%s: pairs such as %s and %s need more memory than the device has to spare; "
            "the CPU aligns them",
            device,
            *names,
        )
