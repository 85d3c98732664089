"""How much memory a run may use."""

from __future__ import annotations

import math

from pairalign.base.error_types import CapacityError
from pairalign.base.limits import default_bytes, free_bytes
from pairalign.requests.resources import Resources

_LEAST_WORK = 16 << 20
_KEPT_BY_HEAPS = 16 << 20
"""Of what engines have freed, while something else is made of their results."""

PAIR_BYTES = 4
"""A distance."""


def bytes_of(resources: Resources, held_bytes: int = 0) -> int:
    """Return the memory that may be used beside what is held: what is free is looked at anew.

    Raises
    ------
    UsageError
        What is said of memory is no size.
    """
    memory_bytes = resources.memory_bytes
    return default_bytes(held_bytes) if memory_bytes is None else memory_bytes - held_bytes


def distance_bytes(
    count: int,
    memory_bytes: int | None,
    pair_bytes: int = PAIR_BYTES,
    targets: int | None = None,
) -> int:
    """Return what the distances of all pairs take, if that leaves memory for aligning.

    Parameters
    ----------
    count : int
        Sequences.
    memory_bytes : int or None
        Limit for all that is held: the distances, what is made of them, and aligning. None: what
        is free.
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
    needed = pair_bytes * pairs + _LEAST_WORK
    if pair_bytes > PAIR_BYTES:
        needed += _KEPT_BY_HEAPS
    if memory_bytes is not None and needed > memory_bytes:
        limit = f"{_mebibytes(memory_bytes)} are allowed"
        raise _too_many_pairs(count, targets, needed, limit, memory_bytes)
    return PAIR_BYTES * pairs


def check_memory(count: int, pair_bytes: int, targets: int | None = None) -> None:
    """Raise CapacityError unless `pair_bytes` for each pair, of a set or of two, are free."""
    needed, available = _pairs_of(count, targets) * pair_bytes, free_bytes()
    if needed > available:
        limit = f"{_mebibytes(available)} are free"
        raise _too_many_pairs(count, targets, needed, limit, available)


def _pairs_of(count: int, targets: int | None) -> int:
    return math.comb(count, 2) if targets is None else count * targets


def _too_many_pairs(
    count: int, targets: int | None, needed: int, limit: str, available: int
) -> CapacityError:
    others = "" if targets is None else f" and {targets:,} others"
    return CapacityError(
        f"{count:,} sequences{others} have {_pairs_of(count, targets):,} pairs, whose distances "
        f"need {_mebibytes(needed)} of memory in all; {limit}",
        needed_bytes=needed,
        available_bytes=available,
    )


def _mebibytes(size: int) -> str:
    return f"{math.ceil(size / 2**20):,} MiB"
