"""Kernels that give each pair a work-item, see ``opencl/fill_pair_per_thread.cl``.

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
from pairalign.base.arrays import Bools, Int64s
from pairalign.base.choices import ALL_MODES
from pairalign.base.native import struct_dtype
from pairalign.engines.device.tile_plan import (
    BATCH_NUMBERS,
    Costs,
    Planner,
    Rectangle,
    TileBatch,
    Width,
    width_of,
)
from pairalign.engines.kernels import find_kernel
from pairalign.engines.opencl.opencl_devices import OpenClDevice
from pairalign.engines.opencl.opencl_family import Arena, OpenClContext
from pairalign.engines.opencl.opencl_windows import WindowFamily, WindowTask
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring

FILL = "fill_pair_per_thread.cl"
TRACEBACK = "traceback_pair_per_thread.cl"
TILE_ITEMS = 32
GROUP_TILES = 2
"""Tiles of a work-group: 64 work-items, a wavefront of any GPU."""
BLOCK = 16

_RUNS_COLUMN = 11  # of the results, see opencl/tiles.clh
BATCH = struct_dtype(f"int64 shift; {BATCH_NUMBERS} mode; int32*8 ends")
"""Batch in opencl/tiles.clh."""

assert BATCH.itemsize == 80


class OpenClPairPerThread(WindowFamily):
    """gpu-pairAlign's kernels: fill with flags, then trace back; or scores only."""

    name = find_kernel("pair-per-thread", "opencl").name

    def supports(self, scoring: Scoring, detail: Detail, device: OpenClDevice) -> str | None:
        """Any scoring, mode and detail; None, or why the device cannot."""
        return find_kernel(self.name, "opencl").why_not(scoring, detail) or device.why_not()

    def _defines(self, mode: str, width: Width, traced: bool) -> dict[str, int | str]:
        return {
            "MODE": mode.upper().replace("-", "_"),
            "WIDTH": width.name,
            "TRACED": int(traced),
            "BLOCK": BLOCK,
            "GROUP_TILES": GROUP_TILES,
        }

    def open(self, context: OpenClContext) -> None:
        """Upload the matrix; see `WindowFamily`."""
        super().open(context)
        self._target_pairs = max(4096, context.device.compute_units * 4 * 256)
        self._planner = Planner(
            context.queries.lengths, context.targets.lengths, BLOCK, context.ranks
        )

    def align(self, window: Window, want: Want, pair_mask: Bools | None) -> Alignments:
        """Align a window batch by batch; see `OpenClFamily`."""
        return self.run_task(_WindowTask(self, self._context, window, want, pair_mask))

    def plan(self, work: Rectangle, costs: Costs, limit_bytes: int) -> Iterator[TileBatch]:
        """Cut part of a window into batches."""
        return self._planner.batches(work, costs, limit_bytes, self._target_pairs)

    def run(
        self,
        batch: TileBatch,
        buffers: dict[str, Any],
        costs: Costs,
        width: Width,
        want: Want,
        pair_mask: Bools | None,
    ) -> Int64s:
        """Align a batch whose arrays have their buffers, and wait for it.

        Returns
        -------
        ends : ndarray of int64, shape (pairs of the batch,)
            Where each pair's CIGAR runs end.
        """
        context = self._context
        if pair_mask is not None:
            batch = self._planner.masked(batch, pair_mask)
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
            if pair_mask is not None:
                counts[~pair_mask] = 0  # nobody has written those
            np.cumsum(counts, out=offsets[1:])
            context.write(buffers["run_offsets"], offsets)
            writing = [buffers["run_offsets"], buffers["runs"]]
            self._walk("traceback", batch, [*sets, trace, results, packed, *writing])
        context.queue.finish()
        return offsets[1:]

    def _pack(self, batch: TileBatch, want: Want) -> Any:
        """Return Batch of opencl/tiles.clh."""
        context = self._context
        packed = np.zeros((), BATCH)
        packed["shift"] = self._reversed.shift
        batch.write_numbers(packed, want, context.scoring, one_set=context.one_set)
        packed["mode"] = ALL_MODES.index(context.scoring.mode)
        return packed[()]

    @staticmethod
    def _arguments_of(device_set: Any, codes: Any) -> list[Any]:
        return [codes, device_set.starts, device_set.device_lengths, device_set.order]

    def _launch(self, width: Width, batch: TileBatch, traced: bool, arguments: list[Any]) -> None:
        kernel = self._kernels.get((width, traced))
        if kernel is None:
            kernel = self._kernels[width, traced] = self._context.kernel_of(
                FILL,
                "fill_pair_per_thread" if traced else "score_pair_per_thread",
                self._defines(self._context.scoring.mode, width, traced),
            )
        groups = -(-len(batch.tiles) // GROUP_TILES)
        self._context.launch(kernel, groups, GROUP_TILES * TILE_ITEMS, arguments)

    def _walk(self, verb: str, batch: TileBatch, arguments: list[Any]) -> None:
        kernel = self._kernels.get((verb,))
        if kernel is None:
            kernel = self._kernels[verb,] = self._context.kernel_of(
                TRACEBACK, f"{verb}_pair_per_thread", {"BLOCK": BLOCK}
            )
        groups = -(-len(batch.tiles) // GROUP_TILES)
        self._context.launch(kernel, groups, GROUP_TILES * TILE_ITEMS, arguments)


@dataclass
class _Flight:
    """A batch that has been aligned."""

    buffers: dict[str, Any]
    ends: Int64s  # of each pair's CIGAR runs
    pair_mask: Bools | None  # the pairs that were aligned; None: all


class _WindowTask(WindowTask[TileBatch, _Flight]):
    """A window on its way through the pipeline."""

    def __init__(
        self,
        family: OpenClPairPerThread,
        context: OpenClContext,
        window: Window,
        want: Want,
        pair_mask: Bools | None,
    ) -> None:
        super().__init__(context, window, want, pair_mask)
        self._family = family
        whole = Rectangle.of(window)
        self._width = width_of(whole, context.scoring, context.queries, context.targets)
        self._costs = Costs(
            self._width.border_bytes,
            traced=want.detail > Detail.SCORE,
            array_limit=context.device.array_bytes,
        )

    def plan(self, work: Rectangle, limit_bytes: int) -> Iterator[TileBatch]:
        for batch in self._family.plan(work, self._costs, limit_bytes):
            pair_mask = self.chosen(batch.pairs)
            if pair_mask is None or pair_mask.any():
                yield batch
            else:
                self._started += batch.pairs

    def array_bytes(self, batch: TileBatch) -> dict[str, int]:
        return batch.array_bytes(self._costs)

    def is_for_host(self, batch: TileBatch) -> bool:
        return batch.on_host

    def start(self, batch: TileBatch, slot: Arena, addresses: dict[str, Any]) -> _Flight:
        pair_mask = self.chosen(batch.pairs)
        ends = self._family.run(batch, addresses, self._costs, self._width, self._want, pair_mask)
        self._started += batch.pairs
        return _Flight(addresses, ends, pair_mask)

    def finish(self, slot: Arena, flight: _Flight) -> None:
        context, assembly = self._context, self.assembly
        buffers, ends, pair_mask = flight.buffers, flight.ends, flight.pair_mask
        if pair_mask is None:
            place = assembly.place(len(ends))
            context.read_fields(assembly.fields, place, buffers["results"])
        else:
            fields = np.empty((len(assembly.fields), len(ends)), np.int32)
            context.read(fields, buffers["results"])
            ends = ends[pair_mask]
            place = assembly.place(len(ends))
            assembly.fields[:, place] = fields[:, pair_mask]
        if assembly.run_offsets is not None:
            assembly.run_offsets[place.start + 1 : place.stop + 1] = ends
            context.read(assembly.add_runs(place), buffers["runs"])
