"""Pinned host memory that results live in: copied to by the device, used again when dropped.

CIGARs come at several gigabytes a second and GPU. Copying them from a pinned buffer into fresh
memory would take the host longer than the device needs to compute them, mostly for page faults. So
the device writes straight into the arrays that `Alignments` holds; when nobody refers to such an
array any more, its memory is used for a later window.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

_SMALLEST = 64 << 10  # blocks are so large, or 2, 4, 8, ... times: then they fit again
_PATIENCE = 32  # arrays taken before a block that nobody wanted makes way for another size


Block = npt.NDArray[np.uint8]


class _Lease:
    """Owner of an array's memory; NumPy keeps it as long as any view of the array lives."""

    def __init__(self, pool: PinnedPool, block: Block, count: int, kind: str):
        self._pool = pool
        self._block = block
        self.__array_interface__ = {
            "version": 3,
            "shape": (count,),
            "typestr": kind,
            "data": (block.ctypes.data, False),
        }

    def __del__(self) -> None:
        self._pool.give_back(self._block)


class PinnedPool:
    """Blocks of pinned memory.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``.
    current : callable
        Context manager that makes the CUDA context current.
    limit_bytes : int
        How much to pin at most.
    """

    def __init__(
        self,
        driver: Any,
        current: Callable[[], AbstractContextManager[None]],
        limit_bytes: int,
    ) -> None:
        self._driver = driver
        self._current = current
        self._limit_bytes = limit_bytes
        self._pinned_bytes = 0
        # By size, the last that came back at the right. What is done to them is atomic.
        self._idle: defaultdict[int, deque[Block]] = defaultdict(deque)
        self._taken = 0
        self._last_taken: dict[int, int] = {}  # by address: how many had been taken
        self._closed = False

    def take(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any] | None:
        """Return an array of pinned memory, or None when that would be too much of it.

        The CUDA context must be current. The memory comes back by itself when the array and all of
        its views are gone.
        """
        dtype = np.dtype(dtype)
        needed = max(_SMALLEST, 1 << (count * dtype.itemsize - 1).bit_length())
        idle = self._idle[needed]
        block = idle.pop() if idle else None
        if block is None:
            if needed > self._limit_bytes:
                return None
            self._evict(self._pinned_bytes + needed - self._limit_bytes)
            if self._pinned_bytes + needed > self._limit_bytes:
                return None
            try:
                block = self._driver.pagelocked_empty(needed, np.uint8)
            except self._driver.Error:
                return None  # the system does not want to pin more
            self._pinned_bytes += needed
        self._taken += 1
        self._last_taken[block.ctypes.data] = self._taken
        return np.asarray(_Lease(self, block, count, dtype.str))

    def give_back(self, block: Block) -> None:
        """Take a block back; called from any thread, also long after `close`."""
        if not self._closed:
            self._idle[block.nbytes].append(block)
            return
        # At the end of the program the driver may be gone already.
        with contextlib.suppress(Exception), self._current():
            self._free(block)

    def close(self) -> None:
        """Free what nobody uses; the rest is freed when it comes back. The context is current."""
        self._closed = True
        for blocks in self._idle.values():
            while blocks:
                self._free(blocks.popleft())

    def _evict(self, excess_bytes: int) -> None:
        """Free blocks that have been idle for long, until there is no excess."""
        for blocks in self._idle.values():
            while excess_bytes > 0 and blocks:
                block = blocks[0]
                if self._taken - self._last_taken[block.ctypes.data] < _PATIENCE:
                    break
                excess_bytes -= block.nbytes
                self._free(blocks.popleft())

    def _free(self, block: Block) -> None:
        self._pinned_bytes -= block.nbytes
        self._last_taken.pop(block.ctypes.data, None)
        base: Any = block.base
        if hasattr(base, "free"):
            base.free()
