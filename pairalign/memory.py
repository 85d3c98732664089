"""How much memory a run may use."""

from __future__ import annotations

import os
import re
from pathlib import Path

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Bytes of a size such as ``"512M"`` or ``"1.5 GiB"`` (powers of 1024).

    Raises
    ------
    ValueError
        If `text` is not a size.
    """
    found = _SIZE.fullmatch(text.strip())
    if not found or float(found[1]) == 0:
        raise ValueError(f"size {text!r}: expected a number with K, M, G or T, such as 512M")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def free_bytes() -> int:
    """Memory that this process could still use: what is available, within its control group."""
    free = [_available()]
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        if limit != "max":
            free.append(int(limit) - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        pass
    return max(min(free), 0)


def _available() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
