"""The striped kernel on OpenCL: scores only, see ``opencl/papers/score_striped.cl``.

References
----------
T. Kakimoto, K. Dohi, Y. Shibata, K. Oguri: Performance comparison of GPU programming frameworks
with the striped Smith-Waterman algorithm. HEART 2012.
M. Farrar: Striped Smith-Waterman speeds database searches six times over other SIMD
implementations. Bioinformatics 23(2):156-161, 2007.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Int64s
from pairalign.base.native import struct_dtype
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.engines.kernels import find_kernel
from pairalign.engines.opencl.opencl_devices import OpenClDevice
from pairalign.engines.opencl.opencl_family import Arena, OpenClContext
from pairalign.engines.opencl.opencl_windows import WindowFamily, WindowTask
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import CODES, Scoring

SOURCE = "papers/score_striped.cl"
ITEMS = 32
VOTES = ("LOCAL_MEMORY", "SUB_GROUP", "WARP")
"""How work-items agree whether F matters; see `OpenClStriped`."""

MOST_PAIRS = 1 << 18
"""Pairs of a batch at most, unless a row has more: between batches a run can be cancelled."""

RECTANGLE = struct_dtype(
    "int64 shift; int32 row_start rows pairs groups gap_open gap_extend one_set chosen pitch unused"
)
"""Rectangle in opencl/papers/score_striped.cl."""

assert RECTANGLE.itemsize == 48


@dataclass(frozen=True)
class _Launch:
    """How a batch of whole rows (or part of one) is launched.

    Attributes
    ----------
    profile_starts : ndarray of int64, shape (rows + 1,)
        Where each row's profile starts, in entries of four scores.
    pitch : int
        Cells of a work-group, 8 bytes each.
    local : bool
        Whether these lie in local memory.
    groups : int
        Work-groups; they take the pairs in turn.
    """

    profile_starts: Int64s
    pitch: int
    local: bool
    groups: int

    def array_bytes(
        self, rectangle: Rectangle, pairs: int, entry_bytes: int, chosen: bool
    ) -> dict[str, int]:
        """Size of each array on the device."""
        rows = rectangle.row_stop - rectangle.row_start
        sizes = {
            "first_pair": 4 * (rows + 1),
            "first_column": 4 * rows,
            "chosen": 4 * pairs if chosen else 4,
            "profile_starts": 8 * (rows + 1),
            "profiles": entry_bytes * int(self.profile_starts[-1]),
            "results": 12 * pairs,
        }
        if not self.local:
            sizes["storage"] = 8 * self.pitch * self.groups
        return sizes


class OpenClStriped(WindowFamily):
    """Farrar's striped order, a work-group of 32 a pair.

    Parameters
    ----------
    vote : str
        Of `VOTES`. ``LOCAL_MEMORY`` runs anywhere and is the default; ``SUB_GROUP`` needs
        sub-groups of 32, ``WARP`` NVIDIA's compiler.
    """

    name = find_kernel("striped", "opencl").name

    def __init__(self, vote: str = "LOCAL_MEMORY") -> None:
        assert vote in VOTES
        self._vote = vote

    def supports(self, scoring: Scoring, detail: Detail, device: OpenClDevice) -> str | None:
        """None, or why not: alignments are wanted, or the device cannot."""
        return find_kernel(self.name, "opencl").why_not(scoring, detail) or device.why_not()

    def _defines(self, launch: _Launch) -> dict[str, int | str]:
        return {
            "MODE": self._context.scoring.mode.upper(),
            "ENTRY": self._entry,
            "STORE": "local" if launch.local else "global",
            "VOTE": self._vote,
        }

    def open(self, context: OpenClContext) -> None:
        """Upload the scores; see `WindowFamily`."""
        super().open(context)
        matrix = context.scoring.matrix
        narrow = bool(matrix.min() >= -128 and matrix.max() <= 127)
        self._entry, self.entry_bytes = ("char4", 4) if narrow else ("int4", 16)

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Score a window batch by batch; see `OpenClFamily`."""
        assert want.detail == Detail.SCORE, "the engine was opened for scores"
        return self.run_task(_ScoreTask(self, self._context, window, want, pair_mask))

    def batches(self, rectangle: Rectangle, limit_bytes: int) -> Iterator[Rectangle]:
        """Cut a rectangle into batches of whole rows that fit; a single row may not."""
        pairs = rectangle.pairs
        if pairs == 0:
            return
        sizes = self.plan(rectangle).array_bytes(rectangle, pairs, self.entry_bytes, True)
        one_row = rectangle.row_stop - rectangle.row_start == 1
        if one_row or (pairs <= MOST_PAIRS and self.fits(sizes, limit_bytes)):
            yield rectangle
            return
        middle = (rectangle.row_start + rectangle.row_stop) // 2
        yield from self.batches(replace(rectangle, row_stop=middle), limit_bytes)
        yield from self.batches(replace(rectangle, row_start=middle), limit_bytes)

    def fits(self, sizes: dict[str, int], limit_bytes: int) -> bool:
        """Whether arrays of these sizes find room, all together and each for itself."""
        largest = self._context.device.array_bytes
        return sum(sizes.values()) <= limit_bytes and max(sizes.values()) <= largest

    def plan(self, rectangle: Rectangle) -> _Launch:
        """Choose how a batch is launched."""
        context = self._context
        device = context.device
        lengths = context.queries.lengths[rectangle.row_start : rectangle.row_stop]
        segments = -(-lengths.astype(np.int64) // ITEMS)
        profile_starts = np.concatenate(([0], np.cumsum(-(-segments // 4) * ITEMS * CODES)))
        pitch = ITEMS * int(segments[0])
        # A third of local memory, so that several work-groups share a compute unit.
        local = 8 * pitch <= device.local_bytes // 3
        # Many work-groups balance the load; of those with memory of their own, as many as can run.
        groups = rectangle.pairs if local else min(rectangle.pairs, 32 * device.compute_units)
        return _Launch(profile_starts, pitch, local, groups)

    def run(self, batch: _Batch, buffers: dict[str, Any]) -> None:
        """Score a batch whose arrays have their buffers, and wait for it."""
        context, rectangle, launch = self._context, batch.rectangle, batch.launch
        first = rectangle.first_columns()
        counts = rectangle.column_stop - first
        first_pair = np.concatenate(([0], np.cumsum(counts)))
        context.write(buffers["first_pair"], first_pair.astype(np.int32))
        context.write(buffers["first_column"], first.astype(np.int32))
        context.write(buffers["profile_starts"], launch.profile_starts)
        if batch.numbers is not None:
            context.write(buffers["chosen"], batch.numbers.astype(np.int32))

        packed = np.zeros((), RECTANGLE)
        packed["shift"] = self._reversed.shift
        packed["row_start"] = rectangle.row_start
        packed["rows"] = len(first)
        packed["pairs"] = batch.pairs
        packed["groups"] = launch.groups
        packed["gap_open"] = context.scoring.gap_open
        packed["gap_extend"] = context.scoring.gap_extend
        packed["one_set"] = context.one_set
        packed["chosen"] = batch.numbers is not None
        packed["pitch"] = 0 if launch.local else launch.pitch

        sets = []
        for device_set, codes in (
            (context.queries, context.queries.codes),
            (context.targets, self._reversed.codes),
        ):
            sets += [codes, device_set.starts, device_set.device_lengths, device_set.order]
        cl = context.device.cl
        starts, profiles = buffers["profile_starts"], buffers["profiles"]
        storage = cl.LocalMemory(8 * launch.pitch) if launch.local else buffers["storage"]
        arguments = [*sets, self._matrix, starts, profiles, packed[()]]
        context.launch(self._kernel("build_profiles", launch), len(first), ITEMS, arguments)
        tables = [buffers["first_pair"], buffers["first_column"], buffers["chosen"]]
        arguments = [*sets, *tables, starts, profiles, storage, buffers["results"], packed[()]]
        context.launch(self._kernel("score_striped", launch), launch.groups, ITEMS, arguments)
        context.queue.finish()

    def _kernel(self, name: str, launch: _Launch) -> Any:
        key = (name, launch.local)
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._context.kernel_of(SOURCE, name, self._defines(launch))
            self._kernels[key] = kernel
        return kernel


@dataclass(frozen=True)
class _Batch:
    """Some rows of a window, or part of one; `numbers`: of the chosen pairs there, None: all."""

    rectangle: Rectangle
    launch: _Launch
    numbers: Int64s | None
    sizes: dict[str, int]
    fits: bool

    @property
    def pairs(self) -> int:
        return self.rectangle.pairs if self.numbers is None else len(self.numbers)


@dataclass(frozen=True)
class _Flight:
    """A batch that has been scored, and the buffer of its results."""

    pairs: int
    results: Any


class _ScoreTask(WindowTask[_Batch, _Flight]):
    """Pairs of a window on their way through the pipeline."""

    def __init__(
        self,
        family: OpenClStriped,
        context: OpenClContext,
        window: Window,
        want: Want,
        pair_mask: Bools | None,
    ) -> None:
        super().__init__(context, window, want, pair_mask)
        self._family = family

    def plan(self, work: Rectangle, limit_bytes: int) -> Iterator[_Batch]:
        family = self._family
        for rectangle in family.batches(work, limit_bytes):
            mask = self.chosen(rectangle.pairs)
            numbers = None if mask is None else np.flatnonzero(mask)
            launch = family.plan(rectangle)
            pairs = rectangle.pairs if numbers is None else len(numbers)
            sizes = launch.array_bytes(rectangle, pairs, family.entry_bytes, numbers is not None)
            if pairs:
                fits = family.fits(sizes, limit_bytes)
                yield _Batch(rectangle, launch, numbers, sizes, fits)
            else:
                self._started += rectangle.pairs

    def array_bytes(self, batch: _Batch) -> dict[str, int]:
        return batch.sizes

    def is_for_host(self, batch: _Batch) -> bool:
        return not batch.fits

    def start(self, batch: _Batch, slot: Arena, addresses: dict[str, Any]) -> _Flight:
        self._family.run(batch, addresses)
        self._started += batch.rectangle.pairs
        return _Flight(batch.pairs, addresses["results"])

    def finish(self, slot: Arena, flight: _Flight) -> None:
        place = self.assembly.place(flight.pairs)
        self._context.read_fields(self.assembly.fields, place, flight.results)
