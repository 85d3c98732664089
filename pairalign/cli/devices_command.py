"""The command ``pairalign devices``."""

from __future__ import annotations

from pairalign.base.declaration import flag, request
from pairalign.requests.shared import CommandOptions


@request
class DevicesOptions(CommandOptions):
    """The request of ``pairalign devices``."""

    kernels: bool = flag("list the kernels and what each can do instead")


def run_devices(request: DevicesOptions) -> None:
    """Carry out ``pairalign devices``."""
    from pairalign.engines.kernels import kernel_table
    from pairalign.engines.selection import list_devices

    if request.kernels:
        print(*kernel_table(), sep="\n")
        return
    for device in list_devices():
        print(f"{device.name:8} {'yes' if device.usable else 'no':4} {device.description}")
