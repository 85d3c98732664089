"""Packed kernels: two pairs a word, borders of tiles kept, only tiles on the path done again.

See ``cuda/packed/packed.cuh`` for the layout, ``cuda/packed/fill.cu`` and
``cuda/packed/traceback.cu`` for the kernels.

References
----------
K. Dohi, K. Benkrid, C. Ling, T. Hamada, Y. Shibata: Highly efficient mapping of the Smith-Waterman
algorithm on CUDA-compatible GPUs. ASAP 2010.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Int32s, Structs
from pairalign.base.choices import ALL_MODES
from pairalign.engines.cuda.buffers import Slot, Uploads, allocator_of
from pairalign.engines.cuda.cuda_family import DeviceContext, KernelFamily, Numbers
from pairalign.engines.cuda.packed.batches import Chosen, PackedBatch, Work, choose_numbers
from pairalign.engines.cuda.packed.packed_kernels import (
    BOUNDED_KERNELS,
    FILL,
    PASSING,
    PASSING_KERNELS,
    RUN_KERNELS,
    RUNS,
    TRACEBACK,
    Flight,
    PackedKernels,
    entry_defines,
    shared_bytes,
)
from pairalign.engines.cuda.packed.packed_plan import PackedPlanner
from pairalign.engines.cuda.packed.packed_results import (
    PassingPairs,
    WindowResults,
    expect_results,
    take_array,
)
from pairalign.engines.cuda.packed.parameters import (
    LETTERS,
    PADDING,
    PARAMETER_NAMES,
    ColumnResidues,
    Costs,
    DenseResidues,
    DenseSet,
    array_bytes,
    constants,
    parameters_of,
    passing_bytes,
    upload_tables,
    worth_of,
)
from pairalign.engines.cuda.packed.tilings import TILINGS
from pairalign.engines.device.batch_pipeline import BatchPipeline, BatchTask
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.engines.kernels import find_kernel
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.reads.reaching_pairs import ReachingPairs
from pairalign.scoring.scoring import Scoring


@dataclass(frozen=True)
class OpenKernels:
    """What an open family has for all of its tasks.

    Attributes
    ----------
    parameters : PARAMETERS scalar
        With all that is the same for all batches.
    """

    context: DeviceContext
    planner: PackedPlanner
    kernels: PackedKernels
    parameters: Structs


class PackedTask(BatchTask[Work, PackedBatch, Slot, Flight]):
    """Some pairs of a window on their way through the pipeline.

    Parameters
    ----------
    residues : int
        Device address of the columns' residues.
    """

    def __init__(self, family: OpenKernels, want: Want, residues: int) -> None:
        self._context = family.context
        self._family = family
        self._want = want
        self._residues = residues
        self._started = 0  # pairs

    def plan(self, work: Work, limit_bytes: int) -> Iterator[PackedBatch]:
        """Cut pairs into batches."""
        return self._family.planner.batches(work, self._want.detail > Detail.SCORE, limit_bytes)

    def rest(self, work: Work, batch: PackedBatch) -> list[Work]:
        """Return what remains from a batch on."""
        return list(work.rest(batch.work))  # type: ignore[arg-type]  # both are of one kind

    def array_bytes(self, batch: PackedBatch) -> dict[str, int]:
        """Return the size of each array on the device."""
        return array_bytes(batch, self._want)

    def start(self, batch: PackedBatch, slot: Slot, addresses: dict[str, int]) -> Flight:
        """Queue the copies and kernels of a batch."""
        parameters = parameters_of(batch, self._want, addresses, self._family.parameters)
        parameters["column_residues"] = self._residues
        places = upload_tables(batch, slot, addresses["tables"])
        for name, place in places.items():
            if name in PARAMETER_NAMES:
                parameters[name] = place
        flight = Flight(batch, slot, self._started, parameters, addresses)
        with self._context.streams.batch(slot, batch.is_uneven):
            self._queue(flight, places)
        self._download(flight)
        slot.computed.record(slot.stream)
        self._started += batch.pairs
        return flight

    def _queue(self, flight: Flight, places: dict[str, int]) -> None:
        """Launch the batch's kernels; `places`: of its tables on the device."""
        self._family.kernels.queue(flight, places, self._want)

    @abstractmethod
    def _download(self, flight: Flight) -> None:
        """Start copying what is known to be there once the kernels are done."""


class AlignTask(PackedTask):
    """Pairs that are aligned; all of them come back.

    Parameters
    ----------
    family, want, residues
        As for `PackedTask`.
    work : Rectangle or Chosen

    Attributes
    ----------
    results : WindowResults
    """

    def __init__(self, family: OpenKernels, work: Work, want: Want, residues: int) -> None:
        super().__init__(family, want, residues)
        self.results = WindowResults(self._context, work.pairs, want)

    def _download(self, flight: Flight) -> None:
        pairs, slot = flight.batch.pairs, flight.slot
        self.results.download(flight.first_pair, pairs, flight.addresses, slot.stream)

    def finish(self, slot: Slot, flight: Flight) -> None:
        """Wait for a batch and fetch what comes of it."""
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
            extra = allocator_of(driver)(runs.nbytes)
            source = int(extra)
            with self._context.streams.batch(slot):
                self._family.kernels.write_runs(flight, source, len(runs))
        driver.memcpy_dtoh_async(runs, source, slot.stream)
        slot.stream.synchronize()
        if extra is not None:
            extra.free()


class PassingTask(PackedTask):
    """Pairs that are scored; those that reach a minimum come back.

    Parameters
    ----------
    family, residues
        As for `PackedTask`.
    least : int
        The minimum, a raw score.
    least_by_end : int, optional
        Device address of minima by end cells, see `PackedKernels.select_passing`.

    Attributes
    ----------
    passing : PassingPairs
    """

    def __init__(
        self, family: OpenKernels, least: int, residues: int, least_by_end: int | None = None
    ) -> None:
        super().__init__(family, Want(Detail.SCORE, least), residues)
        self.passing = PassingPairs(self._context, least_by_end is not None)
        self._least = max(least, -(1 << 31))
        self._least_by_end = least_by_end

    def array_bytes(self, batch: PackedBatch) -> dict[str, int]:
        """Return the size of each array on the device."""
        return super().array_bytes(batch) | passing_bytes(batch.pairs)

    def _queue(self, flight: Flight, places: dict[str, int]) -> None:
        super()._queue(flight, places)
        self._family.kernels.select_passing(flight, self._least, self._least_by_end)

    def _download(self, flight: Flight) -> None:
        self.passing.download_count(flight.addresses, flight.batch.pairs, flight.slot)

    def finish(self, slot: Slot, flight: Flight) -> None:
        """Wait for a batch and fetch what comes of it."""
        slot.computed.synchronize()
        self.passing.fetch(flight.first_pair, flight.addresses, flight.batch.pairs, slot)


SCORE_LIMIT = 1 << 12
"""With larger scores a residue, neighbouring cells might differ by more than 16 bits hold."""

SHARED_BYTES = 4 * LETTERS * TILINGS[-1].width
"""Shared memory of a block with the widest profile and all residues: 128 KiB."""

_WORTH_SCORING_FIRST = 0.5  # when fewer pairs than that reached the minimum in the window before


_BATCHES_UNDER_WAY = 1
"""Of an engine: others of the device keep it busy meanwhile. A second one would leave each half of
the memory, and a traceback of few pairs leaves most of a GPU idle."""

_WINDOWS_AT_FIRST = 2
"""Windows of an engine whose results have no memory yet: one under way, one being written."""


class Packed(KernelFamily):
    """Two pairs a word with checkpoints; the fastest where it fits, and it fits nearly everything.

    Attributes
    ----------
    pipeline : BatchPipeline
    kernels : PackedKernels
        Of an open family, as the pipeline.
    """

    name = "packed"
    pipeline: BatchPipeline[Slot]
    kernels: PackedKernels

    def supports(self, scoring: Scoring, detail: Detail, capability: tuple[int, int]) -> str | None:
        """None, or why not: too little shared memory, or scores that leave no room for flags."""
        if capability not in {(8, 0), (8, 7)} and not (9, 0) <= capability < (12, 0):
            return (
                f"compute capability {capability[0]}.{capability[1]} has less shared memory than "
                f"the {SHARED_BYTES >> 10} KiB a block needs"
            )
        largest = max(int(np.abs(scoring.matrix).max()), scoring.gap_open)
        if largest > SCORE_LIMIT:
            return f"scores of {largest} a residue, at most {SCORE_LIMIT}"
        if scoring.end_gaps is not None and not scoring.end_gaps.has_equal_sides:
            return "end gaps that cost other than those of the other sequence"
        return find_kernel(self.name, "cuda").why_not(scoring, detail)

    def variants(self) -> Iterator[tuple[str, dict[str, int | str]]]:
        """Yield what is compiled: each mode, packed and wide, for one set and for two."""
        for mode in ALL_MODES:
            for wide in (False, True):
                for source in (FILL, TRACEBACK):
                    yield source, entry_defines(source, mode, wide)
                if mode == "local":
                    yield TRACEBACK, entry_defines(TRACEBACK, mode, wide, two_sets=True)
        yield RUNS, {}
        yield PASSING, {}

    def open(self, context: DeviceContext) -> None:
        """Upload the sequences with dense residues, and the score table."""
        self._context = context
        once = context.shared.once
        codes = once("codes", context.used_codes)
        costs = Costs.of(context.scoring, codes)
        self._uploads = Uploads(context.driver)
        padding = costs.letters - 1
        dense = once("dense rows", lambda: DenseResidues.of(context.queries, codes, padding))
        rows = columns = DenseSet.of(dense, self._uploads.copy)
        if not context.one_set:
            dense = once("dense columns", lambda: DenseResidues.of(context.targets, codes, padding))
            columns = DenseSet.of(dense, self._uploads.copy)
        self._column_residues = ColumnResidues(context, columns, codes)
        mode, sequences = context.scoring.mode, context.targets.sequences
        self._planner = PackedPlanner(
            context.queries.lengths,
            context.targets.lengths,
            once("worth", lambda: worth_of(sequences, codes, costs, mode)),
            costs,
            mode,
            context.multiprocessors,
            shared_bytes(context.capability),
            lambda size_bytes: take_array(context, size_bytes, np.uint8),
        )
        before = self._planner.tiers_before.items()
        tiers_before = {group: self._uploads.address(tiers) for group, tiers in before}
        self.kernels = PackedKernels(context, costs, tiers_before)
        parameters = constants(
            context,
            costs,
            {"row": rows, "column": columns},
            ranks=[self._uploads.address(array) for array in context.ranks or ()],
            table=self._uploads.address(costs.table),
            residues_before=self._uploads.address(self._planner.residues_before),
            unambiguous=int(np.searchsorted(codes, context.scoring.alphabet.unambiguous)),
        )
        self._open = OpenKernels(context, self._planner, self.kernels, parameters)
        self._prepared: set[tuple[bool, tuple[str, ...]]] = set()
        self._begun: set[bool] = set()  # to be compiled: whether it traces
        self._expected: Bools | None = None  # columns
        self._least_by_end: tuple[Int32s, int] | None = None  # and where it is on the device
        self._windows = 0  # aligned, while these are few
        self._passing = 0.0  # share of pairs that reached the minimum, in the window before
        sets = [context.queries] if context.one_set else [context.queries, context.targets]
        used = sum(
            len(device_set.sequences.codes) + PADDING * len(device_set.lengths)
            for device_set in sets
        )
        self.pipeline = context.pipeline(_BATCHES_UNDER_WAY, context.memory_bytes - used)
        for slot in self.pipeline.slots:  # now, while nobody else waits for the driver
            slot.pinned("tables", 0, np.uint8)

    def close(self) -> None:
        """Free what `open` and `align` took."""
        self.pipeline.close()
        self._column_residues.close()
        self._uploads.free()

    def release(self) -> None:
        """Free the memory of batches; the next one takes it again."""
        self.pipeline.free_memory()

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of a window, or those that `pair_mask` names: bool[pairs].

        See `pairalign.engines.cuda.cuda_family.KernelFamily`. With a minimum, pairs are scored
        first, and those that reach it are traced; unless most did so in the window before.
        """
        whole = Rectangle.of(window)
        if not self._planner.fits_words(whole):
            return self._align_on_host(window, want, pair_mask)
        residues = self._column_residues.of(window)
        work: Work = whole if pair_mask is None else Chosen.of(whole, pair_mask)
        least = want.min_raw_score
        if least is None:
            return self._align(work, want, residues)
        if want.detail == Detail.SCORE:
            return self._select(work, least, residues).alignments()
        pairs = work.pairs
        if self._passing < _WORTH_SCORING_FIRST:
            numbers = self._select(work, least, residues).numbers()
            if len(numbers) < pairs:
                work = choose_numbers(work, numbers)
        alignments = self._align(work, want, residues)
        self._passing = len(alignments) / max(pairs, 1)
        return alignments

    def align_numbers(self, window: Window, want: Want, numbers: Numbers) -> Alignments | None:
        """Align some pairs of a window; see `CudaEngine.align_numbers`. None: it cannot."""
        whole = Rectangle.of(window)
        if not self._planner.fits_words(whole):
            return None
        work = choose_numbers(whole, numbers)
        return self._align(work, want, self._column_residues.of(window))

    def reach(self, window: Window, least: int, least_by_end: Int32s) -> ReachingPairs | None:
        """Score all pairs of a window; see `CudaEngine.reach`. None: it cannot."""
        whole = Rectangle.of(window)
        if self._context.scoring.mode != "semiglobal" or not self._planner.fits_words(whole):
            return None
        if self._least_by_end is None:
            self._least_by_end = least_by_end, self._uploads.address(least_by_end)
        bounds, address = self._least_by_end
        assert bounds is least_by_end
        return self._select(whole, least, self._column_residues.of(window), address).reaching()

    def _align_on_host(self, window: Window, want: Want, pair_mask: Bools | None) -> Alignments:
        if pair_mask is None:
            return self._context.align_on_host(window, want)
        alignments = self._context.align_on_host(window, Want(want.detail)).take(pair_mask)
        if want.min_raw_score is not None:
            alignments = alignments.take(alignments.raw_score >= want.min_raw_score)
        return alignments

    def expect(self, window: Window, pair_mask: Bools) -> None:
        """Learn which columns pairs will be of: what others need is compiled when launched."""
        if self._expected is None:
            self._expected = np.zeros(window.column_stop, np.bool_)
            self._expected[window.positions_of(np.flatnonzero(pair_mask))[1]] = True

    def compile_ahead(self, traced: bool) -> None:
        """Begin to compile what scores or, `traced`, alignments need, once."""
        if traced not in self._begun:
            self._begun.add(traced)
            others = RUN_KERNELS if traced and self._context.detail == Detail.CIGAR else ()
            kinds = self._planner.kinds(traced, self._expected)
            self.kernels.compile_ahead(kinds, traced, others)

    def _prepare(self, traced: bool, others: tuple[str, ...]) -> None:
        """Have the kernels that the sets need compiled together, and not batch by batch."""
        if (traced, others) not in self._prepared:
            if not traced and self._context.detail > Detail.SCORE:
                self.compile_ahead(True)
            self._prepared.add((traced, others))
            self.kernels.prepare(self._planner.kinds(traced, self._expected), traced, others)

    def _align(self, work: Work, want: Want, residues: int) -> Alignments:
        """Align some pairs batch by batch."""
        traced = want.detail > Detail.SCORE
        if self._windows < _WINDOWS_AT_FIRST and work.pairs:
            self._windows += 1
            expect_results(self._context, work, want)
        self._prepare(traced, RUN_KERNELS if want.detail == Detail.CIGAR else ())
        task = AlignTask(self._open, work, want, residues)
        if work.pairs:
            self.pipeline.run(task, work)
        return task.results.finish()

    def _select(
        self, work: Work, least: int, residues: int, least_by_end: int | None = None
    ) -> PassingPairs:
        """Score some pairs batch by batch; only those that reach `least` leave the device."""
        self._prepare(False, PASSING_KERNELS if least_by_end is None else BOUNDED_KERNELS)
        task = PassingTask(self._open, least, residues, least_by_end)
        if work.pairs:
            self.pipeline.run(task, work)
        return task.passing
