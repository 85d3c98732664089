"""Which engines a run uses: from ``--device`` to open engines.

An engine is imported when it is opened or described: a CPU run loads no code for GPUs.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pairalign.base.error_types import DeviceError, KernelBuildError
from pairalign.base.limits import usable_cores
from pairalign.base.spelling import spelled
from pairalign.engines import EngineRequest
from pairalign.engines.device.specification import parse_indices
from pairalign.engines.kernels import Kernel, check_kernel, kernels_of

if TYPE_CHECKING:
    from pairalign.engines import Engine

log = logging.getLogger("pairalign")

_WORTH_A_GPU = 2 * 10**9
"""Fewer cells are done on a CPU before a GPU has started."""

_WORTH_A_SUBOPTIMAL_GPU = 15 * 10**11
"""Cells that a GPU does while another starts and ends, twice over; it then saves time."""


class DeviceInfo(NamedTuple):
    """A device that pairalign knows of.

    Attributes
    ----------
    name : str
        As in ``--device``.
    description : str
        What it is, or why it cannot be used.
    """

    name: str
    usable: bool
    description: str


def list_devices() -> list[DeviceInfo]:
    """Every device that could run alignments, and why not on the others."""
    from pairalign.engines.cpu.cpu_engine import instruction_sets
    from pairalign.engines.cuda.cuda_selection import list_cuda_devices
    from pairalign.engines.opencl.opencl_engine import list_opencl_devices

    sets = instruction_sets()
    cpu = f"{usable_cores()} cores, {sets[0]}"
    if len(sets) > 1:
        cpu += f" (also {', '.join(sets[1:])})"
    lines = [("cpu", True, cpu), *list_cuda_devices(), *list_opencl_devices()]
    return [DeviceInfo(*line) for line in lines]


def open_engines(device: str, request: EngineRequest) -> Sequence[Engine]:
    """Open the engines of a device specification.

    Parameters
    ----------
    device : str
        ``"cpu"``; ``"cuda"`` for as many GPUs as the set is worth the start of, at least one,
        ``"cuda:0,2"`` for those; ``"auto"`` for GPUs that can be used if the set is worth that,
        else the CPU, with a line in the log that says why if there is an NVIDIA GPU;
        ``"opencl"`` for OpenCL GPUs, or a CPU where there is none, ``"opencl:0,1"`` for some
        devices: never part of ``"auto"``.
    request : EngineRequest
        A kernel of a GPU never falls back to the CPU.

    Raises
    ------
    DeviceError
        If there is no such device, or it or the kernel cannot do this; the message says why.
    KernelBuildError
        If a GPU was named and its kernels cannot be compiled. With ``"auto"`` the CPU
        aligns what needs a kernel that cannot be had.
    """
    framework = _framework_of(device)
    chosen = check_kernel(request.kernel, framework, request.problem.scoring, request.detail)
    if framework is None and chosen is not None and chosen.framework == "cuda":
        chosen = _where_it_runs(chosen)
    request = request._replace(kernel=None if chosen is None else chosen.name)
    opencl = parse_indices(device, "opencl")
    if opencl is not None:
        from pairalign.engines.opencl.opencl_engine import open_chosen_opencl

        return open_chosen_opencl(opencl, request)
    indices = parse_indices(device, "cuda")
    if indices is not None or (chosen is not None and chosen.framework == "cuda"):
        return _open_gpus(indices, request)
    if device == "auto" and chosen is None:
        engines = _open_gpus_if_worth_it(request)
        if engines:
            return engines
    return [_open_cpu(request)]


def _open_gpus(
    indices: tuple[int, ...] | None, request: EngineRequest, *, falls_back: bool = False
) -> Sequence[Engine]:
    """Open engines on some GPUs; on as many as pay of all (empty) or of usable ones (None)."""
    from pairalign.engines.cuda.cuda_selection import open_chosen

    most_devices = 1 + request.cells // _WORTH_A_SUBOPTIMAL_GPU
    return open_chosen(indices, request, most_devices, falls_back=falls_back)


def _open_cpu(request: EngineRequest) -> Engine:
    problem, threads = request.problem, request.threads
    if request.kernel == "bitwise":
        from pairalign.engines.cpu.cpu_bitwise import CpuBitwise

        return CpuBitwise(problem, threads=threads)
    from pairalign.engines.cpu.cpu_engine import CpuEngine, Pruning

    uses = {None: "auto", "pruned": "always", "lanes": "never"}
    pruning = Pruning(uses[request.kernel])
    return CpuEngine(problem, threads=threads, memory_bytes=request.memory_bytes, pruning=pruning)


def _open_gpus_if_worth_it(request: EngineRequest) -> Sequence[Engine]:
    """Open engines on all GPUs that can be used; none where the CPU will do, which is logged."""
    try:
        if _is_worth_a_gpu(request.cells):
            return _open_gpus(None, request, falls_back=True)
    except (DeviceError, KernelBuildError) as error:
        from pairalign.engines.cuda.cuda_devices import has_nvidia_gpu

        if has_nvidia_gpu():  # without one the reason says nothing new
            log.info("using the CPU: %s", error)
    return []


def is_for_cores(device: str, cells: int) -> bool:
    """Whether `open_engines` would open the CPU engine alone, of any kernel, for some cells in all.

    Raises
    ------
    DeviceError
        It is no device specification.
    """
    if _framework_of(device) is not None:
        return device == "cpu"
    try:
        return not _is_worth_a_gpu(cells)
    except (DeviceError, KernelBuildError):
        return True


def _where_it_runs(kernel: Kernel) -> Kernel:
    """Return a CUDA kernel, or the CPU's of the same name where no GPU can be used."""
    on_cpu = [candidate for candidate in kernels_of("cpu") if candidate.name == kernel.name]
    if not on_cpu:
        return kernel
    from pairalign.engines.cuda.cuda_selection import usable_devices

    try:
        usable_devices()
    except (DeviceError, KernelBuildError):
        return on_cpu[0]
    return kernel


def _framework_of(device: str) -> str | None:
    """Return the framework of a device specification; None for ``auto``, which may be any.

    Raises
    ------
    DeviceError
        It is no device specification.
    WrongTypeError
        It is no text.
    """
    for framework in ("cuda", "opencl"):
        if parse_indices(device, framework) is not None:
            return framework
    if device in ("auto", "cpu"):
        return None if device == "auto" else device
    raise DeviceError(
        f"device '{device}' is not known, expected auto, cpu, cuda, cuda:0,1, opencl or opencl:0,1"
    )


def _is_worth_a_gpu(cells: int) -> bool:
    """Whether a set with these cells is worth the start of a GPU; if not, say so in the log.

    Raises
    ------
    DeviceError
        No GPU can be used.
    """
    from pairalign.engines.cuda.cuda_devices import find_devices

    find_devices()
    if cells < _WORTH_A_GPU:
        log.info("using the CPU, the set is small (%s for the GPU)", spelled("device", "cuda"))
        return False
    from pairalign.engines.cuda.cuda_selection import usable_devices

    usable_devices()
    return True
