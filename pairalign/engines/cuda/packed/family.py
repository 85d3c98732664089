"""Packed kernels: two pairs a word, borders of tiles kept, only tiles on the path done again.

See ``cuda/packed/packed.cuh`` for the layout, ``cuda/packed/fill.cu`` and
``cuda/packed/traceback.cu`` for the kernels.

References
----------
Y. Dohi, K. Benkrid, C. Ling, T. Hamada, Y. Shibata: Highly efficient mapping of the Smith-Waterman
algorithm on CUDA-compatible GPUs. ASAP 2010.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.family import DeviceContext
from pairalign.engines.cuda.packed.batches import Batch, Chosen, Work
from pairalign.engines.cuda.packed.kernels import (
    Flight,
    PackedKernels,
    kernel_defines,
    shared_bytes,
)
from pairalign.engines.cuda.packed.parameters import (
    PARAMETER_NAMES,
    array_bytes,
    constants,
    parameters_of,
    upload_tables,
)
from pairalign.engines.cuda.packed.plan import PackedPlanner
from pairalign.engines.cuda.packed.results import WindowResults
from pairalign.engines.cuda.packed.score_table import LETTERS, Costs, worth_of
from pairalign.engines.cuda.packed.sequences import PADDING, ColumnLetters, DenseSet, used_codes
from pairalign.engines.cuda.packed.tilings import TILINGS
from pairalign.engines.device.batch_pipeline import BatchPipeline, BatchTask
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.scoring import MODES, Scoring
from pairalign.want import Detail, Want
from pairalign.windows import Window

SCORE_LIMIT = 1 << 12
"""With larger scores a letter, neighbouring cells might differ by more than 16 bits hold."""

SHARED_BYTES = 4 * LETTERS * TILINGS[-1].width
"""Shared memory of a block with the widest profile and all letters: 128 KiB."""

_WORTH_SCORING_FIRST = 0.5  # when fewer pairs than that reached the minimum in the window before


class Packed:
    """Two pairs a word with checkpoints; the fastest where it fits, and it fits nearly everything.

    Parameters
    ----------
    slots : int
        Batches under way at a time; two let copies and host work overlap kernels.

    Attributes
    ----------
    pipeline : BatchPipeline
    kernels : PackedKernels
        Of an open family, as the pipeline.
    """

    name = "packed"
    pipeline: BatchPipeline[Slot]
    kernels: PackedKernels

    def __init__(self, slots: int = 2) -> None:
        self._slot_count = slots

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
                    yield source, kernel_defines(mode, wide)
        yield "packed/runs.cu", {}

    def open(self, context: DeviceContext) -> None:
        """Upload the sequences with dense letters, and the score table."""
        self._context = context
        codes = used_codes(context)
        costs = Costs.of(context.scoring, codes)
        self._allocations: list[Any] = []
        rows = columns = DenseSet.of(context.queries, codes, self._upload)
        if not context.one_set:
            columns = DenseSet.of(context.targets, codes, self._upload)
        self._column_letters = ColumnLetters(context, columns, codes)
        mode = context.scoring.mode
        self._planner = PackedPlanner(
            context.queries.lengths,
            context.targets.lengths,
            worth_of(context.targets.sequences, codes, costs, mode),
            costs,
            mode,
            context.multiprocessors,
            shared_bytes(context.capability),
        )
        before = self._planner.bands_before.items()
        bands_before = {group: int(self._upload(bands)) for group, bands in before}
        self.kernels = PackedKernels(context, costs, bands_before)
        self._same_parameters = constants(
            context,
            costs,
            {"row": rows, "column": columns},
            table=int(self._upload(costs.table)),
            letters_before=int(self._upload(self._planner.letters_before)),
            definite=int(np.searchsorted(codes, context.scoring.alphabet.definite)),
        )
        self._passing = 0.0  # share of pairs that reached the minimum, in the window before
        sets = [context.queries] if context.one_set else [context.queries, context.targets]
        used = sum(len(one.sequences.codes) + PADDING * len(one.lengths) for one in sets)
        self.pipeline = context.pipeline(self._slot_count, context.memory_bytes - used)

    def close(self) -> None:
        """Free what `open` and `align` took."""
        self.pipeline.close()
        self._column_letters.close()
        for allocation in self._allocations:
            allocation.free()
        self._allocations = []

    def release(self) -> None:
        """Free the memory of batches; the next one takes it again."""
        self.pipeline.free_memory()

    def align(
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Align the pairs of a window, or those that `pair_mask` names: bool[pairs].

        See `pairalign.engines.cuda.family.KernelFamily`. With a minimum, pairs are scored first,
        and those that reach it are traced; unless most did so in the window before.
        """
        whole = Rectangle.of(window)
        if not self._planner.fits_words(whole):
            return self._align_on_host(window, want, pair_mask)
        letters = self._column_letters.of(window)
        work: Work = whole if pair_mask is None else Chosen.of(whole, pair_mask)
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
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None
    ) -> Alignments:
        if pair_mask is None:
            return self._context.align_on_host(window, want)
        found = self._context.align_on_host(window, Want(want.detail)).take(pair_mask)
        if want.min_raw_score is not None:
            found = found.take(found.raw_score >= want.min_raw_score)
        return found

    def _align(self, work: Work, want: Want, letters: int) -> Alignments:
        """Align some pairs batch by batch."""
        task = _PackedTask(
            self._context, self._planner, self.kernels, self._same_parameters, work, want, letters
        )
        if work.pairs:
            self.pipeline.run(task, work)
        return task.results.finish()

    def _upload(self, array: npt.NDArray[Any]) -> Any:
        allocation = self._context.driver.mem_alloc(max(array.nbytes, 16))
        self._allocations.append(allocation)
        self._context.driver.memcpy_htod(allocation, array)
        return allocation


class _PackedTask(BatchTask[Work, Batch, Slot, Flight]):
    """Some pairs of a window on their way through the pipeline."""

    def __init__(
        self,
        context: DeviceContext,
        planner: PackedPlanner,
        kernels: PackedKernels,
        same_parameters: npt.NDArray[np.void],
        work: Work,
        want: Want,
        letters: int,
    ) -> None:
        self.results = WindowResults(context, work.pairs, want)
        self._context = context
        self._planner = planner
        self._kernels = kernels
        self._same_parameters = same_parameters
        self._want = want
        self._letters = letters  # device address of the columns'
        self._started = 0  # pairs

    def plan(self, work: Work, limit_bytes: int) -> Iterator[Batch]:
        return self._planner.batches(work, self._want.detail > Detail.SCORE, limit_bytes)

    def rest(self, work: Work, batch: Batch) -> list[Work]:
        return list(work.rest(batch.work))  # type: ignore[arg-type]  # both are of one kind

    def array_bytes(self, batch: Batch) -> dict[str, int]:
        return array_bytes(batch, self._want)

    def start(self, batch: Batch, slot: Slot, addresses: dict[str, int]) -> Flight:
        parameters = parameters_of(batch, self._want, addresses, self._same_parameters)
        parameters["column_letters"] = self._letters
        places = upload_tables(batch, slot, addresses["tables"])
        for name, place in places.items():
            if name in PARAMETER_NAMES:
                parameters[name] = place
        flight = Flight(batch, slot, self._started, parameters, addresses)
        with self._context.lanes.batch(slot, batch.is_uneven):
            self._kernels.queue(flight, places, self._want)
        self.results.download(self._started, batch.pairs, addresses, slot.stream)
        slot.computed.record(slot.stream)
        self._started += batch.pairs
        return flight

    def finish(self, slot: Slot, flight: Flight) -> None:
        slot.computed.synchronize()
        if self.results.has_runs:
            self._fetch_runs(flight)

    def _fetch_runs(self, flight: Flight) -> None:
        """Copy the CIGAR runs of a batch whose offsets have arrived."""
        driver = self._context.driver
        slot, at = flight.slot, flight.addresses
        runs = self.results.runs_of(flight.first_pair, flight.batch.pairs)
        if not len(runs):
            return
        source = at["tiles"]
        extra: Any = None
        if len(runs) > flight.run_capacity:
            extra = driver.mem_alloc(runs.nbytes)
            source = int(extra)
            with self._context.lanes.batch(slot):
                self._kernels.write_runs(flight, source, len(runs))
        driver.memcpy_dtoh_async(runs, source, slot.stream)
        slot.stream.synchronize()
        if extra is not None:
            extra.free()
