"""Batches on a device, several under way at a time: the loop that all families of kernels share.

A family cuts work into batches, queues the kernels of one and fetches what comes out (`BatchTask`).
The pipeline says when: a batch is started as soon as there is a *slot*, the memory of one batch,
while those before it are computed or copied. Where the device has no room for a batch, all that is
under way is finished, batches become half as large, and what is left is cut again.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

Work = TypeVar("Work")
Batch = TypeVar("Batch")
Flight = TypeVar("Flight")
Addresses = dict[str, Any]
"""Where arrays of a batch lie, by name: device addresses, or buffers."""


class Slot(Protocol):
    """What one batch uses while it is under way."""

    def arrange(self, sizes: Mapping[str, int], limit_bytes: int) -> Addresses:
        """Find room on the device for arrays of these sizes in bytes, or raise MemoryError."""
        ...

    def settle(self) -> None:
        """Wait for all that is queued."""
        ...

    def free_arena(self) -> None:
        """Give the device memory back; nothing is under way."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


SlotT = TypeVar("SlotT", bound=Slot)


class Framework(Protocol):
    """Exceptions of what drives a device."""

    Error: type[Exception]
    MemoryError: type[Exception]


class BatchTask(ABC, Generic[Work, Batch, SlotT, Flight]):
    """What is done with the batches of some work, in their order. Its results are its own."""

    @abstractmethod
    def plan(self, work: Work, limit_bytes: int) -> Iterable[Batch]:
        """Cut work into batches that need at most `limit_bytes` each."""

    @abstractmethod
    def rest(self, work: Work, batch: Batch) -> list[Work]:
        """Return what remains of some work from a batch of its plan on, that batch included."""

    @abstractmethod
    def array_bytes(self, batch: Batch) -> Mapping[str, int]:
        """Return the size of each array that a batch needs on the device."""

    @abstractmethod
    def start(self, batch: Batch, slot: SlotT, addresses: Addresses) -> Flight:
        """Queue the copies and kernels of a batch.

        When it raises the framework's MemoryError, it has noted nothing in the results.
        """

    @abstractmethod
    def finish(self, slot: SlotT, flight: Flight) -> None:
        """Wait for a batch and fetch its results; the slot is used again afterwards."""

    def is_for_host(self, batch: Batch) -> bool:
        """Whether the device has no room for a batch, however little else is there."""
        return False

    def align_on_host(self, batch: Batch) -> None:
        """Align such a batch on the CPU; all batches before it are finished."""
        raise NotImplementedError


class BatchPipeline(Generic[SlotT]):
    """The slots of an engine, and the loop that keeps them busy.

    Parameters
    ----------
    slots : sequence of Slot
        One for each batch that is under way at a time.
    framework : module
        Its `Error` and `MemoryError` say that the device has failed, or is full.
    limit_bytes : int
        What a batch may take of the device's memory.
    check_cancelled : callable () -> None
        Raises when the run was cancelled; called before each batch.
    halve : callable (limit_bytes, batch_bytes) -> int
        Bytes that batches may use after one of `batch_bytes` did not fit; raises DeviceError when
        that is nothing.

    Attributes
    ----------
    slots : list of Slot
    limit_bytes : int
        What a batch may take now: less than at first when the device was found full.
    """

    def __init__(
        self,
        slots: Sequence[SlotT],
        framework: Framework,
        limit_bytes: int,
        *,
        check_cancelled: Callable[[], None],
        halve: Callable[[int, int], int],
    ) -> None:
        self.limit_bytes = limit_bytes
        self.slots = list(slots)
        self._framework = framework
        self._check_cancelled = check_cancelled
        self._halve = halve

    def run(
        self, task: BatchTask[Work, Batch, SlotT, Flight], work: Work, held_bytes: int = 0
    ) -> None:
        """Do all batches of some work; results come to the task in the order of its plan.

        Parameters
        ----------
        task : BatchTask
        work
            What `task.plan` takes.
        held_bytes : int
            What else is held of `limit_bytes` meanwhile.
        """
        limit = self.limit_bytes - held_bytes
        pending = deque([work])
        free = deque(self.slots)
        under_way: deque[tuple[SlotT, Flight]] = deque()

        def finish_one() -> None:
            slot, flight = under_way.popleft()
            task.finish(slot, flight)
            free.append(slot)

        try:
            while pending:
                part = pending.popleft()
                for batch in task.plan(part, limit):
                    self._check_cancelled()
                    if task.is_for_host(batch):
                        while under_way:
                            finish_one()
                        task.align_on_host(batch)
                        continue
                    if not free:
                        finish_one()
                    slot = free.popleft()
                    sizes = task.array_bytes(batch)
                    try:
                        addresses = slot.arrange(sizes, limit)
                        under_way.append((slot, task.start(batch, slot, addresses)))
                    except self._framework.MemoryError:
                        with contextlib.suppress(self._framework.Error):  # queued in vain
                            slot.settle()
                        free.append(slot)
                        while under_way:
                            finish_one()
                        self.free_memory()
                        limit = self.limit_bytes = self._halve(limit, sum(sizes.values()))
                        pending.extendleft(reversed(task.rest(part, batch)))
                        break
            while under_way:
                finish_one()
        finally:
            if len(free) < len(self.slots):  # an error: nothing may write to buffers used again
                self._settle()

    def free_memory(self) -> None:
        """Free the device memory of all slots; nothing is under way. The next batch takes it."""
        for slot in self.slots:
            slot.free_arena()

    def close(self) -> None:
        """Give everything back."""
        for slot in self.slots:
            slot.close()
        self.slots = []

    def _settle(self) -> None:
        for slot in self.slots:
            with contextlib.suppress(self._framework.Error):  # the first error says more
                slot.settle()
