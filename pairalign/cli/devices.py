"""The command ``pairalign devices``."""

from __future__ import annotations

from dataclasses import dataclass

from pairalign.base.declaration import flag
from pairalign.engines.kernels import kernel_table
from pairalign.engines.selection import list_devices
from pairalign.requests.shared import Asked


@dataclass(frozen=True)
class DevicesOptions(Asked):
    """All that ``pairalign devices`` is asked."""

    kernels: bool = flag("list the kernels and what each can do instead")


def run_devices(asked: DevicesOptions) -> None:
    """Carry out ``pairalign devices``."""
    if asked.kernels:
        print(*kernel_table(), sep="\n")
        return
    for device in list_devices():
        print(f"{device.name:8} {'yes' if device.usable else 'no':4} {device.description}")
