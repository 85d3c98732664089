"""Memory of a batch: an arena that grows is not freed while the device works, but within limits."""

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cuda_engines import host_device

from pairalign.engines.cuda.buffers import Slot, allocator_of

KIB = 1 << 10


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:
    driver = host_device().driver
    monkeypatch.setattr(driver, "memory", driver.Memory())
    return driver


def test_arenas_of_a_slot_stay_within_its_limit(driver):
    slot = Slot(driver)
    for size in (10, 30, 60, 70):
        slot.arrange({"a": size * KIB}, 70 * KIB)
        assert driver.memory.used_bytes <= 70 * KIB
    assert slot.arena_bytes == 70 * KIB
    slot.arrange({"a": 90 * KIB}, 70 * KIB)  # a single item may take more
    assert driver.memory.used_bytes == 90 * KIB
    slot.close()
    assert driver.memory.used_bytes == 0


def test_a_full_device_gets_the_outgrown_ones_back(driver):
    driver.memory.total_bytes = 100 * KIB
    slot = Slot(driver)
    slot.arrange({"a": 20 * KIB}, 10**9)
    slot.arrange({"a": 45 * KIB}, 10**9)  # twice that has room beside nothing else
    assert driver.memory.used_bytes == 90 * KIB
    with pytest.raises(driver.MemoryError):
        slot.arrange({"a": 99 * KIB}, 10**9)
    assert driver.memory.used_bytes == 0
    assert slot.arena_bytes == 0
    slot.arrange({"a": 10 * KIB}, 10**9)
    slot.close()
    assert driver.memory.used_bytes == 0


def test_slots_that_do_not_grow_hold_one_arena(driver):
    slot = Slot(driver, grows=False)
    for size in (10, 30):
        slot.arrange({"a": size * KIB}, 10**9)
        assert driver.memory.used_bytes == size * KIB
    slot.close()


def test_pinned_buffers_that_grow_are_freed_in_the_end(driver):
    slot = Slot(driver)
    first = slot.pinned("tables", 120 * KIB, np.uint8)
    second = slot.pinned("tables", 240 * KIB, np.uint8)
    assert first.ctypes.data != second.ctypes.data
    assert slot.pinned("tables", 10, np.int64).ctypes.data == second.ctypes.data
    assert driver.memory.pinned_bytes == 360 * KIB
    slot.close()
    assert driver.memory.pinned_bytes == 0


class PretendedLibrary:
    """The functions of libcuda that take and free memory."""

    def __init__(self, room: int) -> None:
        self.room, self.held = room, dict[int, int]()

    def cuMemAlloc_v2(self, address: Any, size: ctypes.c_size_t) -> int:
        if sum(self.held.values()) + size.value > self.room:
            return 2  # CUDA_ERROR_OUT_OF_MEMORY
        address._obj.value = 2**40 + len(self.held)
        self.held[address._obj.value] = size.value
        return 0

    def cuMemFree_v2(self, address: ctypes.c_uint64) -> int:
        del self.held[address.value]
        return 0


def test_memory_is_taken_and_freed_past_pycuda(monkeypatch):
    library = PretendedLibrary(1000)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)

    def refuse(size: int) -> None:
        raise MemoryError(f"no {size} bytes")

    allocate = allocator_of(SimpleNamespace(__name__="pycuda.driver", mem_alloc=refuse))
    first, second = allocate(600), allocate(400)
    assert library.held == {int(first): 600, int(second): 400}
    with pytest.raises(MemoryError, match="no 1 bytes"):  # PyCUDA says what is wrong
        allocate(1)
    first.free()
    assert library.held == {int(second): 400}
    stand_in = SimpleNamespace(__name__="another.driver", mem_alloc=refuse)
    assert allocator_of(stand_in) is refuse


def test_without_the_library_pycuda_takes_memory(monkeypatch):
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    driver = SimpleNamespace(__name__="pycuda.driver", mem_alloc=int)
    assert allocator_of(driver) is int
