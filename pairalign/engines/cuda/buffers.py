"""What a batch in flight has: an arena on the device, pinned buffers on the host, streams."""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import UInt8s
from pairalign.engines.cuda.pinning import Pinning
from pairalign.engines.device.tile_plan import ALIGNMENT

_LEAST_PINNED = 64 << 10
"""Bytes of a pinned buffer: a small one would be too small soon."""


class Slot:
    """What one batch uses while it is under way; batches in different slots overlap.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``. The CUDA context must be current whenever a method runs.
    grows : bool
        Allocate more device memory than a batch needs, up to a limit: enough for the next one.
    pinning : module or Pinning, optional
        What makes pinned memory; default: the driver, which takes longer.
    """

    def __init__(
        self, driver: ModuleType, *, grows: bool = True, pinning: Pinning | None = None
    ) -> None:
        self._driver = driver
        self._allocate = allocator_of(driver)
        self._pinning = driver if pinning is None else pinning
        self._grows = grows
        self.stream = driver.Stream()
        self.kernels = self.stream  # or another one: see `SharedStreams.batch`
        # Waiting for these lets the thread sleep; waiting for a stream keeps a core busy.
        kinds = driver.event_flags
        flags = int(kinds.BLOCKING_SYNC) | int(kinds.DISABLE_TIMING)
        self.computed = driver.Event(flags)
        self._finished = driver.Event(flags)
        self.ready = driver.Event(int(kinds.DISABLE_TIMING))
        self.launched = driver.Event(int(kinds.DISABLE_TIMING))
        self._arena: Any = None
        self._arena_bytes = 0
        self._retired: list[Any] = []  # arenas that became too small
        self._retired_bytes = 0
        self._outgrown: list[UInt8s] = []  # pinned buffers that did
        self._pinned: dict[str, UInt8s] = {}

    @property
    def arena_bytes(self) -> int:
        """Device memory that the slot holds."""
        return self._arena_bytes

    def arrange(self, sizes: Mapping[str, int], limit_bytes: int) -> dict[str, int]:
        """Find room on the device for arrays of these sizes in bytes, and return their addresses.

        What the slot held before is lost. A slot that grows takes up to twice as much as needed,
        but no more than `limit_bytes`. Raises the driver's MemoryError when there is no room; the
        slot then holds nothing.
        """
        places = {}
        total = 0
        for name, size in sizes.items():
            places[name] = total
            total += -(-size // ALIGNMENT) * ALIGNMENT
        if total > self._arena_bytes:
            self._take_arena(total, limit_bytes)
        start = int(self._arena)
        return {name: start + place for name, place in places.items()}

    def _take_arena(self, needed: int, limit_bytes: int) -> None:
        """Take a larger arena. Where there is room, the one before is freed later.

        Freeing waits for all of the device.
        """
        if self._arena is not None:
            self._retired.append(self._arena)
            self._retired_bytes += self._arena_bytes
            self._arena, self._arena_bytes = None, 0
        if not self._grows or self._retired_bytes + needed > limit_bytes:
            self.free_arena()
        size = needed
        if self._grows:
            size = max(needed, min(needed * 2, limit_bytes - self._retired_bytes))
        try:
            self._arena = self._allocate(size)
        except self._driver.MemoryError:
            if not self._retired:
                raise
            self.free_arena()
            self._arena = self._allocate(size)
        self._arena_bytes = size

    def pinned(
        self, name: str, shape: int | tuple[int, ...], dtype: npt.DTypeLike
    ) -> npt.NDArray[Any]:
        """Return a pinned host array: the same memory each time for the same name."""
        dtype = np.dtype(dtype)
        size = int(np.prod(shape)) * dtype.itemsize
        buffer = self._pinned.get(name)
        if buffer is None or buffer.nbytes < size:
            # Pinning is slow: grow by half, so that it happens a few times only. Freeing waits for
            # all of the device: later.
            size_taken = max(size, _LEAST_PINNED, 0 if buffer is None else buffer.nbytes * 3 // 2)
            if buffer is not None:
                self._outgrown.append(buffer)
            self._pinned[name] = self._pinning.pagelocked_empty(size_taken, np.uint8)
        return self._pinned[name][:size].view(dtype).reshape(shape)

    def upload(self, name: str, array: npt.NDArray[Any], address: int) -> None:
        """Copy an array to the device through the pinned buffer `name`."""
        if array.nbytes == 0:
            return
        staged = self.pinned(name, array.shape, array.dtype)
        staged[...] = array
        self.send(name, staged.nbytes, address)

    def send(self, name: str, size: int, address: int) -> None:
        """Copy the first bytes of the pinned buffer `name` to the device."""
        self._driver.memcpy_htod_async(address, self._pinned[name][:size], self.stream)

    def send_array(self, array: npt.NDArray[Any], address: int) -> None:
        """Copy an array to the device that stays as it is until what is queued is done."""
        if array.nbytes:
            self._driver.memcpy_htod_async(address, array, self.stream)

    def download(
        self, name: str, shape: int | tuple[int, ...], dtype: npt.DTypeLike, address: int
    ) -> npt.NDArray[Any]:
        """Start a copy from the device to the pinned buffer `name`; wait before reading it."""
        array = self.pinned(name, shape, dtype)
        if array.nbytes:
            self._driver.memcpy_dtoh_async(array, address, self.stream)
        return array

    def wait(self, impatient_seconds: float = 0.0) -> None:
        """Wait for all that is queued; for so long by looking again and again, which takes a core.

        A thread that sleeps is woken up a tenth of a millisecond late.
        """
        self._finished.record(self.stream)
        if impatient_seconds:
            stop = time.perf_counter() + impatient_seconds
            while time.perf_counter() < stop:
                if self._finished.query():
                    return
        self._finished.synchronize()

    def settle(self) -> None:
        """Wait for all that is queued, also after an error."""
        self.stream.synchronize()

    def close(self) -> None:
        """Free everything."""
        if self.stream is None:
            return
        self.settle()
        self.free_arena()
        for buffer in (*self._pinned.values(), *self._outgrown):
            _free_pinned(buffer)
        self._pinned, self._outgrown = {}, []
        # Now, while their context is current: whatever still refers to the slot.
        self.stream = self.kernels = None
        self.computed = self._finished = self.ready = self.launched = None

    def free_arena(self) -> None:
        """Give the device memory back; nothing may be under way."""
        for arena in (self._arena, *self._retired):
            if arena is not None:
                arena.free()
        self._arena, self._arena_bytes = None, 0
        self._retired, self._retired_bytes = [], 0


class Uploads:
    """Arrays that stay on a device until all are freed.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``. The CUDA context must be current whenever a method runs.
    """

    def __init__(self, driver: ModuleType) -> None:
        self._driver = driver
        self._allocations: list[Any] = []

    def copy(self, array: npt.NDArray[Any]) -> Any:
        """Copy an array to the device; return the allocation, whose int is the address."""
        allocation = self._driver.mem_alloc(max(array.nbytes, 16))
        self._allocations.append(allocation)
        self._driver.memcpy_htod(allocation, np.ascontiguousarray(array))
        return allocation

    def address(self, array: npt.NDArray[Any]) -> int:
        """Copy an array to the device; return its address."""
        return int(self.copy(array))

    def free(self) -> None:
        """Free the arrays."""
        for allocation in self._allocations:
            allocation.free()
        self._allocations = []


def _free_pinned(buffer: UInt8s) -> None:
    base = buffer.base
    if base is not None and hasattr(base, "free"):  # PagelockedHostAllocation, unused
        base.free()


_OF_PYCUDA = "pycuda.driver"


class DeviceMemory:
    """Stands for ``pycuda.driver.DeviceAllocation``; not freed by itself.

    Freeing waits for all that a device has under way, and PyCUDA lets no other thread run
    meanwhile: not even those that have work for other devices.

    Parameters
    ----------
    cuda : library
        The driver's.
    address : int
        What it has allocated.
    """

    def __init__(self, cuda: ctypes.CDLL, address: int) -> None:
        self._cuda = cuda
        self._address = address

    def __int__(self) -> int:
        return self._address

    def free(self) -> None:
        """Give the memory back; the device's context must be current."""
        self._cuda.cuMemFree_v2(ctypes.c_uint64(self._address))


def allocator_of(driver: ModuleType) -> Callable[[int], Any]:
    """Return what takes device memory, by its size in bytes, in the context that is current.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``, or a stand-in, whose own ``mem_alloc`` is returned.
    """
    if getattr(driver, "__name__", None) != _OF_PYCUDA:
        return driver.mem_alloc  # type: ignore[no-any-return]
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:  # another system
        return driver.mem_alloc  # type: ignore[no-any-return]

    def allocate(size_bytes: int) -> Any:
        address = ctypes.c_uint64()
        if cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size_bytes)) != 0:
            return driver.mem_alloc(size_bytes)  # which says what is wrong
        return DeviceMemory(cuda, address.value)

    return allocate


STREAMS = 2


class SharedStreams:
    """Streams for kernels, used round robin: a few a device, shared by all of its engines.

    An engine has one window under way at a time, so a device has several engines. With streams of
    their own their kernels would take turns: the last kernel of one window waits for those of all
    others, all windows end together, and then the device waits for the host. Here the kernels of a
    batch stay together: results come one batch after the other while the device works on the next.
    Two streams, so that blocks of one fill the gap that the last blocks of a kernel leave in the
    other.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``; the CUDA context must be current.
    """

    def __init__(self, driver: ModuleType) -> None:
        self._driver = driver
        self._streams = [driver.Stream() for _ in range(STREAMS)]
        self._turn = 0
        self._lock = threading.Lock()

    @contextmanager
    def batch(self, slot: Slot, aside: bool = False) -> Iterator[None]:
        """Let the kernels that are launched in ``slot.kernels`` meanwhile follow one another.

        They begin when what has been queued in ``slot.stream`` is done, and what is queued there
        afterwards begins when they are. `aside`: in the slot's own stream, as they
        would hold others up for long while most of the device is idle.
        """
        if aside:
            slot.kernels = slot.stream
            yield
            return
        with self._lock:
            slot.kernels = self._streams[self._turn]
            self._turn = (self._turn + 1) % STREAMS
            slot.ready.record(slot.stream)
            slot.kernels.wait_for_event(slot.ready)
            try:
                yield
            except self._driver.Error:
                with contextlib.suppress(self._driver.Error):  # the first error says more
                    self._join(slot)
                raise
            self._join(slot)

    def _join(self, slot: Slot) -> None:
        slot.launched.record(slot.kernels)
        slot.stream.wait_for_event(slot.launched)
