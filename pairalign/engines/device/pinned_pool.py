"""Pinned host memory that results live in: copied to by the device, used again when dropped.

CIGARs come at several gigabytes a second and GPU. Copying them from a pinned buffer into fresh
memory would take the host longer than the device needs to compute them, mostly for page faults. So
the device writes straight into the arrays that `Alignments` holds; when nobody refers to such an
array any more, its memory is used for a later window.

Pinning takes longer than filling (see `pairalign.engines.cuda.pinning`). So memory is pinned in a
few large *segments*, each about as large as all before it, and arrays are cut from these wherever
there is room; what is expected to be needed is pinned in a thread. The engines on a device share a
pool.
"""

from __future__ import annotations

import contextlib
import threading
from bisect import insort
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import UInt8s

_PAGE = 4096
_LEAST_SEGMENT = 64 << 10
_MOST_AHEAD = 512 << 20  # a segment is larger than asked for by no more than this

Block = UInt8s
Extent = tuple[int, int]  # first byte in a segment, and the one after the last


class PinningDriver(Protocol):
    """What has pinned memory: PyCUDA's driver, or a stand-in."""

    Error: type[Exception]

    def pagelocked_empty(self, size_bytes: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return pinned memory."""


class _Segment:
    """Memory that is pinned at once, and which of it is idle."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.idle: list[Extent] = [(0, block.nbytes)]  # ascending, none next to another

    @property
    def is_idle(self) -> bool:
        return self.idle == [(0, self.block.nbytes)]

    def take(self, extent: Extent, size: int) -> Extent:
        """Take the beginning of an idle extent."""
        start, stop = extent
        at = self.idle.index(extent)
        self.idle[at : at + 1] = [(start + size, stop)] if start + size < stop else []
        return start, start + size

    def give_back(self, extent: Extent) -> None:
        insort(self.idle, extent)
        merged: list[Extent] = []
        for start, stop in self.idle:
            if merged and merged[-1][1] == start:
                merged[-1] = (merged[-1][0], stop)
            else:
                merged.append((start, stop))
        self.idle = merged


class _Lease:
    """Owner of an array's memory; NumPy keeps it as long as any view of the array lives."""

    def __init__(
        self, pool: PinnedPool, segment: _Segment, extent: Extent, count: int, kind: str
    ) -> None:
        self._pool = pool
        self._segment = segment
        self._extent = extent
        self.__array_interface__ = {
            "version": 3,
            "shape": (count,),
            "typestr": kind,
            "data": (segment.block.ctypes.data + extent[0], False),
        }

    def __del__(self) -> None:
        self._pool.give_back(self._segment, self._extent)


class PinnedPool:
    """Segments of pinned memory.

    Parameters
    ----------
    driver : module or Pinning
        ``pycuda.driver``, or what makes pinned memory instead.
    current : callable
        Context manager that makes the CUDA context current.
    limit_bytes : int
        How much to pin at most.

    Attributes
    ----------
    pinned_bytes : int
        How much is pinned now, in use or kept for later.
    """

    def __init__(
        self,
        driver: PinningDriver,
        current: Callable[[], AbstractContextManager[None]],
        limit_bytes: int,
    ) -> None:
        self._driver = driver
        self._current = current
        self._limits = [limit_bytes]  # of those who share it
        self.pinned_bytes = 0
        self._segments: list[_Segment] = []
        # Given back and not yet free: `give_back` waits for no lock, and appending is atomic.
        self._returned: deque[tuple[_Segment, Extent]] = deque()
        self._coming: list[tuple[int, threading.Thread]] = []  # bytes, and who pins them
        self._lock = threading.Lock()
        self._sharing = threading.Lock()
        self._growing = threading.Lock()
        self._closed = False

    def share(self, limit_bytes: int) -> bool:
        """Raise the limit for one more engine, which will `close` it, too; False: it is closed."""
        with self._sharing:
            if not self._closed:
                self._limits.append(limit_bytes)
            return not self._closed

    def take(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any] | None:
        """Return an array of pinned memory, or None when that would be too much of it.

        The CUDA context must be current. The memory comes back by itself when the array and all of
        its views are gone.
        """
        dtype = np.dtype(dtype)
        size = _padded_size(count * dtype.itemsize)
        while True:
            with self._looking_after():
                room = self._cut(size)
                coming = None if room else self._coming_for(size)
            if coming is None:
                break
            coming.join()
        if room is None:
            with self._growing:  # one at a time: others may find room in what it pins
                room = self._cut_or_pin(size)
        return None if room is None else np.asarray(_Lease(self, *room, count, dtype.str))

    def _cut_or_pin(self, size: int) -> tuple[_Segment, Extent] | None:
        """Look for room once more, and pin some; others that find room need not wait for that."""
        with self._looking_after():
            room = self._cut(size)
            pinned = 0 if room else self._make_way(size)
            self.pinned_bytes += pinned
        if not pinned:
            return room
        block = self._pin(pinned)
        with self._looking_after():
            if block is None:
                self.pinned_bytes -= pinned
                return None
            self._segments.append(_Segment(block))
            return self._segments[-1], self._segments[-1].take((0, pinned), size)

    def expect(self, size_bytes: int) -> None:
        """Begin to pin memory for arrays that will be asked for soon, in a thread."""
        size = _padded_size(size_bytes)
        with self._looking_after():
            if self._closed or self.pinned_bytes + size > sum(self._limits):
                return
            self.pinned_bytes += size
            thread = threading.Thread(
                target=self._pin_ahead, args=(size,), name="pinning", daemon=True
            )
            try:
                thread.start()
            except RuntimeError:  # the system allows no more
                self.pinned_bytes -= size
                return
            self._coming.append((size, thread))

    def _settle(self) -> None:
        """Wait for all that is being pinned."""
        for _, thread in self._coming.copy():
            thread.join()

    def _pin_ahead(self, size: int) -> None:
        with self._current():
            block = self._pin(size)
            with self._looking_after():
                self._coming = [
                    entry for entry in self._coming if entry[1] != threading.current_thread()
                ]
                if block is None:
                    self.pinned_bytes -= size
                else:
                    self._segments.append(_Segment(block))

    def _coming_for(self, size: int) -> threading.Thread | None:
        """Return who pins enough for an array now, or None."""
        return next((thread for coming, thread in self._coming if coming >= size), None)

    def give_back(self, segment: _Segment, extent: Extent) -> None:
        """Take memory back; called from any thread, at any time, also long after `close`."""
        self._returned.append((segment, extent))
        if self._closed and self._lock.acquire(blocking=False):
            self._lock.release()
            # At the end of the program the driver may be gone already.
            with contextlib.suppress(Exception), self._current(), self._looking_after():
                pass

    def close(self) -> None:
        """Free what nobody uses, if nobody shares it; the rest is freed when it comes back.

        The context is current.
        """
        with self._sharing:
            self._limits.pop()
            if self._limits:
                return
            self._settle()
            self._closed = True
        with self._looking_after():
            pass

    @contextlib.contextmanager
    def _looking_after(self) -> Iterator[None]:
        """Hold the segments, with all in them that has come back."""
        while True:
            with self._lock:
                while self._returned:
                    segment, extent = self._returned.popleft()
                    segment.give_back(extent)
                if not self._closed:
                    yield
                    return
                self._free_idle(self.pinned_bytes)
            if not self._returned:
                yield
                return

    def _cut(self, size: int) -> tuple[_Segment, Extent] | None:
        """Take an extent where the least room is left over."""
        fitting = [
            (stop - start, number, (start, stop))
            for number, segment in enumerate(self._segments)
            for start, stop in segment.idle
            if stop - start >= size
        ]
        if not fitting:
            return None
        _, number, extent = min(fitting)
        segment = self._segments[number]
        return segment, segment.take(extent, size)

    def _make_way(self, size: int) -> int:
        """Return bytes to pin for an array, 0 if none, after freeing what is in the way."""
        limit = sum(self._limits)
        if size > limit:
            return 0
        self._free_idle(self.pinned_bytes + size - limit)
        left_bytes = limit - self.pinned_bytes
        ahead = min(self.pinned_bytes, _MOST_AHEAD, left_bytes)
        return max(size, ahead, min(_LEAST_SEGMENT, left_bytes)) if size <= left_bytes else 0

    def _pin(self, size: int) -> Block | None:
        try:
            block: Block = self._driver.pagelocked_empty(size, np.uint8)
        except self._driver.Error:
            return None  # the system does not want to pin more
        return block

    def _free_idle(self, excess_bytes: int) -> None:
        """Free segments that nobody uses, until there is no excess."""
        for segment in self._segments.copy():
            if excess_bytes > 0 and segment.is_idle:
                self._segments.remove(segment)
                self.pinned_bytes -= segment.block.nbytes
                excess_bytes -= segment.block.nbytes
                base = segment.block.base
                if base is not None and hasattr(base, "free"):
                    base.free()


class SharedPool:
    """The pool of a device: one for all of its engines, while any is open.

    Parameters
    ----------
    driver, current
        See `PinnedPool`.
    """

    def __init__(
        self, driver: PinningDriver, current: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._driver = driver
        self._current = current
        self._pool: PinnedPool | None = None
        self._lock = threading.Lock()

    def open(self, limit_bytes: int) -> PinnedPool:
        """Return the pool, which may now pin that much more memory; `PinnedPool.close` it once."""
        with self._lock:
            if self._pool is None or not self._pool.share(limit_bytes):
                self._pool = PinnedPool(self._driver, self._current, limit_bytes)
            return self._pool


def _padded_size(size: int) -> int:
    """Round up to one of eight sizes between a power of two and the next: then they fit again."""
    step = max(_PAGE, (1 << max(size - 1, 1).bit_length()) >> 4)
    return max(1, -(-size // step)) * step
