"""The OpenCL engine: windows on any vendor's GPU, or on a CPU, through PyOpenCL."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.engines import Detail, Engine, Want
from pairalign.engines.cuda_host import HostFallback
from pairalign.engines.cuda_routing import long_pairs, merge
from pairalign.engines.device_sets import DeviceSet, lay_out
from pairalign.engines.kernels import AUTO
from pairalign.engines.opencl_devices import OpenClDevice
from pairalign.engines.opencl_family import OpenClContext, OpenClFamily
from pairalign.engines.opencl_pair_per_thread import OpenClPairPerThread
from pairalign.engines.opencl_pinned import pinned_pool
from pairalign.engines.opencl_striped import OpenClStriped
from pairalign.errors import DeviceError, PairalignError
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet
from pairalign.strands import to_original_strands
from pairalign.windows import Window

log = logging.getLogger("pairalign")

OPENCL_FAMILIES: dict[str, Callable[[], OpenClFamily]] = {
    OpenClPairPerThread.name: OpenClPairPerThread,
    OpenClStriped.name: OpenClStriped,
}
"""Kernel families by name, the preferred first."""

_MEMORY_SHARE = 0.75  # of all memory: OpenCL does not say how much is free


class OpenClEngine:
    """Aligns windows on one OpenCL device.

    Parameters
    ----------
    device : OpenClDevice
    queries : SequenceSet
        The set, or the first of two.
    targets : SequenceSet or None
        The second set; None for every pair of `queries`.
    scoring : Scoring
        Must have the alphabet of the sets.
    memory_bytes : int or None
        Device memory to use at most; default: three quarters of all.
    family : str or None
        Name of the kernels to use, see `OPENCL_FAMILIES`; default: the first that can.
    detail : Detail
        The most that windows will be asked for; some kernels compute scores only.
    pinned_bytes : int
        Host memory to pin for results at most.
    host : HostFallback, optional
        Takes the pairs that the device has no room for; engines of a run share one.

    Raises
    ------
    DeviceError
        The device fails, or no family can do this on it.
    """

    def __init__(
        self,
        device: OpenClDevice,
        queries: SequenceSet,
        targets: SequenceSet | None,
        scoring: Scoring,
        *,
        memory_bytes: int | None = None,
        family: str | None = None,
        detail: Detail = Detail.CIGAR,
        pinned_bytes: int = 1 << 30,
        host: HostFallback | None = None,
    ) -> None:
        self.name = device.name
        self.queries = queries
        self.targets = queries if targets is None else targets
        self.scoring = scoring
        self._device = device
        self._cancelled = threading.Event()
        self._host = host or HostFallback(queries, targets, scoring)
        self._buffers: list[Any] = []
        self._allocated = 0
        self._family = choose_opencl_family(device, scoring, family, detail)
        # PoCL's work-items run on the cores that the CPU engine would use.
        self._is_routing = family in (None, AUTO) and not device.is_cpu
        cl = device.cl
        limit = int(device.memory_bytes * _MEMORY_SHARE)
        if memory_bytes is not None:
            limit = min(limit, memory_bytes)
        try:
            self._queue = cl.CommandQueue(device.context())
            self._pool = pinned_pool(device, self._queue, pinned_bytes)
            nothing: Any = None  # until the sequences are there
            self._context = OpenClContext(
                device=device,
                queue=self._queue,
                memory_bytes=limit,
                scoring=scoring,
                queries=nothing,
                targets=nothing,
                pool=self._pool,
                align_on_host=self._align_on_host,
                check_cancelled=self._check_cancelled,
                log=log,
            )
            self._context.queries = self._upload(queries)
            self._context.targets = (
                self._context.queries if targets is None else self._upload(targets)
            )
            self._context.memory_bytes = limit - self._allocated
            self._family.open(self._context)
        except cl.MemoryError as error:
            raise DeviceError(
                f"{device.name} ({device.model}): no memory left for the sequences: {error}"
            ) from error
        except cl.Error as error:
            raise DeviceError(
                f"{device.name} ({device.model}) cannot be opened: {error}"
            ) from error

    def align(
        self, window: Window, want: Want, keep: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Align the pairs of `window`; see `pairalign.engines.Engine`.

        Raises
        ------
        DeviceError
            The device fails; the message names device, kernel and window.
        KernelBuildError
            A kernel does not compile.
        InterruptedError
            `cancel` was called.
        """
        try:
            return to_original_strands(self._align_routed(window, want, keep), window)
        except PairalignError:
            raise
        except self._device.cl.Error as error:
            raise DeviceError(
                f"{self.name} ({self._device.model}): kernel {self._context.kernel} failed on "
                f"window {window.index} (rows {window.row_start}-{window.row_stop}, columns "
                f"{window.column_start}-{window.column_stop}): {error}"
            ) from error

    def _align_routed(
        self, window: Window, want: Want, keep: npt.NDArray[np.bool_] | None
    ) -> Alignments:
        """Leave pairs to the CPU that would keep one work-item busy and the others waiting."""
        context = self._context
        long = None
        if self._is_routing:
            lengths = (context.queries.lengths, context.targets.lengths)
            long = long_pairs(window, keep, *lengths, self._device.compute_units)
        if long is None:
            return self._family.align(window, want, keep)
        parts = [self._host.align(window, want, self.name, long, long=True)]
        others = ~long if keep is None else keep & ~long
        if others.any():
            parts.append(self._family.align(window, want, others))
        return merge(window, parts, (self.queries.order, self.targets.order))

    def cancel(self) -> None:
        """Make a running `align` raise InterruptedError at its next batch."""
        self._cancelled.set()
        self._host.cancel()

    def close(self) -> None:
        """Give the memory back."""
        self._host.close()
        try:
            self._queue.finish()
            self._family.close()
            if self._pool is not None:
                self._pool.close()
            for buffer in self._buffers:
                buffer.release()
        except self._device.cl.Error as error:
            log.debug("%s: closing: %s", self.name, error)
        self._buffers = []

    def _upload(self, sequences: SequenceSet) -> DeviceSet:
        """Copy a set to the device, sequences in sorted order, each where 16 bytes can be read."""
        layout = lay_out(sequences)
        return DeviceSet(
            sequences=sequences,
            lengths=layout.lengths,
            codes=self._copy(layout.codes),
            starts=self._copy(layout.starts),
            device_lengths=self._copy(layout.lengths),
            order=self._copy(layout.order),
        )

    def _copy(self, array: npt.NDArray[Any]) -> object:
        if array.nbytes > self._device.array_bytes:
            raise DeviceError(
                f"{self.name} ({self._device.model}): sequences of {array.nbytes} bytes, but a "
                f"buffer of the device holds {self._device.array_bytes}; align parts of the set"
            )
        buffer = self._context.upload(array)
        self._buffers.append(buffer)
        self._allocated += array.nbytes
        return buffer

    def _align_on_host(self, window: Window, want: Want) -> Alignments:
        return self._host.align(window, want, self.name)

    def _check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise InterruptedError("alignment was cancelled")


def choose_opencl_family(
    device: OpenClDevice,
    scoring: Scoring,
    name: str | None = None,
    detail: Detail = Detail.CIGAR,
) -> OpenClFamily:
    """Return the named family, or the first that can do this on a device.

    Raises
    ------
    DeviceError
        There is none; the message says why.
    """
    if name == AUTO:
        name = None
    if name is not None and name not in OPENCL_FAMILIES:
        raise DeviceError(f"kernel '{name}' is not known, expected {' or '.join(OPENCL_FAMILIES)}")
    reasons = []
    for one in [name] if name else OPENCL_FAMILIES:
        family = OPENCL_FAMILIES[one]()
        reason = family.supports(scoring, detail, device)
        if reason is None:
            return family
        reasons.append(f"{one}: {reason}")
    if name is not None:
        raise DeviceError(f"kernel '{name}' on {device.name} ({device.model}): {reason}")
    raise DeviceError(f"{device.name} ({device.model}) cannot be used: {'; '.join(reasons)}")


def open_opencl_engines(
    devices: Sequence[OpenClDevice],
    queries: SequenceSet,
    targets: SequenceSet | None,
    scoring: Scoring,
    *,
    memory_bytes: int | None = None,
    per_device: int | None = None,
    family: str | None = None,
    detail: Detail = Detail.CIGAR,
    threads: int = 1,
    host_memory_bytes: int = 1 << 30,
) -> list[Engine]:
    """Open engines on some devices.

    Parameters
    ----------
    devices : sequence of OpenClDevice
        See `pairalign.engines.opencl_devices.find_devices`.
    memory_bytes : int, optional
        Memory to use on each device; default: three quarters of what it has.
    per_device : int, optional
        Engines that share a device, each with its own queue: while one copies, another computes.
        Default: two, on a CPU one, whose cores do both.
    threads : int
        Threads of the CPU engine, which takes the pairs that a device has no room for.
    host_memory_bytes : int
        What that engine may use; a quarter of it is pinned for results at most.
    queries, targets, scoring, family, detail
        See `OpenClEngine`.
    """
    host = HostFallback(queries, targets, scoring, threads=threads, memory_bytes=host_memory_bytes)
    engines: list[Engine] = []
    try:
        for device in devices:
            share = per_device or (1 if device.is_cpu else 2)
            limit = int(device.memory_bytes * _MEMORY_SHARE)
            if memory_bytes is not None:
                limit = min(limit, memory_bytes)
            engines += [
                OpenClEngine(
                    device,
                    queries,
                    targets,
                    scoring,
                    memory_bytes=limit // share,
                    family=family,
                    detail=detail,
                    pinned_bytes=host_memory_bytes // (4 * share * len(devices)),
                    host=host,
                )
                for _ in range(share)
            ]
    except BaseException:
        for engine in engines:
            engine.close()
        raise
    return engines
