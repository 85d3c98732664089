"""Text formatted behind the caller by native threads: cpu/text/text_queue.h through ctypes.

A `Carrier` takes it from the queue to an output.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from pairalign.base.error_types import UsageError, out_of_memory
from pairalign.base.native import Struct, library, struct_fields
from pairalign.base.spelling import spelled
from pairalign.formats.output import Output
from pairalign.formats.text import PairText

_DONE, _WAITING, _IDLE, _BAD_PAIR, _NO_MEMORY, _UNWRITTEN, _STOPPED = range(7)

_WAIT_MS = 50
"""Native code waits no longer at a time: then Python looks for signals."""


class NativePiece(Struct):
    """PairalignTextPiece."""

    _fields_ = struct_fields("pointer data; int64 bytes")


_open = library.pairalign_text_open
_write_to = library.pairalign_text_write_to
_submit = library.pairalign_text_submit
_take = library.pairalign_text_take
_give_back = library.pairalign_text_give_back
_formatted = library.pairalign_text_formatted
_wait = library.pairalign_text_wait
_wait_written = library.pairalign_text_wait_written
_trouble = library.pairalign_text_trouble
_stop = library.pairalign_text_stop
_close = library.pairalign_text_close


class TextQueue:
    """Slabs of pairs go in, pieces of text come out in order; formatted on native threads.

    What is done under the interpreter's lock is done once a slab, or once a piece that is taken.

    Parameters
    ----------
    threads : int
        Threads that format.
    piece_bytes : int
        Text of a piece at most, but for a pair that has more.
    number : int
        Of the first pair, where a format numbers those that it shows.

    Raises
    ------
    MemoryError
        The system gives no memory, or no threads.

    Notes
    -----
    Memory: ``2 * threads + 2`` buffers of `piece_bytes`, and slabs until they have been formatted
    (a thread lets go of them then). Methods may be called from any thread,
    but not while or after `close` runs.
    """

    def __init__(self, threads: int, piece_bytes: int, number: int = 1) -> None:
        self._handle = _open(threads, piece_bytes, number)
        if not self._handle:
            raise MemoryError(_no_thread("formatting"))
        self._submitted = 0
        self._kept: deque[tuple[int, PairText]] = deque()  # with their numbers, from 1
        keeper = threading.Thread(
            target=_let_go, args=(self._handle, self._kept), name="let go", daemon=True
        )
        try:
            keeper.start()
        except (RuntimeError, MemoryError) as error:  # the system allows no more
            _close(self._handle)
            raise MemoryError(_no_thread("formatting")) from error
        self._end = weakref.finalize(self, _end, self._handle, keeper)

    def write_to(self, file: int, checksum: ctypes.c_uint32 | None = None) -> None:
        """Let a native thread write all text to an open file; before the first `submit`.

        `checksum` is a CRC-32 that goes on with what is written, up to date after `wait_written`.
        """
        self._checksum = checksum  # must stay where it is
        if not _write_to(self._handle, file, checksum):
            raise MemoryError(_no_thread("writing"))

    def submit(self, text: PairText) -> None:
        """Add a slab; returns at once. Keeps `text` until it has been formatted.

        Raises
        ------
        UsageError
            Of what was submitted before, fields of a pair contradict each other.
        OSError
            The file cannot be written.
        MemoryError
        """
        self._submitted += 1
        self._kept.append((self._submitted, text))
        self._check(_submit(self._handle, text.native))

    @property
    def unformatted(self) -> int:
        """Number of slabs that have not been formatted to their end."""
        return self._submitted - int(_formatted(self._handle))

    def wait_formatted(self, left: int) -> bool:
        """Wait a moment until `left` slabs are unformatted; whether so. Raises as `submit`."""
        status = self._check(_wait(self._handle, self._submitted - left, _WAIT_MS))
        return status == _DONE

    def wait_written(self) -> bool:
        """Wait a moment for the file of `write_to` to get all; whether so. Raises as `submit`."""
        status = self._check(_wait_written(self._handle, _WAIT_MS))
        return status == _DONE

    def take(self, wait: bool = True) -> NativePiece | None:
        """Return the next piece, or None: there is no more of what was submitted.

        Without `wait`, None as well where the next piece is not ready. Raises as `submit`.
        """
        piece = NativePiece()
        status = _WAITING
        while status == _WAITING:
            status = self._check(_take(self._handle, _WAIT_MS if wait else 0, piece))
            if not wait:
                break
        return piece if status == _DONE else None

    def give_back(self, piece: NativePiece) -> None:
        """Let the piece's memory be used again."""
        _give_back(self._handle, piece)

    def close(self) -> None:
        """End the threads; what has not been taken or written is lost. May come twice."""
        self._end()
        self._kept.clear()

    def _check(self, status: int) -> int:
        if status == _BAD_PAIR:
            pair = _trouble(self._handle)
            raise UsageError(f"pair {pair}: CIGAR, spans and counts do not fit together")
        if status == _NO_MEMORY:
            raise MemoryError(out_of_memory())
        if status == _UNWRITTEN:
            number = _trouble(self._handle)
            raise OSError(number, os.strerror(number))
        return status


def _let_go(handle: int, kept: deque[tuple[int, PairText]]) -> None:
    """Drop the fields of slabs as soon as they have been formatted; the target of a thread."""
    done, status = 0, _DONE
    while status in (_DONE, _WAITING):
        status = _wait(handle, done + 1, 1000)
        done = _formatted(handle)
        while kept and kept[0][0] <= done:
            kept.popleft()


def _end(handle: int, keeper: threading.Thread) -> None:
    _stop(handle)
    keeper.join()
    _close(handle)


def text_of(piece: NativePiece) -> memoryview:
    """Return the text of a piece, where it lies."""
    return memoryview((ctypes.c_char * piece.bytes).from_address(piece.data or 0)).cast("B")


def _no_thread(work: str) -> str:
    return f"no thread for {work}; lower {spelled('threads')}"


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
