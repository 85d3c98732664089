"""Which engines a run uses: from ``--device`` to open engines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from pairalign.engines import Engine
from pairalign.engines.cpu import CpuEngine, instruction_sets
from pairalign.errors import DeviceError
from pairalign.scoring import Scoring
from pairalign.sequences import SequenceSet


@dataclass(frozen=True)
class DeviceInfo:
    """A device that pairalign knows of.

    Attributes
    ----------
    name : str
        As in ``--device``.
    usable : bool
    description : str
        What it is, or why it cannot be used.
    """

    name: str
    usable: bool
    description: str


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def list_devices() -> list[DeviceInfo]:
    """Every device that could run alignments, and why not on the others."""
    sets = instruction_sets()
    cpu = f"{usable_cores()} cores, {sets[0]}"
    if len(sets) > 1:
        cpu += f" (also {', '.join(sets[1:])})"
    return [DeviceInfo("cpu", True, cpu)]


def open_engines(
    device: str,
    queries: SequenceSet,
    targets: SequenceSet | None,
    scoring: Scoring,
    *,
    threads: int,
    memory_bytes: int,
) -> Sequence[Engine]:
    """Open the engines of a device specification.

    Parameters
    ----------
    device : str
        ``"auto"`` or ``"cpu"``.
    queries, targets : SequenceSet
        `targets` is None for every pair of `queries`.
    scoring : Scoring
    threads : int
        Threads of the CPU engine.
    memory_bytes : int
        What the engines may use on the host.

    Raises
    ------
    DeviceError
        If there is no such device or it cannot be used; the message says why.
    """
    if device in ("auto", "cpu"):
        return [CpuEngine(queries, targets, scoring, threads=threads, memory_bytes=memory_bytes)]
    raise DeviceError(f"device '{device}' is not known, expected auto or cpu")
