"""From ``--device opencl:0,1`` to open engines, and what ``pairalign devices`` says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pairalign.base.error_types import DeviceError
from pairalign.engines import Engine, EngineRequest
from pairalign.engines.device.specification import pick_devices
from pairalign.engines.opencl.opencl_devices import OpenClDevice, find_devices
from pairalign.engines.opencl.opencl_engine import open_opencl_engines


def choose_opencl_devices(indices: Sequence[int]) -> list[OpenClDevice]:
    """Return the devices of these indices; without indices all usable GPUs, else the first CPU.

    Raises
    ------
    DeviceError
        There is no such device, it cannot be used, or it is named twice.
    """
    devices = find_devices()
    if not indices:
        usable = [device for device in devices if not device.is_cpu and device.why_not() is None]
        if usable:
            return usable
        for device in devices:
            if device.is_cpu and device.why_not() is None:
                return [device]
        reasons = (f"{device.name} ({device.model}): {device.why_not()}" for device in devices)
        raise DeviceError(f"no OpenCL device can be used: {'; '.join(reasons)}")
    chosen = pick_devices(devices, indices, "opencl", "device")
    for device in chosen:
        reason = device.why_not()
        if reason is not None:
            raise DeviceError(f"{device.name} ({device.model}): {reason}")
    return chosen


def list_opencl_devices() -> list[tuple[str, bool, str]]:
    """Return name, whether usable, and description (or the reason) of each device."""
    try:
        devices = find_devices()
    except DeviceError as error:
        return [("opencl", False, str(error))]
    lines = []
    for device in devices:
        reason = device.why_not()
        if reason is None:
            gibibytes = device.memory_bytes / (1 << 30)
            described = f"{device.model}, {gibibytes:.0f} GiB; {device.platform}"
            lines.append((device.name, True, described))
        else:
            lines.append((device.name, False, f"{device.model}: {reason}"))
    return lines


def open_chosen_opencl(indices: Sequence[int], request: EngineRequest) -> list[Engine]:
    """Open engines on the devices that `choose_opencl_devices` returns."""
    # A CPU is such a device: what it takes is the host's.
    request = replace(request, device_bytes=request.memory_bytes)
    return open_opencl_engines(choose_opencl_devices(indices), request)
