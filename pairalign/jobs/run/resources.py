"""What a job may use, and whether it shows how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pairalign.base.cores import usable_cores
from pairalign.base.declaration import make
from pairalign.jobs.run.memory import default_bytes, given_bytes
from pairalign.jobs.run.progress import Progress
from pairalign.requests.resource_options import KernelResources
from pairalign.requests.shared import Asked


@dataclass(frozen=True)
class Resources:
    """What aligning may use: a part of each request.

    Attributes
    ----------
    device : str
        See `pairalign.engines.selection.open_engines`.
    kernel : str or None
        None: the best that can.
    threads : int or None
        None: all cores.
    memory_bytes : int or None
        None: half of what is free.
    progress : bool or "lines"
        See `pairalign.jobs.run.align.AlignmentJob`.
    """

    device: str = "auto"
    kernel: str | None = None
    threads: int | None = None
    memory_bytes: int | None = None
    progress: Progress = False

    @classmethod
    def of(cls, asked: Asked, progress: Progress) -> Resources:
        """Return what a request with `KernelResources` says; not each has a kernel."""
        known = make(KernelResources, vars(asked))
        kernel = vars(asked).get("kernel")
        return cls(known.device, kernel, known.threads, given_bytes(known.memory), progress)

    @property
    def used_threads(self) -> int:
        """The threads that are used."""
        return usable_cores() if self.threads is None else self.threads

    @property
    def used_memory_bytes(self) -> int:
        """The memory that may be used: what is free is looked at anew each time."""
        return default_bytes() if self.memory_bytes is None else self.memory_bytes

    def of_job(self) -> dict[str, Any]:
        """Return the arguments of an `AlignmentJob` that uses them."""
        return {
            "device": self.device,
            "kernel": self.kernel,
            "threads": self.used_threads,
            "memory_bytes": self.used_memory_bytes,
            "progress": self.progress,
        }
