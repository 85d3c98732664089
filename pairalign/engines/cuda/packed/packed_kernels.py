"""The packed kernels: what each is called and compiled from; launching them one after the other.

The list is nowhere else. A CUDA source defines ``ENTRY(NAME, FUNCTION)`` and makes a kernel of each
entry in the definition ``PAIRALIGN_ENTRIES``: all of them ahead of time, at first use those that a
run needs, each for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairalign.base.arrays import Structs
from pairalign.base.choices import ALL_MODES
from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.build import PTXAS_LEVEL, ModuleRequest
from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.engines.cuda.packed.batches import Kind, Launch, PackedBatch
from pairalign.engines.cuda.packed.parameters import (
    PAIRS_OF_BLOCK,
    PASSING_THREADS,
    PLACING_THREADS,
    Costs,
    blocks_of,
    passing_blocks_of,
)
from pairalign.engines.cuda.packed.tilings import FILL_THREADS, STRIPS, TIER, TILINGS
from pairalign.pairs.want import Detail, Want

FILL, TRACEBACK = "packed/fill.cu", "packed/traceback.cu"
RUNS, PASSING = "packed/runs.cu", "packed/passing.cu"

FAR_PROFILES = "build_far_profiles"
"""In `TRACEBACK` whatever its entries are."""

RUN_KERNELS = ("count_runs", "place_runs", "write_runs")
"""In `RUNS`: of alignments, whatever their tiling."""

PASSING_KERNELS = ("count_passing", "place_runs", "write_passing")
"""In `PASSING` and `RUNS`: of scores with a minimum."""

BOUNDED_KERNELS = ("count_passing", "place_runs", "write_bounded_passing")
"""The same, with a minimum for each end cell besides."""


def fill_name(kind: Kind, traced: bool) -> str:
    """Name of the kernel that scores a kind of items, and when `traced` keeps their tiles."""
    group = "strips" if kind.strips else f"g{kind.tiling.group}"
    return f"{'fill' if traced else 'score'}_{group}_k{kind.tiling.columns}"


def traceback_name(kind: Kind) -> str:
    """Name of the kernel that makes alignments of a kind of items."""
    return f"traceback_{'far_' if kind.strips else ''}k{kind.tiling.columns}"


def kernels_of(kind: Kind, traced: bool) -> list[str]:
    """Names of the kernels that a kind of items needs, in the order of their launches."""
    names = [fill_name(kind, traced)]
    if traced:
        names += [FAR_PROFILES] if kind.strips else []
        names.append(traceback_name(kind))
    return names


def _functions() -> dict[str, dict[str, str]]:
    """Return the device function of each kernel, by source and name."""
    kinds = [Kind(tiling, False, False) for tiling in TILINGS]
    kinds += [Kind(tiling, False, True) for tiling in STRIPS]
    functions: dict[str, dict[str, str]] = {FILL: {}, TRACEBACK: {}}
    for kind in kinds:
        tiling, strips = kind.tiling, str(kind.strips).lower()
        for traced in (False, True):
            arguments = f"{tiling.group},{tiling.columns},{str(traced).lower()},{strips}"
            functions[FILL][fill_name(kind, traced)] = f"fill<{arguments}>"
        functions[TRACEBACK][traceback_name(kind)] = f"traceback<{tiling.columns},{strips}>"
    return functions


_FUNCTIONS = _functions()


def takes_shared_memory(kernel: str) -> bool:
    """Whether a kernel takes more shared memory than every device gives without asking."""
    return any(kernel in functions for functions in _FUNCTIONS.values())


def source_of(kernel: str) -> str:
    """Return the source that a kernel is in."""
    if kernel.endswith("_runs"):
        return RUNS
    if kernel.endswith("_passing"):
        return PASSING
    return FILL if kernel in _FUNCTIONS[FILL] else TRACEBACK


def entry_defines(
    source: str, mode: str, wide: bool, kernel: str | None = None, two_sets: bool = False
) -> dict[str, int | str]:
    """Return what a source is compiled with: for all of its entries, or one kernel's only.

    Local tracebacks of two sets are compiled by themselves, see `path.transposed` in the source.
    """
    if source not in _FUNCTIONS:
        return {}
    functions = _FUNCTIONS[source]
    names = [name for name in functions if kernel in (None, name)]
    apart = source == TRACEBACK and mode == "local"
    return {
        **({"PAIRALIGN_RANKS": int(two_sets)} if apart else {}),
        **({PTXAS_LEVEL: 1} if apart and two_sets else {}),
        "PAIRALIGN_MODE": ALL_MODES.index(mode),
        "PAIRALIGN_WIDE": int(wide),
        "PAIRALIGN_TIER": TIER,
        "PAIRALIGN_ENTRIES": " ".join(f"ENTRY({name},{functions[name]})" for name in names),
    }


@dataclass
class Flight:
    """A batch whose kernels are queued.

    Attributes
    ----------
    first_pair : int
        Number of its first pair in the window.
    parameters : PARAMETERS scalar
    addresses : dict of str to int
        Where its arrays lie on the device.
    """

    batch: PackedBatch
    slot: Slot
    first_pair: int
    parameters: Structs
    addresses: dict[str, int]

    @property
    def run_capacity(self) -> int:
        """CIGAR runs that find room where the batch's tiles have been."""
        return (self.addresses["tiles_end"] - self.addresses["tiles"]) // 4


class PackedKernels:
    """The kernels of one engine; modules are loaded when a batch needs them.

    Parameters
    ----------
    tiers_before : mapping of int to device address
        By lanes of a group: the sums of tiers over all rows of the set.
    """

    def __init__(
        self, context: DeviceContext, costs: Costs, tiers_before: Mapping[int, int]
    ) -> None:
        self._context = context
        self._costs = costs
        self._tiers_before = tiers_before
        self._open_codes = {wide: costs.open_codes(wide) for wide in (False, True)}
        self._functions: dict[tuple[str, bool], Any] = {}

    def prepare(self, kinds: Iterable[Kind], traced: bool, others: Sequence[str] = ()) -> None:
        """Load what some kinds of items need, and others; what must be compiled is all at once."""
        needed = [(name, kind.wide) for kind in kinds for name in kernels_of(kind, traced)]
        self._load([*needed, *((name, False) for name in others)])

    def compile_ahead(
        self, kinds: Iterable[Kind], traced: bool, others: Sequence[str] = ()
    ) -> None:
        """Begin to compile the same."""
        names = [(name, kind.wide) for kind in kinds for name in kernels_of(kind, traced)]
        names += [(name, False) for name in others]
        self._context.compile_ahead([self._request(*key) for key in dict.fromkeys(names)])

    def queue(self, flight: Flight, places: dict[str, int], want: Want) -> None:
        """Launch a batch's kernels one after the other; `places`: of its tables on the device."""
        slot, at, parameters = flight.slot, flight.addresses, flight.parameters
        traced = want.detail > Detail.SCORE
        self.prepare({launch.kind for launch in flight.batch.launches}, traced)
        for launch in flight.batch.launches:
            group, wide = launch.kind.tiling.group, launch.kind.wide
            tiers = places.get(f"tiers_before_{group}")
            if tiers is None:  # of all rows of the set
                tiers = int(self._tiers_before[group]) + 4 * flight.batch.rectangle.row_start
            parameters["tiers_before"] = tiers
            for name in ("items", "item_tiles", "item_borders", "item_profiles", "chunks"):
                parameters[name] = at["tables"] + getattr(launch, f"{name}_at")
            parameters["group"] = group
            parameters["open_codes"] = self._open_codes[wide]
            self._launch_one(launch, parameters[()], slot, traced)
        if want.detail == Detail.CIGAR:
            self._make_runs(flight)

    def _launch_one(self, launch: Launch, packed: Structs, slot: Slot, traced: bool) -> None:
        kind, tiling = launch.kind, launch.kind.tiling
        profile = 4 * self._costs.letters * tiling.width
        name = fill_name(kind, traced)
        self.launch(name, kind.wide, launch.items, FILL_THREADS, slot, profile, packed)
        if not traced:
            return
        threads = launch.traceback_threads
        shared = threads * tiling.code_bytes
        if kind.strips:
            width = np.int32(tiling.width)
            self.launch(FAR_PROFILES, kind.wide, launch.items, 256, slot, 0, packed, width)
        else:
            shared += tiling.profile_bytes(self._costs.letters)
        name = traceback_name(kind)
        self.launch(name, kind.wide, launch.chunks, threads, slot, shared, packed)

    def _make_runs(self, flight: Flight) -> None:
        """Queue the kernels that make counts and runs of what the traceback left."""
        slot, at = flight.slot, flight.addresses
        blocks = blocks_of(flight.batch.pairs)
        counts, starts = np.uint64(at["block_runs"]), np.uint64(at["block_starts"])
        self.launch(
            "count_runs", False, blocks, PAIRS_OF_BLOCK, slot, 0, flight.parameters[()], counts
        )
        self.launch(
            "place_runs", False, 1, PLACING_THREADS, slot, 0, counts, np.int32(blocks), starts
        )
        # The tiles have served: their room takes the runs, where it does.
        self.write_runs(flight, at["tiles"], flight.run_capacity)

    def write_runs(self, flight: Flight, target: int, capacity: int) -> None:
        """Queue the kernel that writes CIGAR runs to a device address, as many as find room."""
        at, pairs = flight.addresses, flight.batch.pairs
        addresses = (np.uint64(at[name]) for name in ("block_starts", "run_offsets"))
        arguments = (flight.parameters[()], *addresses, np.uint64(target), np.int64(capacity))
        self.launch(
            "write_runs", False, blocks_of(pairs), PAIRS_OF_BLOCK, flight.slot, 0, *arguments
        )

    def select_passing(self, flight: Flight, least: int, least_by_end: int | None) -> None:
        """Queue the kernels that gather the pairs whose scores reach `least`.

        `least_by_end`: device address of what scores must reach besides, by the residues that each
        sequence has before the end at least; it is told of each pair whether it does.
        """
        at, pairs, slot = flight.addresses, flight.batch.pairs, flight.slot
        blocks = passing_blocks_of(pairs)
        fields, counts, starts, numbers, passing = (
            np.uint64(at[name])
            for name in (
                "fields",
                "passing_counts",
                "passing_starts",
                "passing_numbers",
                "passing_fields",
            )
        )
        scores = (fields, np.int64(pairs), np.int32(least))
        self.launch("count_passing", False, blocks, PASSING_THREADS, slot, 0, *scores, counts)
        self.launch(
            "place_runs", False, 1, PLACING_THREADS, slot, 0, counts, np.int32(blocks), starts
        )
        out = (starts, numbers, passing)
        name = "write_passing"
        if least_by_end is not None:
            name = "write_bounded_passing"
            out += tuple(
                np.uint64(address) for address in (at["end_row"], at["end_column"], least_by_end)
            )
        self.launch(name, False, blocks, PASSING_THREADS, slot, 0, *scores, *out)

    def launch(
        self,
        kernel: str,
        wide: bool,
        blocks: int,
        threads: int,
        slot: Slot,
        shared: int,
        *args: object,
    ) -> None:
        """Queue one kernel; what it is compiled for follows from its name and `wide`."""
        self._load([(kernel, wide)])
        function = self._functions[kernel, wide]
        self._context.kernel = kernel
        function(*args, block=(threads, 1, 1), grid=(blocks, 1), stream=slot.kernels, shared=shared)

    def _load(self, kernels: Iterable[tuple[str, bool]]) -> None:
        """Load kernels, by name and whether they are the wide ones."""
        missing = [key for key in dict.fromkeys(kernels) if key not in self._functions]
        if not missing:
            return
        context = self._context
        modules = context.load_modules([self._request(*key) for key in missing])
        attribute = context.driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        for (kernel, wide), module in zip(missing, modules, strict=True):
            function = module.get_function(kernel)
            if takes_shared_memory(kernel):
                function.set_attribute(attribute, shared_bytes(context.capability) - 1024)
            self._functions[kernel, wide] = function

    def _request(self, kernel: str, wide: bool) -> ModuleRequest:
        source, mode = source_of(kernel), self._context.scoring.mode
        two_sets = not self._context.one_set
        part = entry_defines(source, mode, wide, kernel, two_sets)
        return ModuleRequest(source, entry_defines(source, mode, wide, None, two_sets), part)


def shared_bytes(capability: tuple[int, int]) -> int:
    """Shared memory of a multiprocessor that blocks may use."""
    return (163 if capability < (9, 0) else 227) << 10
