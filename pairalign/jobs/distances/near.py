"""Pairs of many short sequences within a limit: of a drop of score, edits, or TCRdist."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.error_types import DeviceError, KernelBuildError, ScoringError
from pairalign.engines.cpu.near_pairs import (
    Finder,
    NearProblem,
    Part,
    find_on_cores,
    pairs_within_drop,
    pairs_within_edits,
)
from pairalign.engines.device.specification import parse_indices
from pairalign.jobs.distances.measures import check_sets
from pairalign.jobs.run.progress import show_progress
from pairalign.requests.distance_request import DistanceRequest
from pairalign.requests.resources import Resources
from pairalign.results.distances_result import SparseDistances

if TYPE_CHECKING:
    from pairalign.engines.cuda.cuda_near import PairKernel

_log = logging.getLogger("pairalign")

WORTH_A_GPU = 1 << 32
"""Pairs from which a GPU is taken where no device is named: 16 cores need more than a second."""

_DEVICES = ("auto", "cpu")
_KERNELS = (None, "auto")


def check_on_cores(resources: Resources) -> None:
    """Raise DeviceError where another device is named than the cores of this machine."""
    if resources.device not in _DEVICES or resources.kernel not in _KERNELS:
        raise DeviceError("these distances are found on the CPU: leave device out")


def find_near(request: DistanceRequest, problem: Problem, resources: Resources) -> SparseDistances:
    """Find the pairs of a set, or of two, whose distance is within the limit.

    Parameters
    ----------
    request : DistanceRequest
        With a limit.
    resources : Resources

    Raises
    ------
    AlphabetError, ScoringError, DistanceError
        Sequences, names or scores of which there is no such distance; a mode that is not global.
    DeviceError
        Another device is named.
    CapacityError
        Out of memory.
    """
    sequences, targets, measure = problem.queries, problem.targets, request.limited
    if measure != "tcrdist":
        problem.scoring.check_sets(*problem.sets)
    if resources.kernel not in _KERNELS:
        raise DeviceError("distances within a limit have a kernel of their own: leave kernel out")
    check_sets(problem)
    if measure == "drop" and problem.scoring.scale != 1:
        raise ScoringError("a drop is a whole number: take scores and costs without decimals")
    with show_progress(problem.pairs, resources.progress, "pairs", "comparing") as meter:

        def advance(done: int) -> None:
            meter.update(done)

        how: dict[str, Any] = {
            "find": find_on(resources.device, resources.used_threads),
            "threads": resources.used_threads,
            "progress": advance,
            "thresholds": PairThresholds(max_length_ratio=request.max_length_ratio),
            "memory_bytes": resources.memory_bytes,
        }
        if measure == "tcrdist":
            from pairalign.jobs.receptors.tcrdist import TcrDistances

            distances = TcrDistances(sequences, targets, resources.used_threads)
            make = partial(distances.kernel, request.limit)
            found = search_on_gpus(resources.device, problem.pairs, make, advance)
            pairs = distances.within(request.limit, advance, resources.memory_bytes, found)
        elif measure == "drop":
            pairs = pairs_within_drop(problem, request.limit, **how)
        else:
            pairs = pairs_within_edits(sequences, targets, request.limit, **how)
    return SparseDistances(
        list(sequences.names),
        *(pairs.rows, pairs.columns, pairs.values),
        *(request.limit, measure),
        None if targets is None else list(targets.names),
    )


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
