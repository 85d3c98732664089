"""The schedule, with engines that only pretend."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count, islice

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from pairalign.errors import CapacityError, DeviceError
from pairalign.jobs.run import schedule
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window

WAIT_SECONDS = 300  # for what happens at once, unless it never does


def windows_of(count: int) -> list[Window]:
    """Windows of one pair each."""
    return [Window(i, i, i + 1, i + 1, i + 2, True) for i in range(count)]


class Pretend:
    """An engine whose result is the window's index."""

    def __init__(self, name: str = "fake", work: Callable[[Window], object] | None = None) -> None:
        self.name = name
        self.done: list[int] = []
        self.threads: set[int] = set()
        self.cancelled = threading.Event()
        self._work = work

    def align(self, window: Window, want: Want) -> object:
        """Note the window."""
        self.threads.add(threading.get_ident())
        self.done.append(window.index)
        return window.index if self._work is None else self._work(window)

    def cancel(self) -> None:
        """Note that."""
        self.cancelled.set()

    def close(self) -> None:
        """Fail: closing is up to whoever opened."""
        raise AssertionError("closed by the schedule")


def run(engines, windows, costs=None, ahead=1000, room=None):
    """Run a schedule; costs by window, default: all the same."""
    costs = costs or [1] * len(windows)
    return schedule.run(engines, windows, Want(), lambda one: costs[one.index], ahead, room)


@pytest.fixture(autouse=True)
def no_thread_stays() -> Iterator[None]:
    """Whatever happens, no engine's thread outlives the run."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


@settings(max_examples=examples(50))
@given(
    count=st.integers(0, 30),
    engines=st.integers(1, 6),
    ahead=st.integers(1, 40),
    room=st.none() | st.integers(0, 40),
    seed=st.randoms(use_true_random=False),
)
def test_results_come_in_order_each_once(count, engines, ahead, room, seed):
    windows = windows_of(count)
    costs = [seed.randint(0, 5) for _ in windows]
    delays = [seed.choice([0, 0, 0, 0.001]) for _ in windows]

    def work(window: Window) -> int:
        time.sleep(delays[window.index])
        return window.index

    pretended = [Pretend(f"fake:{k}", work) for k in range(engines)]
    sized = None if room is None else schedule.Room(room, lambda window: costs[window.index])
    found = list(run(pretended, windows, costs, ahead, sized))
    assert found == [(window, window.index) for window in windows]
    assert sorted(index for one in pretended for index in one.done) == list(range(count))
    assert all(len(one.threads) <= 1 for one in pretended)
    assert not any(one.cancelled.is_set() for one in pretended)


@pytest.mark.parametrize(("room", "expected"), [(0, 3), (29, 3), (40, 4), (79, 7), (10**6, 20)])
def test_while_one_takes_long_others_go_on_as_far_as_there_is_room(room, expected):
    """Results take 10 bytes each, those of the window that takes long, too."""
    far_enough = threading.Event()
    started: set[int] = set()
    before: set[int] = set()

    def work(window: Window) -> int:
        started.add(window.index)
        if len(started) == expected:
            far_enough.set()
        if window.index == 0:
            assert far_enough.wait(WAIT_SECONDS)
            time.sleep(0.003)  # the other goes as far as it may
            before.update(started)
        return window.index

    costs = [100] + [1] * 19
    sized = schedule.Room(room, lambda _: 10)
    found = run([Pretend(work=work), Pretend(work=work)], windows_of(20), costs, 3, sized)
    assert [index for _, index in found] == list(range(20))
    assert before == set(range(expected))


def test_no_window_is_overtaken_by_many():
    """The cheapest, at the front of those that may start, is taken before all that are near."""
    engine = Pretend()
    costs = [1, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9]
    list(run([engine], windows_of(12), costs, 4, schedule.Room(10**6, lambda _: 10)))
    assert engine.done == [1, 2, 3, 0, 4, 5, 6, 7, 8, 9, 10, 11]


def test_a_failure_names_engine_and_window():
    def fail(window: Window) -> int:
        if window.index == 3:
            raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")
        return window.index

    engine = Pretend("cuda:1", fail)
    found = []
    with pytest.raises(DeviceError) as caught:
        found.extend(index for _, index in run([engine], windows_of(9), ahead=1))
    assert str(caught.value) == (
        "cuda:1 failed in window 3 (rows 3-4, columns 4-5): "
        "RuntimeError: CUDA_ERROR_ILLEGAL_ADDRESS"
    )
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert found == [0, 1, 2]
    assert engine.done == [0, 1, 2, 3]


def test_errors_on_purpose_pass_as_they_are():
    error = CapacityError("too large", 2, 1)

    def fail(window: Window) -> int:
        raise error

    with pytest.raises(CapacityError) as caught:
        list(run([Pretend(work=fail)], windows_of(3)))
    assert caught.value is error


def test_a_failure_ends_the_others():
    """One engine fails while another is at work: that one is cancelled."""
    busy = threading.Event()

    def work(window: Window) -> int:
        busy.set()
        if not long.cancelled.wait(WAIT_SECONDS):
            raise AssertionError("not cancelled")
        raise InterruptedError

    def fail(window: Window) -> int:
        busy.wait(WAIT_SECONDS)
        raise RuntimeError("no kernel")

    long, bad = Pretend("long", work), Pretend("bad", fail)
    with pytest.raises(DeviceError, match=r"bad failed in window .*: RuntimeError: no kernel"):
        list(run([long, bad], windows_of(50)))
    assert long.cancelled.is_set()
    assert len(long.done) == len(bad.done) == 1


@pytest.mark.parametrize("engines", [1, 3])
def test_stopping_early_cancels(engines):
    def work(window: Window) -> int:
        if window.index == 0:
            return 0
        for engine in pretended:
            if not engine.cancelled.wait(WAIT_SECONDS):
                not_cancelled.append(engine.name)
        raise InterruptedError

    not_cancelled: list[str] = []
    pretended = [Pretend(f"fake:{k}", work) for k in range(engines)]
    results = run(pretended, windows_of(50))
    assert next(results)[1] == 0
    results.close()
    assert not_cancelled == []
    assert all(engine.cancelled.is_set() for engine in pretended)
    assert sum(len(engine.done) for engine in pretended) <= 2 * engines + 1


def test_an_error_of_the_consumer_cancels():
    engine = Pretend()
    results = run([engine], windows_of(50), ahead=2)
    next(results)
    with pytest.raises(OSError, match="disk full"):
        results.throw(OSError("disk full"))
    assert engine.cancelled.is_set()
    assert len(engine.done) <= 3


def test_a_thread_that_does_not_start(monkeypatch):
    """Those that did start are not left waiting."""
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "second":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(DeviceError, match="second: can't start new thread"):
        list(run([Pretend("first"), Pretend("second")], windows_of(9), ahead=1))


def test_an_interrupt_while_a_lock_is_taken_again(monkeypatch):
    """Python leaves the lock open, and then says only that it cannot be released."""

    def start(thread):
        try:
            raise KeyboardInterrupt("terminated")
        finally:
            threading.Lock().release()

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt, match="terminated"):
        list(run([Pretend()], windows_of(3)))


def test_windows_are_asked_for_as_they_may_start():
    """There may be more than memory holds: here they have no end."""
    asked = count()
    windows = (Window(i, i, i + 1, i + 1, i + 2, True) for i in asked)
    engines = [Pretend(f"fake:{k}") for k in range(2)]
    with closing(schedule.run(engines, windows, Want(), lambda _: 1, 3)) as results:
        assert [index for _, index in islice(results, 50)] == list(range(50))
    assert next(asked) <= 50 + 3
