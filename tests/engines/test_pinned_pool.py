"""Pinned memory of results: used again when nobody refers to it, and freed in the end."""

import gc
import threading
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from checks import assert_same, run, windows_of
from commands import TIMEOUT_SECONDS
from conftest import open_cpu
from cuda_engines import host_device, open_on
from strategies import Problem, make_scoring, match_matrix

from pairalign.engines.device.pinned_pool import PinnedPool
from pairalign.errors import DeviceError
from pairalign.pairs.want import Want
from pairalign.sequences.alphabets import DNA

MIB = 1 << 20


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Any:
    device = host_device()
    monkeypatch.setattr(device.driver, "memory", device.driver.Memory())
    return device


def test_memory_is_used_again(device):
    pool = PinnedPool(device.driver, device.current, 100 * MIB)
    first = pool.take(1000, np.uint32)
    assert first.shape == (1000,)
    address = first.ctypes.data
    part = first[10:20].view(np.int32)
    del first
    gc.collect()
    second = pool.take(1000, np.uint32)
    assert second.ctypes.data != address  # a view still lives
    part[:] = 7
    assert device.driver.memory.pinned_bytes == 64 << 10  # both are cut from it
    del part
    third = pool.take(1000, np.uint32)
    assert third.ctypes.data == address
    del second, third
    pool.close()
    assert device.driver.memory.pinned_bytes == 0


def test_no_more_than_allowed(device):
    pool = PinnedPool(device.driver, device.current, 48 * MIB)
    assert pool.take(49 * MIB, np.uint8) is None
    held = [pool.take(16 * MIB, np.uint8) for _ in range(3)]
    assert all(array is not None for array in held)
    assert device.driver.memory.pinned_bytes == 48 * MIB
    assert pool.take(1, np.uint8) is None
    held.pop()
    assert pool.take(18 * MIB, np.uint8) is None
    assert pool.take(16 * MIB, np.uint8) is not None
    assert device.driver.memory.pinned_bytes == 48 * MIB
    del held
    pool.close()
    assert device.driver.memory.pinned_bytes == 0


@pytest.mark.parametrize(("limit", "left"), [(4, 0), (5, 2)])
def test_segments_that_are_idle_make_way(device, limit, left):
    """No more of them than are in the way."""
    pool = PinnedPool(device.driver, device.current, limit * MIB)
    small = [pool.take(1 * MIB, np.uint8) for _ in range(3)]
    assert pool.take(3 * MIB, np.uint8) is None
    del small
    large = pool.take(3 * MIB, np.uint8)
    assert large is not None
    assert device.driver.memory.pinned_bytes == (left + 3) * MIB
    del large
    pool.close()
    assert device.driver.memory.pinned_bytes == 0


def test_what_the_system_does_not_pin_does_not_count(device):
    def refuse(size: int, dtype: Any) -> None:
        raise device.driver.MemoryError("no memory")

    refusing = SimpleNamespace(Error=device.driver.Error, pagelocked_empty=refuse)
    pool = PinnedPool(refusing, device.current, 4 * MIB)
    assert pool.take(3 * MIB, np.uint8) is None
    assert pool.pinned_bytes == 0
    pool.expect(3 * MIB)
    pool.close()
    assert pool.pinned_bytes == 0


def test_what_no_thread_pins_does_not_count(device, monkeypatch):
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pool = PinnedPool(device.driver, device.current, 4 * MIB)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        pool.expect(3 * MIB)
    assert pool.pinned_bytes == 0


class SlowPinning:
    """Pins when it is told to."""

    def __init__(self, driver: Any) -> None:
        self.Error, self._driver = driver.Error, driver
        self.asked, self.go_on = threading.Event(), threading.Event()
        self.sizes: list[int] = []

    def pagelocked_empty(self, size: int, dtype: Any) -> Any:
        self.sizes.append(size)
        self.asked.set()
        assert self.go_on.wait(TIMEOUT_SECONDS)
        return self._driver.pagelocked_empty(size, dtype)


def test_one_thread_pins_at_a_time(device):
    """Others find room in what it pins; those that find room elsewhere do not wait."""
    pinning = SlowPinning(device.driver)
    pinning.go_on.set()
    pool = PinnedPool(pinning, device.current, 64 * MIB)
    first = pool.take(4 * MIB, np.uint8)  # the next segment is as large as all before it
    second = pool.take(3 * MIB, np.uint8)
    pinning.go_on.clear()
    pinning.asked.clear()
    taken: list[Any] = []

    def take() -> None:
        taken.append(pool.take(2 * MIB, np.uint8))

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert pinning.asked.wait(TIMEOUT_SECONDS)
    assert pool.take(1 * MIB, np.uint8) is not None  # while another thread pins
    pinning.go_on.set()
    for thread in threads:
        thread.join()
    assert pinning.sizes == [4 * MIB, 4 * MIB, 8 * MIB]
    assert all(array is not None for array in taken)
    del first, second
    taken.clear()


def test_what_is_expected_is_pinned_ahead(device):
    pinning = SlowPinning(device.driver)
    pool = PinnedPool(pinning, device.current, 100 * MIB)
    pool.expect(30 * MIB)
    pool.expect(80 * MIB)  # too much
    threading.Timer(0.05, pinning.go_on.set).start()
    first = pool.take(20 * MIB, np.uint8)  # waits for it
    second = pool.take(8 * MIB, np.uint8)
    assert first is not None
    assert second is not None
    assert pinning.sizes == [30 * MIB]
    del first, second
    pool.close()
    assert device.driver.memory.pinned_bytes == 0


def test_what_is_being_pinned_when_the_pool_closes_is_freed(device):
    pool = PinnedPool(device.driver, device.current, 100 * MIB)
    for _ in range(3):
        pool.expect(10 * MIB)
    pool.close()
    assert device.driver.memory.pinned_bytes == 0
    pool.expect(1 * MIB)
    assert device.driver.memory.pinned_bytes == 0


def test_memory_comes_back_from_any_thread(device):
    pool = PinnedPool(device.driver, device.current, 64 * MIB)
    failures = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        held: list[Any] = []
        for turn in range(300):
            array = pool.take(int(rng.integers(1, 50000)), np.uint8)
            array[:] = seed
            held.append(array)
            del array
            if len(held) > 4 and (held.pop(0) != seed).any():
                failures.append(turn)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    pool.take(1, np.uint8)
    for thread in threads:
        thread.join()
    assert not failures
    pool.close()
    assert device.driver.memory.pinned_bytes == 0


def test_engines_on_a_device_share_a_pool(device):
    first, second = (device.pool(2 * MIB) for _ in range(2))
    assert first is second
    array = first.take(3 * MIB, np.uint8)
    assert array is not None
    other = second.take(1000, np.uint8)
    assert other is not None
    first.close()
    del other
    second.close()
    assert device.driver.memory.pinned_bytes > 0
    del array
    assert device.driver.memory.pinned_bytes == 0
    assert device.pool(2 * MIB) is not first


def test_results_outlive_their_engine(device):
    scoring = make_scoring(DNA, "global", 5, 2, match_matrix(DNA, 2, -3))
    problem = Problem(tuple("ACGTTGCA"[i:] * 5 for i in range(8)), None, scoring)
    engine = open_on(device, problem.sets(), scoring, family="pair-per-thread")
    (window,) = windows_of(8, None, 8)
    found = engine.align(window, Want())
    engine.close()
    assert device.driver.memory.pinned_bytes > 0
    assert_same(run(open_cpu, problem), found)
    kept = found[3:5]
    del found
    assert device.driver.memory.pinned_bytes > 0
    dropping = threading.Thread(target=kept.__dict__.clear)  # leases end in any thread
    dropping.start()
    dropping.join()
    del kept, dropping
    gc.collect()
    assert device.driver.memory.pinned_bytes == 0


def test_an_engine_that_may_not_pin_copies(device):
    scoring = make_scoring(DNA, "global", 5, 2, match_matrix(DNA, 2, -3))
    problem = Problem(tuple("ACGTTGCA"[i:] * 5 for i in range(8)), None, scoring)
    opener = partial(open_on, device, family="pair-per-thread", pinned_bytes=0)
    assert_same(run(open_cpu, problem), run(opener, problem))


def test_an_engine_that_cannot_be_opened_leaves_the_pool(device, monkeypatch):
    def refuse(self: object, context: object) -> None:
        raise device.driver.MemoryError("no memory")

    scoring = make_scoring(DNA, "global", 5, 2, match_matrix(DNA, 2, -3))
    sets = Problem(("ACGT", "AC"), None, scoring).sets()
    with monkeypatch.context() as patch:
        patch.setattr("pairalign.engines.cuda.router.Router.open", refuse)
        with pytest.raises(DeviceError):
            open_on(device, sets, scoring)
    pool = device.pool(1 * MIB)
    assert pool.take(2 * MIB, np.uint8) is None  # only what this one may pin
    pool.close()
