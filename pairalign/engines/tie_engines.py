"""What counts optimal alignments: GPUs where they need less time, or the cores of this machine."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments.tie_counts import Counts, OpenTally, TiePairs, TieProblem
from pairalign.base.error_types import DeviceError, KernelBuildError
from pairalign.engines.device.specification import parse_indices

if TYPE_CHECKING:
    from pairalign.engines.cuda.cuda_ties import CudaTies

_log = logging.getLogger("pairalign")

CORE_CELLS = 10**9
"""That a core counts in a second."""

MULTIPROCESSOR_CELLS = 10**9
"""That a multiprocessor of a GPU counts in a second, by the instructions of the kernel's loop."""

WARP_CELLS = 10**8
"""Of a pair that has a warp of a GPU."""

START_SECONDS = 1.0
"""Until a GPU counts."""

_MEMORY_SHARE = 1 / 16
"""Of a GPU's memory: engines leave a tenth of what is free."""


def tallies_on(device: str, threads: int, memory_bytes: int | None) -> OpenTally | None:
    """Return what opens GPUs to count optimal alignments; None: cores count.

    Parameters
    ----------
    device : str
        As for `pairalign.engines.selection.open_engines`.
    threads : int
        Of the cores that count else.
    memory_bytes : int or None
        What may be used on a GPU; a share of it is.
    """
    indices = parse_indices(device, "cuda")
    if indices is None and device != "auto":
        return None
    return partial(GpuTally, indices, threads, memory_bytes)


class GpuTally:
    """A `pairalign.alignments.tie_counts.TieTally` that opens GPUs once they pay.

    Parameters
    ----------
    indices : tuple of int, or None
        Of GPUs that are named; empty: all; None: all that can be used.
    """

    def __init__(
        self,
        indices: tuple[int, ...] | None,
        threads: int,
        memory_bytes: int | None,
        problem: TieProblem,
    ) -> None:
        self._indices, self._memory_bytes, self._problem = indices, memory_bytes, problem
        self._core_cells = threads * CORE_CELLS
        self._seen_cells = 0
        self._gpus: list[CudaTies] | None = None

    def count(self, pairs: TiePairs) -> Counts | None:
        """Return the numbers of pairs; None: cores need less time, or there is no room.

        Raises
        ------
        DeviceError, KernelBuildError
            A GPU that is named cannot be used, or one fails.
        """
        cells = pairs.cells
        self._seen_cells += int(cells.sum())
        if self._gpus is None and self._seen_cells > START_SECONDS * self._core_cells:
            self._gpus = self._open()
        if not self._gpus or not self._pays(int(cells.sum()), int(cells.max())):
            return None
        return _count_on(self._gpus, pairs)

    def close(self) -> None:
        """Free what is on GPUs."""
        for gpu in self._gpus or ():
            gpu.close()
        self._gpus = None

    def _pays(self, cells: int, largest: int) -> bool:
        """Whether GPUs need less time than cores, whose time is that of all or of one pair."""
        assert self._gpus
        gpu_cells = sum(gpu.multiprocessors for gpu in self._gpus) * MULTIPROCESSOR_CELLS
        on_cores = max(cells / self._core_cells, largest / CORE_CELLS)
        return max(cells / gpu_cells, largest / WARP_CELLS) < on_cores

    def _open(self) -> list[CudaTies]:
        from pairalign.engines.cuda.cuda_devices import has_nvidia_gpu
        from pairalign.engines.cuda.cuda_selection import devices_of
        from pairalign.engines.cuda.cuda_ties import CudaTies

        gpus: list[CudaTies] = []
        try:
            devices = devices_of(self._indices)
            if not self._indices:  # a second GPU when the first would count for long
                first = devices[0].multiprocessors * MULTIPROCESSOR_CELLS
                devices = devices[: 1 + int(self._seen_cells / first / START_SECONDS)]
            for device in devices:
                with device.current():
                    free = int(device.driver.mem_get_info()[0])
                memory = int(min(free, self._memory_bytes or free) * _MEMORY_SHARE)
                gpus.append(CudaTies(device, self._problem, memory))
                _log.debug("optimal alignments are counted on %s", device.name)
        except (DeviceError, KernelBuildError) as error:
            for gpu in gpus:
                gpu.close()
            if self._indices is not None:
                raise
            if has_nvidia_gpu():  # without one the reason says nothing new
                _log.info("optimal alignments are counted on cores: %s", error)
            return []
        return gpus


def _count_on(gpus: list[CudaTies], pairs: TiePairs) -> Counts | None:
    """Deal pairs out to GPUs."""
    if len(gpus) == 1:
        return gpus[0].count(pairs)
    counts = np.empty(len(pairs), np.uint32)
    parts = [np.arange(own, len(pairs), len(gpus)) for own in range(len(gpus))]
    with ThreadPoolExecutor(len(gpus), "ties") as pool:
        counted = pool.map(lambda gpu, part: gpu.count(pairs[part]), gpus, parts)
        for part, own in zip(parts, counted, strict=True):
            if own is None:
                return None
            counts[part] = own
    return counts
