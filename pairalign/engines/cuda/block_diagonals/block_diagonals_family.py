"""Kernels that give a long pair the whole device: block diagonals, see ``docs/long-pairs.md``.

The kernels are in ``cuda/block_diagonals``: ``fill.cu``, ``ends.cu``, ``locate.cu`` and
``traceback.cu``.

References
----------
J. Huynh, K. Vang, J. Thao, A. Jalili, F. Al-Humayani: Optimizing Needleman-Wunsch algorithm through
GPU parallelization techniques. University of Minnesota.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.base.arrays import Bools, Int32s, Structs, UInt8s
from pairalign.base.choices import MODES
from pairalign.engines.cuda.block_diagonals.block_diagonals_plan import (
    LANES,
    PARAMETERS,
    PROGRESS,
    TILE_STRIP,
    Layout,
    Shape,
    Task,
    cut_batch,
    cut_launches,
    describe_pairs,
)
from pairalign.engines.cuda.block_diagonals.block_diagonals_results import Chosen, make_alignments
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.build import ModuleRequest
from pairalign.engines.cuda.cuda_family import USUAL_SHARED_BYTES, DeviceContext, KernelFamily
from pairalign.engines.device.batch_pipeline import BatchPipeline, BatchTask
from pairalign.engines.device.device_sets import padded_lengths
from pairalign.engines.device.tile_plan import ALIGNMENT
from pairalign.engines.kernels import find_kernel
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring

FILL, ENDS = "block_diagonals/fill.cu", "block_diagonals/ends.cu"
LOCATE, TRACEBACK = "block_diagonals/locate.cu", "block_diagonals/traceback.cu"

FILL_KERNELS = {f"fill_k{rows}": rows for rows in (4, 8, 16)}
"""Rows a lane of each kernel in `FILL`."""

OPEN_LIMIT = 1 << 20
"""What opening a gap may cost at most: 20 bits of a word hold the difference of H and a gap."""

CELLS_A_MULTIPROCESSOR = 8e9
"""Cells of a launch, about: well below a second's work, for runs are cancelled between launches."""

WARPS_A_MULTIPROCESSOR = 32
MOST_WARPS = 4094  # fewer than TAGS in cuda/block_diagonals/block_diagonals.cuh
WARPS_A_BLOCK = (4, 2, 1)  # as shared memory allows: four are one for each part of a multiprocessor
ENDING_THREADS = 256
WALK_THREADS = 256
MOST_ROUNDS = 16
"""Rounds of the traceback that are queued before the host looks whether they were enough."""

IMPATIENT_SECONDS = 0.005
"""For so long the host polls for the end of a launch; then it sleeps until then."""

KEPT_SHARE = 256
"""Memory of batches is kept between windows if it is at most this part (a divisor) of the limit."""

_FIXED_WORDS = 160 + 64 + 64  # SHARED_PROFILE in cuda/block_diagonals/strip.cuh

_AlignBatch = Callable[
    [Chosen, slice, Bools, list[Shape], Layout, dict[str, int], Want], Alignments
]
"""What aligns pairs that have their place on the device."""


class BlockDiagonals(KernelFamily):
    """A pair on the whole device, several pairs behind each other; memory grows with length.

    Parameters
    ----------
    rows_a_lane : int, optional
        4, 8 or 16 rows of the matrix a lane, for measurements; default: by the pairs' lengths.
        With scores of residues in 32 bits always 4.
    """

    name = "block-diagonals"
    pipeline: BatchPipeline[Slot]

    def __init__(self, rows_a_lane: int | None = None) -> None:
        self._rows_a_lane = rows_a_lane
        self._functions: dict[str, Any] = {}
        self._allocations: list[Any] = []

    def supports(self, scoring: Scoring, detail: Detail, capability: tuple[int, int]) -> str | None:
        """Any mode, alphabet and detail; None, or why not."""
        if capability < (6, 1):
            return f"compute capability {capability[0]}.{capability[1]}, needs 6.1 (dp4a)"
        if scoring.gap_open >= OPEN_LIMIT:
            return f"opening a gap costs {scoring.gap_open}, at most {OPEN_LIMIT - 1}"
        return find_kernel(self.name, "cuda").why_not(scoring, detail)

    def variants(self) -> Iterator[tuple[str, dict[str, int | str]]]:
        """Yield what is compiled: each mode, with scores of residues in 8 and in 32 bits."""
        for mode in MODES:
            for wide in (False, True):
                yield FILL, _defines(mode, wide, FILL_KERNELS)
                sources = (ENDS, TRACEBACK, LOCATE) if mode == "local" else (ENDS, TRACEBACK)
                for source in sources:
                    yield source, _defines(mode, wide)

    def open(self, context: DeviceContext) -> None:
        """Upload the score table, residues numbered densely."""
        self._context = context
        scoring = context.scoring
        codes = context.used_codes()
        self._letters = len(codes)
        shift = 0 if scoring.mode == "local" else 2 * scoring.gap_extend
        scores = scoring.matrix[np.ix_(codes, codes)].astype(np.int64) + shift
        self._low = min(0, int(scoring.matrix[np.ix_(codes, codes)].min())) + shift
        lowest = min(int(scores.min()), self._low)
        self._wide = lowest < -128 or max(int(scores.max()), self._low) > 127
        table = np.zeros((32, 32), np.int32)
        table[: len(codes), : len(codes)] = scores
        dense = np.zeros(32, np.uint8)
        dense[codes] = np.arange(len(codes), dtype=np.uint8)
        self._allocations = [self._context.upload(table), self._context.upload(dense)]
        self._starts = [
            np.cumsum(padded_lengths(device_set.lengths)) - padded_lengths(device_set.lengths)
            for device_set in (context.queries, context.targets)
        ]
        memory_bytes = context.memory_bytes - table.nbytes - dense.nbytes
        self.pipeline = context.pipeline(1, memory_bytes, grows=False)

    def close(self) -> None:
        """Free what `open` and `align` took."""
        self.pipeline.close()
        for allocation in self._allocations:
            allocation.free()
        self._allocations, self._functions = [], {}

    def release(self) -> None:
        """Free the memory of batches unless it is little; the next batch allocates it again."""
        if self._slot.arena_bytes > self.pipeline.limit_bytes // KEPT_SHARE:
            self.pipeline.free_memory()

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align pairs of a window; see `pairalign.engines.cuda.cuda_family.KernelFamily`."""
        context = self._context
        chosen = Chosen.of(context, window, pair_mask)
        swapped, shapes = self._orient(chosen)
        task = Task(
            traced=want.detail > Detail.SCORE,
            local=context.scoring.mode == "local",
            wants_runs=want.detail == Detail.CIGAR,
            wide=self._wide,
            multiprocessors=context.multiprocessors,
            rows_a_lane=self._rows_a_lane,
        )
        job = _WindowTask(self.align_batch, context, window, want, chosen, swapped, shapes, task)
        self.pipeline.run(job, 0)
        if not job.parts:
            return make_alignments(context, chosen.part(slice(0, 0)), want)
        return concatenate(job.parts)

    def _orient(self, chosen: Chosen) -> tuple[Bools, list[Shape]]:
        """Return which pairs have the window's column along the rows, and the shape of each."""
        context = self._context
        first = context.queries.lengths[chosen.rows]
        second = context.targets.lengths[chosen.columns]
        swapped = chosen.swapped(context)
        rows, columns = np.maximum(first, second).tolist(), np.minimum(first, second).tolist()
        return swapped, [Shape(m, n) for m, n in zip(rows, columns, strict=True)]

    @property
    def _slot(self) -> Slot:
        (slot,) = self.pipeline.slots
        return slot

    def align_batch(
        self,
        chosen: Chosen,
        batch: slice,
        swapped: Bools,
        shapes: list[Shape],
        layout: Layout,
        addresses: dict[str, int],
        want: Want,
    ) -> Alignments:
        """Align pairs that have their place on the device, and wait for them."""
        context, slot = self._context, self._slot
        pairs, items = describe_pairs(shapes, layout, addresses)
        residues = [
            int(device.codes) + starts[positions[batch]]
            for device, starts, positions in (
                (context.queries, self._starts[0], chosen.rows),
                (context.columns, self._starts[1], chosen.columns),
            )
        ]
        pairs["row_residues"] = np.where(swapped, residues[1], residues[0])
        pairs["column_residues"] = np.where(swapped, residues[0], residues[1])
        row_is_query = ~swapped
        if context.one_set:
            row_is_query = (
                chosen.query[batch] == context.queries.sequences.order[chosen.rows[batch]]
            )
        pairs["row_is_query"] = row_is_query

        parameters = self._upload_tables(pairs, items, layout, addresses, want)
        context.driver.memset_d8_async(addresses["handed"], 0, layout.sizes["handed"], slot.stream)
        self._prepare(layout.rows_a_lane, traced=want.detail > Detail.SCORE)
        self._fill(parameters, items, shapes, layout.rows_a_lane)
        if want.detail > Detail.SCORE:
            parameters["scratch"] = addresses["scratch"] + ALIGNMENT
            parameters["flags"] = addresses["flags"]
            progress = self._trace(parameters, layout, addresses["scratch"])
        else:
            progress = self._read_progress(parameters)
        return make_alignments(context, chosen.part(batch), want, progress, pairs, slot)

    def _upload_tables(
        self,
        pairs: Structs,
        items: Int32s,
        layout: Layout,
        addresses: dict[str, int],
        want: Want,
    ) -> Structs:
        """Copy the tables of a batch to the device; return the parameters of its kernels."""
        scoring = self._context.scoring
        progress_bytes = PROGRESS.itemsize * len(pairs)
        tables = np.concatenate(
            [np.zeros(ALIGNMENT + progress_bytes, np.uint8), pairs.view(np.uint8), _bytes(items)]
        )
        start = addresses["tables"]  # ticket, progress, pairs, items
        self._slot.upload("tables", tables, start)
        parameters = np.zeros((), PARAMETERS)
        parameters["ticket"] = start
        parameters["progress"] = start + ALIGNMENT
        parameters["pairs"] = start + ALIGNMENT + progress_bytes
        parameters["items"] = start + ALIGNMENT + progress_bytes + pairs.nbytes
        parameters["table"], parameters["dense"] = (
            int(allocation) for allocation in self._allocations
        )
        parameters["pair_count"] = len(pairs)
        parameters["letters"], parameters["low"] = self._letters, self._low
        parameters["gap_open"] = scoring.gap_open
        parameters["gap_extend"] = scoring.gap_extend
        parameters["unambiguous"] = scoring.alphabet.unambiguous
        parameters["tile"], parameters["slots"] = layout.tile, layout.slots
        parameters["scratch_tiles"] = layout.scratch_tiles
        parameters["rows_a_lane"] = layout.rows_a_lane
        parameters["traced"] = want.detail > Detail.SCORE
        parameters["want_runs"] = want.detail == Detail.CIGAR
        parameters["min_score"] = want.least_raw_score
        return parameters

    def _fill(
        self,
        parameters: Structs,
        items: Int32s,
        shapes: list[Shape],
        rows_a_lane: int,
    ) -> None:
        context = self._context
        most_cells = CELLS_A_MULTIPROCESSOR * context.multiprocessors
        launches = cut_launches(items, shapes, LANES * rows_a_lane, most_cells)
        for start, stop in launches:
            context.check_cancelled()
            parameters["first_item"], parameters["items_stop"] = start, stop
            ticket, stream = int(parameters["ticket"]), self._slot.stream
            context.driver.memset_d8_async(ticket, 0, 16, stream)
            strips = stop - start
            self._launch_strips(FILL, f"fill_k{rows_a_lane}", strips, parameters, rows_a_lane)
            if len(launches) > 1:
                self._wait()
        self._launch(ENDS, "find_end", len(shapes), ENDING_THREADS, parameters)

    def _trace(self, parameters: Structs, layout: Layout, scratch: int) -> Structs:
        """Locate the ends, then walk in rounds until no pair is under way."""
        context = self._context
        pairs = int(parameters["pair_count"])
        parameters["ticket"] = scratch
        strips = layout.tile // TILE_STRIP
        if context.scoring.mode == "local":
            self._clear_scratch(layout, scratch)
            every = pairs * layout.scratch_tiles * strips
            self._launch_strips(LOCATE, "locate_end", every, parameters)
        blocks = -(-pairs // ENDING_THREADS)
        self._launch(ENDS, "start_walk", blocks, ENDING_THREADS, parameters)
        rounds = 1
        while True:
            for _ in range(rounds):
                self._clear_scratch(layout, scratch)
                every = pairs * layout.slots * strips
                self._launch_strips(TRACEBACK, "refill_tiles", every, parameters)
                self._launch(TRACEBACK, "walk_tiles", pairs, WALK_THREADS, parameters)
            progress = self._read_progress(parameters)
            if not progress["active"].any():
                return progress
            context.check_cancelled()
            rounds = min(2 * rounds, MOST_ROUNDS)

    def _read_progress(self, parameters: Structs) -> Structs:
        pairs = int(parameters["pair_count"])
        progress: Structs = self._slot.download(
            "progress", pairs * PROGRESS.itemsize, np.uint8, int(parameters["progress"])
        ).view(PROGRESS)
        self._wait()
        return progress

    def _wait(self) -> None:
        self._slot.wait(IMPATIENT_SECONDS)

    def _clear_scratch(self, layout: Layout, scratch: int) -> None:
        """Clear rows between strips and the ticket before them: nothing old may look valid."""
        self._context.driver.memset_d8_async(scratch, 0, layout.sizes["scratch"], self._slot.stream)

    def _launch_strips(
        self,
        source: str,
        kernel: str,
        strips: int,
        parameters: Structs,
        rows_a_lane: int = TILE_STRIP // LANES,
    ) -> None:
        """Launch a kernel whose warps take strips by ticket."""
        rows = LANES * rows_a_lane
        words = -(-rows * self._letters * (4 if self._wide else 1) // 4)
        words = -(-(_FIXED_WORDS + words + rows) // 4) * 4
        parameters["warp_words"] = words
        warps = next(n for n in WARPS_A_BLOCK if 4 * words * n <= USUAL_SHARED_BYTES)
        most = min(self._context.multiprocessors * WARPS_A_MULTIPROCESSOR, MOST_WARPS) // warps
        blocks = min(-(-strips // warps), most)
        self._launch(source, kernel, blocks, LANES * warps, parameters, 4 * words * warps)

    def _launch(
        self,
        source: str,
        kernel: str,
        blocks: int,
        threads: int,
        parameters: Structs,
        shared: int = 0,
    ) -> None:
        context, slot = self._context, self._slot
        function = self._functions.get(kernel)
        if function is None:
            (module,) = context.load_modules([self._request(source, kernel)])
            function = self._functions[kernel] = module.get_function(kernel)
        context.kernel = kernel
        packed = parameters[()]
        function(packed, block=(threads, 1, 1), grid=(blocks, 1), stream=slot.stream, shared=shared)

    def _prepare(self, rows_a_lane: int, traced: bool) -> None:
        """Load what a batch needs; what must be compiled is at the same time."""
        needed = [(FILL, f"fill_k{rows_a_lane}"), (ENDS, "find_end")]
        tracing = [(TRACEBACK, "walk_tiles")]
        if self._context.scoring.mode == "local":
            tracing.append((LOCATE, "locate_end"))
        if traced:
            needed += tracing
        elif not self._functions and self._context.detail > Detail.SCORE:
            self._context.compile_ahead([self._request(*kernel) for kernel in tracing])
        missing = [self._request(*kernel) for kernel in needed if kernel[1] not in self._functions]
        if missing:
            self._context.load_modules(missing)

    def _request(self, source: str, kernel: str) -> ModuleRequest:
        mode = self._context.scoring.mode
        if source != FILL:
            return ModuleRequest(source, _defines(mode, self._wide))
        part = _defines(mode, self._wide, [kernel])
        return ModuleRequest(source, _defines(mode, self._wide, FILL_KERNELS), part)


def _bytes(array: npt.NDArray[Any]) -> UInt8s:
    return np.ascontiguousarray(array).view(np.uint8).ravel()


def _defines(mode: str, wide: bool, fill_kernels: Iterable[str] = ()) -> dict[str, int | str]:
    """Return what a source is compiled with; `FILL`: for these of its kernels."""
    defines: dict[str, int | str] = {
        "PAIRALIGN_MODE": MODES.index(mode),
        "PAIRALIGN_WORDS": int(wide),
    }
    entries = [f"ENTRY({name},{FILL_KERNELS[name]})" for name in fill_kernels]
    return defines | ({"PAIRALIGN_ENTRIES": " ".join(entries)} if entries else {})


@dataclass(frozen=True)
class _DiagonalBatch:
    """Some pairs of a task from `first` on; `layout`: None where a single one does not fit."""

    first: int
    count: int
    layout: Layout | None

    @property
    def pairs(self) -> slice:
        """Where they are among the task's."""
        return slice(self.first, self.first + self.count)


class _WindowTask(BatchTask[int, _DiagonalBatch, Slot, Alignments]):
    """Pairs of a window on their way through the pipeline; work is the number of the first one."""

    def __init__(
        self,
        align: _AlignBatch,
        context: DeviceContext,
        window: Window,
        want: Want,
        chosen: Chosen,
        swapped: Bools,
        shapes: list[Shape],
        task: Task,
    ) -> None:
        self.parts: list[Alignments] = []
        self._align = align
        self._context = context
        self._window = window
        self._want = want
        self._chosen = chosen
        self._swapped = swapped
        self._shapes = shapes
        self._task = task

    def plan(self, work: int, limit_bytes: int) -> Iterator[_DiagonalBatch]:
        """Yield batches of the pairs from `work` on that fit some memory."""
        first = work
        while first < len(self._shapes):
            count, layout = cut_batch(self._shapes, first, self._task, limit_bytes)
            yield _DiagonalBatch(first, count, layout)
            first += count

    def rest(self, work: int, batch: _DiagonalBatch) -> list[int]:
        """Return what is to be planned again where a batch found no memory."""
        return [batch.first]

    def array_bytes(self, batch: _DiagonalBatch) -> dict[str, int]:
        """Return what the arrays of a batch take."""
        assert batch.layout is not None
        return batch.layout.sizes

    def is_for_host(self, batch: _DiagonalBatch) -> bool:
        """Whether no layout fits, so that the CPU aligns the pair."""
        return batch.layout is None

    def align_on_host(self, batch: _DiagonalBatch) -> None:
        """Align a pair on the CPU."""
        row = int(self._chosen.rows[batch.first])
        column = int(self._chosen.columns[batch.first])
        window = self._window
        pair_window = Window(window.index, row, row + 1, column, column + 1, window.triangular)
        self.parts.append(self._context.align_on_host(pair_window, self._want))

    def start(self, batch: _DiagonalBatch, slot: Slot, addresses: dict[str, int]) -> Alignments:
        """Align a batch."""
        assert batch.layout is not None
        return self._align(
            self._chosen,
            batch.pairs,
            self._swapped[batch.pairs],
            self._shapes[batch.pairs],
            batch.layout,
            addresses,
            self._want,
        )

    def finish(self, slot: Slot, flight: Alignments) -> None:
        """Keep the alignments of a batch."""
        self.parts.append(flight)
