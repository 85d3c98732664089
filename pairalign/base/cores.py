"""How many cores a process may use: those it may run on, and what its control groups leave it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

from pairalign.base.control_groups import folders_of


def usable_cores(root: Path = Path("/")) -> int:
    """Cores that this process may use: its affinity, and the quota of its container, rounded up.

    Parameters
    ----------
    root : path
        Where ``proc`` and ``sys`` are.
    """
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min((cores, *map(math.ceil, _quotas(root)))))


def _quotas(root: Path) -> Iterator[float]:
    """Yield the cores of each control group with a quota, in version 2 and 1."""
    for folder in folders_of("cpu", root):
        try:
            quota, period = (folder / "cpu.max").read_text().split()
        except (OSError, ValueError):
            try:
                quota = (folder / "cpu.cfs_quota_us").read_text()
                period = (folder / "cpu.cfs_period_us").read_text()
            except OSError:
                continue
        try:
            cores = int(quota) / int(period)  # max, or -1: there is none
        except (ValueError, ZeroDivisionError):
            continue
        if cores > 0:
            yield cores
