"""The streams that kernels run in: a few a device, shared by all of its engines.

An engine has one window under way at a time, so a device has several engines. With streams of their
own their kernels would take turns: the last kernel of one window waits for those of all others, all
windows end together, and then the device waits for the host. Here the kernels of a batch stay
together: results come one batch after the other while the device works on the next. Two streams, so
that blocks of one fill the gap that the last blocks of a kernel leave in the other.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from pairalign.engines.cuda.buffers import Slot

STREAMS = 2


class SharedStreams:
    """Streams for kernels, used round robin.

    Parameters
    ----------
    driver : module
        ``pycuda.driver``; the CUDA context must be current.
    """

    def __init__(self, driver: ModuleType) -> None:
        self._driver = driver
        self._streams = [driver.Stream() for _ in range(STREAMS)]
        self._turn = 0
        self._lock = threading.Lock()

    @contextmanager
    def batch(self, slot: Slot, aside: bool = False) -> Iterator[None]:
        """Let the kernels that are launched in ``slot.kernels`` meanwhile follow one another.

        They begin when what has been queued in ``slot.stream`` is done, and what is queued there
        afterwards begins when they are. `aside`: in the slot's own stream, as they
        would hold others up for long while most of the device is idle.
        """
        if aside:
            slot.kernels = slot.stream
            yield
            return
        with self._lock:
            slot.kernels = self._streams[self._turn]
            self._turn = (self._turn + 1) % STREAMS
            slot.ready.record(slot.stream)
            slot.kernels.wait_for_event(slot.ready)
            try:
                yield
            except self._driver.Error:
                with contextlib.suppress(self._driver.Error):  # the first error says more
                    self._join(slot)
                raise
            self._join(slot)

    def _join(self, slot: Slot) -> None:
        slot.launched.record(slot.kernels)
        slot.stream.wait_for_event(slot.launched)
