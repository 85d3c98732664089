"""Which warp computes which pairs' posteriors, and what memory it has; see ``cuda/posterior/``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import ARITHMETICS
from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.native import struct_dtype
from pairalign.engines.cuda.build import ModuleRequest
from pairalign.scoring.posterior_models import CODES, OF_STATES, PosteriorModel

LANES = 32
TASK = struct_dtype("int32 row first count longest block unused")
"""PosteriorTask in cuda/posterior/posterior.cuh."""

FOUND = struct_dtype("int32 column; uint32 row_and_value")
"""PosteriorFound in cuda/posterior/posterior.cuh."""

COUNTERS = struct_dtype("uint64 tasks entries")

_PLACES = "exponents backward saved between sides in_strip"
_IN_ARENA = (
    "tasks columns first_strips counters found strip_starts strip_counts counts too_wide memory"
)

ARGUMENTS = struct_dtype(
    f"uint64 codes starts lengths numbers {_IN_ARENA}; int64 warp_bytes {_PLACES} found_size; "
    "int32 task_count strip_entries"
)
"""PosteriorArguments in cuda/posterior/posterior.cuh."""

EXPAND = struct_dtype(
    "uint64 found first_strips strip_starts strip_counts strips offsets rows columns values; int64 "
    "pairs"
)
"""ExpandArguments in cuda/posterior/posterior.cuh."""

_STRIP = 8  # rows
_MOST_STRIP_ENTRIES = (
    1 << 16
) - 1  # they are counted in 16 bits; with more, a pair is for the host

SOURCE = "posterior/posterior.cu"

Indices = Int32s


@dataclass(frozen=True)
class Kernel:
    """A kernel of ``cuda/posterior/posterior.cu``.

    Attributes
    ----------
    match_states : int
        Of the pair HMM.
    number_bytes : int
        4 or 8.
    """

    match_states: int
    number_bytes: int

    @property
    def name(self) -> str:
        """What it is called there."""
        return f"posteriors_{ARITHMETICS[self.number_bytes // 4 - 1]}_{self.match_states}"

    @property
    def part(self) -> dict[str, int | str]:
        """What is defined to compile this kernel and none of the others."""
        return {
            "PAIRALIGN_NUMBER_BITS": 8 * self.number_bytes,
            "PAIRALIGN_MATCH_STATES": self.match_states,
        }

    @property
    def module(self) -> ModuleRequest:
        """The module that it is loaded from."""
        return ModuleRequest(SOURCE, {}, self.part)

    @property
    def numbers(self) -> np.dtype[Any]:
        """PosteriorNumbers in cuda/posterior/posterior.cuh."""
        number, table = f"<f{self.number_bytes}", CODES * CODES
        counts = {"hmm_emission": self.match_states * table, "partition_emission": table}
        counts |= dict.fromkeys(OF_STATES, self.match_states)
        layout = [
            (field.name, number, (counts[field.name],))
            if field.name in counts
            else (field.name, number)
            for field in fields(PosteriorModel)
        ]
        return np.dtype([*layout, ("threshold", number), ("growth", number)])

    @property
    def state(self) -> int:
        """Numbers of a place and lane between rows; as many are handed on between columns."""
        return self.match_states + 4

    @property
    def chunk_bytes(self) -> int:
        """As in cuda/posterior/posterior.cuh."""
        return 32 if self.match_states == 1 else 24

    @property
    def multiprocessor_warps(self) -> int:
        """That are worth while on a multiprocessor."""
        return 16 if self.match_states == 1 else 6

    def block_warps(self, shared_bytes: int) -> int:
        """Return the warps of a block that may have some shared memory."""
        most = 4 if self.match_states == 1 else 3  # as in cuda/posterior/posterior.cu
        fitting = [n for n in range(1, most) if self.shared_bytes(n + 1) <= shared_bytes]
        return 1 + len(fitting)

    def shared_bytes(self, warps: int) -> int:
        """Return the shared memory that a block of some warps needs."""
        kept = self.match_states + 1  # numbers of a cell, and tables
        chunk = self.chunk_bytes * _STRIP * kept * LANES
        return kept * CODES * CODES * self.number_bytes + warps * chunk

    def strips_of_block(self, strips: Int64s) -> Int64s:
        """Return between how many strips the state is kept at a time, to take least memory."""
        strip = 1 + _STRIP * self.number_bytes / self.chunk_bytes  # states a column
        blocks: Int64s = np.ceil(np.sqrt(strips / strip)).astype(np.int64)
        return blocks


def kernels_of(match_states: int) -> list[Kernel]:
    """Return the kernels of a model, those of the narrowest arithmetic first."""
    return [Kernel(match_states, number_bytes) for number_bytes in (4, 8)]


@dataclass(frozen=True)
class Plan:
    """Pairs in the order in which warps take them.

    Attributes
    ----------
    queries_of_all, targets_of_all : ndarray of int32, shape (pairs,)
        Of the pairs in the order they were given.
    places : ndarray of int64, shape (pairs,)
        Where each of these is among the tasks' pairs.
    tasks : ndarray of TASK
        The largest first.
    targets, rows_of_pairs : ndarray of int32, shape (pairs,)
        Of the tasks' pairs: the sequence y, and the length of x.
    first_strips : ndarray of int64, shape (pairs,)
        Where the strips of each of the tasks' pairs begin.
    strips : int
        Of all pairs.
    warp_bytes : int
        Memory of a warp.
    offsets : dict of str to int
        What lies where in it.
    strip_entries : int
        Posteriors that a pair's strip may have.
    """

    queries_of_all: Indices
    targets_of_all: Indices
    places: Int64s
    tasks: npt.NDArray[Any]
    targets: Indices
    rows_of_pairs: Indices
    first_strips: Int64s
    strips: int
    warps: int
    warp_bytes: int
    offsets: dict[str, int]
    strip_entries: int

    def arguments(self, at: Mapping[str, int], found_size: int) -> npt.NDArray[Any]:
        """Return the kernel's arguments but for the set's; `at`: addresses of arrays."""
        arguments = np.zeros((), ARGUMENTS)
        for name in _IN_ARENA.split():
            arguments[name] = at[name]
        for name in _PLACES.split():
            arguments[name] = self.offsets[name]
        arguments["warp_bytes"] = self.warp_bytes
        arguments["found_size"] = found_size
        arguments["task_count"] = len(self.tasks)
        arguments["strip_entries"] = self.strip_entries
        return arguments

    def pairs_of(self, chosen: Bools) -> Int64s:
        """Return which of the given pairs are chosen among the tasks' pairs."""
        return np.flatnonzero(chosen[self.places])


def strips_of(rows: Int32s) -> Int32s:
    """Return how many strips sequences x of these lengths have."""
    return (rows + _STRIP - 1) // _STRIP


def plan_pairs(
    lengths: Int64s,
    queries: Indices,
    targets: Indices,
    *,
    threshold: float,
    kernel: Kernel,
    block_warps: int,
    most_warps: int,
    memory_bytes: int,
) -> Plan | None:
    """Deal pairs out to tasks, and divide memory among warps.

    Parameters
    ----------
    lengths : ndarray of int64, shape (sequences,)
    queries, targets : ndarray of int32, shape (pairs,)
    block_warps : int
        Of a block.
    most_warps : int
        That run at the same time.
    memory_bytes : int
        For all warps.

    Returns
    -------
    Plan or None
        None: there is no room for one warp.
    """
    order = _order(lengths, queries, targets)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    rows = lengths[queries[order]].astype(np.int32)
    strips = strips_of(rows).astype(np.int64)
    tasks = _deal(lengths, queries[order], targets[order])
    warps = min(most_warps, len(tasks))
    longest = tasks["longest"].astype(np.int64)
    x_lengths = lengths[tasks["row"]]
    strip_entries = min(
        _STRIP * int(longest.max()), int(_STRIP * (1.5 / threshold + 4)), _MOST_STRIP_ENTRIES
    )
    x_strips = (x_lengths + _STRIP - 1) // _STRIP
    for block in (x_strips, kernel.strips_of_block(x_strips)):
        offsets, warp_bytes = _divide(x_strips, longest, block, kernel, strip_entries)
        if warps * warp_bytes <= memory_bytes:
            break
    warps = min(warps, memory_bytes // warp_bytes)
    if warps < 1:
        return None
    tasks["block"] = block
    if warps >= block_warps:
        warps -= warps % block_warps
    return Plan(
        queries,
        targets,
        places,
        tasks,
        np.ascontiguousarray(targets[order]),
        rows,
        np.cumsum(strips) - strips,
        int(strips.sum()),
        warps,
        warp_bytes,
        offsets,
        strip_entries,
    )


def _order(lengths: Int64s, queries: Indices, targets: Indices) -> Int64s:
    """Return pairs by query, then the longest targets first; one key sorts faster than two."""
    spans = int(lengths.max()) + 1
    keys = queries * np.int64(spans) + (spans - 1 - lengths)[targets]
    return np.argsort(keys, kind="stable")


def _deal(lengths: Int64s, queries: Indices, targets: Indices) -> npt.NDArray[Any]:
    """Return tasks of pairs that are sorted by query, the longest targets first."""
    begins = np.flatnonzero(np.diff(queries, prepend=-1))
    counts = np.diff(begins, append=len(queries))
    tasks_each = (counts + LANES - 1) // LANES
    number = np.arange(tasks_each.sum()) - np.repeat(np.cumsum(tasks_each) - tasks_each, tasks_each)
    tasks = np.zeros(len(number), TASK)
    tasks["row"] = np.repeat(queries[begins], tasks_each)
    tasks["first"] = np.repeat(begins, tasks_each) + LANES * number
    tasks["count"] = np.minimum(LANES, np.repeat(counts, tasks_each) - LANES * number)
    tasks["longest"] = lengths[targets[tasks["first"]]]
    return tasks[np.argsort(-lengths[tasks["row"]] * tasks["longest"], kind="stable")]


def _divide(
    strips: Int64s,
    longest: Int64s,
    block: Int64s,
    kernel: Kernel,
    strip_entries: int,
) -> tuple[dict[str, int], int]:
    """Return where things lie in a warp's memory, codes first, and how large it is."""
    width = longest + 2
    chunks = longest * kernel.number_bytes // kernel.chunk_bytes + 1
    state = kernel.state * LANES * kernel.number_bytes
    sizes = {
        "codes": int(width.max()) * LANES,
        "exponents": int(strips.max()) * 2 * LANES * 4,
        "backward": int(width.max()) * state,
        "saved": int(((strips + block - 1) // block * width).max()) * state,
        "between": int((np.maximum(block - 1, 1) * width).max()) * state,
        "sides": int((block * chunks).max()) * _STRIP * state,
        "in_strip": strip_entries * LANES * 2 * kernel.number_bytes,
    }
    offsets, total = {}, 0
    for name, size in sizes.items():
        offsets[name] = total
        total += -(-size // 256) * 256
    return offsets, total
