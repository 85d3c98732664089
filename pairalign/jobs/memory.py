"""How much memory a run may use."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_MOST = 1 << 60
_LEAST_DEFAULT = 64 << 20

# Files of a control group, in version 2 and 1: limit, usage, and in memory.stat what the kernel
# takes back first (pages of files that were read once: no reason to use less).
_GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def parse_size(text: str) -> int:
    """Bytes of a size such as ``"512M"`` or ``"1.5 GiB"`` (powers of 1024).

    Raises
    ------
    ValueError
        If `text` is not a size.
    """
    found = _SIZE.fullmatch(text.strip())
    size = float(found[1]) * _UNITS[found[2].upper()] if found else 0.0
    if size < 1:
        raise ValueError(f"size {text!r}: expected a number with K, M, G or T, such as 512M")
    return int(min(size, _MOST))


def default_bytes() -> int:
    """Memory that a run uses unless told: half of what is free."""
    return max(free_bytes() // 2, _LEAST_DEFAULT)


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
    yield _MOST
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers not in ("", "memory"):
            continue
        mount = root / "sys/fs/cgroup" / controllers
        # In a container the path may be that of the host: only what exists counts.
        group = Path(path.lstrip("/"))
        for folder in (group, *group.parents):
            yield from _left_in_group(mount / folder)


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
