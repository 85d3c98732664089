"""The request of ``pairalign devices``."""

from __future__ import annotations

from pairalign.base.declaration import flag, request
from pairalign.requests.shared import CommandOptions


@request
class DevicesOptions(CommandOptions):
    """The request of ``pairalign devices``."""

    kernels: bool = flag("list the kernels and what each can do instead")
