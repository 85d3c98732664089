"""The loop that keeps batches under way: order, slots, memory that runs out, errors."""

import itertools
from collections.abc import Iterator, Mapping
from types import SimpleNamespace

import pytest

from pairalign.engines.device.batch_pipeline import Addresses, BatchPipeline, BatchTask

Range = tuple[int, int]  # first number, and the one after the last


class DeviceFailure(Exception):
    pass


class DeviceFull(DeviceFailure):
    pass


FRAMEWORK = SimpleNamespace(Error=DeviceFailure, MemoryError=DeviceFull)


class FakeSlot:
    def __init__(self, room: int) -> None:
        self.room = room
        self.events: list[str] = []

    def arrange(self, sizes: Mapping[str, int], limit_bytes: int) -> Addresses:
        assert sum(sizes.values()) <= limit_bytes
        if sum(sizes.values()) > self.room:
            raise DeviceFull
        return dict.fromkeys(sizes, 0)

    def settle(self) -> None:
        self.events.append("settle")

    def free_arena(self) -> None:
        self.events.append("free")

    def close(self) -> None:
        self.events.append("close")


class Numbers(BatchTask[Range, Range, FakeSlot, Range]):
    """Numbers of a range in batches of as many as there are bytes; those in `too_large` alone."""

    def __init__(self, too_large: frozenset[int] = frozenset(), failing: int | None = None) -> None:
        self.done: list[int] = []
        self.on_host: list[int] = []
        self.under_way = self.most_under_way = 0
        self._too_large = too_large
        self._failing = failing

    def plan(self, work: Range, limit_bytes: int) -> Iterator[Range]:
        number, stop = work
        while number < stop:
            end = number + 1
            while (
                number not in self._too_large
                and end < min(number + limit_bytes, stop)
                and end not in self._too_large
            ):
                end += 1
            yield number, end
            number = end

    def rest(self, work: Range, batch: Range) -> list[Range]:
        # in two parts, to see that their order is kept
        middle = (batch[0] + work[1]) // 2
        return [(batch[0], middle), (middle, work[1])]

    def array_bytes(self, batch: Range) -> dict[str, int]:
        return {"numbers": batch[1] - batch[0]}

    def start(self, batch: Range, slot: FakeSlot, addresses: Addresses) -> Range:
        if self._failing is not None and self._failing in range(*batch):
            raise DeviceFailure
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        return batch

    def finish(self, slot: FakeSlot, flight: Range) -> None:
        self.under_way -= 1
        self.done += range(*flight)

    def is_for_host(self, batch: Range) -> bool:
        return batch[0] in self._too_large

    def align_on_host(self, batch: Range) -> None:
        assert not self.under_way
        self.done += range(*batch)
        self.on_host += range(*batch)


def make_pipeline(
    slots: int, room: int, limit_bytes: int, check_cancelled: object = lambda: None
) -> BatchPipeline[FakeSlot]:
    def halve(limit: int, batch: int) -> int:
        return min(limit, batch) // 2

    return BatchPipeline(
        [FakeSlot(room) for _ in range(slots)],
        FRAMEWORK,
        limit_bytes,
        check_cancelled=check_cancelled,
        halve=halve,
    )


@pytest.mark.parametrize("slots", [1, 2, 3])
@pytest.mark.parametrize("room", [100, 7, 1])
def test_results_come_in_order_whatever_room_there_is(slots, room):
    pipeline, task = make_pipeline(slots, room, 16), Numbers(frozenset({20, 21, 60}))
    pipeline.run(task, (0, 100))
    assert task.done == list(range(100))
    assert task.on_host == [20, 21, 60]
    assert task.most_under_way == slots
    assert task.under_way == 0
    assert pipeline.limit_bytes == {100: 16, 7: 4, 1: 1}[room]
    pipeline.run(task, (0, 0))
    assert len(task.done) == 100


def test_what_is_held_meanwhile_counts():
    pipeline, task = make_pipeline(2, 100, 16), Numbers()
    sizes = []
    task.array_bytes = lambda batch: sizes.append(batch[1] - batch[0]) or {"numbers": sizes[-1]}
    pipeline.run(task, (0, 100), held_bytes=10)
    assert max(sizes) == 6
    assert pipeline.limit_bytes == 16


def test_memory_of_all_slots_makes_way():
    pipeline, task = make_pipeline(2, 3, 16), Numbers()
    pipeline.run(task, (0, 20))
    assert all("free" in slot.events for slot in pipeline.slots)


def test_an_error_leaves_nothing_under_way():
    pipeline, task = make_pipeline(2, 100, 5), Numbers(failing=12)
    with pytest.raises(DeviceFailure):
        pipeline.run(task, (0, 100))
    assert [slot.events for slot in pipeline.slots] == [["settle"], ["settle"]]


def test_cancelling_stops_before_the_next_batch():
    calls = itertools.count()

    def check() -> None:
        if next(calls) == 3:
            raise InterruptedError

    pipeline, task = make_pipeline(2, 100, 5, check), Numbers()
    with pytest.raises(InterruptedError):
        pipeline.run(task, (0, 100))
    assert task.done == list(range(5))
    assert next(calls) == 4
