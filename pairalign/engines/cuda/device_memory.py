"""Device memory that is taken and freed while other threads of Python run.

Freeing waits for all that a device has under way, and PyCUDA lets no other thread run meanwhile:
not even those that have work for other devices.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import ModuleType
from typing import Any

_OF_PYCUDA = "pycuda.driver"


class DeviceMemory:
    """Stands for ``pycuda.driver.DeviceAllocation``; not freed by itself.

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
