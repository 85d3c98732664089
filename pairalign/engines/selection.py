"""Which engines a run uses: from ``--device`` to open engines.

An engine is imported when it is opened or asked about: a CPU run loads no code for GPUs.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pairalign.base.cores import usable_cores
from pairalign.base.error_types import DeviceError, KernelBuildError
from pairalign.base.spelling import spelled
from pairalign.engines.device.specification import parse_indices
from pairalign.engines.kernels import Kernel, check_kernel, kernels_of
from pairalign.pairs.want import Detail

if TYPE_CHECKING:
    from pairalign.engines import Engine
    from pairalign.scoring.scoring import Scoring
    from pairalign.sequences.sets import SequenceSet

log = logging.getLogger("pairalign")

_WORTH_A_GPU = 2 * 10**9
"""Fewer cells are done on a CPU before a GPU has started."""

_WORTH_A_SUBOPTIMAL_GPU = 15 * 10**11
"""Cells that a GPU does while another starts and ends, twice over; it then saves time."""


@dataclass(frozen=True)
class DeviceInfo:
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
    from pairalign.engines.opencl.opencl_selection import list_opencl_devices

    sets = instruction_sets()
    cpu = f"{usable_cores()} cores, {sets[0]}"
    if len(sets) > 1:
        cpu += f" (also {', '.join(sets[1:])})"
    lines = [("cpu", True, cpu), *list_cuda_devices(), *list_opencl_devices()]
    return [DeviceInfo(*line) for line in lines]


def open_engines(
    device: str,
    queries: SequenceSet,
    targets: SequenceSet | None,
    scoring: Scoring,
    *,
    threads: int,
    memory_bytes: int,
    gpu_memory_bytes: int | None = None,
    kernel: str | None = None,
    detail: Detail = Detail.CIGAR,
    per_gpu: int | None = None,
) -> Sequence[Engine]:
    """Open the engines of a device specification.

    Parameters
    ----------
    device : str
        ``"cpu"``; ``"cuda"`` for as many GPUs as the set is worth the start of, at least one,
        ``"cuda:0,2"`` for those; ``"auto"`` for GPUs that can be used if the set is worth that,
        else the CPU, with a line in the log that says why if there is an NVIDIA GPU;
        ``"opencl"`` for OpenCL GPUs, or a CPU where there is none, ``"opencl:0,1"`` for some
        devices: never part of ``"auto"``.
    queries, targets : SequenceSet
        `targets` is None for every pair of `queries`.
    threads : int
        Threads of the CPU engine, which also takes pairs that a GPU has no room for.
    memory_bytes : int
        What the engines may use on the host, as an OpenCL device.
    gpu_memory_bytes : int, optional
        And on each CUDA GPU; default: nine tenths of what is free there.
    kernel : str, optional
        A kernel of `pairalign.engines.kernels.KERNELS` instead of ``"auto"``, the best that can;
        one of a GPU never falls back to the CPU.
    detail : Detail
        The most that windows will be asked for; some kernels compute scores only.
    per_gpu : int, optional
        Engines that share a CUDA GPU; default: as many as keep it busy if they do nothing else.

    Raises
    ------
    DeviceError
        If there is no such device, or it or the kernel cannot do this; the message says why.
    KernelBuildError
        If a GPU was asked for by name and its kernels cannot be compiled. With ``"auto"`` the CPU
        aligns what needs a kernel that cannot be had.
    """
    request = _Request(
        queries, targets, scoring, threads, memory_bytes, gpu_memory_bytes, detail, per_gpu
    )
    framework = _framework_of(device)
    chosen = check_kernel(kernel, framework, scoring, detail)
    if framework is None and chosen is not None and chosen.framework == "cuda":
        chosen = _where_it_runs(chosen)
    name = None if chosen is None else chosen.name
    opencl = parse_indices(device, "opencl")
    if opencl is not None:
        return request.open_opencl(opencl, name)
    indices = parse_indices(device, "cuda")
    if indices is not None or (chosen is not None and chosen.framework == "cuda"):
        return request.open_gpus(indices, name)
    if device == "auto" and chosen is None:
        engines = _open_gpus_if_worth_it(request)
        if engines:
            return engines
    return [request.open_cpu(name)]


@dataclass(frozen=True)
class _Request:
    """What engines are opened with: parameters of `open_engines`."""

    queries: SequenceSet
    targets: SequenceSet | None
    scoring: Scoring
    threads: int
    memory_bytes: int
    gpu_memory_bytes: int | None
    detail: Detail
    per_gpu: int | None

    def open_gpus(
        self, indices: tuple[int, ...] | None, kernel: str | None, *, falls_back: bool = False
    ) -> Sequence[Engine]:
        """Open engines on some GPUs; on as many as pay of all (empty) or of usable ones (None)."""
        from pairalign.engines.cuda.cuda_selection import open_chosen

        return open_chosen(
            indices,
            self.queries,
            self.targets,
            self.scoring,
            threads=self.threads,
            memory_bytes=self.gpu_memory_bytes,
            host_memory_bytes=self.memory_bytes,
            kernel=kernel,
            detail=self.detail,
            falls_back=falls_back,
            per_device=self.per_gpu,
            most_devices=1 + _cells(self.queries, self.targets) // _WORTH_A_SUBOPTIMAL_GPU,
        )

    def open_opencl(self, indices: tuple[int, ...], kernel: str | None) -> Sequence[Engine]:
        from pairalign.engines.opencl.opencl_selection import open_chosen_opencl

        return open_chosen_opencl(
            indices,
            self.queries,
            self.targets,
            self.scoring,
            threads=self.threads,
            memory_bytes=self.memory_bytes,
            kernel=kernel,
            detail=self.detail,
        )

    def open_cpu(self, kernel: str | None) -> Engine:
        sets = self.queries, self.targets, self.scoring
        if kernel == "bitwise":
            from pairalign.engines.cpu.cpu_bitwise import CpuBitwise

            return CpuBitwise(*sets, threads=self.threads)
        from pairalign.engines.cpu.cpu_engine import CpuEngine
        from pairalign.engines.cpu.pruning import Pruning

        uses = {"pruned": "always", "lanes": "never"}
        return CpuEngine(
            *sets,
            threads=self.threads,
            memory_bytes=self.memory_bytes,
            pruning=Pruning("auto" if kernel is None else uses[kernel]),
        )


def _open_gpus_if_worth_it(request: _Request) -> Sequence[Engine]:
    """Open engines on all GPUs that can be used; none where the CPU will do, which is logged."""
    try:
        if _is_worth_a_gpu(request.queries, request.targets):
            return request.open_gpus(None, None, falls_back=True)
    except (DeviceError, KernelBuildError) as error:
        from pairalign.engines.cuda.cuda_devices import has_nvidia_gpu

        if has_nvidia_gpu():  # without one the reason says nothing new
            log.info("using the CPU: %s", error)
    return []


def is_for_cores(device: str, queries: SequenceSet, targets: SequenceSet | None) -> bool:
    """Whether `open_engines` would open the CPU engine alone, of any kernel.

    Parameters
    ----------
    device, queries, targets
        As for `open_engines`.

    Raises
    ------
    DeviceError
        It is no device specification.
    """
    if _framework_of(device) is not None:
        return device == "cpu"
    try:
        return not _is_worth_a_gpu(queries, targets)
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
    TypeError
        It is no text.
    """
    if not isinstance(device, str):
        raise TypeError(f"device {device!r}: expected a str, such as auto, cpu or cuda:0,1")
    for framework in ("cuda", "opencl"):
        if parse_indices(device, framework) is not None:
            return framework
    if device in ("auto", "cpu"):
        return None if device == "auto" else device
    raise DeviceError(
        f"device '{device}' is not known, expected auto, cpu, cuda, cuda:0,1, opencl or opencl:0,1"
    )


def _is_worth_a_gpu(queries: SequenceSet, targets: SequenceSet | None) -> bool:
    """Whether a set is worth the start of a GPU; if not, say so in the log.

    Raises
    ------
    DeviceError
        No GPU can be used.
    """
    from pairalign.engines.cuda.cuda_devices import find_devices

    find_devices()
    if _cells(queries, targets) < _WORTH_A_GPU:
        log.info("using the CPU, the set is small (%s for the GPU)", spelled("device", "cuda"))
        return False
    from pairalign.engines.cuda.cuda_selection import usable_devices

    usable_devices()
    return True


def _cells(queries: SequenceSet, targets: SequenceSet | None) -> int:
    """Cells of all pairs' matrices, about."""
    rows = queries.total_residues
    return rows * rows // 2 if targets is None else rows * targets.total_residues
