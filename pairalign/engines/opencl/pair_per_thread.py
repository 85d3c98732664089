"""Kernels that give each pair a work-item, see ``opencl/fill_pair_per_thread.cl``.

References
----------
J. Blazewicz, W. Frohmberg, M. Kierzynka, E. Pesch, P. Wojciechowski: Protein alignment algorithms
with an efficient backtracking routine on multiple GPUs. BMC Bioinformatics 12:181, 2011.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.engines.device.assembly import Assembly
from pairalign.engines.device.tile_plan import BATCH_NUMBERS, Batch, Costs, Planner, Rectangle
from pairalign.engines.device.widths import Width, width_of
from pairalign.engines.kernels import find_kernel
from pairalign.engines.opencl.devices import OpenClDevice
from pairalign.engines.opencl.family import Arena, OpenClContext
from pairalign.engines.opencl.reverse_complement import ReversedColumns
from pairalign.scoring import Scoring
from pairalign.want import Detail, Want
from pairalign.windows import Window

FILL = "fill_pair_per_thread.cl"
TRACEBACK = "traceback_pair_per_thread.cl"
TILE_ITEMS = 32
GROUP_TILES = 2
"""Tiles of a work-group: 64 work-items, a wavefront of any GPU."""
BLOCK = 16

_RUNS_COLUMN = 11  # of the results, see opencl/tiles.clh
BATCH = np.dtype(
    [
        ("shift", "<i8"),
        *BATCH_NUMBERS,
        ("to_border", "<i4"),
    ]
)
"""Batch in opencl/tiles.clh."""

assert BATCH.itemsize == 48


class OpenClPairPerThread:
    """gpu-pairAlign's kernels: fill with flags, then walk back; or scores only."""

    name = find_kernel("pair-per-thread", "opencl").name

    def supports(self, scoring: Scoring, detail: Detail, device: OpenClDevice) -> str | None:
        """Any scoring, mode and detail; None, or why the device cannot."""
        return device.why_not()

    def _defines(self, mode: str, width: Width, traced: bool) -> dict[str, int | str]:
        return {
            "MODE": mode.upper(),
            "WIDTH": width.name,
            "TRACED": int(traced),
            "BLOCK": BLOCK,
            "GROUP_TILES": GROUP_TILES,
        }

    def open(self, context: OpenClContext) -> None:
        """Upload the matrix; kernels are built when a window needs them."""
        self._context = context
        matrix = np.ascontiguousarray(context.scoring.matrix, dtype=np.int32)
        self._matrix = context.upload(matrix)
        self._arena = Arena(context)
        self._reversed = ReversedColumns(context)
        self._limit_bytes = context.memory_bytes - matrix.nbytes
        self._target_pairs = max(4096, context.device.compute_units * 4 * 256)
        self._planner = Planner(context.queries.lengths, context.targets.lengths, BLOCK)
        self._kernels: dict[tuple[object, ...], Any] = {}

    def close(self) -> None:
        """Free what `open` and `align` took."""
        self._arena.free()
        self._reversed.free()
        self._matrix.release()
        self._kernels = {}

    def align(self, window: Window, want: Want, keep: npt.NDArray[np.bool_] | None) -> Alignments:
        """Align a window batch by batch; see `pairalign.engines.opencl.family.OpenClFamily`."""
        context = self._context
        whole = Rectangle.of(window)
        assembly = Assembly(whole.pairs if keep is None else int(keep.sum()), want, context.pool)
        width = width_of(whole, context.scoring, context.queries, context.targets)
        costs = Costs(
            width.border_bytes,
            traced=want.detail > Detail.SCORE,
            array_limit=context.device.array_bytes,
        )
        limit = self._limit_bytes - self._reversed.prepare(window, self._arena)
        pending = deque([whole])
        done = 0  # pairs of the window before the next batch, kept or not
        while pending:
            part = pending.popleft()
            for batch in self._planner.batches(part, costs, limit, self._target_pairs):
                context.check_cancelled()
                kept = None if keep is None else keep[done : done + batch.pairs]
                if kept is not None and not kept.any():
                    done += batch.pairs
                    continue
                if batch.on_host:  # a single pair
                    on_host = replace(batch.rectangle.window(), strand=window.strand)
                    assembly.add_alignments(context.align_on_host(on_host, Want(want.detail)))
                    done += batch.pairs
                    continue
                try:
                    buffers, ends = self._run(batch, costs, limit, width, want, kept)
                except context.device.cl.MemoryError:
                    self._arena.free()
                    limit = self._limit_bytes = context.halve(limit, batch.bytes(costs))
                    # Plan what is left of this part of the window again, with less memory.
                    pending.extendleft(reversed(part.rest(batch.rectangle)))
                    break
                self._collect(assembly, buffers, ends, kept)
                done += batch.pairs
        return assembly.finish(
            context.queries.sequences, context.targets.sequences, context.scoring
        )

    def _run(
        self,
        batch: Batch,
        costs: Costs,
        limit_bytes: int,
        width: Width,
        want: Want,
        kept: npt.NDArray[np.bool_] | None,
    ) -> tuple[dict[str, Any], npt.NDArray[np.int64]]:
        """Align a batch and wait for it.

        Returns
        -------
        buffers : dict
            Where the results are.
        ends : ndarray of int64, shape (pairs of the batch,)
            Where each pair's CIGAR runs end.
        """
        context = self._context
        buffers = self._arena.arrange(batch.array_bytes(costs), limit_bytes)
        if kept is not None:
            batch = self._planner.chosen(batch, kept)
        context.write(buffers["tiles"], batch.tiles)
        context.write(buffers["pair_base"], batch.rectangle.pair_base())
        packed = self._pack(batch, want)
        sets = [
            *self._arguments_of(context.queries, context.queries.codes),
            *self._arguments_of(context.targets, self._reversed.codes),
            buffers["tiles"],
            buffers["pair_base"],
        ]
        filling = [*sets, self._matrix, buffers["border"]]
        results = buffers["results"]
        if not costs.traced or want.min_raw_score is not None:
            unused = results  # the argument of the trace
            self._launch(width, batch, False, [*filling, unused, results, packed])
        if costs.traced:
            trace = buffers["trace"]
            self._launch(width, batch, True, [*filling, trace, results, packed])
            self._walk("measure", batch, [*sets, trace, results, packed])

        offsets = np.zeros(batch.pairs + 1, np.int64)
        if want.detail >= Detail.CIGAR:
            counts = np.empty(batch.pairs, np.int32)
            context.read(counts, results, 4 * _RUNS_COLUMN * batch.pairs)
            if kept is not None:
                counts[~kept] = 0  # nobody has written those
            np.cumsum(counts, out=offsets[1:])
            context.write(buffers["run_offsets"], offsets)
            writing = [buffers["run_offsets"], buffers["runs"]]
            self._walk("traceback", batch, [*sets, trace, results, packed, *writing])
        context.queue.finish()
        return buffers, offsets[1:]

    def _collect(
        self,
        assembly: Assembly,
        buffers: dict[str, Any],
        ends: npt.NDArray[np.int64],
        kept: npt.NDArray[np.bool_] | None,
    ) -> None:
        """Copy a batch's results to where they belong."""
        context = self._context
        if kept is None:
            place = assembly.place(len(ends))
            context.read_columns(assembly.columns, place, buffers["results"])
        else:
            columns = np.empty((len(assembly.columns), len(ends)), np.int32)
            context.read(columns, buffers["results"])
            ends = ends[kept]
            place = assembly.place(len(ends))
            assembly.columns[:, place] = columns[:, kept]
        if assembly.run_offsets is not None:
            assembly.run_offsets[place.start + 1 : place.stop + 1] = ends
            context.read(assembly.add_runs(place), buffers["runs"])

    def _pack(self, batch: Batch, want: Want) -> Any:
        """Return Batch of opencl/tiles.clh."""
        context = self._context
        packed = np.zeros((), BATCH)
        packed["shift"] = self._reversed.shift
        batch.write_numbers(packed, want, context.scoring, one_set=context.one_set)
        packed["to_border"] = context.scoring.mode == "global"
        return packed[()]

    @staticmethod
    def _arguments_of(one: Any, codes: Any) -> list[Any]:
        return [codes, one.starts, one.device_lengths, one.order]

    def _launch(self, width: Width, batch: Batch, traced: bool, arguments: list[Any]) -> None:
        kernel = self._kernels.get((width, traced))
        if kernel is None:
            kernel = self._kernels[width, traced] = self._context.kernel_of(
                FILL,
                "fill_pair_per_thread" if traced else "score_pair_per_thread",
                self._defines(self._context.scoring.mode, width, traced),
            )
        groups = -(-len(batch.tiles) // GROUP_TILES)
        self._context.launch(kernel, groups, GROUP_TILES * TILE_ITEMS, arguments)

    def _walk(self, verb: str, batch: Batch, arguments: list[Any]) -> None:
        kernel = self._kernels.get((verb,))
        if kernel is None:
            kernel = self._kernels[verb,] = self._context.kernel_of(
                TRACEBACK, f"{verb}_pair_per_thread", {"BLOCK": BLOCK}
            )
        groups = -(-len(batch.tiles) // GROUP_TILES)
        self._context.launch(kernel, groups, GROUP_TILES * TILE_ITEMS, arguments)
