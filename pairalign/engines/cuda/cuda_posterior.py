"""Posteriors of pairs on a GPU: the same bytes as `pairalign.engines.cpu.cpu_posterior` gives.

The kernels are in ``cuda/posterior/``. Pairs are taken some at a time, as their results fit the
device; those of one x go to the lanes of a warp. Entries are copied straight into pinned memory
that results live in, as fresh memory would take the host longer than the kernels take (see
`pairalign.engines.device.pinned_pool`). Pairs that float32 does not hold are computed again in
float64; the few that are beyond it, what finds no room and what is too little for a GPU are for the
host.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import (
    ARITHMETICS,
    SparsePosteriors,
    join_posteriors,
    with_pairs,
)
from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.error_types import DeviceError
from pairalign.engines.cpu.cpu_posterior import PosteriorEngine
from pairalign.engines.cuda.buffers import Slot, Uploads
from pairalign.engines.cuda.cuda_device import CudaDevice
from pairalign.engines.cuda.posterior_plan import (
    COUNTERS,
    EXPAND,
    FOUND,
    Kernel,
    Plan,
    kernels_of,
    plan_pairs,
    strips_of,
)
from pairalign.engines.posterior_computer import PosteriorRequest
from pairalign.scoring.posterior_models import PosteriorModel, growth_bits

EXPANDER = "expand_posteriors"

LEAST_CELLS = 1 << 22
"""Fewer cells at a time are done on the host before a GPU has them done."""

_EXPANDER_WARPS = 4
_ENTRY_BYTES = FOUND.itemsize + 10  # as it is found, and in its arrays
_ENTRIES_A_RESIDUE = 20
_RESULTS_SHARE = 0.5
"""Of the memory that the engine may use, for results; the warps have the others."""

Indices = Int32s


class CudaPosteriorEngine:
    """Computes posteriors of pairs of a set on a GPU; from any thread.

    Parameters
    ----------
    device : CudaDevice
    request : PosteriorRequest
        Its memory is the device's; its threads are for what a GPU does not do.
    pinned_bytes : int
        Results to keep in pinned memory at most; what is beyond takes longer to copy.
    arithmetic : str
        The narrowest to use; see `PosteriorEngine`.
    least_cells : int
        Calls for fewer cells are for the host.

    Attributes
    ----------
    is_gpu, residues_at_once
        See `pairalign.engines.posterior_computer.PosteriorComputer`.

    Raises
    ------
    KernelBuildError
        The kernels cannot be had.
    DeviceError
        The device fails.
    """

    is_gpu = True
    residues_at_once = 1 << 24

    def __init__(
        self,
        device: CudaDevice,
        request: PosteriorRequest,
        *,
        pinned_bytes: int = 1 << 30,
        arithmetic: str = "float32",
        least_cells: int = LEAST_CELLS,
    ) -> None:
        sequences, model, threshold = request.sequences, request.model, request.threshold
        self._device = device
        self._threshold = threshold
        self._lengths = sequences.lengths.astype(np.int64)
        self._limit = request.memory_bytes // request.calls
        self._least_cells = least_cells
        self._narrowest = arithmetic
        self._is_cancelled = False
        self._host, self._widest = (
            PosteriorEngine(
                sequences, model, threshold=threshold, threads=request.threads, arithmetic=name
            )
            for name in (arithmetic, ARITHMETICS[-1])
        )
        self._slots: list[Slot] = []
        self._free: list[Slot] = []
        self._lock = threading.Lock()
        self._uploads = Uploads(device.driver)
        self._kernels = kernels_of(model.match_states)
        self._block_warps = [kernel.block_warps(device.shared_bytes) for kernel in self._kernels]
        with self._using_device():
            modules = device.load_modules([kernel.module for kernel in self._kernels])
            self._expander = modules[0].get_function(EXPANDER)
            self._functions = [
                module.get_function(kernel.name)
                for module, kernel in zip(modules, self._kernels, strict=True)
            ]
            self._allow_shared_memory()
            upload = self._uploads.address
            self._codes = upload(sequences.codes)
            self._starts = upload(sequences.offsets[:-1].astype(np.int64))
            self._device_lengths = upload(sequences.lengths.astype(np.int32))
            self._numbers = [
                upload(_numbers_of(model, threshold, kernel)) for kernel in self._kernels
            ]
            self._pool = device.pool(pinned_bytes)

    def _allow_shared_memory(self) -> None:
        attribute = self._device.driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        for function, kernel, warps in zip(
            self._functions, self._kernels, self._block_warps, strict=True
        ):
            function.set_attribute(attribute, kernel.shared_bytes(warps))

    def cancel(self) -> None:
        """Make a running `compute`, and each to come, raise InterruptedError; from any thread."""
        self._is_cancelled = True
        self._host.cancel()
        self._widest.cancel()

    def close(self) -> None:
        """Free what is on the device; no call may be running."""
        with self._using_device():
            for slot in self._slots:
                slot.close()
            self._uploads.free()
            self._pool.close()
        self._slots, self._free = [], []

    def compute(self, queries: Indices, targets: Indices) -> SparsePosteriors:
        """Compute the posteriors of some pairs; see `PosteriorEngine.compute`.

        Raises
        ------
        DeviceError
            The device fails.
        CapacityError
            The host is out of memory.
        InterruptedError
            `cancel` was called.
        """
        queries = np.ascontiguousarray(queries, np.int32)
        targets = np.ascontiguousarray(targets, np.int32)
        cells = int((self._lengths[queries] * self._lengths[targets]).sum())
        if cells < self._least_cells or self._narrowest == ARITHMETICS[-1]:
            return self._host.compute(queries, targets)
        with self._slot() as slot:
            return self._compute(slot, queries, targets, ARITHMETICS.index(self._narrowest))

    def _compute(
        self, slot: Slot, queries: Indices, targets: Indices, arithmetic: int
    ) -> SparsePosteriors:
        """Compute pairs in an arithmetic, and those that it does not hold in the next."""
        if arithmetic == len(ARITHMETICS) - 1:
            return self._widest.compute(queries, targets)
        residues = np.cumsum(self._lengths[queries])
        most = max(1, int(self._limit * _RESULTS_SHARE) // (_ENTRY_BYTES * _ENTRIES_A_RESIDUE))
        bounds = [0, *(np.flatnonzero(np.diff(residues // most)) + 1).tolist(), len(queries)]
        parts = []
        for start, stop in itertools.pairwise(bounds):
            chunk = slice(start, stop)
            parts += self._chunk(slot, queries[chunk], targets[chunk], arithmetic)
        return parts[0] if len(parts) == 1 else join_posteriors(parts)

    def _chunk(
        self, slot: Slot, queries: Indices, targets: Indices, arithmetic: int
    ) -> list[SparsePosteriors]:
        """Compute pairs at a time, or in halves where they find no room."""
        if self._is_cancelled:
            raise InterruptedError("cancelled")
        results = self._launch(slot, queries, targets, arithmetic)
        if results is None and len(queries) == 1:
            host = self._host if arithmetic == 0 else self._widest
            return [host.compute(queries, targets)]
        if results is None:
            half = len(queries) // 2
            return [
                *self._chunk(slot, queries[:half], targets[:half], arithmetic),
                *self._chunk(slot, queries[half:], targets[half:], arithmetic),
            ]
        posteriors, too_wide = results
        if len(too_wide):
            again = self._compute(slot, queries[too_wide], targets[too_wide], arithmetic + 1)
            posteriors = with_pairs(posteriors, too_wide, again)
        return [posteriors]

    def _launch(
        self, slot: Slot, queries: Indices, targets: Indices, arithmetic: int
    ) -> tuple[SparsePosteriors, Int64s] | None:
        """Compute pairs at once; return them, and which are too wide; None: there is no room."""
        residues = int(self._lengths[queries].sum())
        found_size = max(1 << 12, residues * _ENTRIES_A_RESIDUE)
        kernel = self._kernels[arithmetic]
        for _ in range(2):
            warps_bytes = self._limit - found_size * _ENTRY_BYTES
            plan = plan_pairs(
                self._lengths,
                queries,
                targets,
                threshold=self._threshold,
                kernel=kernel,
                block_warps=self._block_warps[arithmetic],
                most_warps=kernel.multiprocessor_warps * self._device.multiprocessors,
                memory_bytes=warps_bytes,
            )
            if plan is None:
                return None
            try:
                launched = self._run(slot, plan, arithmetic, found_size)
            except self._device.driver.MemoryError:
                self._limit = max(self._limit // 2, 1 << 20)
                return None
            if not isinstance(launched, int):
                return launched
            found_size = launched  # how much room there has to be
        return None

    def _run(
        self, slot: Slot, plan: Plan, arithmetic: int, found_size: int
    ) -> tuple[SparsePosteriors, Int64s] | int:
        """Run the kernels of a plan; return the entries that there are if they found no room."""
        tables = {
            "tasks": plan.tasks,
            "columns": plan.targets,
            "first_strips": plan.first_strips,
            "counters": np.zeros(1, COUNTERS),
        }
        results = {
            "found": found_size * FOUND.itemsize,
            "strip_starts": plan.strips * 8,
            "strip_counts": plan.strips * 4,
            "counts": len(plan.targets) * 4,
            "too_wide": len(plan.targets),
            "rows": found_size * 4,
            "targets": found_size * 4,
            "values": found_size * 2,
            "places": len(plan.targets) * 8,
            "heights": len(plan.targets) * 4,
            "memory": plan.warps * plan.warp_bytes,
        }
        sizes = {name: table.nbytes for name, table in tables.items()}
        at = slot.arrange({**sizes, **results}, self._limit)
        for name, table in tables.items():
            slot.upload(name, table, at[name])
        arguments = plan.arguments(at, found_size)
        arguments["codes"], arguments["starts"] = self._codes, self._starts
        arguments["lengths"] = self._device_lengths
        arguments["numbers"] = self._numbers[arithmetic]
        warps = min(plan.warps, self._block_warps[arithmetic])
        self._functions[arithmetic](
            arguments[()],
            block=(32 * warps, 1, 1),
            grid=(-(-plan.warps // warps), 1),
            stream=slot.stream,
            shared=self._kernels[arithmetic].shared_bytes(warps),
        )
        counters = slot.download("found", 1, COUNTERS, at["counters"])
        counts = slot.download("counts", len(plan.targets), np.int32, at["counts"])
        too_wide = slot.download("too_wide", len(plan.targets), np.bool_, at["too_wide"])
        slot.wait()
        entries = int(counters["entries"][0])
        if entries > found_size:
            return entries
        return self._take(slot, plan, at, counts.copy(), too_wide.copy(), arithmetic)

    def _take(
        self,
        slot: Slot,
        plan: Plan,
        at: dict[str, int],
        counts: Indices,
        too_wide: Bools,
        arithmetic: int,
    ) -> tuple[SparsePosteriors, Int64s]:
        """Have the entries put in the order of the pairs, and fetch them."""
        pairs = len(counts)
        offsets = np.zeros(pairs + 1, np.int64)
        np.cumsum(counts[plan.places], out=offsets[1:])
        heights = strips_of(plan.rows_of_pairs)
        heights[too_wide] = 0
        starts = np.empty(pairs, np.int64)
        starts[plan.places] = offsets[:-1]
        slot.upload("places", starts, at["places"])
        slot.upload("heights", heights, at["heights"])
        arguments = np.zeros((), EXPAND)
        for name in ("found", "first_strips", "strip_starts", "strip_counts", "rows", "values"):
            arguments[name] = at[name]
        arguments["columns"] = at["targets"]
        arguments["strips"], arguments["offsets"] = at["heights"], at["places"]
        arguments["pairs"] = pairs
        self._expander(
            arguments[()],
            block=(32 * _EXPANDER_WARPS, 1, 1),
            grid=(-(-pairs // _EXPANDER_WARPS), 1),
            stream=slot.stream,
        )
        rows, columns, values = (
            self._fetch(slot, at[name], int(offsets[-1]), dtype)
            for name, dtype in (("rows", np.int32), ("targets", np.int32), ("values", np.uint16))
        )
        slot.wait()
        posteriors = SparsePosteriors(
            plan.queries_of_all,
            plan.targets_of_all,
            offsets,
            rows,
            columns,
            values,
            np.full(pairs, arithmetic, np.uint8),
        )
        return posteriors, np.sort(plan.pairs_of(too_wide))

    def _fetch(
        self, slot: Slot, address: int, count: int, dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]:
        """Start to copy a result to the host."""
        pinned = self._pool.take(count, dtype)
        array: npt.NDArray[Any] = np.empty(count, dtype) if pinned is None else pinned
        if count:
            self._device.driver.memcpy_dtoh_async(array, address, slot.stream)
        return array

    @contextmanager
    def _slot(self) -> Iterator[Slot]:
        """Lend what a call uses on the device."""
        with self._using_device():
            with self._lock:
                slot = self._free.pop() if self._free else None
            if slot is None:
                slot = Slot(self._device.driver, grows=False, pinning=self._device.pinning)
                with self._lock:
                    self._slots.append(slot)
            try:
                yield slot
            finally:
                with self._lock:
                    self._free.append(slot)

    @contextmanager
    def _using_device(self) -> Iterator[None]:
        try:
            with self._device.current():
                yield
        except self._device.driver.Error as error:
            raise DeviceError(f"{self._device.name}: posteriors: {error}") from error


def _numbers_of(model: PosteriorModel, threshold: float, kernel: Kernel) -> npt.NDArray[Any]:
    numbers = np.zeros(1, kernel.numbers)
    for field in fields(model):
        numbers[field.name] = np.ravel(getattr(model, field.name))
    least = float(np.float32(threshold))  # as the CPU's kernels are told
    numbers["threshold"] = 2.0 * least * least
    numbers["growth"] = growth_bits(model)
    return numbers
