"""From ``--device cuda:0,2`` to open CUDA engines, and what ``pairalign devices`` says of GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from pairalign.base.choices import MODES
from pairalign.base.error_types import DeviceError
from pairalign.engines import Engine, EngineRequest
from pairalign.engines.cuda import build as cuda_build
from pairalign.engines.cuda.cuda_device import CudaDevice
from pairalign.engines.cuda.cuda_devices import find_devices, has_nvidia_gpu
from pairalign.engines.cuda.cuda_engine import FAMILIES, choose_family, open_cuda_engines
from pairalign.engines.device.specification import pick_devices
from pairalign.engines.kernels import find_kernel
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import make_scoring


def choose_devices(indices: Sequence[int]) -> list[CudaDevice]:
    """Return the devices of these indices, or all.

    Raises
    ------
    DeviceError
        There is no such device, or it is named twice.
    """
    devices = find_devices()
    if not indices:
        return devices
    return pick_devices(devices, indices, "cuda", "GPU")


def usable_devices() -> list[CudaDevice]:
    """Return the devices that kernels can be had for, at least one.

    Raises
    ------
    DeviceError
        There is none; the message says why.
    """
    reasons = []
    usable = []
    for device in find_devices():
        reason = why_not(device)
        if reason is None:
            usable.append(device)
        else:
            reasons.append(f"{device.name}: {reason}")
    if not usable:
        raise DeviceError("; ".join(reasons))
    return usable


def why_not(device: CudaDevice) -> str | None:
    """Return None if some family can run on a device, else the reasons why none can."""
    reasons = []
    for name, make in FAMILIES.items():
        if find_kernel(name, "cuda").detail < Detail.CIGAR:
            continue
        family = make()
        reason = family.supports(make_scoring("protein"), Detail.CIGAR, device.capability)
        if reason is None:
            reason = cuda_build.can_load(device.capability, family.variants())
        if reason is None:
            return None
        reasons.append(f"{name}: {reason}")
    if len({reason.split(": ", 1)[1] for reason in reasons}) == 1:
        return reasons[0].split(": ", 1)[1]
    return "; ".join(reasons)


def describe(device: CudaDevice) -> str:
    """Return a line on a device: model, memory, capability, and the kernels of each mode."""
    major, minor = device.capability
    kernels: dict[str, list[str]] = {}
    for mode in MODES:
        family = choose_family(device, make_scoring("protein", mode=mode))
        kernels.setdefault(family.name, []).append(mode)
    used = "; ".join(f"{', '.join(modes)}: {name}" for name, modes in kernels.items())
    return (
        f"{device.model}, {device.memory_bytes / (1 << 30):.0f} GiB, "
        f"compute capability {major}.{minor}; kernels: {used}"
    )


def list_cuda_devices() -> list[tuple[str, bool, str]]:
    """Return name, whether usable, and description (or the reason) of each device."""
    try:
        devices = find_devices()
    except DeviceError as error:
        return [("cuda", False, str(error) if has_nvidia_gpu() else "no NVIDIA GPU is there")]
    lines = []
    for device in devices:
        reason = why_not(device)
        if reason is None:
            lines.append((device.name, True, describe(device)))
        else:
            lines.append((device.name, False, f"{device.model}: {reason}"))
    return lines


def devices_of(indices: Sequence[int] | None) -> list[CudaDevice]:
    """Return the devices of `indices`: all for none, those that can be used for None."""
    return usable_devices() if indices is None else choose_devices(indices)


def open_chosen(
    indices: Sequence[int] | None,
    request: EngineRequest,
    most_devices: int,
    *,
    falls_back: bool = False,
) -> list[Engine]:
    """Open engines on the devices of `indices`.

    Where there are none: on `most_devices` of all (empty), or of all usable ones (None).
    `falls_back`: see `open_cuda_engines`.
    """
    devices = devices_of(indices)
    if not indices:
        devices = devices[:most_devices]
    return open_cuda_engines(devices, request, falls_back=falls_back)
