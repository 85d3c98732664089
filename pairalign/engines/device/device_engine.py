"""What the engines of devices have in common, whatever framework drives the device.

`CudaEngine` and `OpenClEngine` are `DeviceEngine`s: they say how kernels are chosen, how the device
is opened and closed, and how a window is aligned; opening, errors and cancelling are here.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.problem import Problem
from pairalign.alignments.strands import to_original_strands
from pairalign.base.arrays import Bools, Int32s
from pairalign.base.error_types import DeviceError, KernelBuildError, PairalignError, shown_name
from pairalign.engines import Engine, EngineRequest, OnDevice
from pairalign.engines.cpu.cpu_engine import CpuEngine, Pruning
from pairalign.engines.device.device_sets import DeviceSet, Shared, lay_out
from pairalign.engines.kernels import AUTO
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.sequences.row_order import find_row_ranks
from pairalign.sequences.sets import SequenceSet

log = logging.getLogger("pairalign")


class HostFallback:
    """A CPU engine that the engines of a run share, opened when the first pair needs it.

    Parameters
    ----------
    problem, threads, memory_bytes
        See `pairalign.engines.cpu.cpu_engine.CpuEngine`.
    replaces_kernels : bool
        It may align what needs kernels that cannot be had.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        threads: int = 1,
        memory_bytes: int = 1 << 30,
        replaces_kernels: bool = False,
    ) -> None:
        self._problem = problem
        self._threads = threads
        self._memory_bytes = memory_bytes
        self._replaces_kernels = replaces_kernels
        self._has_warned = False
        self._engine: CpuEngine | None = None
        self._lock = threading.Lock()  # one window at a time: it has all the threads

    def align(
        self,
        window: Window,
        want: Want,
        device: str,
        pair_mask: Bools | None = None,
        *,
        long: bool = False,
    ) -> Alignments:
        """Align a window, or its pairs that `pair_mask` names; the first time, log that and why.

        `long`: not for want of memory, but since these pairs would leave most of the device idle.
        What comes back of a window of strand -1 is as kernels of devices leave it, not yet turned
        to the original strands (see `pairalign.alignments.strands`).
        """
        with self._lock:
            if self._engine is None:
                if not self._has_warned:
                    self._log(window, device, pair_mask, long)
                self._engine = CpuEngine(
                    self._problem,
                    threads=self._threads,
                    memory_bytes=self._memory_bytes,
                    pruning=Pruning("auto"),
                )
            return self._engine.align_as_read(window, want, pair_mask)

    def may_replace_kernels(self, device: str, error: KernelBuildError) -> bool:
        """Tell whether `align` is to be asked after an error; the first time, warn that it is."""
        with self._lock:
            if self._replaces_kernels and not self._has_warned:
                self._has_warned = True
                log.warning(
                    "%s: the CPU aligns what needs kernels that are not there: %s", device, error
                )
        return self._replaces_kernels

    def cancel(self) -> None:
        """Make a running `align` raise."""
        engine = self._engine
        if engine is not None:
            engine.cancel()

    def close(self) -> None:
        """Free the engine's memory; it is opened again if another pair needs it."""
        with self._lock:
            if self._engine is not None:
                self._engine.close()
                self._engine = None

    def _log(self, window: Window, device: str, pair_mask: Bools | None, long: bool) -> None:
        rows, columns = window.positions()
        pair = 0 if pair_mask is None else int(np.argmax(pair_mask))
        queries, targets = self._problem.queries, self._problem.others
        names = (
            shown_name(queries.names[int(queries.order[rows[pair]])]),
            shown_name(targets.names[int(targets.order[columns[pair]])]),
        )
        if long:
            log.info("%s: the CPU aligns long pairs such as %s and %s", device, *names)
            return
        log.warning(
            "%s: pairs such as %s and %s need more memory than the device has to spare; "
            "the CPU aligns them",
            device,
            *names,
        )


class Device(Protocol):
    """What an engine needs to know of any device."""

    name: str
    model: str
    is_cpu: bool


_Device = TypeVar("_Device", bound=Device)
_Family = TypeVar("_Family")


class DeviceEngine(ABC, Generic[_Device]):
    """Aligns windows on one device.

    Parameters
    ----------
    device : CudaDevice or OpenClDevice
    problem : Problem
        Must have the alphabet of the sets.
    memory_bytes : int or None
        Device memory to use at most; default: see `memory_budget`.
    family : str or None
        Name of the kernels to use; default: the first that can.
    detail : Detail
        The most detail of all windows; some kernels compute scores only.
    pinned_bytes : int
        Host memory to pin for results at most.
    host : HostFallback, optional
        Takes the pairs that the device has no room for; engines of a run share one.
    shared : Shared, optional
        What else they share, until all are open.

    Raises
    ------
    DeviceError
        The device fails, or no family can do this on it.
    """

    _context: Any  # what the framework's families are given; its `kernel` was launched last

    def __init__(
        self,
        device: _Device,
        problem: Problem,
        *,
        memory_bytes: int | None = None,
        family: str | None = None,
        detail: Detail = Detail.CIGAR,
        pinned_bytes: int = 1 << 30,
        host: HostFallback | None = None,
        shared: Shared | None = None,
    ) -> None:
        self.name = device.name
        self.is_gpu = not device.is_cpu
        self.queries, self.targets, self.scoring = problem.queries, problem.others, problem.scoring
        self._device = device
        self._one_set = problem.is_one_set
        self._cancelled = threading.Event()
        self._host = host or HostFallback(problem)
        self._shared = shared or Shared()
        self._is_open = False
        self._buffers: list[Any] = []
        self._allocated = 0
        self._ranks: tuple[Int32s, Int32s] | None = None
        self._choose_kernels(family, detail)
        try:
            self._open(memory_bytes, pinned_bytes)
        except self._framework.MemoryError as error:
            raise DeviceError(
                f"{device.name} ({device.model}): no memory left for the sequences: {error}"
            ) from error
        except self._framework.Error as error:
            raise DeviceError(
                f"{device.name} ({device.model}) cannot be opened: {error}"
            ) from error
        self._is_open = True

    # What is of the framework

    @property
    @abstractmethod
    def _framework(self) -> Any:
        """The module whose `Error` and `MemoryError` say that the device has failed."""

    @staticmethod
    @abstractmethod
    def memory_budget(device: Any, memory_bytes: int | None) -> int:
        """Return how much of a device's memory may be used, `memory_bytes` at most."""

    @property
    def on_device(self) -> OnDevice | None:
        """None: this framework leaves all stages of a job to the host."""
        return None

    @abstractmethod
    def _choose_kernels(self, family: str | None, detail: Detail) -> None:
        """Choose a family of kernels; nothing is on the device yet."""

    @abstractmethod
    def _open(self, memory_bytes: int | None, pinned_bytes: int) -> None:
        """Upload the sets and open the kernels."""

    @abstractmethod
    def _align(self, window: Window, want: Want, pair_mask: Bools | None) -> Alignments:
        """Align the pairs of a window, sequences as the kernels read them."""

    @abstractmethod
    def _free(self) -> None:
        """Free what `_open` and `_align` took, and the buffers."""

    @abstractmethod
    def _to_device(self, array: npt.NDArray[Any]) -> Any:
        """Return a new buffer of the device with the contents of an array."""

    # What all have in common

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Align the pairs of `window`; see `pairalign.engines.Engine`.

        Raises
        ------
        AlphabetError
            The window's strand is -1 and the sequences are not DNA.
        DeviceError
            The device fails; the message names device, kernel and window.
        KernelBuildError
            A kernel does not compile or load.
        InterruptedError
            `cancel` was called.
        """
        with self._errors_explained(window):
            swapped = self._swapped_on_other_strand(window, want)
            if swapped is None:
                alignments = self._align(window, want, pair_mask)
            else:
                alignments = self._align_in_two(window, want, swapped, pair_mask)
            return to_original_strands(alignments, window)

    def _swapped_on_other_strand(self, window: Window, want: Want) -> Bools | None:
        """Return the pairs of a window whose target runs along the rows, if kernels turn that.

        They turn the columns of the window, as is right for all others. A score is the same then,
        unless a base and its complement score differently.
        """
        if self._one_set or window.strand > 0 or not window.pairs:
            return None
        if want.detail == Detail.SCORE and self.scoring.scores_strands_alike:
            return None
        ranks = find_row_ranks(self.queries, self.targets) if self._ranks is None else self._ranks
        self._ranks = ranks
        rows, columns = window.positions()
        swapped: Bools = ranks[1][columns] < ranks[0][rows]
        return swapped if swapped.any() else None

    def _align_in_two(
        self, window: Window, want: Want, swapped: Bools, pair_mask: Bools | None
    ) -> Alignments:
        """Align pairs here and, where `swapped`, on the host; in the order of the window."""
        here, there = (
            mask if pair_mask is None else mask & pair_mask for mask in (~swapped, swapped)
        )
        parts = []
        if here.any() or not there.any():
            parts.append(self._align(window, want, here))
        if there.any():
            parts.append(self._host.align(window, want, self.name, there, long=True))
        alignments = concatenate(parts)
        positions = (
            self.queries.positions[alignments.query],
            self.targets.positions[alignments.target],
        )
        return alignments.take(np.lexsort(positions[::-1]))

    @contextlib.contextmanager
    def _errors_explained(self, window: Window) -> Iterator[None]:
        """Turn what the framework raises meanwhile into a DeviceError about a window."""
        try:
            yield
        except PairalignError:
            raise
        except self._framework.Error as error:
            raise DeviceError(
                f"{self.name} ({self._device.model}): kernel {self._context.kernel} failed on "
                f"window {window.index} (rows {window.row_start}-{window.row_stop}, columns "
                f"{window.column_start}-{window.column_stop}): {error}"
            ) from error

    def cancel(self) -> None:
        """Make a running `align` raise InterruptedError at its next batch."""
        self._cancelled.set()
        self._host.cancel()

    def close(self) -> None:
        """Give memory and device back; a device that has failed takes its memory along."""
        self._host.close()
        if not self._is_open:
            return
        self._is_open = False
        try:
            self._free()
        except self._framework.Error as error:
            log.debug("%s: closing: %s", self.name, error)
        self._buffers = []

    def _upload_sets(self) -> tuple[DeviceSet, DeviceSet]:
        """Copy queries and targets to the device: the same object for one set."""
        first = self._upload("queries", self.queries)
        return first, first if self._one_set else self._upload("targets", self.targets)

    def _upload(self, name: str, sequences: SequenceSet) -> DeviceSet:
        """Copy a set to the device, sequences in sorted order, each where 16 bytes can be read."""
        layout = self._shared.once(name, lambda: lay_out(sequences))
        return DeviceSet(
            sequences=sequences,
            lengths=layout.lengths,
            codes=self._copy(layout.codes),
            starts=self._copy(layout.starts),
            device_lengths=self._copy(layout.lengths),
            order=self._copy(layout.order),
        )

    def _copy(self, array: npt.NDArray[Any]) -> Any:
        buffer = self._to_device(array)
        self._buffers.append(buffer)
        self._allocated += array.nbytes
        return buffer

    def _check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise InterruptedError("alignment was cancelled")

    @classmethod
    def open_several(
        cls,
        devices: Sequence[_Device],
        request: EngineRequest,
        *,
        engines_on: Callable[[_Device], int],
        falls_back: bool = False,
    ) -> list[Engine]:
        """Open ``engines_on(device)`` engines on each device; they share its memory, and a host.

        Where one cannot be opened, those that could are closed. `falls_back`: see
        `pairalign.engines.cuda.cuda_engine.open_cuda_engines`.
        """
        problem = request.problem
        host = HostFallback(
            problem,
            threads=request.threads,
            memory_bytes=request.memory_bytes,
            replaces_kernels=falls_back,
        )

        shared = Shared()
        shared.once("queries", lambda: lay_out(problem.queries))  # devices may still be starting

        def open_each() -> Iterator[Engine]:
            for device in devices:
                share = engines_on(device)
                limit = cls.memory_budget(device, request.device_bytes)
                for _ in range(share):
                    yield cls(
                        device,
                        problem,
                        memory_bytes=limit // share,
                        family=request.kernel,
                        detail=request.detail,
                        pinned_bytes=request.memory_bytes // (4 * share * len(devices)),
                        host=host,
                        shared=shared,
                    )

        engines: list[Engine] = []
        try:
            for engine in open_each():  # not in other threads, which PyCUDA ties contexts to
                engines.append(engine)
        except BaseException:
            for engine in engines:
                engine.close()
            raise
        shared.clear()
        return engines


def choose_among(
    families: Mapping[str, Callable[[], _Family]],
    device: Device,
    name: str | None,
    why_not: Callable[[_Family], str | None],
) -> _Family:
    """Return the named family of kernels, or the first that can do something on a device.

    Parameters
    ----------
    families : mapping of str to callable
        Makes of families, by name, the preferred first.
    device : Device
        For messages.
    name : str or None
        None or ``auto``: any.
    why_not : callable (family) -> str or None
        Why a family cannot do it; None if it can.

    Raises
    ------
    DeviceError
        There is none; the message says why.
    """
    if name == AUTO:
        name = None
    if name is not None and name not in families:
        raise DeviceError(f"kernel '{name}' is not known, expected {' or '.join(families)}")
    reasons = []
    for candidate in [name] if name else families:
        family = families[candidate]()
        reason = why_not(family)
        if reason is None:
            return family
        reasons.append(f"{candidate}: {reason}")
    if name is not None:
        raise DeviceError(f"kernel '{name}' on {device.name} ({device.model}): {reason}")
    raise DeviceError(f"{device.name} ({device.model}) cannot be used: {'; '.join(reasons)}")
