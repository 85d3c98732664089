"""Opening the CUDA engine in tests: on a GPU, or with the kernels compiled for this CPU."""

import shutil
from collections.abc import Sequence
from typing import Any

import pytest

from pairalign.alignments.problem import Problem
from pairalign.engines.cuda.cuda_engine import FAMILIES, CudaEngine
from pairalign.errors import DeviceError
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet


def cuda_device(index: int = 0) -> Any:
    """A CUDA device; skips the test, saying why, where there is none."""
    from pairalign.engines.cuda.cuda_devices import find_devices

    try:
        return find_devices()[index]
    except DeviceError as error:
        pytest.skip(str(error))


def host_device() -> Any:
    """The kernels on this CPU; skips the test where there is no compiler."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ to compile the kernels with")
    from cuda_on_host.device import HostDevice

    return HostDevice()


def open_on(
    device: Any, sets: Sequence[SequenceSet], scoring: Scoring, **options: Any
) -> CudaEngine:
    return CudaEngine(
        device, Problem(sets[0], sets[1] if len(sets) > 1 else None, scoring), **options
    )


def open_preferring(
    family: str, sets: Sequence[SequenceSet], scoring: Scoring, **options: Any
) -> CudaEngine:
    """The CUDA engine with these kernels, or with others where these cannot do it."""
    device = cuda_device()
    scoring.check_sets(*sets)  # as the command does before it opens an engine
    why_not = FAMILIES[family]().supports(scoring, Detail.CIGAR, device.capability)
    return open_on(device, sets, scoring, family=None if why_not else family, **options)


def open_on_host(sets: Sequence[SequenceSet], scoring: Scoring, **options: Any) -> CudaEngine:
    """The CUDA engine with its kernels running on this CPU; options: family, memory_bytes."""
    return open_on(host_device(), sets, scoring, **options)
