"""Which pairs of a window can reach thresholds, on a GPU: the same ones as the CPU finds.

The kernels are in ``cuda/pair_filter/``: one for lengths, residues and q-grams, one for longest
common subsequences. The sets of bits and what lengths say come from
`pairalign.engines.cpu.cpu_pair_filter.PairFilter`, which also takes what is not for a GPU.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Structs
from pairalign.base.error_types import DeviceError
from pairalign.base.native import struct_dtype
from pairalign.engines.cpu.cpu_pair_filter import LENGTH_BOUND, FilteredSet, PairFilter, PairsLeft
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.build import ModuleRequest
from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.engines.device.device_sets import DeviceSet
from pairalign.pairs.windows import Window

log = logging.getLogger("pairalign")

SOURCE = "pair_filter/pair_filter.cu"
KERNEL = "filter_pairs"
TILE, THREADS = 64, 256
"""Rows and columns of a block, and its threads: as in the kernel's source."""

SUBSEQUENCES_SOURCE = "pair_filter/subsequences.cu"
SUBSEQUENCES_KERNEL = "look_at_subsequences"
SEGMENT, WARPS, WORDS, LONGEST_TEXT = 2048, 4, 16, 4096
"""Columns of a warp, warps of a block, words of a pattern in registers, and the longest text: as in
the kernel's source."""

ARGUMENTS = struct_dtype(
    "uint64*2 bits grams best order classes codes starts lengths; uint64 bounds row_offsets mask "
    "counts; int32 row_start row_stop column_start column_stop column_classes triangular one_set "
    "looks unambiguous table_words has_chosen unused"
)
"""FilterArguments in cuda/pair_filter/pair_filter.cuh."""

COUNTS = struct_dtype("uint64 possible sharing left; int32 score unused")
"""FilterCounts in cuda/pair_filter/pair_filter.cuh."""

_MEMORY_SHARE = 16
"""Divisor of an engine's memory: the part, at most, for the sets and for a window each."""

_NO_SCORE = 2**31 - 1

_MOST_TABLE_WORDS = 2800
"""Of a warp in shared memory: a block with the queues of its warps has room on every device."""

_PAIRS_A_BOUND, _LOOKED_AT_A_BOUND = 64, 4
"""The host takes sets with fewer pairs for each two lengths, without and with common subsequences:
it is as fast as a table of them is made."""

_PAIRS_A_CHOSEN = 64
"""Of more pairs for each that is chosen, windows are for the host."""

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
        Of the same sets. It takes windows in which few pairs are chosen, sets of many lengths, what
        finds no room, and all windows until the kernels have been compiled.
    pairs_a_bound : int, optional
        It takes sets of fewer pairs for each two lengths.

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
        pairs_a_bound: int | None = None,
    ) -> None:
        self._context = context
        self._current = current
        self._host = host
        self._limit = context.memory_bytes // _MEMORY_SHARE
        self._allocations: list[Any] = []
        self._arguments = np.zeros((), ARGUMENTS)
        self._slot: Slot | None = None
        self._module: Future[list[Any]] | None = None
        self._looks = host.has_subsequences
        if pairs_a_bound is None:
            pairs_a_bound = _LOOKED_AT_A_BOUND if self._looks else _PAIRS_A_BOUND
        bounds = math.prod(len(classes.lengths) for classes in host.length_classes)
        if bounds * pairs_a_bound > math.prod(
            len(classes.of_sequence) for classes in host.length_classes
        ):
            return
        sets = [host.set_of(side) for side in range(1 if context.one_set else 2)]
        size = sum(
            filtered_set.bits.nbytes + filtered_set.grams.nbytes + filtered_set.best.nbytes
            for filtered_set in sets
        )
        if size + bounds * LENGTH_BOUND.itemsize > self._limit:
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

    def choose(self, window: Window, pair_mask: Bools | None = None) -> PairsLeft:
        """Drop pairs of a window; see `PairFilter.choose`. The mask holds until the next call.

        Raises
        ------
        DeviceError
            The device fails.
        CapacityError
            The host is out of memory.
        """
        if (
            self._slot is None
            or not self._is_loaded()
            or not window.pairs
            or 2 * window.pairs > self._limit
            or _are_few(pair_mask)
        ):
            return self._host.choose(window, pair_mask)
        driver = self._context.driver
        try:
            with self._current():
                pairs_left = self._choose(self._slot, window, pair_mask)
        except driver.MemoryError:
            return self._host.choose(window, pair_mask)
        except driver.Error as error:
            raise DeviceError(
                f"{self._context.name}: kernel {self._context.kernel} failed on window "
                f"{window.index}: {error}"
            ) from error
        if self._looks and pairs_left.left and self._longest_column(window) > LONGEST_TEXT:
            rest = self._host.choose(window, pairs_left.mask)
            return replace(
                rest,
                looked_at=pairs_left.looked_at,
                possible=pairs_left.possible,
                sharing=pairs_left.sharing,
            )
        return pairs_left

    def close(self) -> None:
        """Free what is on the device; whoever opened the host's filter closes it."""
        if self._module is not None:
            wait([self._module])
        with self._current():
            if self._slot is not None:
                self._slot.close()
            for allocation in self._allocations:
                allocation.free()
        self._slot, self._allocations = None, []

    def _load(self) -> list[Any]:
        """Load the kernels, in a thread: others are compiled at the same time."""
        sources = [SOURCE, SUBSEQUENCES_SOURCE] if self._looks else [SOURCE]
        with self._current():
            return self._context.load_modules([ModuleRequest(source, {}) for source in sources])

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
        """Put the sets of bits on the device, and what lengths say."""
        context, arguments, host = self._context, self._arguments, self._host
        device_sets: tuple[DeviceSet, ...] = (context.queries, context.targets)
        for side, device_set in enumerate(device_sets):
            arguments["order"][side] = int(device_set.order)
            arguments["codes"][side] = int(device_set.codes)
            arguments["starts"][side] = int(device_set.starts)
            arguments["lengths"][side] = int(device_set.device_lengths)
            arguments["classes"][side] = self._copy(host.length_classes[side].of_sequence)
            for name in ("bits", "grams", "best"):
                if side < len(sets):
                    arguments[name][side] = self._copy(getattr(sets[side], name))
                else:
                    arguments[name][side] = arguments[name][0]
        arguments["bounds"] = self._copy(host.length_bounds)
        arguments["column_classes"] = host.length_bounds.shape[1]
        arguments["one_set"] = context.one_set
        arguments["looks"] = self._looks
        arguments["unambiguous"] = context.scoring.alphabet.unambiguous

    def _copy(self, array: npt.NDArray[Any]) -> int:
        if not array.nbytes:
            return 0
        self._allocations.append(self._context.upload(array))
        return int(self._allocations[-1])

    def _longest_column(self, window: Window) -> int:
        start = window.first_column(window.row_start)
        return int(self._context.targets.lengths[start : window.column_stop].max(initial=0))

    def _choose(self, slot: Slot, window: Window, chosen: Bools | None) -> PairsLeft:
        """Launch the kernels on a window, and wait for what they leave."""
        counts = np.zeros(1, COUNTS)
        counts["score"] = _NO_SCORE
        tables = {"counts": counts, "row_offsets": window.row_offsets}
        sizes = {name: table.nbytes for name, table in tables.items()}
        at = slot.arrange({**sizes, "mask": window.pairs}, self._limit)
        for name, table in tables.items():
            slot.upload(name, table, at[name])
        arguments = self._arguments.copy()
        if chosen is not None:
            slot.upload("chosen", chosen, at["mask"])
            arguments["has_chosen"] = 1
        for name in ("counts", "row_offsets", "mask"):
            arguments[name] = at[name]
        for name in ("row_start", "row_stop", "column_start", "column_stop", "triangular"):
            arguments[name] = getattr(window, name)
        rows, columns = window.row_stop - window.row_start, window.column_stop - window.column_start
        self._launch(slot, 0, arguments, -(-rows // TILE) * -(-columns // TILE), THREADS)
        if self._looks:
            words = self._table_words(window)
            arguments["table_words"] = words
            warps = rows * -(-columns // SEGMENT)
            self._launch(slot, 1, arguments, -(-warps // WARPS), 32 * WARPS, 4 * WARPS * words)
        final_counts = slot.download("found", 1, COUNTS, at["counts"])
        mask = slot.download("mask", window.pairs, np.bool_, at["mask"])
        slot.wait()
        possible, sharing, left = (
            int(final_counts[name][0]) for name in ("possible", "sharing", "left")
        )
        left = left if self._looks else sharing
        looked_at = window.pairs if chosen is None else int(np.count_nonzero(chosen))
        return PairsLeft.of(mask, looked_at, possible, sharing, left, int(final_counts["score"][0]))

    def _launch(
        self,
        slot: Slot,
        kernel: int,
        arguments: Structs,
        blocks: int,
        threads: int,
        shared: int = 0,
    ) -> None:
        assert self._module is not None
        name = (KERNEL, SUBSEQUENCES_KERNEL)[kernel]
        self._context.kernel = name
        self._module.result()[kernel].get_function(name)(
            arguments[()],
            block=(threads, 1, 1),
            grid=(blocks, 1),
            shared=shared,
            stream=slot.stream,
        )

    def _table_words(self, window: Window) -> int:
        """Return the words of shared memory for the matches of the longest row, or of a strip."""
        codes = int(self._arguments["unambiguous"]) + 1
        lengths = self._context.queries.lengths[window.row_start : window.row_stop]
        longest = int(lengths.max(initial=0))
        # As the kernel has them: a whole pattern with what it moves over, or a strip.
        moving = codes * (-(-longest // 32) + 2 * WORDS + 2)
        return -(-max(codes * (WORDS + 4), min(moving, _MOST_TABLE_WORDS)) // 4) * 4


def _are_few(chosen: Bools | None) -> bool:
    """Whether so few pairs are chosen that the host, which looks at no others, is as fast."""
    return chosen is not None and np.count_nonzero(chosen) * _PAIRS_A_CHOSEN < len(chosen)
