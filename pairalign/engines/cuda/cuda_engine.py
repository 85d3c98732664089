"""The CUDA engine: windows on a GPU, through PyCUDA, by one of several families of kernels."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.strands import to_original_strands
from pairalign.base.arrays import Bools, Int32s
from pairalign.base.error_types import KernelBuildError
from pairalign.engines import Engine, EngineRequest
from pairalign.engines.cpu.cpu_engine import Pruning
from pairalign.engines.cuda.block_diagonals.block_diagonals_family import BlockDiagonals
from pairalign.engines.cuda.build import ModuleRequest
from pairalign.engines.cuda.cuda_device import CudaDevice
from pairalign.engines.cuda.cuda_family import DeviceContext, DeviceSet, KernelFamily, Numbers
from pairalign.engines.cuda.cuda_reverse_complement import SOURCE as STRAND_SOURCE
from pairalign.engines.cuda.cuda_reverse_complement import OtherStrand
from pairalign.engines.cuda.packed.packed_family import Packed
from pairalign.engines.cuda.pruned.pruned_family import PrunedPairs
from pairalign.engines.cuda.router import Router
from pairalign.engines.device.device_engine import DeviceEngine, choose_among
from pairalign.engines.device.device_sets import PADDING_CODE, padded_lengths
from pairalign.engines.kernels import AUTO
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.reads.reaching_pairs import ReachingPairs
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import complement_of

if TYPE_CHECKING:
    from pairalign.engines.cpu.cpu_pair_filter import PairFilter
    from pairalign.engines.cuda.cuda_pair_filter import CudaPairFilter

log = logging.getLogger("pairalign")

Result = TypeVar("Result")


def _pair_per_thread(**options: Any) -> KernelFamily:
    from pairalign.engines.cuda.pair_per_thread import PairPerThread

    return PairPerThread(**options)


def _pair_per_warp(**options: Any) -> KernelFamily:
    from pairalign.engines.cuda.papers.pair_per_warp import PairPerWarp

    return PairPerWarp(**options)


def _striped(**options: Any) -> KernelFamily:
    from pairalign.engines.cuda.papers.striped import Striped

    return Striped(**options)


def _bitwise(**options: Any) -> KernelFamily:
    from pairalign.engines.cuda.bitwise import Bitwise

    return Bitwise(**options)


FAMILIES: dict[str, Callable[[], KernelFamily]] = {
    Packed.name: Packed,
    "pair-per-thread": _pair_per_thread,
    BlockDiagonals.name: BlockDiagonals,
    PrunedPairs.name: PrunedPairs,
    "pair-per-warp": _pair_per_warp,
    "striped": _striped,
    "bitwise": _bitwise,
}
"""Kernel families by name, the preferred first; some are loaded when they are used."""

ENGINES_PER_DEVICE = 3
"""Windows under way at a time on a device: while one is copied, another is computed."""

_MEMORY_SHARE = 0.9  # of the free memory: others may want some, and so do kernels' stacks


class CudaEngine(DeviceEngine[CudaDevice]):
    """Aligns windows on one CUDA device; see `DeviceEngine` for parameters and errors.

    Families by name are in `FAMILIES`; by default an engine takes nine tenths of the memory that is
    free.
    """

    _context: DeviceContext

    @property
    def on_device(self) -> CudaEngine:
        """Itself: see `pairalign.engines.OnDevice`."""
        return self

    def _choose_kernels(self, family: str | None, detail: Detail) -> None:
        self._strand = 1  # of the window under way
        self._other_strand: OtherStrand | None = None
        self._detail = detail
        device, scoring = self._device, self.scoring
        chosen = choose_family(device, scoring, family, detail)
        by_name = family is not None and family != AUTO
        pruned = chosen if isinstance(chosen, PrunedPairs) else None
        if pruned is not None:  # others align the pairs for which it does not pay
            chosen, by_name = choose_family(device, scoring, None, detail), False
        elif not by_name:
            pruned = _for_similar_pairs(scoring, detail, device.capability)
        long = None if by_name else _for_long_pairs(chosen, scoring, detail, device.capability)
        self._router = Router(chosen, long, pruned)

    @property
    def family(self) -> KernelFamily:
        """The kernels that most pairs go to, or those that are not pruned."""
        return self._router.family

    @property
    def pruned(self) -> PrunedPairs | None:
        """The kernel for similar pairs, if it is in use."""
        return self._router.pruned

    def open_pair_filter(self, host: PairFilter, **options: int) -> CudaPairFilter:
        """Open a filter of pairs on the device, to be closed before the engine.

        `options`: see `CudaPairFilter`.
        """
        from pairalign.engines.cuda.cuda_pair_filter import CudaPairFilter  # few runs have one

        return CudaPairFilter(self._context, self._device.current, host, **options)

    def reach(self, window: Window, least: int, least_by_end: Int32s) -> ReachingPairs | None:
        """Score all pairs of a window; of semiglobal ones look at where they end, too.

        Parameters
        ----------
        least : int
            Raw score that pairs must reach.
        least_by_end : ndarray of int32
            See `pairalign.reads.reaching_pairs.least_by_end`; the same array each time.

        Returns
        -------
        ReachingPairs or None
            None: no kernel for these pairs can; `align` them.

        Raises
        ------
        DeviceError
            The device fails.
        """
        return self._if_kernels_load(
            window, lambda: self._router.reach(window, least, least_by_end)
        )

    def align_numbers(self, window: Window, want: Want, numbers: Numbers) -> Alignments | None:
        """Align some pairs of a window, named by their numbers in it.

        Parameters
        ----------
        want : Want
            Without a minimum.
        numbers : ndarray of int, shape (n,)
            Ascending.

        Returns
        -------
        Alignments or None
            None: no kernel for these pairs can; `align` them.

        Raises
        ------
        DeviceError
            The device fails.
        """
        assert want.min_raw_score is None
        if self._swapped_on_other_strand(window, want) is not None:
            return None
        alignments = self._if_kernels_load(
            window, lambda: self._router.align_numbers(window, want, numbers)
        )
        return None if alignments is None else to_original_strands(alignments, window)

    @property
    def _framework(self) -> Any:
        return self._device.driver

    @staticmethod
    def memory_budget(device: CudaDevice, memory_bytes: int | None) -> int:
        """Return how much memory may be used: nine tenths of what is free, or less if told so."""
        with device.current():
            free, _ = device.driver.mem_get_info()
        limit = int(free * _MEMORY_SHARE)
        return limit if memory_bytes is None else min(limit, memory_bytes)

    def _open(self, memory_bytes: int | None, pinned_bytes: int) -> None:
        device = self._device
        with device.current():
            limit = self.memory_budget(device, memory_bytes)
            queries, targets = self._upload_sets()
            self._pool = device.pool(pinned_bytes)
            self._context = DeviceContext(
                name=device.name,
                driver=device.driver,
                capability=device.capability,
                multiprocessors=device.multiprocessors,
                memory_bytes=limit - self._allocated,
                scoring=self.scoring,
                queries=queries,
                targets=targets,
                load_module=device.load_module,
                load_modules=device.load_modules,
                compile_ahead=device.compile_ahead,
                detail=self._detail,
                pinning=device.pinning,
                pool=self._pool,
                align_on_host=self._align_elsewhere,
                check_cancelled=self._check_cancelled,
                streams=device.streams(),
                shared=self._shared,
                log=log,
            )
            if self._one_set and self.scoring.alphabet.complement is not None:
                device.compile_ahead([ModuleRequest(STRAND_SOURCE, {})])
            try:
                self._router.open(self._context)
            except BaseException:
                self._pool.close()  # others may share it
                raise

    def _align(self, window: Window, want: Want, pair_mask: Bools | None) -> Alignments:
        try:
            return self._in_window(window, lambda: self._router.align(window, want, pair_mask))
        except KernelBuildError as error:
            if not self._host.may_replace_kernels(self.name, error):
                raise
            return self._host.align(window, want, self.name, pair_mask)

    def _if_kernels_load(self, window: Window, work: Callable[[], Result | None]) -> Result | None:
        """Do some work with the columns of a window; None where the host is to do it instead."""
        with self._errors_explained(window):
            try:
                return self._in_window(window, work)
            except KernelBuildError as error:
                if not self._host.may_replace_kernels(self.name, error):
                    raise
                return None

    def _in_window(self, window: Window, work: Callable[[], Result]) -> Result:
        """Do some work with the columns of a window."""
        with self._device.current():
            self._strand = window.strand
            self._context.columns = self._columns_of(window)
            return work()

    def _free(self) -> None:
        with self._device.current():
            try:
                self._router.close()
            finally:
                self._pool.close()
            if self._other_strand is not None:
                self._other_strand.close()
            for buffer in self._buffers:
                buffer.free()

    def _to_device(self, array: npt.NDArray[Any]) -> Any:
        driver = self._device.driver
        buffer = driver.mem_alloc(array.nbytes)
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
            padded = padded_lengths(targets.lengths)
            self._other_strand = OtherStrand(
                self._device.driver,
                self._device.load_module,
                targets,
                np.cumsum(padded) - padded,
                complement=complement,
                padding=PADDING_CODE,
            )
        address = self._other_strand.residues_of(window.column_start, window.column_stop)
        return replace(targets, codes=address)

    def _align_elsewhere(self, window: Window, want: Want) -> Alignments:
        """Align pairs that the family has no room for: in less memory, or on the CPU."""
        if self._router.has_long_family and not self._router.is_aligning_long:
            return self._router.align_long(window, want)
        return self._host.align(replace(window, strand=self._strand), want, self.name)


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
    return choose_among(
        FAMILIES,
        device,
        name,
        lambda family: family.supports(scoring, detail, device.capability),
    )


def _for_similar_pairs(
    scoring: Scoring, detail: Detail, capability: tuple[int, int]
) -> PrunedPairs | None:
    family = PrunedPairs(Pruning("auto"))
    return family if family.supports(scoring, detail, capability) is None else None


def _for_long_pairs(
    chosen: KernelFamily, scoring: Scoring, detail: Detail, capability: tuple[int, int]
) -> BlockDiagonals | None:
    family = BlockDiagonals()
    if chosen.name == family.name or family.supports(scoring, detail, capability) is not None:
        return None
    return family


def open_cuda_engines(
    devices: Sequence[CudaDevice], request: EngineRequest, *, falls_back: bool = False
) -> list[Engine]:
    """Open engines on some devices, by default `ENGINES_PER_DEVICE`, each with its own streams.

    Parameters
    ----------
    devices : sequence of CudaDevice
        See `pairalign.engines.cuda.cuda_devices.find_devices`.
    falls_back : bool
        The CPU engine also takes windows for which a kernel can be neither loaded nor compiled.
    """
    # A long pair has a device to itself; memory shared with idle engines would be lost to it.
    per_device = max(1, min(request.per_device or ENGINES_PER_DEVICE, request.problem.pairs))
    if request.kernel == BlockDiagonals.name:
        per_device = 1
    return CudaEngine.open_several(
        devices, request, engines_on=lambda device: per_device, falls_back=falls_back
    )
