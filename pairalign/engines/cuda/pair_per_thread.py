"""Kernels that give each pair a thread, gpu-pairAlign's: ``cuda/pair_per_thread/``.

References
----------
J. Blazewicz, W. Frohmberg, M. Kierzynka, E. Pesch, P. Wojciechowski: Protein alignment algorithms
with an efficient backtracking routine on multiple GPUs. BMC Bioinformatics 12:181, 2011.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Int32s, Structs
from pairalign.base.choices import ALL_MODES
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import DeviceContext, KernelFamily
from pairalign.engines.device.batch_pipeline import BatchPipeline
from pairalign.engines.device.device_rectangles import RectangleTask, align_rectangles
from pairalign.engines.device.tile_plan import (
    ARGUMENTS,
    WIDTHS,
    Costs,
    Planner,
    Rectangle,
    TileBatch,
    Width,
    width_of,
)
from pairalign.engines.kernels import find_kernel
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring

SOURCE = "pair_per_thread/pair_per_thread.cu"
BLOCK_THREADS = 256
WARPS = BLOCK_THREADS // 32
PLACING_THREADS = 1024


class PairPerThread(KernelFamily):
    """The paper's kernels: fill with flags, then trace back; or scores only.

    Parameters
    ----------
    block : int
        Rows and columns of a block of pairs: 8, 16 (as in the paper) or 32.
    slots : int
        Batches under way at a time; two let copies and host work overlap kernels.

    Attributes
    ----------
    pipeline : BatchPipeline
        Of an open family.
    """

    name = "pair-per-thread"
    pipeline: BatchPipeline[Slot]

    def __init__(self, block: int = 16, slots: int = 2) -> None:
        assert block in (8, 16, 32)
        self._block = block
        self._slot_count = slots
        self._functions: dict[tuple[Width, str], Any] = {}

    def supports(self, scoring: Scoring, detail: Detail, capability: tuple[int, int]) -> str | None:
        """Any scoring, mode and detail; None, or why the device is too old."""
        if capability < (6, 1):
            return f"compute capability {capability[0]}.{capability[1]}, needs 6.1 (dp4a)"
        return find_kernel(self.name, "cuda").why_not(scoring, detail)

    def variants(self) -> Iterator[tuple[str, dict[str, int | str]]]:
        """Yield what is compiled: each mode in each width."""
        for mode in ALL_MODES:
            for width in WIDTHS:
                yield SOURCE, self._defines(mode, width)

    def _defines(self, mode: str, width: Width) -> dict[str, int | str]:
        name = mode.upper().replace("-", "_")
        return {"MODE": name, "WIDTH": width.name, "BLOCK": self._block}

    def open(self, context: DeviceContext) -> None:
        """Upload the matrix; kernels are loaded when a window needs them."""
        self._context = context
        driver = context.driver
        matrix = np.ascontiguousarray(context.scoring.matrix, dtype=np.int32)
        self._matrix = driver.mem_alloc(matrix.nbytes)
        driver.memcpy_htod(self._matrix, matrix)
        self.pipeline = context.pipeline(self._slot_count, context.memory_bytes - matrix.nbytes)
        self._target_pairs = context.multiprocessors * 4 * BLOCK_THREADS
        self._planner = Planner(
            context.queries.lengths, context.targets.lengths, self._block, context.ranks
        )

    def close(self) -> None:
        """Free what `open` and `align` took."""
        self.pipeline.close()
        self._functions = {}
        self._matrix.free()

    def release(self) -> None:
        """Free the memory of batches; the next batch allocates it again."""
        self.pipeline.free_memory()

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align a window's pairs; see `pairalign.engines.cuda.cuda_family.KernelFamily`."""
        return align_rectangles(self._align, window, want, pair_mask)

    def _align(self, window: Window, want: Want) -> Alignments:
        """Align a window batch by batch."""
        context = self._context
        whole = Rectangle.of(window)
        task = _WindowTask(self, context, whole, want)
        self.pipeline.run(task, whole)
        return task.assembly.finish(
            context.queries.sequences, context.targets.sequences, context.scoring
        )

    def plan(self, work: Rectangle, costs: Costs, limit_bytes: int) -> Iterator[TileBatch]:
        """Cut part of a window into batches."""
        return self._planner.batches(work, costs, limit_bytes, self._target_pairs)

    @property
    def matrix_address(self) -> int:
        """Where the scores of residues lie on the device."""
        return int(self._matrix)

    def launch(
        self,
        kernel: str,
        width: Width,
        blocks: int,
        threads: int,
        slot: Slot,
        packed: Structs,
    ) -> None:
        """Queue one kernel."""
        context = self._context
        function = self._functions.get((width, kernel))
        if function is None:
            module = context.load_module(SOURCE, self._defines(context.scoring.mode, width))
            function = self._functions[width, kernel] = module.get_function(kernel)
        context.kernel = kernel
        function(packed, block=(threads, 1, 1), grid=(blocks, 1), stream=slot.stream)


@dataclass
class _Flight:
    """A batch whose kernels are queued."""

    place: slice  # of its pairs in the window
    runs_address: int | None  # where the CIGAR runs are, when they are wanted


class _WindowTask(RectangleTask[TileBatch, Slot, _Flight]):
    """A window on its way through the pipeline."""

    def __init__(
        self, family: PairPerThread, context: DeviceContext, whole: Rectangle, want: Want
    ) -> None:
        super().__init__(context, whole, want)
        self._family = family
        self._context = context
        self._width = width_of(whole, context.scoring, context.queries, context.targets)
        self._costs = Costs(self._width.border_bytes, traced=want.detail > Detail.SCORE)

    def plan(self, work: Rectangle, limit_bytes: int) -> Iterator[TileBatch]:
        return self._family.plan(work, self._costs, limit_bytes)

    def array_bytes(self, batch: TileBatch) -> dict[str, int]:
        return batch.array_bytes(self._costs)

    def is_for_host(self, batch: TileBatch) -> bool:
        return batch.on_host

    def start(self, batch: TileBatch, slot: Slot, addresses: dict[str, int]) -> _Flight:
        context, assembly, want = self._context, self.assembly, self._want
        slot.upload("tiles", batch.tiles, addresses["tiles"])
        slot.upload("pair_base", batch.rectangle.pair_base(), addresses["pair_base"])
        arguments = np.zeros((), ARGUMENTS)
        for name, address in addresses.items():
            arguments[name] = address
        for name in ("codes", "starts", "order"):
            for k, device_set in enumerate((context.queries, context.columns)):
                arguments[name][k] = int(getattr(device_set, name))
        for k, device_set in enumerate((context.queries, context.targets)):
            arguments["lengths"][k] = int(device_set.device_lengths)
        arguments["matrix"] = self._family.matrix_address
        batch.write_numbers(arguments, want, context.scoring, one_set=context.one_set)
        packed = arguments[()]

        place = assembly.next_place(batch.pairs)
        blocks = -(-len(batch.tiles) // WARPS)
        if want.detail == Detail.SCORE or want.min_raw_score is not None:
            self._launch("score_pair_per_thread", blocks, BLOCK_THREADS, slot, packed)
        if want.detail > Detail.SCORE:
            self._launch("fill_pair_per_thread", blocks, BLOCK_THREADS, slot, packed)
            self._launch("measure_pair_per_thread", blocks, BLOCK_THREADS, slot, packed)
        self._copy_fields(assembly.fields, place, batch.pairs, addresses["results"], slot)
        if assembly.run_offsets is None:
            return _Flight(assembly.place(batch.pairs), None)
        self._launch("place_runs_by_one_block", 1, PLACING_THREADS, slot, packed)
        context.driver.memcpy_dtoh_async(  # without the first, 0: it is the last of another batch
            assembly.run_offsets[place.start + 1 : place.stop + 1],
            addresses["run_offsets"] + 8,
            slot.stream,
        )
        slot.computed.record(slot.stream)
        self._launch("traceback_pair_per_thread", blocks, BLOCK_THREADS, slot, packed)
        return _Flight(assembly.place(batch.pairs), addresses["runs"])

    def _copy_fields(
        self, fields: Int32s, place: slice, pairs: int, address: int, slot: Slot
    ) -> None:
        driver = self._context.driver
        if fields.shape[1] == pairs:  # a batch is the whole window
            driver.memcpy_dtoh_async(fields, address, slot.stream)
            return
        for k, field in enumerate(fields):
            driver.memcpy_dtoh_async(field[place], address + 4 * k * pairs, slot.stream)

    def finish(self, slot: Slot, flight: _Flight) -> None:
        if flight.runs_address is not None:
            slot.computed.synchronize()  # the number of runs is known; they are being written
            runs = self.assembly.add_runs(flight.place)
            if len(runs):
                self._context.driver.memcpy_dtoh_async(runs, flight.runs_address, slot.stream)
        slot.wait()

    def _launch(self, kernel: str, blocks: int, threads: int, slot: Slot, packed: Structs) -> None:
        self._family.launch(kernel, self._width, blocks, threads, slot, packed)
