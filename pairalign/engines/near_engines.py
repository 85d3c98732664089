"""What finds near pairs: GPUs, or the cores of this machine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from pairalign.base.error_types import DeviceError, KernelBuildError
from pairalign.engines.cpu.near_pairs import Finder, NearProblem, Part, find_on_cores
from pairalign.engines.device.specification import parse_indices

if TYPE_CHECKING:
    from pairalign.engines.cuda.cuda_near import PairKernel

_log = logging.getLogger("pairalign")

WORTH_A_GPU = 1 << 32
"""Pairs from which a GPU is taken where no device is named: 16 cores need more than a second."""


def find_on(device: str, threads: int) -> Finder:
    """Return what finds near pairs on a device, or on cores what is not for a GPU.

    Parameters
    ----------
    device : str
        ``auto``, ``cpu``, ``cuda`` or ``cuda:0,1``.
    threads : int
        Of cores.

    Raises
    ------
    DeviceError
        It is another device.
    """
    _indices_of(device)
    on_cores = find_on_cores(threads)

    def find(problem: NearProblem, progress: Callable[[int], None]) -> Iterator[Part]:
        pairs = problem.pairs_of(0, len(problem.rows.order))
        on_gpus = search_on_gpus(device, pairs, partial(_near_kernel, problem), progress)
        yield from on_cores(problem, progress) if on_gpus is None else on_gpus

    return find


def _indices_of(device: str) -> tuple[int, ...] | None:
    """Return the indices of GPUs that are named; DeviceError of other devices than GPUs."""
    indices = parse_indices(device, "cuda")
    if device not in ("auto", "cpu") and indices is None:
        raise DeviceError(
            f"device '{device}': these distances are found on the CPU and on CUDA GPUs"
        )
    return indices


def _near_kernel(problem: NearProblem) -> PairKernel:
    from pairalign.engines.cuda.cuda_near import NearKernel

    return NearKernel(problem)


def search_on_gpus(
    device: str, pairs: int, make: Callable[[], PairKernel], progress: Callable[[int], None]
) -> Iterator[Part] | None:
    """Find pairs on GPUs, by the kernel that `make` returns; None: these are for cores."""
    indices = _indices_of(device)
    if device == "cpu" or (indices is None and pairs < WORTH_A_GPU):
        return None
    from pairalign.engines.cuda import cuda_near, cuda_selection

    try:
        devices = cuda_selection.devices_of(indices)
        kernel = make()
        if kernel.fits:
            for one in devices:
                cuda_near.load(one, kernel)
            return cuda_near.search(devices, kernel, progress)
        level = logging.INFO if indices is None else logging.WARNING
        _log.log(
            level, "pairs are compared on cores: GPUs take up to %d residues", cuda_near.LONGEST
        )
    except (DeviceError, KernelBuildError) as error:
        if indices is not None:
            raise
        _log.info("pairs are compared on cores: %s", error)
    return None
