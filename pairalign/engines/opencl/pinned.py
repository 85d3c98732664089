"""Host memory that OpenCL devices copy to directly, for `engines.device.pinned_pool.PinnedPool`.

OpenCL pins memory by mapping a buffer made with ``ALLOC_HOST_PTR``: a copy from the device to any
other memory goes through a buffer of the driver's first.
"""

from __future__ import annotations

from contextlib import nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pairalign.engines.device.pinned_pool import PinnedPool
from pairalign.engines.opencl.opencl_devices import OpenClDevice

if TYPE_CHECKING:
    import pyopencl


class _Mapped:
    """Owner of a block: a buffer, and where it is mapped."""

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
