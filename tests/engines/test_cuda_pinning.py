"""Pinned memory: pages that are made here and registered, or else the driver's own."""

from typing import Any

import numpy as np
import pytest
from cuda_engines import cuda_device, host_device

from pairalign.engines.cuda.pinning import Pinning

MIB = 1 << 20


class Library:
    """Stands for libcuda: remembers what is registered."""

    def __init__(self, status: int = 0) -> None:
        self.status = status
        self.registered: dict[int, int] = {}

    def cuMemHostRegister_v2(self, address: int, size: int, flags: int) -> int:
        if self.status == 0:
            self.registered[address] = size
        return self.status

    def cuMemHostUnregister(self, address: int) -> int:
        del self.registered[address]
        return 0


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    device = host_device()
    monkeypatch.setattr(device.driver, "memory", device.driver.Memory())
    return device.driver


@pytest.mark.parametrize("size", [1, 1000, 4096, MIB, 2 * MIB, 5 * MIB])
def test_pages_are_registered_until_they_are_freed(driver, size):
    pinning = Pinning(driver)
    pinning._cuda = library = Library()
    array = pinning.pagelocked_empty(size, np.uint8)
    assert array.nbytes == size
    assert library.registered == {array.ctypes.data: size}
    assert driver.memory.pinned_bytes == 0  # none of it is the driver's
    array[:] = 7
    array.base.free()
    assert not library.registered


@pytest.mark.parametrize("library", [None, Library(status=801)])
def test_where_registering_fails_the_driver_makes_it(driver, library):
    pinning = Pinning(driver)
    pinning._cuda = library
    array = pinning.pagelocked_empty(5 * MIB, np.uint8)
    assert driver.memory.pinned_bytes == 5 * MIB  # all of it is the driver's
    array.base.free()
    assert driver.memory.pinned_bytes == 0


@pytest.mark.gpu
def test_copies_on_a_gpu():
    device = cuda_device()
    with device.current():
        array = device.pinning.pagelocked_empty(64 * MIB, np.uint8)
        array[:] = np.arange(64 * MIB, dtype=np.uint32).astype(np.uint8)
        expected = array.copy()
        buffer = device.driver.mem_alloc(array.nbytes)
        stream = device.driver.Stream()
        device.driver.memcpy_htod_async(buffer, array, stream)
        stream.synchronize()
        array[:] = 0
        device.driver.memcpy_dtoh_async(array[5 : 5 + 7 * MIB], int(buffer) + 5, stream)
        stream.synchronize()
        assert np.array_equal(array[5 : 5 + 7 * MIB], expected[5 : 5 + 7 * MIB])
        buffer.free()
        array.base.free()
