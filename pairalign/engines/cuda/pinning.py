"""Pinned memory made in a fifth of the time, while other threads go on.

Asked for pinned memory, the driver makes the pages itself: 0.3 to 0.5 ms a megabyte, during which
PyCUDA lets no other thread of Python run. Here threads make pages, large ones where the system has
them, which the driver then only registers: 0.05 ms and 0.02 ms a megabyte.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

_WORTH_THREADS = 1 << 20
_HUGE_PAGE = 2 << 20
_PAGE = 4096
_PORTABLE = 1  # CU_MEMHOSTREGISTER_PORTABLE
_THREADS = 4  # more make pages no faster


class Pinning:
    """What `pairalign.engines.device.pinned_pool.PinnedPool` needs of a driver, with CUDA's.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``; the CUDA context must be current whenever a method runs. (Its own
        ``register_host_memory`` fails with NumPy 2.)
    """

    def __init__(self, driver: ModuleType) -> None:
        self.Error = driver.Error
        self._driver = driver
        self._cuda: Any = None
        try:
            self._cuda = ctypes.CDLL("libcuda.so.1")
            self._cuda.cuMemHostRegister_v2.argtypes = (
                ctypes.c_void_p,
                ctypes.c_size_t,
                ctypes.c_uint,
            )
            self._cuda.cuMemHostUnregister.argtypes = (ctypes.c_void_p,)
        except (OSError, AttributeError):  # another system; its own function then
            self._cuda = None

    def pagelocked_empty(self, size_bytes: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return pinned memory; the array's base has a method `free`."""
        assert dtype == np.uint8
        if self._cuda is not None and size_bytes:
            with contextlib.suppress(OSError, RuntimeError):  # no memory, no threads
                pages = _Pages(size_bytes)
                if self._cuda.cuMemHostRegister_v2(pages.address, size_bytes, _PORTABLE) == 0:
                    pages.cuda = self._cuda
                    return np.asarray(pages)
        array: npt.NDArray[Any] = self._driver.pagelocked_empty(size_bytes, dtype)
        return array


class _Pages:
    """Owner of an array: fresh memory, all of its pages made, large ones where the system can."""

    def __init__(self, size_bytes: int) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        is_large = size_bytes >= _HUGE_PAGE
        memory = mmap.mmap(-1, size_bytes + is_large * _HUGE_PAGE, flags=flags)
        if is_large:
            with contextlib.suppress(AttributeError, OSError):  # small ones do, too
                memory.madvise(mmap.MADV_HUGEPAGE)
        whole = np.frombuffer(memory, np.uint8)
        start = -whole.ctypes.data % _HUGE_PAGE if is_large else 0
        self._array = whole[start : start + size_bytes]
        self.cuda: Any = None  # where it is registered
        self.address = self._array.ctypes.data
        self.__array_interface__ = self._array.__array_interface__
        if size_bytes < _WORTH_THREADS:
            self._array[::_PAGE] = 0
            return
        parts = np.array_split(self._array[::_PAGE], _THREADS)
        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(lambda part: part.fill(0), parts))

    def free(self) -> None:
        if self.cuda is not None:
            self.cuda.cuMemHostUnregister(self.address)
