"""Similar pairs of global mode on a GPU, see ``docs/similar-sequences.md``.

The kernels are in ``cuda/pruned/align.cu``. Pairs for which pruning does not pay are left to other
kernels (`pairalign.engines.cuda.router`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Doubles, Int64s, Structs, UInt32s, count_bytes
from pairalign.engines.cpu.cpu_engine import Pruned, Pruning
from pairalign.engines.cuda.block_diagonals.block_diagonals_results import Chosen
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import DeviceContext, KernelFamily
from pairalign.engines.cuda.pruned.pruned_plan import (
    ANTIDIAGONALS_A_MULTIPROCESSOR,
    DONE,
    GIVEN_UP,
    HEAD_BYTES,
    LOST,
    NO_ROOM,
    PAIR,
    PARAMETERS,
    RESULT,
    USUAL_LANES,
    WARPS_A_BLOCK,
    Layout,
    lay_out,
)
from pairalign.engines.cuda.pruned.pruned_results import Found, make_alignments
from pairalign.engines.cuda.pruned.sampling import LEAST_RESIDUES, Sampler
from pairalign.engines.cuda.pruned.worth import SOURCE as WORTH_SOURCE
from pairalign.engines.cuda.pruned.worth import (
    Worth,
    WorthOfSet,
    cheap_residues,
    choose_worth,
    fits,
    worth_bytes,
)
from pairalign.engines.device.batch_pipeline import BatchPipeline, BatchTask
from pairalign.engines.device.long_pairs import merge
from pairalign.engines.kernels import find_kernel
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.scoring.scoring import Scoring

SOURCE = "pruned/align.cu"
KERNEL = "align_pruned"

WIDEST = 0.5
"""A pair whose band takes more than this of its matrix is left to other kernels."""

WIDEST_AUTO = 0.35
"""The same for `auto`. A few pairs that are left take long: most of the GPU has nothing to do."""

WORTH_SHARE = 16
"""Divisor of the memory that worths of residues may take; else no pair is pruned."""

Numbers = Int64s


class PrunedPairs(KernelFamily):
    """Pairs filled only where an optimal alignment can be, a warp each.

    Parameters
    ----------
    pruning : Pruning
        ``auto``, ``always``, or for tests ``forced``.

    Attributes
    ----------
    pruning : Pruning
    counts : Pruned
        What it did so far.
    align_others : callable (window, want, pair_mask) -> Alignments
        Aligns the pairs for which pruning does not pay; to be set before `align` is called.
    """

    name = "pruned"
    pipeline: BatchPipeline[Slot]
    align_others: Callable[[Window, Want, Bools | None], Alignments]

    def __init__(self, pruning: Pruning | None = None) -> None:
        self.pruning = pruning or Pruning("always")
        self.counts = Pruned(0, 0, 0, 0, 0, 0)
        self._sums: list[WorthOfSet] = []
        self._other_strand: WorthOfSet | None = None
        self._allocations: list[Any] = []
        self._function: Any = None
        self._worth: Worth | None = None
        self._cannot = False

    def supports(self, scoring: Scoring, detail: Detail, capability: tuple[int, int]) -> str | None:
        """Global mode, any alphabet and detail; None, or why not."""
        if capability < (6, 1):
            return f"compute capability {capability[0]}.{capability[1]}, needs 6.1"
        return find_kernel(self.name, "cuda").why_not(scoring, detail)

    def variants(self) -> Iterator[tuple[str, dict[str, int | str]]]:
        """Yield what is compiled: residues that are compared, and scores that are looked up."""
        for table in (0, 1):
            yield SOURCE, _defines(table)
        yield WORTH_SOURCE, {}

    def open(self, context: DeviceContext) -> None:
        """Note the device; the first window for which it pays is prepared for (`pays`)."""
        self._context = context
        self._sampler = Sampler(context)

    def pays(self, window: Window, pair_mask: Bools | None = None) -> bool:
        """Tell whether `align` should be asked for the pairs of a window, and prepare for it."""
        if self.pruning.use == "auto" and not self._sampler.pays(window, pair_mask):
            return False
        if self._worth is None and not self._cannot:
            self._prepare()
        return self._worth is not None

    def _prepare(self) -> None:
        """Add up what the residues of all sequences are worth, if there is room for the sums."""
        context = self._context
        sets = [context.queries] if context.one_set else [context.queries, context.targets]
        needed = sum(map(worth_bytes, sets))
        self._cannot = needed > context.memory_bytes // WORTH_SHARE
        if self._cannot:
            return
        codes = sum(count_bytes(device_set.sequences.codes)[:32] for device_set in sets)
        complement = context.scoring.alphabet.complement
        if complement is not None:  # a window may want the other strand
            codes = codes + np.bincount(complement, weights=codes, minlength=32).astype(np.int64)
        worth = choose_worth(context.scoring, np.asarray(codes, np.int64))
        table = context.scoring.matrix.astype(np.int32) + np.int32(2 * context.scoring.gap_extend)
        self._allocations = [self._context.upload(worth.table()), self._context.upload(table)]
        self.pipeline = context.pipeline(1, context.memory_bytes - needed)
        self._worth = worth
        self._cheap = [
            cheap_residues(device_set, worth) for device_set in (context.queries, context.targets)
        ]
        for device_set in sets:
            self._sums.append(WorthOfSet(context, device_set))
            self._sums[-1].compute(
                self._allocations[0],
                device_set.codes,
                0,
                len(device_set.lengths),
                self._slot.stream,
            )

    def close(self) -> None:
        """Free what `open` and `align` took."""
        if self._worth is not None:
            self.pipeline.close()
        for resource in (*self._sums, *self._allocations):
            resource.close() if isinstance(resource, WorthOfSet) else resource.free()
        if self._other_strand is not None:
            self._other_strand.close()
        self._sums, self._allocations, self._function = [], [], None
        self._other_strand = self._worth = None

    def release(self) -> None:
        """Free the memory of batches; the next batch allocates it again."""
        if self._worth is not None:
            self.pipeline.free_memory()

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align pairs of a window for which it `pays`; see `KernelFamily`."""
        context = self._context
        numbers = np.arange(window.pairs) if pair_mask is None else np.flatnonzero(pair_mask)
        chosen = Chosen.of(context, window, pair_mask)
        task = _WindowTask(self, context, window, want, chosen, self._predict(chosen))
        task.run()
        alignments = make_alignments(context, chosen, want, task.found)
        others = np.zeros(window.pairs, np.bool_)
        others[numbers[task.found.results["status"] != DONE]] = True
        if not others.any():
            return alignments
        self.release()
        orders = (context.queries.sequences.order, context.targets.sequences.order)
        return merge(window, [alignments, self.align_others(window, want, others)], orders)

    @property
    def _slot(self) -> Slot:
        (slot,) = self.pipeline.slots
        return slot

    def _predict(self, chosen: Chosen) -> Doubles:
        """Return about how many lanes the bands of pairs have, to begin with the widest."""
        worth, context = self._worth, self._context
        assert worth is not None
        first, second = (
            context.queries.lengths[chosen.rows],
            context.targets.lengths[chosen.columns],
        )
        both = np.minimum(self._cheap[0][chosen.rows], self._cheap[1][chosen.columns])
        lanes: Doubles = np.abs(first - second) / 2 + USUAL_LANES / 4
        lanes += worth.pair_bonus * both / worth.diagonal
        return lanes

    def start_batch(
        self,
        pairs: Structs,
        layout: Layout,
        addresses: dict[str, int],
        want: Want,
        window: Window,
    ) -> None:
        """Queue the kernel for some pairs."""
        slot, context = self._slot, self._context
        start = addresses["tables"]  # ticket, runs_used, pairs, results
        head = np.zeros(HEAD_BYTES, np.uint8)
        slot.upload("tables", np.concatenate([head, pairs.view(np.uint8)]), start)
        parameters = np.zeros((), PARAMETERS)
        parameters["sets"][0] = self._sums[0].describe(context.queries.codes)
        parameters["sets"][1] = self._columns_of(window)
        parameters["ticket"], parameters["runs_used"] = start, start + 16
        parameters["taken"], parameters["pairs"] = start + 64, start + HEAD_BYTES
        parameters["results"] = start + HEAD_BYTES + pairs.nbytes
        parameters["runs"] = addresses.get("runs", 0)
        parameters["runs_room"] = layout.runs_room
        parameters["slabs"], parameters["slab_bytes"] = addresses["slabs"], layout.slab_bytes
        parameters["large_slabs"] = addresses["large_slabs"]
        parameters["large_bytes"] = layout.large_bytes
        parameters["large_count"] = layout.large_count
        parameters["pair_count"], parameters["detail"] = len(pairs), want.detail
        parameters["min_score"] = want.least_raw_score
        self._set_scoring(parameters)
        function = self._function
        if function is None:
            module = context.load_module(SOURCE, _defines(self._needs_table()))
            function = self._function = module.get_function(KERNEL)
        context.kernel = KERNEL
        packed = parameters[()]
        warps = min(layout.warps, WARPS_A_BLOCK)
        blocks = layout.warps // warps
        function(packed, block=(32 * warps, 1, 1), grid=(blocks, 1), stream=slot.stream)

    def finish_batch(
        self, pairs: int, layout: Layout, addresses: dict[str, int]
    ) -> tuple[Structs, UInt32s]:
        """Wait for a batch; return its results, and all runs that there is room for."""
        slot = self._slot
        start = addresses["tables"] + HEAD_BYTES + PAIR.itemsize * pairs
        data = slot.download("results", pairs * RESULT.itemsize, np.uint8, start)
        slot.wait()
        results = data.view(RESULT).copy()
        used = 0
        if layout.runs_room:
            done = results[results["status"] == DONE]
            used = int((done["runs_at"] + done["runs"]).max(initial=0))
        runs = slot.download("runs", used, np.uint32, addresses.get("runs", 0))
        slot.wait()
        return results, runs.copy()

    def add_counts(self, results: Structs, cells: int) -> None:
        """Count pairs, once each; `cells` are those of their matrices."""
        counts = (
            len(results),
            int((results["status"] == DONE).sum()),
            int((results["status"] == LOST).sum()),
            int(results["beam_cells"].sum()),
            int(results["cells"].sum()),
            cells,
            0,
        )
        self.counts = Pruned(*(a + b for a, b in zip(self.counts, counts, strict=True)))

    def _columns_of(self, window: Window) -> Structs:
        """Return the columns' set, of the strand that the window wants."""
        context = self._context
        if window.strand > 0:
            return self._sums[-1].describe(context.targets.codes)
        if self._other_strand is None:
            self._other_strand = WorthOfSet(context, context.targets)
        self._other_strand.compute(
            self._allocations[0],
            context.columns.codes,
            window.column_start,
            window.column_stop,
            self._slot.stream,
        )
        return self._other_strand.describe(context.columns.codes)

    def _set_scoring(self, parameters: Structs) -> None:
        worth, scoring = self._worth, self._context.scoring
        assert worth is not None
        shift = 2 * scoring.gap_extend
        names = ("row_loss", "row_bonus", "column_loss", "column_bonus", "pair_bonus")
        for name in (*names, "diagonal", "plain"):
            parameters[name] = getattr(worth, name)
        parameters["match"], parameters["mismatch"] = worth.match + shift, worth.mismatch + shift
        parameters["table"] = int(self._allocations[1])
        parameters["gap_open"], parameters["gap_extend"] = scoring.gap_open, scoring.gap_extend
        parameters["unambiguous"] = scoring.alphabet.unambiguous
        parameters["forced"] = self.pruning.use == "forced"
        parameters["worse_seed"] = self.pruning.worse_seed
        parameters["lower_bound"] = self.pruning.lower_bound
        is_auto = self.pruning.use == "auto"
        parameters["widest"] = WIDEST_AUTO if is_auto else WIDEST
        parameters["sketched"] = is_auto

    def _needs_table(self) -> int:
        assert self._worth is not None
        return int(self._worth.plain == 0)


@dataclass(frozen=True)
class _Work:
    """Pairs of a task, and how often they had no room."""

    numbers: Numbers
    level: int = 0


@dataclass(frozen=True)
class _PrunedBatch:
    """Some of the pairs of some work; `layout`: None where the device has no room for them."""

    work: _Work
    start: int
    stop: int
    layout: Layout | None

    @property
    def numbers(self) -> Numbers:
        return self.work.numbers[self.start : self.stop]


@dataclass(frozen=True)
class _Flight:
    batch: _PrunedBatch
    addresses: dict[str, int]


class _WindowTask(BatchTask[_Work, _PrunedBatch, Slot, _Flight]):
    """Pairs of a window on their way through the pipeline.

    Attributes
    ----------
    found : Found
        Of all chosen pairs.
    """

    def __init__(
        self,
        family: PrunedPairs,
        context: DeviceContext,
        window: Window,
        want: Want,
        chosen: Chosen,
        lanes: Doubles,
    ) -> None:
        self._family = family
        self._lanes = lanes
        self._window = window
        self._want = want
        first = context.queries.lengths[chosen.rows].astype(np.int64)
        second = context.targets.lengths[chosen.columns].astype(np.int64)
        self._rows, self._columns = np.maximum(first, second), np.minimum(first, second)
        self._multiprocessors = context.multiprocessors
        self._can = fits(context.scoring, self._rows, self._columns)
        self._can &= self._columns >= (LEAST_RESIDUES if family.pruning.use == "auto" else 1)
        pairs = self._pairs = np.zeros(len(first), PAIR)
        pairs["row"], pairs["column"] = chosen.rows, chosen.columns
        pairs["swapped"] = chosen.swapped(context)
        pairs["row_is_query"] = pairs["swapped"] == 0
        if context.one_set:
            pairs["row_is_query"] = chosen.query == context.queries.sequences.order[chosen.rows]
        self.found = Found.of(len(first))
        self._again: list[Numbers] = []

    def run(self) -> None:
        """Align all pairs, those that had no room again and again with more."""
        self.found.results["status"] = GIVEN_UP
        numbers = np.flatnonzero(self._can)
        # What takes longest first: none should be alone at the end.
        work = (self._lanes * (self._rows + self._columns))[numbers]
        numbers = numbers[np.argsort(-work, kind="stable")]
        level = 0
        while len(numbers):
            self._again = []
            self._family.pipeline.run(self, _Work(numbers, level))
            numbers = np.concatenate([np.zeros(0, np.int64), *self._again])
            level += 1
        results = self.found.results[self._can]
        cells = int((self._rows * self._columns)[self._can].sum())
        self._family.add_counts(results, cells)

    def plan(self, work: _Work, limit_bytes: int) -> Iterator[_PrunedBatch]:
        antidiagonals = np.cumsum((self._rows + self._columns)[work.numbers])
        most = ANTIDIAGONALS_A_MULTIPROCESSOR * self._multiprocessors
        start = 0
        while start < len(work.numbers):
            before = int(antidiagonals[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(antidiagonals, before + most)))
            layout = self._lay_out(work, start, stop, limit_bytes)
            while layout is None and stop > start + 1:
                stop = (start + stop) // 2
                layout = self._lay_out(work, start, stop, limit_bytes)
            yield _PrunedBatch(work, start, stop, layout)
            start = stop

    def _lay_out(self, work: _Work, start: int, stop: int, limit_bytes: int) -> Layout | None:
        numbers = work.numbers[start:stop]
        return lay_out(
            self._rows[numbers],
            self._columns[numbers],
            self._want.detail,
            self._multiprocessors,
            work.level,
            limit_bytes,
        )

    def rest(self, work: _Work, batch: _PrunedBatch) -> list[_Work]:
        return [_Work(work.numbers[batch.start :], work.level)]

    def array_bytes(self, batch: _PrunedBatch) -> dict[str, int]:
        assert batch.layout is not None
        return batch.layout.sizes

    def is_for_host(self, batch: _PrunedBatch) -> bool:
        return batch.layout is None

    def align_on_host(self, batch: _PrunedBatch) -> None:
        """Leave them to other kernels."""

    def start(self, batch: _PrunedBatch, slot: Slot, addresses: dict[str, int]) -> _Flight:
        assert batch.layout is not None
        pairs = self._pairs[batch.numbers]
        self._family.start_batch(pairs, batch.layout, addresses, self._want, self._window)
        return _Flight(batch, addresses)

    def finish(self, slot: Slot, flight: _Flight) -> None:
        batch = flight.batch
        assert batch.layout is not None
        numbers = batch.numbers
        results, runs = self._family.finish_batch(len(numbers), batch.layout, flight.addresses)
        self.found.add(numbers, results, runs)
        if not batch.layout.is_largest:
            self._again.append(numbers[results["status"] == NO_ROOM])


def _defines(table: int) -> dict[str, int | str]:
    return {"PAIRALIGN_TABLE": table}
