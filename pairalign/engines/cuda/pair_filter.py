"""Which pairs of a window can reach thresholds, on a GPU: the same ones as the CPU finds.

The kernel is ``cuda/pair_filter/pair_filter.cu``; the sets of bits and what lengths say come from
`pairalign.engines.cpu.pair_filter.PairFilter`, which also takes what is not for a GPU.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.errors import DeviceError
from pairalign.engines.cpu.pair_filter import FilteredSet, PairFilter, PairsLeft
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.family import DeviceContext
from pairalign.engines.device.sets import DeviceSet
from pairalign.pairs.windows import Window

Mask = npt.NDArray[np.bool_]

log = logging.getLogger("pairalign")

SOURCE = "pair_filter/pair_filter.cu"
KERNEL = "filter_pairs"
TILE, THREADS = 64, 256
"""Rows and columns of a block, and its threads: as in the kernel's source."""

ARGUMENTS = np.dtype(
    [
        *((name, "<u8", 2) for name in ("bits", "grams", "best", "order", "classes")),
        *((name, "<u8") for name in ("bounds", "row_offsets", "mask", "counts")),
        *((name, "<i4") for name in ("row_start", "row_stop", "column_start", "column_stop")),
        *((name, "<i4") for name in ("column_classes", "triangular", "one_set", "unused")),
    ]
)
"""FilterArguments in cuda/pair_filter/pair_filter.cuh."""

COUNTS = np.dtype([("possible", "<u8"), ("left", "<u8"), ("score", "<i4"), ("unused", "<i4")])
"""FilterCounts in cuda/pair_filter/pair_filter.cuh."""

_MEMORY_SHARE = 16
"""Divisor of an engine's memory: the part, at most, for the sets and for a window each."""

_NO_SCORE = 2**31 - 1

PATIENCE = 0.1
"""Seconds that a kernel which has been compiled takes to load, at most."""


class CudaPairFilter:
    """Drops pairs of windows that cannot pass; belongs to one engine and its thread.

    Parameters
    ----------
    context : DeviceContext
        Of an open engine, which outlives this.
    current : callable
        Makes the CUDA context current for a ``with`` block.
    host : PairFilter
        Of the same sets. It takes masks, windows of many lengths, what finds no room, and all
        windows until the kernel has been compiled.
    pairs_a_bound : int
        It takes windows of fewer pairs for each two lengths: it is as fast as their table is made.

    Raises
    ------
    DeviceError
        The device fails.
    """

    def __init__(
        self,
        context: DeviceContext,
        current: Callable[[], AbstractContextManager[None]],
        host: PairFilter,
        *,
        pairs_a_bound: int = 64,
    ) -> None:
        self._context = context
        self._pairs_a_bound = pairs_a_bound
        self._current = current
        self._host = host
        self._limit = context.memory_bytes // _MEMORY_SHARE
        self._allocations: list[Any] = []
        self._arguments = np.zeros((), ARGUMENTS)
        self._slot: Slot | None = None
        self._module: Future[Any] | None = None
        sets = [host.set_of(side) for side in range(1 if context.one_set else 2)]
        if sum(one.bits.nbytes + one.grams.nbytes + one.best.nbytes for one in sets) > self._limit:
            return
        try:
            with current():
                self._upload(sets)
                self._slot = Slot(context.driver)
        except context.driver.MemoryError:
            self.close()
        except context.driver.Error as error:
            raise DeviceError(f"{context.name}: filter of pairs: {error}") from error
        pool = ThreadPoolExecutor(1, "filter of pairs")
        self._module = pool.submit(self._load)
        pool.shutdown(wait=False)
        wait([self._module], PATIENCE)

    def choose(self, window: Window, pair_mask: Mask | None = None) -> PairsLeft:
        """Drop pairs of a window; see `PairFilter.choose`. The mask holds until the next call.

        Raises
        ------
        DeviceError
            The device fails.
        CapacityError
            The host is out of memory.
        """
        rows = _Classes(self._context.queries.lengths[window.row_start : window.row_stop])
        columns = _Classes(self._context.targets.lengths[window.column_start : window.column_stop])
        bounds = len(rows.lengths) * len(columns.lengths)
        if (
            self._slot is None
            or not self._is_loaded()
            or pair_mask is not None
            or not window.pairs
            or bounds * self._pairs_a_bound > window.pairs
            or 2 * window.pairs > self._limit
        ):
            return self._host.choose(window, pair_mask)
        driver = self._context.driver
        try:
            with self._current():
                return self._choose(self._slot, window, rows, columns)
        except driver.MemoryError:
            return self._host.choose(window)
        except driver.Error as error:
            raise DeviceError(
                f"{self._context.name}: kernel {KERNEL} failed on window {window.index}: {error}"
            ) from error

    def close(self) -> None:
        """Free what is on the device; whoever opened the host's filter closes it."""
        if self._module is not None:
            wait([self._module])
        with self._current():
            if self._slot is not None:
                self._slot.close()
            for one in self._allocations:
                one.free()
        self._slot, self._allocations = None, []

    def _load(self) -> Any:
        """Load the kernel, in a thread: where it must be compiled, others are at the same time."""
        with self._current():
            return self._context.load_module(SOURCE, {})

    def _is_loaded(self) -> bool:
        """Whether the kernel is there; where it cannot be had, the host does all."""
        if self._module is None or not self._module.done():
            return False
        error = self._module.exception()
        if error is not None:
            log.info("%s: pairs are filtered on the host: %s", self._context.name, error)
            self._module = None
        return error is None

    def _upload(self, sets: list[FilteredSet]) -> None:
        """Put the sets of bits on the device."""
        context, arguments = self._context, self._arguments
        device_sets: tuple[DeviceSet, ...] = (context.queries, context.targets)
        for side, device_set in enumerate(device_sets):
            arguments["order"][side] = int(device_set.order)
            for name in ("bits", "grams", "best"):
                if side < len(sets):
                    arguments[name][side] = self._copy(getattr(sets[side], name))
                else:
                    arguments[name][side] = arguments[name][0]
        arguments["one_set"] = context.one_set

    def _copy(self, array: npt.NDArray[Any]) -> int:
        if not array.nbytes:
            return 0
        self._allocations.append(self._context.upload(array))
        return int(self._allocations[-1])

    def _choose(self, slot: Slot, window: Window, rows: _Classes, columns: _Classes) -> PairsLeft:
        """Launch the kernel on a window, and wait for what it leaves."""
        counts = np.zeros(1, COUNTS)
        counts["score"] = _NO_SCORE
        tables = {
            "counts": counts,
            "bounds": self._host.bound_lengths(rows.lengths, columns.lengths),
            "row_offsets": window.row_offsets,
            "rows": rows.of_sequence,
            "columns": columns.of_sequence,
        }
        sizes = {name: table.nbytes for name, table in tables.items()}
        at = slot.arrange({**sizes, "mask": window.pairs}, self._limit)
        for name, table in tables.items():
            slot.upload(name, table, at[name])
        arguments = self._arguments.copy()
        for name in ("counts", "bounds", "row_offsets", "mask"):
            arguments[name] = at[name]
        arguments["classes"] = at["rows"], at["columns"]
        for name in ("row_start", "row_stop", "column_start", "column_stop", "triangular"):
            arguments[name] = getattr(window, name)
        arguments["column_classes"] = len(columns.lengths)
        down = -(-(window.row_stop - window.row_start) // TILE)
        across = -(-(window.column_stop - window.column_start) // TILE)
        self._context.kernel = KERNEL
        assert self._module is not None
        self._module.result().get_function(KERNEL)(
            arguments[()], block=(THREADS, 1, 1), grid=(down * across, 1), stream=slot.stream
        )
        found = slot.download("found", 1, COUNTS, at["counts"])
        mask = slot.download("mask", window.pairs, np.bool_, at["mask"])
        slot.wait()
        possible, left, score = (int(found[name][0]) for name in ("possible", "left", "score"))
        return PairsLeft.of(mask, window.pairs, possible, left, left, score)


class _Classes:
    """Sequences of a window by their lengths.

    Attributes
    ----------
    lengths : ndarray of int32
        Each once, longest first.
    of_sequence : ndarray of int32
        Which of them each sequence has.
    """

    def __init__(self, lengths: npt.NDArray[np.int32]) -> None:
        changes = np.flatnonzero(np.diff(lengths)) + 1
        firsts = np.concatenate(([0], changes))[: len(lengths)]
        self.lengths = np.ascontiguousarray(lengths[firsts], np.int32)
        self.of_sequence = np.zeros(len(lengths), np.int32)
        self.of_sequence[changes] = 1
        np.cumsum(self.of_sequence, out=self.of_sequence)
