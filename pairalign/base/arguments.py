"""Arguments that are written as texts: shares, sizes, shards; no other module is needed here."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from pairalign.base.errors import ScoringError

_MOST_DECIMALS = 18
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_MOST = 1 << 60

MOST_SHARDS = 1_000_000

Shard = tuple[int, int]
"""Which of how many, counted from 1: ``(3, 64)``."""


def parse_share(value: float | str | Fraction, name: str = "share") -> Fraction:
    """Return a share exactly as it is written: ``0.97``, ``"97%"``.

    Parameters
    ----------
    value : float, str or Fraction
    name : str
        What messages call it.

    Raises
    ------
    ScoringError
        It is no number from 0 to 1 with at most 18 decimals.
    """
    text = str(value)
    try:
        if isinstance(value, Fraction):
            share = value
        else:
            number = Decimal(text.removesuffix("%").strip())
            if not number.is_finite() or (number and number.adjusted() < -_MOST_DECIMALS):
                raise ValueError
            if number.adjusted() > 3:
                raise ValueError
            share = Fraction(number) / (100 if text.endswith("%") else 1)
    except (InvalidOperation, ValueError):
        share = Fraction(-1)
    if not 0 <= share <= 1 or share.denominator > 10**_MOST_DECIMALS:
        raise ScoringError(
            f"{name} {text!r}: expected a number from 0 to 1, or with %, such as 97%"
        )
    return share


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


def parse_shard(text: str) -> Shard:
    """Read ``"3/64"``; ValueError if it is no shard."""
    shard, _, shards = text.partition("/")
    return check_shard((int(shard), int(shards)))


def check_shard(shard: Shard) -> Shard:
    """Return a shard; ValueError unless it is one of 1/N to N/N, with N up to `MOST_SHARDS`."""
    number, shards = shard
    if not 1 <= number <= shards <= MOST_SHARDS:
        raise ValueError(
            f"shard {number}/{shards}: expected one of 1/N to N/N, with N up to {MOST_SHARDS:,}"
        )
    return number, shards
