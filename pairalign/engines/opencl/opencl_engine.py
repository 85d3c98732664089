"""The OpenCL engine: windows on any vendor's GPU, or on a CPU, through PyOpenCL."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools
from pairalign.base.error_types import DeviceError
from pairalign.engines import Engine, EngineRequest
from pairalign.engines.device.device_engine import DeviceEngine, choose_among
from pairalign.engines.device.long_pairs import long_pairs, merge
from pairalign.engines.device.pinned_pool import PinnedPool
from pairalign.engines.device.specification import pick_devices
from pairalign.engines.kernels import AUTO
from pairalign.engines.opencl.opencl_devices import OpenClDevice, find_devices
from pairalign.engines.opencl.opencl_family import OpenClContext, OpenClFamily
from pairalign.engines.opencl.opencl_pair_per_thread import OpenClPairPerThread
from pairalign.engines.opencl.opencl_striped import OpenClStriped
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring

if TYPE_CHECKING:
    import pyopencl


def choose_opencl_devices(indices: Sequence[int]) -> list[OpenClDevice]:
    """Return the devices of these indices; without indices all usable GPUs, else the first CPU.

    Raises
    ------
    DeviceError
        There is no such device, it cannot be used, or it is named twice.
    """
    devices = find_devices()
    if not indices:
        usable = [device for device in devices if not device.is_cpu and device.why_not() is None]
        if usable:
            return usable
        for device in devices:
            if device.is_cpu and device.why_not() is None:
                return [device]
        reasons = (f"{device.name} ({device.model}): {device.why_not()}" for device in devices)
        raise DeviceError(f"no OpenCL device can be used: {'; '.join(reasons)}")
    chosen = pick_devices(devices, indices, "opencl", "device")
    for device in chosen:
        reason = device.why_not()
        if reason is not None:
            raise DeviceError(f"{device.name} ({device.model}): {reason}")
    return chosen


def list_opencl_devices() -> list[tuple[str, bool, str]]:
    """Return name, whether usable, and description (or the reason) of each device."""
    try:
        devices = find_devices()
    except DeviceError as error:
        return [("opencl", False, str(error))]
    lines = []
    for device in devices:
        reason = device.why_not()
        if reason is None:
            gibibytes = device.memory_bytes / (1 << 30)
            described = f"{device.model}, {gibibytes:.0f} GiB; {device.platform}"
            lines.append((device.name, True, described))
        else:
            lines.append((device.name, False, f"{device.model}: {reason}"))
    return lines


def open_chosen_opencl(indices: Sequence[int], request: EngineRequest) -> list[Engine]:
    """Open engines on the devices that `choose_opencl_devices` returns."""
    # A CPU is such a device: what it takes is the host's.
    request = request._replace(device_bytes=request.memory_bytes)
    return open_opencl_engines(choose_opencl_devices(indices), request)


log = logging.getLogger("pairalign")

OPENCL_FAMILIES: dict[str, Callable[[], OpenClFamily]] = {
    OpenClPairPerThread.name: OpenClPairPerThread,
    OpenClStriped.name: OpenClStriped,
}
"""Kernel families by name, the preferred first."""

_MEMORY_SHARE = 0.75  # of all memory: OpenCL does not say how much is free


class OpenClEngine(DeviceEngine[OpenClDevice]):
    """Aligns windows on one OpenCL device; see `DeviceEngine` for parameters and errors.

    Families by name are in `OPENCL_FAMILIES`; by default an engine takes three quarters of the
    device's memory.
    """

    _context: OpenClContext

    def _choose_kernels(self, family: str | None, detail: Detail) -> None:
        self._family = choose_opencl_family(self._device, self.scoring, family, detail)
        # PoCL's work-items run on the cores that the CPU engine would use.
        self._is_routing = family in (None, AUTO) and not self._device.is_cpu

    @property
    def _framework(self) -> Any:
        return self._device.cl

    @staticmethod
    def memory_budget(device: OpenClDevice, memory_bytes: int | None) -> int:
        """Return how much memory may be used: three quarters of all, or less if told so."""
        limit = int(device.memory_bytes * _MEMORY_SHARE)
        return limit if memory_bytes is None else min(limit, memory_bytes)

    def _open(self, memory_bytes: int | None, pinned_bytes: int) -> None:
        device = self._device
        limit = self.memory_budget(device, memory_bytes)
        self._queue = device.cl.CommandQueue(device.context())
        self._pool = pinned_pool(device, self._queue, pinned_bytes)
        nothing: Any = None  # until the sequences are there
        self._context = OpenClContext(
            name=device.name,
            device=device,
            shared=self._shared,
            queue=self._queue,
            memory_bytes=limit,
            scoring=self.scoring,
            queries=nothing,
            targets=nothing,
            pool=self._pool,
            align_on_host=self._align_on_host,
            check_cancelled=self._check_cancelled,
            log=log,
        )
        self._context.queries, self._context.targets = self._upload_sets()
        self._context.memory_bytes = limit - self._allocated
        self._family.open(self._context)

    def _align(self, window: Window, want: Want, pair_mask: Bools | None) -> Alignments:
        """Leave pairs to the CPU that would keep one work-item busy and the others waiting."""
        context = self._context
        long = None
        if self._is_routing:
            lengths = (context.queries.lengths, context.targets.lengths)
            long = long_pairs(window, pair_mask, *lengths, self._device.compute_units)
        if long is None:
            return self._family.align(window, want, pair_mask)
        parts = [self._host.align(window, want, self.name, long, long=True)]
        others = ~long if pair_mask is None else pair_mask & ~long
        if others.any():
            parts.append(self._family.align(window, want, others))
        return merge(window, parts, (self.queries.order, self.targets.order))

    def _free(self) -> None:
        self._queue.finish()
        self._family.close()
        if self._pool is not None:
            self._pool.close()
        for buffer in self._buffers:
            buffer.release()

    def _to_device(self, array: npt.NDArray[Any]) -> Any:
        if array.nbytes > self._device.array_bytes:
            raise DeviceError(
                f"{self.name} ({self._device.model}): sequences of {array.nbytes} bytes, but a "
                f"buffer of the device holds {self._device.array_bytes}; align parts of the set"
            )
        return self._context.upload(array)

    def _align_on_host(self, window: Window, want: Want) -> Alignments:
        return self._host.align(window, want, self.name)


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
    return choose_among(
        OPENCL_FAMILIES, device, name, lambda family: family.supports(scoring, detail, device)
    )


def open_opencl_engines(devices: Sequence[OpenClDevice], request: EngineRequest) -> list[Engine]:
    """Open engines on some devices, each with its own queue: while one copies, another computes.

    By default two share a device, on a CPU, whose cores do both, there is one.

    Parameters
    ----------
    devices : sequence of OpenClDevice
        See `pairalign.engines.opencl.opencl_devices.find_devices`.
    """
    return OpenClEngine.open_several(
        devices,
        request,
        engines_on=lambda device: request.per_device or (1 if device.is_cpu else 2),
    )


class _Mapped:
    """Owner of a block of host memory: a buffer, and where it is mapped.

    OpenCL pins memory by mapping a buffer made with ``ALLOC_HOST_PTR``: a copy from the device to
    any other memory goes through a buffer of the driver's first.
    """

    def __init__(self, cl: ModuleType, queue: pyopencl.CommandQueue, size_bytes: int) -> None:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        self._buffer = cl.Buffer(queue.context, flags, size_bytes)
        self._array, _ = cl.enqueue_map_buffer(
            queue,
            self._buffer,
            cl.map_flags.READ | cl.map_flags.WRITE,
            0,
            (size_bytes,),
            np.uint8,
            is_blocking=True,
        )
        self.__array_interface__ = self._array.__array_interface__

    def free(self) -> None:
        self._array.base.release()
        self._buffer.release()


class _Driver:
    """What `PinnedPool` needs of a driver."""

    def __init__(self, cl: ModuleType, queue: pyopencl.CommandQueue) -> None:
        self.Error = cl.Error
        self._cl, self._queue = cl, queue

    def pagelocked_empty(self, size_bytes: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        assert dtype == np.uint8
        return np.asarray(_Mapped(self._cl, self._queue, size_bytes))


def pinned_pool(
    device: OpenClDevice, queue: pyopencl.CommandQueue, limit_bytes: int
) -> PinnedPool | None:
    """Return a pool for a device's results; None where its memory is the host's."""
    if device.is_cpu:
        return None
    return PinnedPool(_Driver(device.cl, queue), nullcontext, limit_bytes)
