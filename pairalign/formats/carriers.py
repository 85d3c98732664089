"""What carries formatted text from a queue to an output."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from pairalign.formats.output import Output
from pairalign.formats.text_queue import NativePiece, TextQueue, text_of

MOST_UNFORMATTED = 2
"""Slabs that wait or are being formatted: threads go on while the last one is looked at."""


class Carrier:
    """Carries pieces of text from a queue to an output, in the thread that calls it."""

    def __init__(self, queue: TextQueue, output: Output) -> None:
        self._queue = queue
        self._output = output

    def submitted(self) -> None:
        """Go on after a slab was submitted: return when nearly all before it are formatted."""
        while self._queue.unformatted > MOST_UNFORMATTED:
            self._carry(self._queue.take())
        while (piece := self._queue.take(wait=False)) is not None:
            self._carry(piece)

    def flush(self) -> None:
        """Carry everything that was submitted; more may come."""
        self.finish()

    def finish(self) -> None:
        """Carry everything that was submitted."""
        while (piece := self._queue.take()) is not None:
            self._carry(piece)

    def stop(self) -> None:
        """Carry no more than the piece in hand."""

    def _carry(self, piece: NativePiece | None) -> None:
        if piece is not None:
            self._output.write(text_of(piece))
            self._queue.give_back(piece)


class Behind(Carrier):
    """Carries in a thread of its own, where the output is Python's: compressed."""

    def __init__(self, queue: TextQueue, output: Output) -> None:
        super().__init__(queue, output)
        self._came = threading.Event()
        self._no_more = self._stopped = False
        self._pool = ThreadPoolExecutor(1, "write")
        self._done = self._pool.submit(self._work)

    def submitted(self) -> None:
        """Go on after a slab was submitted: return when nearly all before it are formatted."""
        self._came.set()
        while not self._queue.wait_formatted(MOST_UNFORMATTED):
            if self._done.done():
                self._done.result()
                return

    def flush(self) -> None:
        """Carry everything that was submitted; more may come."""
        while not self._queue.wait_written():
            if self._done.done():
                self._done.result()
                return

    def finish(self) -> None:
        """Carry everything that was submitted."""
        self._no_more = True
        self._came.set()
        self._done.result()

    def stop(self) -> None:
        """Carry no more than the piece in hand."""
        self._stopped = self._no_more = True
        self._came.set()
        self._pool.shutdown()

    def _work(self) -> None:
        while not self._stopped:
            no_more = self._no_more  # before there turns out to be none
            piece = self._queue.take()
            self._carry(piece)
            if piece is None:
                if no_more:
                    return
                self._came.wait()
                self._came.clear()


class NativeCarrier(Carrier):
    """Leaves carrying to a native thread, which writes to an open file."""

    def __init__(self, queue: TextQueue, output: Output) -> None:
        self._queue = queue
        assert output.descriptor is not None
        queue.write_to(output.descriptor, output.checksum)

    def submitted(self) -> None:
        """Go on after a slab was submitted: return when nearly all before it are formatted."""
        while not self._queue.wait_formatted(MOST_UNFORMATTED):
            pass

    def finish(self) -> None:
        """Carry everything that was submitted."""
        while not self._queue.wait_written():
            pass
