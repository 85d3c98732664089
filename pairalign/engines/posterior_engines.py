"""Which engine computes posteriors: from ``--device`` to an open one. All give the same bytes.

Pairs are regrouped for an engine, which computes the same values, sooner:

- Pairs of the same two sequences are computed once a call.
- Long pairs of similar DNA are computed part by part; ``cpu/posterior/cuts.cpp`` cuts them. Parts
  are computed on the host, whatever computes the other pairs: the same bytes for every device. They
  are merged where a residue beside the cut between them is aligned with its counterpart with a
  posterior below `_SURE`. Else no posterior differs by more than the cuts are unsure.
- Pairs whose target is much longer are computed with the target along the rows. A row begins and
  ends with gaps as long as what its columns are more than its rows, and their cost is the range of
  its values; with the longer sequence along the rows, the rows' scales take it up. Pairs with one
  long sequence also have it in common then, and share a vector.
"""

from __future__ import annotations

import itertools
import logging
import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.posteriors import (
    ONE,
    SparsePosteriors,
    join_posteriors,
    pairs_at,
    part_of,
    with_pairs,
    with_sides_changed,
)
from pairalign.base.arrays import Int32s, Int64s, Structs, UInt8s, first_of_each
from pairalign.base.error_types import DeviceError, KernelBuildError
from pairalign.engines.cpu.cpu_posterior import (
    PosteriorEngine,
    join_parts,
    mark_columns,
    thread_bytes,
)
from pairalign.engines.device.specification import parse_indices
from pairalign.engines.posterior_computer import PosteriorComputer, PosteriorRequest
from pairalign.pairs.copies import find_copies
from pairalign.scoring.posterior_models import PosteriorModel
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet, join_sets

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

Pairs = tuple[Int32s, Int32s]
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
    engine: PosteriorComputer,
    pieces: Iterator[Pairs],
    at_once: int,
    count: Callable[[SparsePosteriors], object] = lambda computed: None,
) -> Iterator[SparsePosteriors]:
    """Compute pieces of pairs, several at a time where the engine is best given several.

    Parameters
    ----------
    engine : PosteriorComputer
        Opened for `CALLS` calls. It is cancelled if the iterator is left early.
    pieces : iterator of (ndarray of int32, ndarray of int32)
    at_once : int
        Pieces in a call; the results of two calls are in memory, of a GPU of `BATCHES`.
    count : callable (SparsePosteriors) -> None
        Told of the results of each call, before they are divided.

    Yields
    ------
    SparsePosteriors
        Of each piece, in order. Its memory is used again once nobody refers to it.
    """
    if not engine.is_gpu:
        while batch := list(itertools.islice(pieces, at_once)):
            yield from _divided(engine.compute(*_joined(batch)), batch, count)
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
                yield from _divided(future.result(), computed, count)
        except BaseException:
            engine.cancel()
            raise


def _joined(pieces: list[Pairs]) -> Pairs:
    queries, targets = (np.concatenate(indices) for indices in zip(*pieces, strict=True))
    return queries, targets


def _divided(
    posteriors: SparsePosteriors, pieces: list[Pairs], count: Callable[[SparsePosteriors], object]
) -> Iterator[SparsePosteriors]:
    count(posteriors)
    start = 0
    for queries, _ in pieces:
        yield part_of(posteriors, start, start + len(queries))
        start += len(queries)


LEAST_LENGTH = 400
"""Of both sequences of a pair that is cut."""

_SURE = int(0.99 * ONE)

_MOST_BITS = 256
"""Of a gap's cost in a row: twice what float32 leaves (``common/posterior_scaling.h``), so that few
pairs are turned that it holds as they are."""

Indices = Int32s


def is_ever_cut(sequences: SequenceSet) -> bool:
    """Whether pairs of a set may be cut."""
    return sequences.alphabet == DNA and int((sequences.lengths >= LEAST_LENGTH).sum()) > 1


def regrouped(
    engine: PosteriorComputer,
    sequences: SequenceSet,
    model: PosteriorModel,
    host: PosteriorEngine | None = None,
    memory_bytes: int | None = None,
) -> PosteriorComputer:
    """Return an engine that gives the same; the engine itself where no pair of a set is regrouped.

    Parameters
    ----------
    host : PosteriorEngine, optional
        For parts. Default: no pair is cut.
    memory_bytes : int, optional
        What the threads of the host may use for parts.
    """
    longest_gap = int(_MOST_BITS / -math.log2(model.extend_long))
    copies = find_copies(sequences, None)
    if copies is None and host is None and np.ptp(sequences.lengths) <= longest_gap:
        return engine
    contents = None if copies is None else copies.of_inputs()[0]
    lengths = sequences.lengths.astype(np.int64)
    return RegroupedPosteriors(engine, lengths, contents, longest_gap, host, memory_bytes)


class RegroupedPosteriors:
    """A `PosteriorComputer`.

    Parameters
    ----------
    engine : PosteriorComputer
        For whole pairs.
    lengths : ndarray of int64, shape (sequences,)
    contents : ndarray of int64, shape (sequences,), or None
        The same number for the same codes; None: no two sequences are the same.
    longest_gap : int
        Residues that a target may have more than the query.
    host, memory_bytes
        As for `regrouped`.
    """

    def __init__(
        self,
        engine: PosteriorComputer,
        lengths: Int64s,
        contents: Int64s | None,
        longest_gap: int,
        host: PosteriorEngine | None,
        memory_bytes: int | None,
    ) -> None:
        self._engine, self._host = engine, host
        self._lengths, self._contents = lengths, contents
        self._longest_gap, self._memory_bytes = longest_gap, memory_bytes
        self.is_gpu, self.residues_at_once = engine.is_gpu, engine.residues_at_once

    def compute(self, queries: Indices, targets: Indices) -> SparsePosteriors:
        """Compute the posteriors of some pairs; see `PosteriorEngine.compute`."""
        if self._contents is None:
            return self._compute_distinct(queries, targets)
        whole = self._contents[queries] * (1 + int(self._contents.max())) + self._contents[targets]
        firsts, places = first_of_each(whole)  # as they come: those of a query follow each other
        if len(firsts) == len(whole):
            return self._compute_distinct(queries, targets)
        posteriors = self._compute_distinct(queries[firsts], targets[firsts])
        return pairs_at(posteriors, places, queries, targets)

    def _compute_distinct(self, queries: Indices, targets: Indices) -> SparsePosteriors:
        """Compute long pairs in parts, where a host is there for them, and the others whole."""
        is_long = np.minimum(self._lengths[queries], self._lengths[targets]) >= LEAST_LENGTH
        long = np.flatnonzero(is_long)
        if self._host is None or not len(long):
            return self._compute_whole(queries, targets)
        counts = np.zeros(len(queries), np.int32)
        counts[long], parts = self._host.cut(queries[long], targets[long])
        in_parts = self._compute_parts(self._host, queries, targets, counts, parts)
        whole = np.flatnonzero(np.diff(in_parts.offsets) == 0)
        if not len(whole):
            return in_parts
        others = self._compute_whole(queries[whole], targets[whole])
        return with_pairs(in_parts, whole, others)

    def _compute_parts(
        self,
        host: PosteriorEngine,
        queries: Indices,
        targets: Indices,
        counts: Indices,
        parts: Structs,
    ) -> SparsePosteriors:
        """Return the posteriors of the pairs that are cut; the others have no entries."""
        places = np.full(len(parts), -1, np.int64)
        rounds: list[SparsePosteriors] = []
        while True:
            new = np.flatnonzero(places < 0)
            pair = np.repeat(np.arange(len(queries)), counts)[new]
            start = sum(map(len, rounds))
            new_parts = queries[pair], targets[pair], parts[new]
            rounds.append(host.compute_parts(*new_parts, self._memory_bytes))
            places[new] = start + np.arange(len(new))
            posteriors = rounds[0] if len(rounds) == 1 else join_posteriors(rounds)
            arguments = queries, targets, counts, parts, places, posteriors
            counts, parts, places = host.merge_parts(*arguments, _SURE)
            if (places >= 0).all():
                return join_parts(queries, targets, counts, parts, places, posteriors)

    def _compute_whole(self, queries: Indices, targets: Indices) -> SparsePosteriors:
        """Compute pairs with the longer sequence along the rows where it is much longer."""
        is_turned = self._lengths[targets] - self._lengths[queries] > self._longest_gap
        if not is_turned.any():
            return self._engine.compute(queries, targets)
        rows = np.where(is_turned, targets, queries)
        columns = np.where(is_turned, queries, targets)
        return with_sides_changed(self._engine.compute(rows, columns), is_turned)

    def cancel(self) -> None:
        """Make a running `compute`, and each to come, raise InterruptedError."""
        self._engine.cancel()
        if self._host is not None:
            self._host.cancel()

    def close(self) -> None:
        """Free what the engine holds."""
        self._engine.close()


_PIECE_RESIDUES = 1 << 18
"""Residues of queries whose posteriors are in memory at a time."""


class PairPosteriors:
    """Computes posteriors of pairs of one set, or of two.

    Parameters
    ----------
    queries, targets : SequenceSet
        The same object for pairs of one set.
    device : str
        See `open_posterior_engine`.
    cells : int
        How much there is to do, about.

    Raises
    ------
    DeviceError, KernelBuildError
        See `open_posterior_engine`.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet,
        *,
        device: str,
        threads: int,
        memory_bytes: int,
        cells: int,
    ) -> None:
        self.threads = threads
        self._lengths = queries.lengths
        self._before = 0 if targets is queries else len(queries)
        self._engine: PosteriorComputer = open_posterior_engine(
            device,
            PosteriorRequest(
                queries if targets is queries else join_sets((queries, targets), are_numbered=True),
                threads=threads,
                memory_bytes=memory_bytes,
                cells=cells,
                calls=CALLS,
            ),
        )

    def pieces(self, query: Indices, target: Indices) -> Iterator[tuple[slice, SparsePosteriors]]:
        """Compute the posteriors of some pairs, as many at a time as memory is meant to hold."""
        filled = np.cumsum(self._lengths[query], dtype=np.int64) // _PIECE_RESIDUES
        bounds = [0, *(np.flatnonzero(np.diff(filled)) + 1).tolist(), len(query)]
        parts = [slice(start, stop) for start, stop in itertools.pairwise(bounds) if start < stop]
        pairs = ((query[part], target[part] + self._before) for part in parts)
        at_once = max(1, self._engine.residues_at_once // _PIECE_RESIDUES // BATCHES)
        yield from zip(parts, compute_pieces(self._engine, pairs, at_once), strict=True)

    def cancel(self) -> None:
        """Make what is computed raise InterruptedError; from any thread."""
        self._engine.cancel()

    def close(self) -> None:
        """Free what the engine holds."""
        self._engine.close()


class ColumnConfidence:
    """How sure the columns of alignments are, computed anew from posteriors of their pairs.

    Parameters
    ----------
    device : str
        See `open_posterior_engine`.
    memory_bytes : int
        As for `PairPosteriors`.
    cells : int
        How much there may be to do, about.
    """

    def __init__(self, device: str, threads: int, memory_bytes: int, cells: int = 0) -> None:
        self._options = {"threads": threads, "memory_bytes": memory_bytes, "cells": cells}
        self._device = device

    def marks(self, alignments: Alignments) -> tuple[UInt8s, Int64s]:
        """Return a mark for each column; see `mark_columns`.

        Parameters
        ----------
        alignments : Alignments
            With CIGARs, on strand plus.

        Returns
        -------
        marks : ndarray of uint8
        offsets : ndarray of int64, shape (n + 1,)
        """
        posteriors = PairPosteriors(
            alignments.queries, alignments.targets, device=self._device, **self._options
        )
        try:
            parts = [
                mark_columns(piece, alignments[part], posteriors.threads)[0]
                for part, piece in posteriors.pieces(alignments.query, alignments.target)
            ]
        finally:
            posteriors.close()
        offsets = np.concatenate(([0], np.cumsum(alignments.columns, dtype=np.int64)))
        return np.concatenate([np.zeros(0, np.uint8), *parts]), offsets
