"""The command ``pairalign devices``."""

from __future__ import annotations

from pairalign.engines.kernels import kernel_table
from pairalign.engines.selection import list_devices
from pairalign.requests.devices_request import DevicesOptions


def run_devices(request: DevicesOptions) -> None:
    """Carry out ``pairalign devices``."""
    if request.kernels:
        print(*kernel_table(), sep="\n")
        return
    for device in list_devices():
        print(f"{device.name:8} {'yes' if device.usable else 'no':4} {device.description}")
