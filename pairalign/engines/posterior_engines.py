"""Which engine computes posteriors: from ``--device`` to an open one. All give the same bytes."""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import SparsePosteriors, part_of
from pairalign.base.error_types import DeviceError, KernelBuildError
from pairalign.engines.cpu.cpu_posterior import PosteriorEngine, thread_bytes
from pairalign.engines.device.specification import parse_indices
from pairalign.engines.posterior_computer import PosteriorComputer, PosteriorRequest
from pairalign.engines.regrouped_posteriors import is_ever_cut, regrouped

log = logging.getLogger("pairalign")

WORTH_A_GPU = 2 * 10**9
"""Fewer cells are done on a CPU before a GPU has started."""

CALLS = 2
"""Calls of `PosteriorComputer.compute` at the same time, of an engine that takes several pieces at
a time: while the results of one are copied to the host, a GPU computes another."""

BATCHES = CALLS + 1
"""Batches of pieces that are on the host at the same time: those, and the one that is used."""

_FREE_SHARE = 0.8
"""Of the memory that is free on a GPU."""

Pairs = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
"""Queries and targets: indices of sequences."""


def check_device(device: str) -> None:
    """Raise DeviceError if posteriors are not computed on such devices."""
    indices = parse_indices(device, "cuda")
    if device not in ("auto", "cpu") and (indices is None or len(indices) > 1):
        raise DeviceError(
            f"device '{device}': posteriors are computed on the CPU or on one GPU, expected auto, "
            "cpu, cuda or cuda:0"
        )


def open_posterior_engine(device: str, request: PosteriorRequest) -> PosteriorComputer:
    """Open the engine of a device specification.

    Parameters
    ----------
    device : str
        ``"cpu"``; ``"cuda"`` for the first GPU that can be used, ``"cuda:1"`` for that one;
        ``"auto"`` for the first GPU that can be used if the work is worth that, else the CPU.

    Raises
    ------
    DeviceError
        There is no such device; the message says why.
    KernelBuildError
        A GPU was named and its kernels cannot be compiled.
    """
    sequences, model = request.sequences, request.model
    engine = _open(device, request)
    if request.match_states != 1 or not is_ever_cut(sequences):
        return regrouped(engine, sequences, model)
    more = replace(request, threads=max(request.threads, request.part_threads))
    longest = np.sort(sequences.lengths)[-2:].tolist()
    room = request.threads * thread_bytes(*longest)
    return regrouped(engine, sequences, model, _open_cpu(more), room)


def _open(device: str, request: PosteriorRequest) -> PosteriorComputer:
    check_device(device)
    indices = parse_indices(device, "cuda")
    if indices is not None or (device == "auto" and request.cells >= WORTH_A_GPU):
        try:
            return _open_cuda(indices, request)
        except (DeviceError, KernelBuildError) as error:
            if indices is not None:
                raise
            log.info("posteriors are computed on the CPU: %s", error)
    return _open_cpu(request)


def _open_cpu(request: PosteriorRequest) -> PosteriorEngine:
    return PosteriorEngine(
        request.sequences, request.model, threshold=request.threshold, threads=request.threads
    )


def _open_cuda(indices: tuple[int, ...] | None, request: PosteriorRequest) -> PosteriorComputer:
    from pairalign.engines.cuda.cuda_posterior import CudaPosteriorEngine
    from pairalign.engines.cuda.cuda_selection import choose_devices, usable_devices

    device = (choose_devices(indices) if indices else usable_devices())[0]
    with device.current():
        free = int(device.driver.mem_get_info()[0])
    memory_bytes = min(request.memory_bytes, int(free * _FREE_SHARE))
    return CudaPosteriorEngine(
        device, replace(request, memory_bytes=memory_bytes), pinned_bytes=request.memory_bytes // 2
    )


def compute_pieces(
    engine: PosteriorComputer, pieces: Iterator[Pairs], at_once: int
) -> Iterator[SparsePosteriors]:
    """Compute pieces of pairs, several at a time where the engine is best given several.

    Parameters
    ----------
    engine : PosteriorComputer
        Opened for `CALLS` calls. It is cancelled if the iterator is left early.
    pieces : iterator of (ndarray of int32, ndarray of int32)
    at_once : int
        Pieces in a call; the results of two calls are in memory, of a GPU of `BATCHES`.

    Yields
    ------
    SparsePosteriors
        Of each piece, in order. Its memory is used again once nobody refers to it.
    """
    if not engine.is_gpu:
        while batch := list(itertools.islice(pieces, at_once)):
            yield from _divided(engine.compute(*_joined(batch)), batch)
        return
    with ThreadPoolExecutor(CALLS, "posteriors") as pool:
        try:
            waiting: deque[tuple[list[Pairs], Future[SparsePosteriors]]] = deque()
            while True:
                batch = list(itertools.islice(pieces, at_once))
                if batch:
                    waiting.append((batch, pool.submit(engine.compute, *_joined(batch))))
                if not waiting:
                    return
                if batch and len(waiting) < BATCHES:
                    continue
                computed, future = waiting.popleft()
                yield from _divided(future.result(), computed)
        except BaseException:
            engine.cancel()
            raise


def _joined(pieces: list[Pairs]) -> Pairs:
    queries, targets = (np.concatenate(indices) for indices in zip(*pieces, strict=True))
    return queries, targets


def _divided(posteriors: SparsePosteriors, pieces: list[Pairs]) -> Iterator[SparsePosteriors]:
    start = 0
    for queries, _ in pieces:
        yield part_of(posteriors, start, start + len(queries))
        start += len(queries)
