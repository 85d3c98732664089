"""How much memory is free for a process, and how much of it a run uses unless told."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pairalign.base.control_groups import folders_of

_NO_LIMIT = 1 << 60
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
    return max(min(_available(root), *_left_in_groups(root)), 0)


def _available(root: Path) -> int:
    try:
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


def _left_in_groups(root: Path) -> Iterator[int]:
    """Yield what each control group that this process is in, and each above it, leaves."""
    yield _NO_LIMIT
    for folder in folders_of("memory", root):
        yield from _left_in_group(folder)


def _left_in_group(folder: Path) -> Iterator[int]:
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
