"""Packed kernels: two pairs a word, borders of tiles kept, only tiles on the path done again.

See ``cuda/packed.cuh`` for the layout, ``cuda/packed_fill.cu`` and ``cuda/packed_traceback.cu`` for
the kernels.

References
----------
Y. Dohi, K. Benkrid, C. Ling, T. Hamada, Y. Shibata: Highly efficient mapping of the Smith-Waterman
algorithm on CUDA-compatible GPUs. ASAP 2010.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.engines import Detail, Want
from pairalign.engines.cuda_buffers import Slot
from pairalign.engines.cuda_family import DeviceContext, DeviceSet
from pairalign.engines.cuda_packed_plan import (
    BAND,
    FILL_THREADS,
    LETTERS,
    TILINGS,
    Batch,
    Costs,
    Launch,
    PackedPlanner,
)
from pairalign.engines.cuda_packed_results import WindowResults
from pairalign.engines.cuda_plan import Rectangle
from pairalign.engines.cuda_strand import OtherStrand
from pairalign.scoring import MODES, Scoring
from pairalign.strands import complement_of
from pairalign.windows import Window

PADDING = 96
"""Padding letters around each sequence; the kernels read up to 80 beyond."""

FIELDS = 9  # Field in cuda/packed_traceback.cu
SCORE_LIMIT = 1 << 18
"""Larger scores a letter might not leave room for flags in 32 bits."""

SHARED_BYTES = 4 * LETTERS * TILINGS[-1].width + 64 * FILL_THREADS
"""Shared memory of a block with the widest profile and all letters: 144 KiB."""

_NO_MINIMUM = -(1 << 31)

PARAMETERS = np.dtype(
    [
        *((name, "<u8") for name in ("row_letters", "row_starts", "row_lengths")),
        *((name, "<u8") for name in ("column_letters", "column_starts", "column_lengths")),
        *((name, "<u8") for name in ("row_order", "column_order", "table")),
        *((name, "<u8") for name in ("items", "item_tiles", "bands_before", "tiles")),
        *((name, "<u8") for name in ("item_borders", "letters_before", "borders")),
        *((name, "<u8") for name in ("pair_of_row", "runs_of_column", "score")),
        *((name, "<u8") for name in ("end_row", "end_column", "fields", "runs")),
        *((name, "<u8") for name in ("chunks", "profiles", "item_profiles")),
        *((name, "<i8") for name in ("slots_of_row", "pairs")),
        *((name, "<i4") for name in ("first_row", "first_column", "triangular", "letters")),
        *((name, "<i4") for name in ("definite", "gap_open", "gap_extend", "shift", "bias")),
        *((name, "<i4") for name in ("tile_bias", "min_score", "one", "group", "want_runs")),
        *((name, "<i4") for name in ("columns", "unused")),
    ]
)
"""Params in cuda/packed.cuh."""


@dataclass
class _DenseSet:
    """A set on the device with its letters numbered densely and padded."""

    letters: Any
    starts: Any


@dataclass
class _InFlight:
    """A batch whose kernels are queued."""

    batch: Batch
    slot: Slot
    first_pair: int
    parameters: npt.NDArray[np.void]
    addresses: dict[str, int]


class Packed:
    """Two pairs a word with checkpoints; the fastest where it fits, and it fits nearly everything.

    Parameters
    ----------
    slots : int
        Batches under way at a time; two let copies and host work overlap kernels.
    """

    name = "packed"

    def __init__(self, slots: int = 2) -> None:
        self._slot_count = slots
        self._slots: list[Slot] = []
        self._functions: dict[tuple[str, bool], Any] = {}

    def supports(self, scoring: Scoring, detail: Detail, capability: tuple[int, int]) -> str | None:
        """None, or why not: too little shared memory, or scores that leave no room for flags."""
        if capability not in {(8, 0), (8, 7)} and not (9, 0) <= capability < (12, 0):
            return (
                f"compute capability {capability[0]}.{capability[1]} has less shared memory than "
                f"the {SHARED_BYTES >> 10} KiB a block needs"
            )
        largest = max(int(np.abs(scoring.matrix).max()), scoring.gap_open)
        if largest > SCORE_LIMIT:
            return f"scores of {largest} a letter, at most {SCORE_LIMIT}"
        return None

    def variants(self) -> Iterator[tuple[str, dict[str, int | str]]]:
        """Yield what is compiled: each mode, packed and wide."""
        for mode in MODES:
            for wide in (False, True):
                for source in ("packed_fill.cu", "packed_traceback.cu"):
                    yield source, _defines(mode, wide)

    def open(self, context: DeviceContext) -> None:
        """Upload the sequences with dense letters, and the score table."""
        self._context = context
        sets = [context.queries] if context.one_set else [context.queries, context.targets]
        codes = np.unique(np.concatenate([np.unique(one.sequences.codes) for one in sets]))
        complement = context.scoring.alphabet.complement
        if complement is not None:  # a window may want the other strand
            codes = np.union1d(codes, complement[codes])
        self._codes = codes
        self._other_strand: OtherStrand | None = None
        self._definite = int(np.searchsorted(codes, context.scoring.alphabet.definite))
        self._costs = Costs.of(context.scoring, codes)
        self._allocations: list[Any] = []
        dense = [self._upload_set(one, codes) for one in sets]
        self._rows, self._columns = dense[0], dense[-1]
        self._table = self._upload(self._costs.table)
        self._planner = PackedPlanner(
            context.queries.lengths,
            context.targets.lengths,
            _worth(context.targets, codes, self._costs, context.scoring.mode),
            self._costs,
            context.scoring.mode,
            context.multiprocessors,
        )
        self._slots = [Slot(context.driver) for _ in range(self._slot_count)]
        used = sum(len(one.sequences.codes) + PADDING * len(one.lengths) for one in sets)
        self._limit_bytes = (context.memory_bytes - used) // self._slot_count

    def close(self) -> None:
        """Free what `open` and `align` took."""
        for slot in self._slots:
            slot.close()
        if self._other_strand is not None:
            self._other_strand.close()
        for allocation in self._allocations:
            allocation.free()
        self._slots, self._allocations, self._functions = [], [], {}

    def align(self, window: Window, want: Want) -> Alignments:
        """Align a window batch by batch; see `pairalign.engines.cuda_family.KernelFamily`."""
        context = self._context
        whole = Rectangle.of(window)
        if not self._planner.fits_words(whole):
            return context.align_on_host(window, want)
        self._column_letters = self._letters_of_columns(window)
        results = WindowResults(context, whole.pairs, want)
        traced = want.detail > Detail.SCORE
        under_way: deque[_InFlight] = deque()
        free = deque(self._slots)
        pending = deque([whole] if whole.pairs else [])
        done = 0
        try:
            while pending:
                part = pending.popleft()
                for batch in self._planner.batches(part, traced, self._limit_bytes):
                    context.check_cancelled()
                    if not free:
                        free.append(self._finish(under_way.popleft(), results))
                    sizes = _array_bytes(batch, want)
                    try:
                        addresses = free[0].arrange(sizes, self._limit_bytes)
                    except context.driver.MemoryError:
                        self._drain(under_way, free, results)
                        for one in free:
                            one.free_arena()
                        self._limit_bytes = self._context.halve(
                            self._limit_bytes, sum(sizes.values())
                        )
                        pending.extendleft(reversed(part.rest(batch.rectangle)))
                        break
                    slot = free.popleft()
                    under_way.append(self._start(batch, slot, addresses, want, done))
                    flight = under_way[-1]
                    results.download(
                        done,
                        batch.rectangle.pairs,
                        addresses["score"],
                        addresses.get("fields", 0),
                        slot.stream,
                    )
                    slot.computed.record(slot.stream)
                    results.name_pairs(flight.first_pair, batch.rectangle)
                    done += batch.rectangle.pairs
            self._drain(under_way, free, results)
        finally:
            for flight in under_way:  # after an error: nothing may write to buffers used again
                with contextlib.suppress(context.driver.Error):  # the first error says more
                    flight.slot.stream.synchronize()
        return results.finish()

    def _start(
        self, batch: Batch, slot: Slot, at: dict[str, int], want: Want, first_pair: int
    ) -> _InFlight:
        """Queue the copies and kernels of a batch."""
        parameters = np.zeros((), PARAMETERS)
        self._set_constants(parameters, batch, want)
        for name in ("score", "end_row", "end_column", "fields", "runs", "tiles", "borders"):
            parameters[name] = at.get(name, 0)
        common: dict[str, npt.NDArray[Any]] = {
            "pair_of_row": batch.pair_base.astype(np.int64),
            "letters_before": batch.letters_before,
            "runs_of_column": batch.runs_of_column,
            **{f"bands_before_{group}": b for group, b in batch.bands_before.items()},
        }
        places = self._upload_tables(slot, at["tables"], common, batch.launches)
        for name in ("pair_of_row", "letters_before", "runs_of_column"):
            parameters[name] = places[name]
        tile_start = border_start = 0
        traced = want.detail > Detail.SCORE
        for number, launch in enumerate(batch.launches):
            kind = launch.kind
            parameters["bands_before"] = places[f"bands_before_{kind.tiling.group}"]
            for name in ("items", "item_tiles", "item_borders", "item_profiles", "chunks"):
                parameters[name] = places[f"{name}_{number}"]
            parameters["group"] = kind.tiling.group
            parameters["tiles"] = at.get("tiles", 0) + tile_start
            parameters["borders"] = at.get("borders", 0) + border_start
            parameters["profiles"] = at.get("profiles", 0)
            tile_start += launch.tile_bytes if traced else 0
            border_start += 8 * int(launch.item_border_entries.sum())
            self._launch_one(launch, parameters[()], slot, traced)
        return _InFlight(batch, slot, first_pair, parameters, at)

    def _set_constants(self, parameters: npt.NDArray[np.void], batch: Batch, want: Want) -> None:
        context, costs, rectangle = self._context, self._costs, batch.rectangle
        sets = (("row", self._rows, context.queries), ("column", self._columns, context.targets))
        for prefix, dense, device in sets:
            parameters[f"{prefix}_letters"] = int(dense.letters)
            parameters[f"{prefix}_starts"] = int(dense.starts)
            parameters[f"{prefix}_lengths"] = int(device.device_lengths)
            parameters[f"{prefix}_order"] = int(device.order)
        parameters["column_letters"] = self._column_letters
        parameters["table"] = int(self._table)
        parameters["slots_of_row"] = batch.runs_of_column[-1]
        parameters["pairs"] = rectangle.pairs
        parameters["first_row"] = rectangle.row_start
        parameters["first_column"] = rectangle.column_start
        parameters["columns"] = rectangle.column_stop - rectangle.column_start
        parameters["triangular"] = rectangle.triangular
        for name in ("letters", "gap_open", "gap_extend", "shift", "bias", "tile_bias"):
            parameters[name] = getattr(costs, name)
        parameters["definite"] = self._definite
        parameters["min_score"] = (
            _NO_MINIMUM if want.min_raw_score is None else max(want.min_raw_score, _NO_MINIMUM)
        )
        parameters["one"] = 1
        parameters["want_runs"] = want.detail == Detail.CIGAR

    def _letters_of_columns(self, window: Window) -> int:
        """Return the address of the columns' letters, reverse-complemented for strand -1."""
        if window.strand > 0 or not window.pairs:
            return int(self._columns.letters)
        context, codes = self._context, self._codes
        if self._other_strand is None:
            complement = np.full(256, len(codes), np.uint8)
            complement[: len(codes)] = np.searchsorted(
                codes, complement_of(context.scoring.alphabet)[codes]
            )
            lengths = context.targets.lengths
            self._other_strand = OtherStrand(
                context.driver,
                context.load_module,
                letters=self._columns.letters,
                starts=self._columns.starts,
                lengths=context.targets.device_lengths,
                host_starts=_dense_starts(lengths),
                host_lengths=lengths,
                complement=complement,
                padding=len(codes),
            )
        return self._other_strand.letters_of(window.column_start, window.column_stop)

    def _upload_tables(
        self,
        slot: Slot,
        address: int,
        common: dict[str, npt.NDArray[Any]],
        launches: list[Launch],
    ) -> dict[str, int]:
        """Upload all small arrays of a batch in one copy; returns where each lies."""
        arrays = dict(common)
        profiles_before = 0
        for number, launch in enumerate(launches):
            stride = launch.kind.tiling.band_bytes // 16
            arrays[f"items_{number}"] = launch.items
            arrays[f"item_tiles_{number}"] = _starts(launch.item_bands) * stride
            arrays[f"item_borders_{number}"] = _starts(launch.item_border_entries)
            profiles = profiles_before + _starts(launch.item_profile_bytes)
            arrays[f"item_profiles_{number}"] = profiles // 16
            profiles_before += int(launch.item_profile_bytes.sum())
            arrays[f"chunks_{number}"] = launch.chunks
        places, parts, end = {}, [], 0
        for name, array in arrays.items():
            places[name] = address + end
            data = np.ascontiguousarray(array).view(np.uint8).ravel()
            parts += [data, np.zeros(-len(data) % 16, np.uint8)]
            end += len(data) + -len(data) % 16
        slot.upload("tables", np.concatenate(parts), address)
        return places

    def _launch_one(self, launch: Launch, packed: Any, slot: Slot, traced: bool) -> None:
        kind, tiling = launch.kind, launch.kind.tiling
        suffix = "strips" if kind.strips else f"g{tiling.group}_k{tiling.columns}"
        profile = 4 * self._costs.letters * tiling.width
        # A fill that keeps tiles gathers four steps' borders of each warp.
        shared = profile + (32 * FILL_THREADS * tiling.parts if traced else 0)
        name = f"{'fill' if traced else 'score'}_{suffix}"
        self._launch(name, kind.wide, len(launch.items), FILL_THREADS, slot, shared, packed)
        if not traced:
            return
        name, shared = f"traceback_k{tiling.columns}", profile
        if kind.strips:
            self._launch("build_far_profiles", kind.wide, len(launch.items), 256, slot, 0, packed)
            name = f"traceback_far_k{tiling.columns}"
            shared = 0
        blocks = len(launch.chunks)
        self._launch(name, kind.wide, blocks, tiling.traceback_threads, slot, shared, packed)

    def _finish(self, flight: _InFlight, results: WindowResults) -> Slot:
        """Wait for a batch and fetch its runs; returns the slot, free again."""
        flight.slot.computed.synchronize()
        if flight.parameters["want_runs"]:
            self._gather(flight, results)
        return flight.slot

    def _gather(self, flight: _InFlight, results: WindowResults) -> None:
        """Bring the CIGAR runs of a batch together on the device and copy them."""
        driver = self._context.driver
        slot, at, rectangle = flight.slot, flight.addresses, flight.batch.rectangle
        offsets, before, total = results.place_runs(flight.first_pair, rectangle.pairs)
        if not total:
            return
        driver.memcpy_htod_async(at["run_offsets"], offsets, slot.stream)
        # The tiles have served: their room takes the runs where it does.
        target, room = at["tiles"], at["tiles_end"] - at["tiles"]
        extra: Any = None
        if 4 * total > room:
            extra = driver.mem_alloc(4 * total)
            target = int(extra)
        rows = rectangle.row_stop - rectangle.row_start
        # Offsets count from the window's first run.
        origin = np.uint64(target - 4 * before & (1 << 64) - 1)
        arguments = (flight.parameters[()], np.uint64(at["run_offsets"]), origin)
        self._launch("gather_runs", False, rows, 256, slot, 0, *arguments)
        runs = results.runs_at(flight.first_pair, rectangle.pairs)
        driver.memcpy_dtoh_async(runs, target, slot.stream)
        slot.stream.synchronize()
        if extra is not None:
            extra.free()

    def _drain(
        self, under_way: deque[_InFlight], free: deque[Slot], results: WindowResults
    ) -> None:
        while under_way:
            free.append(self._finish(under_way.popleft(), results))

    def _launch(
        self,
        kernel: str,
        wide: bool,
        blocks: int,
        threads: int,
        slot: Slot,
        shared: int,
        *args: Any,
    ) -> None:
        context = self._context
        function = self._functions.get((kernel, wide))
        if function is None:
            fills = kernel.startswith(("fill", "score"))
            source = "packed_fill.cu" if fills else "packed_traceback.cu"
            module = context.load_module(source, _defines(context.scoring.mode, wide))
            function = self._functions[kernel, wide] = module.get_function(kernel)
            if shared:
                attribute = context.driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
                function.set_attribute(attribute, SHARED_BYTES)
        context.kernel = kernel
        function(*args, block=(threads, 1, 1), grid=(blocks, 1), stream=slot.stream, shared=shared)

    def _upload(self, array: npt.NDArray[Any]) -> Any:
        allocation = self._context.driver.mem_alloc(max(array.nbytes, 16))
        self._allocations.append(allocation)
        self._context.driver.memcpy_htod(allocation, array)
        return allocation

    def _upload_set(self, device: DeviceSet, codes: npt.NDArray[np.uint8]) -> _DenseSet:
        lengths = device.lengths.astype(np.int64)
        dense_of_code = np.zeros(256, np.uint8)
        dense_of_code[codes] = np.arange(len(codes))
        starts = _dense_starts(lengths)
        letters = np.full(int((lengths + PADDING).sum()) + 2 * PADDING, len(codes), np.uint8)
        sequences = device.sequences
        for start, length, index in zip(starts, lengths, sequences.order, strict=True):
            letters[start : start + length] = dense_of_code[sequences.codes_of(int(index))]
        return _DenseSet(self._upload(letters), self._upload(starts))


def _defines(mode: str, wide: bool) -> dict[str, int | str]:
    return {
        "PAIRALIGN_MODE": MODES.index(mode),
        "PAIRALIGN_WIDE": int(wide),
        "PAIRALIGN_BAND": BAND,
    }


def _starts(sizes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Sum of the sizes before each."""
    ends = np.cumsum(sizes, dtype=np.int64)
    starts: npt.NDArray[np.int64] = ends - sizes
    return starts


def _dense_starts(lengths: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """First letter of each sequence of a `_DenseSet`."""
    return _starts(lengths.astype(np.int64) + PADDING) + PADDING


def _worth(
    device: DeviceSet, codes: npt.NDArray[np.uint8], costs: Costs, mode: str
) -> npt.NDArray[np.int64]:
    """Largest sum of scores that each sequence's letters can bring, by sorted position."""
    used = len(codes)
    shift = 2 * costs.shift if mode == "semiglobal" else 0  # there the lengths count it
    best_of_code = np.zeros(256, np.int64)
    best_of_code[codes] = np.maximum(costs.table[:used, :used].max(axis=1) - shift, 0)
    sequences = device.sequences
    complement = sequences.alphabet.complement
    if complement is not None:  # the bound must hold for either strand
        best_of_code[:32] = np.maximum(best_of_code[:32], best_of_code[complement])
    before = np.concatenate(([0], np.cumsum(best_of_code[sequences.codes])))
    worth: npt.NDArray[np.int64] = before[sequences.offsets[1:]] - before[sequences.offsets[:-1]]
    return worth[sequences.order]


def _array_bytes(batch: Batch, want: Want) -> dict[str, int]:
    """Device arrays of a batch, in bytes."""
    pairs = batch.rectangle.pairs
    rows = batch.rectangle.row_stop - batch.rectangle.row_start
    tables = 4 * (2 * rows + 1) * 5 + 8 * len(batch.runs_of_column) + 256 * 16
    for launch in batch.launches:
        tables += 40 * len(launch.items) + 16 * len(launch.chunks)
    sizes = {
        "tables": tables,
        "score": 4 * pairs,
        "end_row": 4 * pairs,
        "end_column": 4 * pairs,
        "borders": 8 * sum(int(one.item_border_entries.sum()) for one in batch.launches),
    }
    if want.detail > Detail.SCORE:
        sizes["fields"] = 4 * FIELDS * pairs
        sizes["run_offsets"] = 8 * pairs
        sizes["profiles"] = sum(int(one.item_profile_bytes.sum()) for one in batch.launches)
        sizes["runs"] = 4 * batch.run_slots if want.detail == Detail.CIGAR else 0
        sizes["tiles"] = sum(one.tile_bytes for one in batch.launches)
        sizes["tiles_end"] = 0
    return sizes
