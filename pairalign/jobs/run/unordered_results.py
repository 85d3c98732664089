"""Results whose order does not matter: used as they come, on threads beside the engines'."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.engines import Engine
from pairalign.jobs.stages.wrapped import WrappedEngine
from pairalign.pairs.want import Want
from pairalign.pairs.windows import Window

_USERS = 2  # each takes some 50 million pairs a second


class Consumers:
    """Threads that use results while engines go on; an engine waits when all of them are busy."""

    def __init__(self, use: Callable[[Alignments], None]) -> None:
        self._use = use
        self._pool = ThreadPoolExecutor(_USERS, "use")
        self._idle = threading.Semaphore(_USERS)
        self._error: BaseException | None = None

    def take(self, alignments: Alignments) -> None:
        """Use some results soon; raises what using others has raised."""
        self._idle.acquire()
        if self._error is not None:
            self._idle.release()
            raise self._error
        try:
            self._pool.submit(self._work, alignments)
        except BaseException:  # no thread, or no memory
            self._idle.release()
            raise

    def _work(self, alignments: Alignments) -> None:
        try:
            self._use(alignments)
        except BaseException as error:
            self._error = self._error or error
        finally:
            del alignments
            self._idle.release()

    def __enter__(self) -> Consumers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._pool.shutdown(cancel_futures=kind is not None)
        if kind is None and self._error is not None:
            raise self._error


class HandingEngine(WrappedEngine):
    """An engine whose results go to others; what it returns is empty."""

    def __init__(self, engine: Engine, users: Consumers) -> None:
        super().__init__(engine)
        self._users = users

    def align(
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Align the pairs of a window and hand on what was found."""
        alignments = self._engine.align(window, want, pair_mask)
        self._users.take(alignments)
        return alignments.take([])
