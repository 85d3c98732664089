"""Pinned host memory that results live in: copied to by the device, used again when dropped.

CIGARs come at several gigabytes a second and GPU. Copying them from a pinned buffer into fresh
memory would take the host longer than the device needs to compute them, mostly for page faults. So
the device writes straight into the arrays that `Alignments` holds; when nobody refers to such an
array any more, its memory is used for a later window.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

_GRAIN = 16 << 20  # blocks are so much, or a multiple of it: then they fit again


class _Lease:
    """Owner of an array's memory; NumPy keeps it as long as any view of the array lives."""

    def __init__(self, pool: PinnedPool, block: npt.NDArray[np.uint8], count: int, kind: str):
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
        self._idle: deque[npt.NDArray[np.uint8]] = deque()  # its methods are atomic
        self._closed = False

    def take(self, count: int, dtype: npt.DTypeLike) -> npt.NDArray[Any] | None:
        """Return an array of pinned memory, or None when that would be too much of it.

        The CUDA context must be current. The memory comes back by itself when the array and all of
        its views are gone.
        """
        dtype = np.dtype(dtype)
        needed = -(-max(1, count * dtype.itemsize) // _GRAIN) * _GRAIN
        block = self._find(needed)
        if block is None:
            if needed > self._limit_bytes:
                return None
            while self._pinned_bytes + needed > self._limit_bytes:
                try:
                    self._free(self._idle.popleft())
                except IndexError:
                    return None  # all of it is in use
            try:
                block = self._driver.pagelocked_empty(needed, np.uint8)
            except self._driver.Error:
                return None  # the system does not want to pin more
            self._pinned_bytes += needed
        return np.asarray(_Lease(self, block, count, dtype.str))

    def give_back(self, block: npt.NDArray[np.uint8]) -> None:
        """Take a block back; called from any thread, also long after `close`."""
        if not self._closed:
            self._idle.append(block)
            return
        # At the end of the program the driver may be gone already.
        with contextlib.suppress(Exception), self._current():
            self._free(block)

    def close(self) -> None:
        """Free what nobody uses; the rest is freed when it comes back. The context is current."""
        self._closed = True
        while self._idle:
            self._free(self._idle.popleft())

    def _find(self, needed: int) -> npt.NDArray[np.uint8] | None:
        """Return an idle block that is large enough, and not wastefully large."""
        for _ in range(len(self._idle)):
            try:
                block = self._idle.popleft()
            except IndexError:
                return None
            if needed <= block.nbytes <= 4 * needed:
                return block
            self._idle.append(block)
        return None

    def _free(self, block: npt.NDArray[np.uint8]) -> None:
        self._pinned_bytes -= block.nbytes
        base: Any = block.base
        if hasattr(base, "free"):
            base.free()
