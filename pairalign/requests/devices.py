"""What is asked of ``pairalign devices``."""

from __future__ import annotations

from dataclasses import dataclass

from pairalign.base.declaration import flag
from pairalign.requests.shared import Asked


@dataclass(frozen=True)
class DevicesOptions(Asked):
    """All that ``pairalign devices`` is asked."""

    kernels: bool = flag("list the kernels and what each can do instead")
