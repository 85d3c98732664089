"""How much memory a run may use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

from pairalign.base.control_groups import folders_of
from pairalign.base.error_types import CapacityError
from pairalign.requests.resources import Resources

_NO_LIMIT = 1 << 60
_LEAST_DEFAULT = 64 << 20
_LEAST_WORK = 16 << 20
_KEPT_BY_HEAPS = 16 << 20
"""Of what engines have freed, while something else is made of their results."""

PAIR_BYTES = 4
"""A distance."""

# Files of a control group, in version 2 and 1: limit, usage, and in memory.stat what the kernel
# takes back first (pages of files that were read once: no reason to use less).
_GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def default_bytes() -> int:
    """Memory that a run uses unless told: half of what is free."""
    return max(free_bytes() // 2, _LEAST_DEFAULT)


def bytes_of(resources: Resources) -> int:
    """Return the memory that may be used: what is free is looked at anew each time.

    Raises
    ------
    ValueError
        What is said of memory is no size.
    """
    given = resources.memory_bytes
    return default_bytes() if given is None else given


def bytes_beside_distances(
    count: int,
    memory_bytes: int | None,
    pair_bytes: int = PAIR_BYTES,
    targets: int | None = None,
) -> int:
    """Memory for aligning all pairs when the distances of all of them are kept.

    Parameters
    ----------
    count : int
        Sequences.
    memory_bytes : int or None
        Limit for all that is held: the distances, what is made of them, and aligning. None: what
        is free, of which aligning gets half of what the distances leave.
    pair_bytes : int
        What a pair takes at most: `PAIR_BYTES`, and what is made of the distances in the end.
    targets : int, optional
        Sequences of a second set.

    Raises
    ------
    CapacityError
        The limit, or what is free, is too small; the message has what is needed.
    """
    check_memory(count, pair_bytes, targets)
    pairs = _pairs_of(count, targets)
    held = PAIR_BYTES * pairs
    if memory_bytes is None:
        return max((free_bytes() - held) // 2, _LEAST_DEFAULT)
    needed = pair_bytes * pairs + _LEAST_WORK
    if pair_bytes > PAIR_BYTES:
        needed += _KEPT_BY_HEAPS
    if needed > memory_bytes:
        found = f"{_mebibytes(memory_bytes)} are allowed"
        raise _too_many_pairs(count, targets, needed, found, memory_bytes)
    return memory_bytes - held


def check_memory(count: int, pair_bytes: int, targets: int | None = None) -> None:
    """Raise CapacityError unless `pair_bytes` for each pair, of a set or of two, are free."""
    needed, available = _pairs_of(count, targets) * pair_bytes, free_bytes()
    if needed > available:
        found = f"{_mebibytes(available)} are free"
        raise _too_many_pairs(count, targets, needed, found, available)


def _pairs_of(count: int, targets: int | None) -> int:
    return math.comb(count, 2) if targets is None else count * targets


def _too_many_pairs(
    count: int, targets: int | None, needed: int, found: str, available: int
) -> CapacityError:
    others = "" if targets is None else f" and {targets:,} others"
    return CapacityError(
        f"{count:,} sequences{others} have {_pairs_of(count, targets):,} pairs, whose distances "
        f"need {_mebibytes(needed)} of memory in all; {found}",
        needed_bytes=needed,
        available_bytes=available,
    )


def _mebibytes(size: int) -> str:
    return f"{math.ceil(size / 2**20):,} MiB"


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
