"""What the packed kernels do with batches: align their pairs, or find those that pass."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.engines.cuda.buffers import Slot
from pairalign.engines.cuda.cuda_family import DeviceContext
from pairalign.engines.cuda.device_memory import allocator_of
from pairalign.engines.cuda.packed.batches import PackedBatch, Work
from pairalign.engines.cuda.packed.packed_kernels import Flight, PackedKernels
from pairalign.engines.cuda.packed.packed_plan import PackedPlanner
from pairalign.engines.cuda.packed.packed_results import PassingPairs, WindowResults
from pairalign.engines.cuda.packed.parameters import (
    PARAMETER_NAMES,
    array_bytes,
    parameters_of,
    passing_bytes,
    upload_tables,
)
from pairalign.engines.device.batch_pipeline import BatchTask
from pairalign.pairs.want import Detail, Want


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
    parameters: npt.NDArray[np.void]


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
