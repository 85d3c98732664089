"""What finds near pairs: GPUs, or the cores of this machine."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from pairalign.base.error_types import DeviceError, KernelBuildError
from pairalign.engines.cpu.near_pairs import Finder, NearProblem, Part, find_on_cores
from pairalign.engines.device.specification import parse_indices

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
    indices = parse_indices(device, "cuda")
    if device not in ("auto", "cpu") and indices is None:
        raise DeviceError(
            f"device '{device}': these distances are found on the CPU and on CUDA GPUs"
        )
    on_cores = find_on_cores(threads)

    def find(problem: NearProblem, progress: Callable[[int], None]) -> Iterator[Part]:
        on_gpus = None
        if device != "cpu":
            pairs = problem.pairs_of(0, len(problem.rows.order))
            on_gpus = _gpus(problem, indices, pairs >= WORTH_A_GPU)
        yield from (on_gpus or on_cores)(problem, progress)

    return find


def _gpus(problem: NearProblem, indices: tuple[int, ...] | None, worth: bool) -> Finder | None:
    """Return what finds pairs on GPUs; None: these are for cores."""
    if indices is None and not worth:
        return None
    from pairalign.engines.cuda import cuda_near, cuda_selection

    try:
        choose = cuda_selection.choose_devices
        devices = cuda_selection.usable_devices() if indices is None else choose(indices)
        if cuda_near.fits(problem):
            for device in devices:
                cuda_near.load(device)
            return cuda_near.find_on_gpus(devices)
        level = logging.INFO if indices is None else logging.WARNING
        _log.log(
            level, "pairs are compared on cores: GPUs take up to %d residues", cuda_near.LONGEST
        )
    except (DeviceError, KernelBuildError) as error:
        if indices is not None:
            raise
        _log.info("pairs are compared on cores: %s", error)
    return None
