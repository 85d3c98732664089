"""The CUDA engine: windows on a GPU, through PyCUDA, by one of several families of kernels."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.engines import Detail, Engine, Want
from pairalign.engines.cuda_bitwise import Bitwise
from pairalign.engines.cuda_block_diagonals import BlockDiagonals
from pairalign.engines.cuda_devices import CudaDevice
from pairalign.engines.cuda_family import DeviceContext, DeviceSet, KernelFamily
from pairalign.engines.cuda_host import HostFallback
from pairalign.engines.cuda_packed import Packed
from pairalign.engines.cuda_pair_per_thread import PairPerThread
from pairalign.engines.cuda_pair_per_warp import PairPerWarp
from pairalign.engines.cuda_pool import PinnedPool
from pairalign.engines.cuda_routing import Router
from pairalign.engines.cuda_strand import OtherStrand
from pairalign.engines.cuda_striped import Striped
from pairalign.engines.device_sets import PADDING_CODE, lay_out, rooms_of
from pairalign.engines.kernels import AUTO
from pairalign.errors import DeviceError, PairalignError
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet
from pairalign.strands import complement_of, to_original_strands
from pairalign.windows import Window

log = logging.getLogger("pairalign")

FAMILIES: dict[str, Callable[[], KernelFamily]] = {
    Packed.name: Packed,
    PairPerThread.name: PairPerThread,
    BlockDiagonals.name: BlockDiagonals,
    PairPerWarp.name: PairPerWarp,
    Striped.name: Striped,
    Bitwise.name: Bitwise,
}
"""Kernel families by name, the preferred first."""

ENGINES_PER_DEVICE = 3
"""Windows under way at a time on a device: while one is copied, another is computed."""

_MEMORY_SHARE = 0.9  # of the free memory: others may want some, and so do kernels' stacks


class CudaEngine:
    """Aligns windows on one CUDA device.

    Parameters
    ----------
    device : CudaDevice
    queries : SequenceSet
        The set, or the first of two.
    targets : SequenceSet or None
        The second set; None for every pair of `queries`.
    scoring : Scoring
        Must have the alphabet of the sets.
    memory_bytes : int or None
        Device memory to use at most; default: nine tenths of what is free.
    family : str or None
        Name of the kernels to use, see `FAMILIES`; default: the first that can.
    detail : Detail
        The most that windows will be asked for; some kernels compute scores only.
    pinned_bytes : int
        Host memory to pin for results at most.
    host : HostFallback, optional
        Takes the pairs that the device has no room for; engines of a run share one.

    Raises
    ------
    DeviceError
        The device fails, or no family can do this on it.
    """

    def __init__(
        self,
        device: CudaDevice,
        queries: SequenceSet,
        targets: SequenceSet | None,
        scoring: Scoring,
        *,
        memory_bytes: int | None = None,
        family: str | None = None,
        detail: Detail = Detail.CIGAR,
        pinned_bytes: int = 1 << 30,
        host: HostFallback | None = None,
    ) -> None:
        self.name = device.name
        self.queries = queries
        self.targets = queries if targets is None else targets
        self.scoring = scoring
        self._device = device
        self._cancelled = threading.Event()
        self._host = host or HostFallback(queries, targets, scoring)
        self._open = False
        self._strand = 1  # of the window under way
        self._other_strand: OtherStrand | None = None
        self._buffers: list[Any] = []
        chosen = choose_family(device, scoring, family, detail)
        by_name = family is not None and family != AUTO
        self._router = Router(
            chosen, None if by_name else _for_long_pairs(chosen, scoring, detail, device.capability)
        )
        driver = device.driver
        try:
            with device.current():
                free, _ = driver.mem_get_info()
                limit = int(free * _MEMORY_SHARE)
                if memory_bytes is not None:
                    limit = min(limit, memory_bytes)
                self._allocated = 0
                self._pool = PinnedPool(driver, device.current, pinned_bytes)
                first = self._upload(queries)
                second = first if targets is None else self._upload(targets)
                self._context = DeviceContext(
                    name=device.name,
                    driver=driver,
                    capability=device.capability,
                    multiprocessors=device.multiprocessors,
                    memory_bytes=limit - self._allocated,
                    scoring=scoring,
                    queries=first,
                    targets=second,
                    load_module=device.load_module,
                    pool=self._pool,
                    align_on_host=self._align_elsewhere,
                    check_cancelled=self._check_cancelled,
                    log=log,
                )
                self._router.open(self._context)
        except driver.MemoryError as error:
            raise DeviceError(
                f"{device.name} ({device.model}): no memory left for the sequences: {error}"
            ) from error
        except driver.Error as error:
            raise DeviceError(
                f"{device.name} ({device.model}) cannot be opened: {error}"
            ) from error
        self._open = True

    def align(
        self, window: Window, want: Want, keep: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
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
        driver = self._device.driver
        try:
            with self._device.current():
                self._strand = window.strand
                self._context.columns = self._columns_of(window)
                found = self._router.align(window, want, keep)
            return to_original_strands(found, window)
        except PairalignError:
            raise
        except driver.Error as error:
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
        if not self._open:
            return
        self._open = False
        driver = self._device.driver
        try:
            with self._device.current():
                self._router.close()
                self._pool.close()
                if self._other_strand is not None:
                    self._other_strand.close()
                for buffer in self._buffers:
                    buffer.free()
        except driver.Error as error:
            log.debug("%s: closing: %s", self.name, error)
        self._buffers = []

    def _upload(self, sequences: SequenceSet) -> DeviceSet:
        """Copy a set to the device, sequences in sorted order, each where 16 bytes can be read."""
        layout = lay_out(sequences)
        return DeviceSet(
            sequences=sequences,
            lengths=layout.lengths,
            codes=self._copy(layout.codes),
            starts=self._copy(layout.starts),
            device_lengths=self._copy(layout.lengths),
            order=self._copy(layout.order),
        )

    def _copy(self, array: npt.NDArray[Any]) -> object:
        driver = self._device.driver
        buffer = driver.mem_alloc(array.nbytes)
        self._buffers.append(buffer)
        self._allocated += array.nbytes
        driver.memcpy_htod(buffer, array)
        return buffer

    def _columns_of(self, window: Window) -> DeviceSet:
        """Return the targets as a window aligns them; families' scratch copies are their own."""
        targets = self._context.targets
        if window.strand > 0 or not window.pairs:
            return targets
        if self._other_strand is None:
            complement = np.full(256, PADDING_CODE, np.uint8)
            complement[:32] = complement_of(self.scoring.alphabet)
            rooms = rooms_of(targets.lengths)
            self._other_strand = OtherStrand(
                self._device.driver,
                self._device.load_module,
                letters=targets.codes,
                starts=targets.starts,
                lengths=targets.device_lengths,
                host_starts=np.cumsum(rooms) - rooms,
                host_lengths=targets.lengths,
                complement=complement,
                padding=PADDING_CODE,
            )
        address = self._other_strand.letters_of(window.column_start, window.column_stop)
        return replace(targets, codes=address)

    def _align_elsewhere(self, window: Window, want: Want) -> Alignments:
        """Align pairs that the family has no room for: in less memory, or on the CPU."""
        if self._router.takes_long_pairs and not self._router.is_aligning_long:
            return self._router.align_long(window, want)
        return self._host.align(replace(window, strand=self._strand), want, self.name)

    def _check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise InterruptedError("alignment was cancelled")


def choose_family(
    device: CudaDevice,
    scoring: Scoring,
    name: str | None = None,
    detail: Detail = Detail.CIGAR,
) -> KernelFamily:
    """Return the named family, or the first that can compute `detail` on a device.

    Raises
    ------
    DeviceError
        There is none; the message says why.
    """
    if name == AUTO:
        name = None
    if name is not None and name not in FAMILIES:
        raise DeviceError(f"kernel '{name}' is not known, expected {' or '.join(FAMILIES)}")
    reasons = []
    for one in [name] if name else FAMILIES:
        family = FAMILIES[one]()
        reason = family.supports(scoring, detail, device.capability)
        if reason is None:
            return family
        reasons.append(f"{one}: {reason}")
    if name is not None:
        raise DeviceError(f"kernel '{name}' on {device.name} ({device.model}): {reason}")
    raise DeviceError(f"{device.name} ({device.model}) cannot be used: {'; '.join(reasons)}")


def _for_long_pairs(
    chosen: KernelFamily, scoring: Scoring, detail: Detail, capability: tuple[int, int]
) -> BlockDiagonals | None:
    family = BlockDiagonals()
    if chosen.name == family.name or family.supports(scoring, detail, capability) is not None:
        return None
    return family


def open_cuda_engines(
    devices: Sequence[CudaDevice],
    queries: SequenceSet,
    targets: SequenceSet | None,
    scoring: Scoring,
    *,
    memory_bytes: int | None = None,
    per_device: int = ENGINES_PER_DEVICE,
    family: str | None = None,
    detail: Detail = Detail.CIGAR,
    threads: int = 1,
    host_memory_bytes: int = 1 << 30,
) -> list[Engine]:
    """Open engines on some devices, `per_device` on each.

    Parameters
    ----------
    devices : sequence of CudaDevice
        See `pairalign.engines.cuda_devices.find_devices`.
    memory_bytes : int, optional
        Memory to use on each device; default: nine tenths of what is free.
    per_device : int
        Engines that share a device; each has its own streams.
    threads : int
        Threads of the CPU engine, which takes the pairs that a device has no room for.
    host_memory_bytes : int
        What that engine may use; a quarter of it is pinned for results at most.
    queries, targets, scoring, family, detail
        See `CudaEngine`.
    """
    pairs = len(queries) * (len(queries) - 1) // 2
    if targets is not None:
        pairs = len(queries) * len(targets)
    # A long pair has a device to itself; memory shared with idle engines would be lost to it.
    per_device = 1 if family == BlockDiagonals.name else max(1, min(per_device, pairs))
    host = HostFallback(queries, targets, scoring, threads=threads, memory_bytes=host_memory_bytes)
    engines: list[Engine] = []
    try:
        for device in devices:
            with device.current():
                free, _ = device.driver.mem_get_info()
            limit = int(free * _MEMORY_SHARE)
            if memory_bytes is not None:
                limit = min(limit, memory_bytes)
            engines += [
                CudaEngine(
                    device,
                    queries,
                    targets,
                    scoring,
                    memory_bytes=limit // per_device,
                    family=family,
                    detail=detail,
                    pinned_bytes=host_memory_bytes // (4 * per_device * len(devices)),
                    host=host,
                )
                for _ in range(per_device)
            ]
    except BaseException:
        for engine in engines:
            engine.close()
        raise
    return engines
