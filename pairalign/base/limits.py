"""How many cores and how much memory a process may use: what its control groups leave it."""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

from pairalign.base.error_types import out_of_memory


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


_LEAST_DEFAULT = 64 << 20

# Files of a control group, in version 2 and 1: limit, usage, and in memory.stat what the kernel
# takes back first (pages of files that were read once: no reason to use less).
_GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def default_bytes(held: int = 0) -> int:
    """Memory that a run uses unless told: half of what is free beside `held` bytes."""
    return max((free_bytes() - held) // 2, _LEAST_DEFAULT)


def free_bytes(root: Path = Path("/")) -> int:
    """Memory that this process could still use: what is available, within its control group.

    Parameters
    ----------
    root : path
        Where ``proc`` and ``sys`` are.
    """
    groups = (left for folder in folders_of("memory", root) for left in _left_in_group(folder))
    return max(min((_available(root), *groups)), 0)


def _available(root: Path) -> int:
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _left_in_group(folder: Path) -> Iterator[int]:
    """Yield what a control group that this process is in leaves."""
    for limit, usage, reclaimable in _GROUP_FILES:
        try:
            left = int((folder / limit).read_text()) - int((folder / usage).read_text())
        except (OSError, ValueError):  # not of this version, or no limit: "max"
            continue
        yield left + _read_statistic(folder / "memory.stat", reclaimable)


def _read_statistic(path: Path, name: str) -> int:
    try:
        lines = [line.split() for line in path.read_text().splitlines()]
        return sum(int(line[1]) for line in lines if line[:1] == [name])
    except (OSError, ValueError, IndexError):
        return 0


_MOUNT = "sys/fs/cgroup"


def folders_of(controller: str, root: Path) -> Iterator[Path]:
    """Yield the folder of each group that this process is in, and of each above it.

    Parameters
    ----------
    controller : {"cpu", "memory"}
        Version 1 has a hierarchy for it, perhaps with others; version 2 one for all.
    root : path
        Where ``proc`` and ``sys`` are.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        mounts = [controllers, controller] if controllers else ["", "unified"]
        # In a container the path may be that of the host: only what exists counts.
        group = Path(path.lstrip("/"))
        for mount in dict.fromkeys(mounts):
            for folder in (group, *group.parents):
                yield root / _MOUNT / mount / folder


def has_room(size: int) -> bool:
    """Whether the process may map `size` bytes more; they are not used.

    Asked before code that fails without saying that there is none: libraries that are loaded, and
    OpenBLAS at its first product, end the process or raise anything.
    """
    try:
        mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=0).close()
    except (OSError, MemoryError):
        return False
    return True


def check_room(size: int) -> None:
    """Raise MemoryError unless the process may map `size` bytes more."""
    if not has_room(size):
        raise MemoryError(out_of_memory())
