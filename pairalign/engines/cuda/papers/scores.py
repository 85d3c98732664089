"""What the kernels share that give each pair a warp and compute scores only.

A batch is a rectangle of a window; its warps take pairs from a common counter until none is left
(see ``cuda/papers/score_pairs.cuh``). Two batches are under way at a time, so that results are
copied while the next pairs are aligned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Int64s, Structs
from pairalign.base.native import struct_dtype
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import USUAL_SHARED_BYTES, DeviceContext, KernelFamily
from pairalign.engines.device.batch_pipeline import BatchPipeline
from pairalign.engines.device.device_rectangles import RectangleTask
from pairalign.engines.device.device_sets import PADDING_CODE
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.engines.kernels import find_kernel
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import CODES, Scoring

ARGUMENTS = struct_dtype(
    "uint64*2 codes starts lengths order; uint64 first_pair first_column chosen table storage "
    "profiles profile_starts results next; int64 pitch; int32 row_start rows pairs warps gap_open "
    "gap_extend one_set unused"
)
"""ScoreArguments in cuda/papers/score_pairs.cuh."""

assert ARGUMENTS.itemsize == 176

WARP = 32
MOST_PAIRS = 1 << 20
"""Pairs of a batch at most: between batches a run can be cancelled."""

_PAIR_BYTES = 12  # of its score and its two indices

Defines = Mapping[str, "int | str"]


@dataclass(frozen=True)
class Launch:
    """How a batch is launched.

    Attributes
    ----------
    defines : mapping
    shared_bytes : int
        Dynamic shared memory of a block.
    entry_bytes, pitch : int
        Global memory that each warp has for itself: `pitch` entries.
    profile_starts : ndarray of int64, or None
        Where the profile of each of the batch's rows starts, and the last one ends, in bytes.
    """

    source: str
    kernel: str
    defines: Defines
    warps_per_block: int
    blocks: int
    shared_bytes: int = 0
    entry_bytes: int = 0
    pitch: int = 0
    profile_starts: Int64s | None = None

    @property
    def storage_bytes(self) -> int:
        """Global memory of all warps."""
        return self.blocks * self.warps_per_block * self.entry_bytes * self.pitch

    @property
    def profile_bytes(self) -> int:
        """Global memory of the rows' profiles."""
        return 0 if self.profile_starts is None else int(self.profile_starts[-1])


@dataclass(frozen=True)
class ScoreBatch:
    """Some pairs that are on the device together.

    Attributes
    ----------
    launch : Launch
        Without blocks: the device has no room for a single warp's memory.
    numbers : ndarray of int64, or None
        Of the chosen pairs in the rectangle; None: all.
    """

    rectangle: Rectangle
    launch: Launch
    numbers: Int64s | None

    @property
    def pairs(self) -> int:
        """Number of pairs that are aligned."""
        return self.rectangle.pairs if self.numbers is None else len(self.numbers)

    def tables(self) -> dict[str, npt.NDArray[Any]]:
        """Small arrays of the batch, by their names in `ARGUMENTS`; the widest entries first."""
        first = self.rectangle.first_columns()
        counts = self.rectangle.column_stop - first
        tables: dict[str, npt.NDArray[Any]] = {}
        if self.launch.profile_starts is not None:
            tables["profile_starts"] = self.launch.profile_starts
        tables["first_pair"] = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        tables["first_column"] = first.astype(np.int32)
        tables["next"] = np.zeros(1, np.int32)
        if self.numbers is not None and len(self.numbers):
            tables["chosen"] = self.numbers.astype(np.int32)
        return tables

    def array_bytes(self) -> dict[str, int]:
        """Device arrays of the batch, in bytes."""
        sizes = {
            "tables": sum(table.nbytes for table in self.tables().values()),
            "results": _PAIR_BYTES * self.pairs,
            "storage": self.launch.storage_bytes,
            "profiles": self.launch.profile_bytes,
        }
        return {name: size for name, size in sizes.items() if size}


class ScoreFamily(KernelFamily, ABC):
    """Kernels that give each pair a warp; a subclass says how a batch is launched.

    Parameters
    ----------
    slots : int
        Batches under way at a time; two let copies and host work overlap kernels.
    batch_pairs : int
        Pairs of a batch at most.
    """

    name: str
    pipeline: BatchPipeline[Slot]

    def __init__(self, slots: int = 2, batch_pairs: int = MOST_PAIRS) -> None:
        self._slot_count = slots
        self._batch_pairs = batch_pairs
        self._functions: dict[tuple[object, ...], Any] = {}

    @abstractmethod
    def _plan(self, rectangle: Rectangle, limit_bytes: int) -> Iterator[tuple[Rectangle, Launch]]:
        """Cut some rows of a window into batches."""

    def supports(self, scoring: Scoring, detail: Detail, capability: tuple[int, int]) -> str | None:
        """None, or why not: alignments are wanted, or the device is too old."""
        reason = find_kernel(self.name, "cuda").why_not(scoring, detail)
        if reason is None and capability < (6, 1):
            reason = f"compute capability {capability[0]}.{capability[1]}, needs 6.1"
        return reason

    def open(self, context: DeviceContext) -> None:
        """Upload the scores; kernels are loaded when a window needs them."""
        self._context = context
        self._table, self.table_bytes = padded_table(context.scoring)
        self._device_table = context.driver.mem_alloc(self._table.nbytes)
        context.driver.memcpy_htod(self._device_table, self._table)
        memory_bytes = context.memory_bytes - self._table.nbytes
        self.pipeline = context.pipeline(self._slot_count, memory_bytes, grows=False)

    def close(self) -> None:
        """Free what `open` and `align` took."""
        self.pipeline.close()
        self._functions = {}
        self._device_table.free()

    def release(self) -> None:
        """Free the memory of batches; the next batch allocates it again."""
        self.pipeline.free_memory()

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Score a window batch by batch; see `pairalign.engines.cuda.cuda_family.KernelFamily`."""
        assert want.detail == Detail.SCORE, "CudaEngine was opened for scores"
        context = self._context
        whole = Rectangle.of(window)
        task = _ScoreTask(self, context, whole, want, pair_mask)
        if pair_mask is None or pair_mask.any():
            self.pipeline.run(task, whole)
        return task.assembly.finish(
            context.queries.sequences, context.targets.sequences, context.scoring
        )

    def cut(self, rectangle: Rectangle, limit_bytes: int) -> Iterator[tuple[Rectangle, Launch]]:
        """Cut a rectangle into batches that fit; those that cannot have no blocks."""
        most_pairs = min(self._batch_pairs, max(WARP, limit_bytes // (4 * _PAIR_BYTES)))
        for part in rectangles(rectangle, most_pairs):
            for batch, launch in self._plan(part, limit_bytes):
                if batch.pairs:
                    yield batch, _fitted(batch, launch, limit_bytes)

    @property
    def table_address(self) -> int:
        """Where the scores of residues lie on the device."""
        return int(self._device_table)

    def queue(self, launch: Launch, slot: Slot, packed: Structs) -> None:
        """Queue the kernels of a batch."""
        self._launch(launch, launch.kernel, launch.blocks, launch.shared_bytes, slot, packed)

    def _launch(
        self,
        launch: Launch,
        kernel: str,
        blocks: int,
        shared: int,
        slot: Slot,
        packed: Structs,
    ) -> None:
        context = self._context
        key = (kernel, *sorted(launch.defines.items()))
        function = self._functions.get(key)
        if function is None:
            module = context.load_module(launch.source, launch.defines)
            function = self._functions[key] = module.get_function(kernel)
        if shared > USUAL_SHARED_BYTES:
            attribute = context.driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
            function.set_attribute(attribute, shared)
        context.kernel = kernel
        threads = launch.warps_per_block * WARP
        function(packed, block=(threads, 1, 1), grid=(blocks, 1), stream=slot.stream, shared=shared)


class _ScoreTask(RectangleTask[ScoreBatch, Slot, None]):
    """Pairs of a window on their way through the pipeline."""

    def __init__(
        self,
        family: ScoreFamily,
        context: DeviceContext,
        whole: Rectangle,
        want: Want,
        pair_mask: Bools | None,
    ) -> None:
        super().__init__(context, whole, want, pair_mask)
        self._family = family
        self._context = context

    def plan(self, work: Rectangle, limit_bytes: int) -> Iterator[ScoreBatch]:
        for rectangle, launch in self._family.cut(work, limit_bytes):
            mask = self.chosen(rectangle.pairs)
            numbers = None if mask is None else np.flatnonzero(mask)
            yield ScoreBatch(rectangle, launch, numbers)

    def array_bytes(self, batch: ScoreBatch) -> dict[str, int]:
        return batch.array_bytes()

    def is_for_host(self, batch: ScoreBatch) -> bool:
        return batch.launch.blocks == 0

    def start(self, batch: ScoreBatch, slot: Slot, addresses: dict[str, int]) -> None:
        context, launch, pairs = self._context, batch.launch, batch.pairs
        arguments = np.zeros((), ARGUMENTS)
        for k, device_set in enumerate((context.queries, context.columns)):
            for name in ("codes", "starts", "order"):
                arguments[name][k] = int(getattr(device_set, name))
            arguments["lengths"][k] = int(device_set.device_lengths)
        tables = batch.tables()
        at = addresses["tables"]
        for name, array in tables.items():
            arguments[name] = at
            at += array.nbytes
        slot.upload(
            "tables",
            np.concatenate([array.view(np.uint8) for array in tables.values()]),
            addresses["tables"],
        )
        for name in ("results", "storage", "profiles"):
            arguments[name] = addresses.get(name, 0)
        arguments["table"] = self._family.table_address
        arguments["pitch"] = launch.pitch
        arguments["row_start"] = batch.rectangle.row_start
        arguments["rows"] = batch.rectangle.row_stop - batch.rectangle.row_start
        arguments["pairs"] = pairs
        arguments["warps"] = launch.blocks * launch.warps_per_block
        arguments["gap_open"] = context.scoring.gap_open
        arguments["gap_extend"] = context.scoring.gap_extend
        arguments["one_set"] = context.one_set
        if pairs:
            self._family.queue(launch, slot, arguments[()])
            place = self.assembly.next_place(pairs)
            for k, field in enumerate(self.assembly.fields):
                context.driver.memcpy_dtoh_async(
                    field[place], addresses["results"] + 4 * k * pairs, slot.stream
                )
        self.assembly.place(pairs)
        self._started += batch.rectangle.pairs

    def finish(self, slot: Slot, flight: None) -> None:
        slot.wait()


def _fitted(rectangle: Rectangle, launch: Launch, limit_bytes: int) -> Launch:
    """Launch fewer blocks where their memory would be too much."""
    fixed = sum(ScoreBatch(rectangle, replace(launch, blocks=0), None).array_bytes().values())
    block_bytes = launch.warps_per_block * launch.entry_bytes * launch.pitch
    if block_bytes == 0:
        return launch if fixed <= limit_bytes else replace(launch, blocks=0)
    return replace(launch, blocks=max(0, min(launch.blocks, (limit_bytes - fixed) // block_bytes)))


def rectangles(whole: Rectangle, most_pairs: int) -> Iterator[Rectangle]:
    """Cut a rectangle into parts with a limited number of pairs: some rows, or some of a row."""
    first = whole.first_columns()
    counts = np.cumsum(whole.column_stop - first)
    row, before = 0, 0
    while row < len(counts):
        stop = max(row + 1, int(np.searchsorted(counts, before + most_pairs, side="right")))
        start = whole.row_start
        part = replace(whole, row_start=start + row, row_stop=start + stop)
        if part.pairs <= most_pairs:
            yield part
        else:
            for column in range(int(first[row]), whole.column_stop, most_pairs):
                column_stop = min(column + most_pairs, whole.column_stop)
                yield replace(part, column_start=column, column_stop=column_stop)
        row, before = stop, int(counts[stop - 1])


def padded_table(scoring: Scoring) -> tuple[npt.NDArray[Any], int]:
    """Return the scores with those of padding, and the bytes of an entry: 1 if that will do.

    Padding in front of a sequence must hold what the border of the matrix holds: two padding
    residues match at score 0, one against a residue is never better than a gap.
    """
    matrix = scoring.matrix.astype(np.int64)
    worst = -max(scoring.gap_open, 1) if scoring.mode == "global" else 0
    matrix[PADDING_CODE, :] = matrix[:, PADDING_CODE] = worst
    matrix[PADDING_CODE, PADDING_CODE] = 0
    assert matrix.shape == (CODES, CODES)
    if matrix.min() >= -128 and matrix.max() <= 127:
        return matrix.astype(np.int8), 1
    return matrix.astype(np.int32), 4


def fits_shorts(scoring: Scoring, rows: int, columns: int) -> bool:
    """Whether no H, E or F of sequences of these lengths leaves 16 bits."""
    low, high = scoring.score_bounds(rows, columns)
    return low - scoring.gap_open >= -(1 << 15) and high < 1 << 15
