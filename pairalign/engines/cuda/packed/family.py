"""Packed kernels: two pairs a word, borders of tiles kept, only tiles on the path done again.

See ``cuda/packed/packed.cuh`` for the layout, ``cuda/packed/fill.cu`` and
``cuda/packed/traceback.cu`` for the kernels.

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
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.family import DeviceContext
from pairalign.engines.cuda.packed.batches import Batch, Chosen, Launch, Work
from pairalign.engines.cuda.packed.parameters import (
    PAIRS_OF_BLOCK,
    PARAMETER_NAMES,
    PLACING_THREADS,
    array_bytes,
    blocks_of,
    constants,
    parameters_of,
    upload_tables,
)
from pairalign.engines.cuda.packed.plan import PackedPlanner
from pairalign.engines.cuda.packed.results import WindowResults
from pairalign.engines.cuda.packed.score_table import LETTERS, Costs, worth_of
from pairalign.engines.cuda.packed.sequences import PADDING, ColumnLetters, DenseSet, used_codes
from pairalign.engines.cuda.packed.tilings import (
    BAND,
    FILL_THREADS,
    TILINGS,
)
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.scoring import MODES, Scoring
from pairalign.want import Detail, Want
from pairalign.windows import Window

SCORE_LIMIT = 1 << 12
"""With larger scores a letter, neighbouring cells might differ by more than 16 bits hold."""

SHARED_BYTES = 4 * LETTERS * TILINGS[-1].width
"""Shared memory of a block with the widest profile and all letters: 128 KiB."""

_WORTH_SCORING_FIRST = 0.5  # when fewer pairs than that reached the minimum in the window before


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
                for source in ("packed/fill.cu", "packed/traceback.cu"):
                    yield source, _defines(mode, wide)
        yield "packed/runs.cu", {}

    def open(self, context: DeviceContext) -> None:
        """Upload the sequences with dense letters, and the score table."""
        self._context = context
        codes = used_codes(context)
        self._costs = Costs.of(context.scoring, codes)
        self._allocations: list[Any] = []
        rows = columns = DenseSet.of(context.queries, codes, self._upload)
        if not context.one_set:
            columns = DenseSet.of(context.targets, codes, self._upload)
        self._column_letters = ColumnLetters(context, columns, codes)
        mode = context.scoring.mode
        self._planner = PackedPlanner(
            context.queries.lengths,
            context.targets.lengths,
            worth_of(context.targets.sequences, codes, self._costs, mode),
            self._costs,
            mode,
            context.multiprocessors,
            shared_bytes(context.capability),
        )
        before = self._planner.bands_before.items()
        self._bands_before = {group: self._upload(bands) for group, bands in before}
        self._open_codes = {wide: self._costs.open_codes(wide) for wide in (False, True)}
        self._same_parameters = constants(
            context,
            self._costs,
            {"row": rows, "column": columns},
            table=int(self._upload(self._costs.table)),
            letters_before=int(self._upload(self._planner.letters_before)),
            definite=int(np.searchsorted(codes, context.scoring.alphabet.definite)),
        )
        self._passing = 0.0  # share of pairs that reached the minimum, in the window before
        self._slots = [Slot(context.driver) for _ in range(self._slot_count)]
        sets = [context.queries] if context.one_set else [context.queries, context.targets]
        used = sum(len(one.sequences.codes) + PADDING * len(one.lengths) for one in sets)
        self._limit_bytes = (context.memory_bytes - used) // self._slot_count

    def close(self) -> None:
        """Free what `open` and `align` took."""
        for slot in self._slots:
            slot.close()
        self._column_letters.close()
        for allocation in self._allocations:
            allocation.free()
        self._slots, self._allocations, self._functions = [], [], {}

    def release(self) -> None:
        """Free the memory of batches; the next one takes it again."""
        for slot in self._slots:
            slot.free_arena()

    def align(
        self, window: Window, want: Want, keep: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Align the pairs of a window, or those that `keep` names: bool[pairs].

        See `pairalign.engines.cuda.family.KernelFamily`. With a minimum, pairs are scored first,
        and those that reach it are traced; unless most did so in the window before.
        """
        whole = Rectangle.of(window)
        if not self._planner.fits_words(whole):
            return self._align_on_host(window, want, keep)
        letters = self._column_letters.of(window)
        work: Work = whole if keep is None else Chosen.of(whole, keep)
        if want.min_raw_score is None or want.detail == Detail.SCORE:
            return self._align(work, want, letters)
        pairs = work.pairs
        if self._passing < _WORTH_SCORING_FIRST:
            scores = self._align(work, Want(Detail.SCORE), letters).raw_score
            passes = scores >= want.min_raw_score
            if not passes.all():
                work = work.only(passes) if isinstance(work, Chosen) else Chosen.of(whole, passes)
        found = self._align(work, want, letters)
        self._passing = len(found) / max(pairs, 1)
        return found

    def _align_on_host(
        self, window: Window, want: Want, keep: npt.NDArray[np.bool_] | None
    ) -> Alignments:
        if keep is None:
            return self._context.align_on_host(window, want)
        found = self._context.align_on_host(window, Want(want.detail)).take(keep)
        if want.min_raw_score is not None:
            found = found.take(found.raw_score >= want.min_raw_score)
        return found

    def _align(self, work: Work, want: Want, letters: int) -> Alignments:
        """Align some pairs batch by batch."""
        context = self._context
        results = WindowResults(context, work.pairs, want)
        traced = want.detail > Detail.SCORE
        under_way: deque[_InFlight] = deque()
        free = deque(self._slots)
        pending = deque([work] if work.pairs else [])
        done = 0
        try:
            while pending:
                part = pending.popleft()
                for batch in self._planner.batches(part, traced, self._limit_bytes):
                    context.check_cancelled()
                    if not free:
                        free.append(self._finish(under_way.popleft(), results))
                    sizes = array_bytes(batch, want)
                    try:
                        addresses = free[0].arrange(sizes, self._limit_bytes)
                    except context.driver.MemoryError:
                        self._drain(under_way, free, results)
                        for one in free:
                            one.free_arena()
                        self._limit_bytes = self._context.halve(
                            self._limit_bytes, sum(sizes.values())
                        )
                        pending.extendleft(reversed(part.rest(batch.work)))  # type: ignore[arg-type]
                        break
                    slot = free.popleft()
                    flight = self._start(batch, slot, addresses, want, letters, done)
                    under_way.append(flight)
                    results.download(done, batch.pairs, addresses, slot.stream)
                    slot.computed.record(slot.stream)
                    done += batch.pairs
            self._drain(under_way, free, results)
        finally:
            if len(free) < len(self._slots):  # an error: nothing may write to buffers used again
                for slot in self._slots:
                    with contextlib.suppress(context.driver.Error):  # the first error says more
                        slot.stream.synchronize()
        return results.finish()

    def _start(
        self,
        batch: Batch,
        slot: Slot,
        at: dict[str, int],
        want: Want,
        letters: int,
        first_pair: int,
    ) -> _InFlight:
        """Queue the copies and kernels of a batch."""
        parameters = parameters_of(batch, want, at, self._same_parameters)
        parameters["column_letters"] = letters
        places = upload_tables(batch, slot, at["tables"])
        for name, place in places.items():
            if name in PARAMETER_NAMES:
                parameters[name] = place
        flight = _InFlight(batch, slot, first_pair, parameters, at)
        with self._context.lanes.batch(slot, batch.is_uneven):
            self._queue_kernels(flight, places, want)
        return flight

    def _queue_kernels(self, flight: _InFlight, places: dict[str, int], want: Want) -> None:
        """Launch a batch's kernels one after the other; `places`: of its tables on the device."""
        slot, at, parameters = flight.slot, flight.addresses, flight.parameters
        traced = want.detail > Detail.SCORE
        for launch in flight.batch.launches:
            group, wide = launch.kind.tiling.group, launch.kind.wide
            bands = places.get(f"bands_before_{group}")
            if bands is None:  # of all rows of the set
                bands = int(self._bands_before[group]) + 4 * flight.batch.rectangle.row_start
            parameters["bands_before"] = bands
            for name in ("items", "item_tiles", "item_borders", "item_profiles", "chunks"):
                parameters[name] = at["tables"] + getattr(launch, f"{name}_at")
            parameters["group"] = group
            parameters["open_codes"] = self._open_codes[wide]
            self._launch_one(launch, parameters[()], slot, traced)
        if traced:
            self._make_runs(flight, want)

    def _launch_one(self, launch: Launch, packed: Any, slot: Slot, traced: bool) -> None:
        kind, tiling = launch.kind, launch.kind.tiling
        group = "strips" if kind.strips else f"g{tiling.group}"
        profile = 4 * self._costs.letters * tiling.width
        name = f"{'fill' if traced else 'score'}_{group}_k{tiling.columns}"
        self._launch(name, kind.wide, launch.items, FILL_THREADS, slot, profile, packed)
        if not traced:
            return
        threads = launch.traceback_threads
        name = f"traceback_k{tiling.columns}"
        shared = threads * tiling.code_bytes
        if kind.strips:
            name = f"traceback_far_k{tiling.columns}"
            width = np.int32(tiling.width)
            items = launch.items
            self._launch("build_far_profiles", kind.wide, items, 256, slot, 0, packed, width)
        else:
            shared += tiling.profile_bytes(self._costs.letters)
        self._launch(name, kind.wide, launch.chunks, threads, slot, shared, packed)

    def _finish(self, flight: _InFlight, results: WindowResults) -> Slot:
        """Wait for a batch and fetch its runs; returns the slot, free again."""
        flight.slot.computed.synchronize()
        if results.has_runs:
            self._fetch_runs(flight, results)
        return flight.slot

    def _fetch_runs(self, flight: _InFlight, results: WindowResults) -> None:
        """Copy the CIGAR runs of a batch whose offsets have arrived."""
        driver = self._context.driver
        slot, at = flight.slot, flight.addresses
        runs = results.runs_of(flight.first_pair, flight.batch.pairs)
        if not len(runs):
            return
        source = at["tiles"]
        extra: Any = None
        if len(runs) > _room_for_runs(at):
            extra = driver.mem_alloc(runs.nbytes)
            source = int(extra)
            with self._context.lanes.batch(slot):
                self._write_runs(flight, source, len(runs))
        driver.memcpy_dtoh_async(runs, source, slot.stream)
        slot.stream.synchronize()
        if extra is not None:
            extra.free()

    def _make_runs(self, flight: _InFlight, want: Want) -> None:
        """Queue the kernels that make counts, and where wanted runs, of what the traceback left."""
        slot, at = flight.slot, flight.addresses
        blocks = blocks_of(flight.batch.pairs)
        counts, starts = np.uint64(at["block_runs"]), np.uint64(at["block_starts"])
        self._launch(
            "count_runs", False, blocks, PAIRS_OF_BLOCK, slot, 0, flight.parameters[()], counts
        )
        if want.detail < Detail.CIGAR:
            return
        self._launch(
            "place_runs", False, 1, PLACING_THREADS, slot, 0, counts, np.int32(blocks), starts
        )
        # The tiles have served: their room takes the runs, where it does.
        self._write_runs(flight, at["tiles"], _room_for_runs(at))

    def _write_runs(self, flight: _InFlight, target: int, capacity: int) -> None:
        at, pairs = flight.addresses, flight.batch.pairs
        addresses = (np.uint64(at[name]) for name in ("block_starts", "run_offsets"))
        arguments = (flight.parameters[()], *addresses, np.uint64(target), np.int64(capacity))
        self._launch(
            "write_runs", False, blocks_of(pairs), PAIRS_OF_BLOCK, flight.slot, 0, *arguments
        )

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
            source, defines = "packed/traceback.cu", _defines(context.scoring.mode, wide)
            if kernel.startswith(("fill", "score")):
                source = "packed/fill.cu"
            elif kernel.endswith("_runs"):
                source, defines = "packed/runs.cu", {}
            module = context.load_module(source, defines)
            function = self._functions[kernel, wide] = module.get_function(kernel)
            if shared:
                attribute = context.driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
                function.set_attribute(attribute, shared_bytes(context.capability) - 1024)
        context.kernel = kernel
        function(*args, block=(threads, 1, 1), grid=(blocks, 1), stream=slot.kernels, shared=shared)

    def _upload(self, array: npt.NDArray[Any]) -> Any:
        allocation = self._context.driver.mem_alloc(max(array.nbytes, 16))
        self._allocations.append(allocation)
        self._context.driver.memcpy_htod(allocation, array)
        return allocation


def shared_bytes(capability: tuple[int, int]) -> int:
    """Shared memory of a multiprocessor that blocks may use."""
    return (163 if capability < (9, 0) else 227) << 10


def _room_for_runs(at: dict[str, int]) -> int:
    """Count the CIGAR runs that fit where a batch's tiles have been."""
    return (at["tiles_end"] - at["tiles"]) // 4


def _defines(mode: str, wide: bool) -> dict[str, int | str]:
    return {
        "PAIRALIGN_MODE": MODES.index(mode),
        "PAIRALIGN_WIDE": int(wide),
        "PAIRALIGN_BAND": BAND,
    }
