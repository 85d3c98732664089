"""``--device FRAMEWORK:0,2``: which devices of a framework are meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from pairalign.base.error_types import DeviceError, WrongTypeError

if TYPE_CHECKING:
    from pairalign.engines.device.device_engine import Device

_Device = TypeVar("_Device", bound="Device")


def parse_indices(device: str, framework: str) -> tuple[int, ...] | None:
    """Return the indices of ``FRAMEWORK:0,2``; none for ``FRAMEWORK`` alone.

    Returns None when `device` means something else.

    Raises
    ------
    WrongTypeError
        It is no text.
    """
    if not isinstance(device, str):
        raise WrongTypeError(f"device {device!r}: expected a str, such as auto, cpu or cuda:0,1")
    match = re.fullmatch(rf"{framework}(?::(\d+(?:,\d+)*))?", device)
    if not match:
        return None
    return tuple(int(index) for index in match[1].split(",")) if match[1] else ()


def pick_devices(
    devices: Sequence[_Device], indices: Sequence[int], framework: str, kind: str
) -> list[_Device]:
    """Return the devices of some indices; `kind` is what a message calls them.

    Raises
    ------
    DeviceError
        There is no such device, or it is named twice.
    """
    for index in indices:
        if index >= len(devices):
            names = ", ".join(device.name for device in devices)
            raise DeviceError(f"there is no device {framework}:{index}; this machine has {names}")
    if len(set(indices)) < len(indices):
        named = ",".join(map(str, indices))
        raise DeviceError(f"device '{framework}:{named}' names a {kind} twice")
    return [devices[index] for index in indices]
