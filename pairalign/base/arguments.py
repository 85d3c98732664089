"""Whole numbers, and arguments that are texts: shares, sizes, shards; no other module is needed."""

from __future__ import annotations

import operator
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import SupportsIndex

from pairalign.base.error_types import ScoringError, UsageError

_MOST_DECIMALS = 18
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_LOCI = re.compile(r"[A-Z]{3}(,[A-Z]{3})?")
_MOST = 1 << 60

MOST_SHARDS = 1_000_000

Shard = tuple[int, int]
"""Which of how many, counted from 1: ``(3, 64)``."""


def whole_number(name: str, value: object, least: int = 1, most: int = _MOST) -> int:
    """Return a whole number from `least` on; more than `most` is as good as that.

    Raises
    ------
    TypeError, ValueError
        It is none, or a lower one.
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise TypeError(f"{name} {value!r}: expected a whole number")
    number = operator.index(value)
    if number < least:
        raise ValueError(f"{name} {number}: expected at least {least}")
    return min(number, most)


def parse_share(value: float | str | Fraction, name: str = "share") -> Fraction:
    """Return a share exactly as it is written: ``0.97``, ``"97%"``.

    Parameters
    ----------
    name : str
        What messages call it.

    Raises
    ------
    ScoringError
        It is no number from 0 to 1 with at most 18 decimals.
    """
    share = _exact(value, most_digits=3, percent=True)
    if share is None or not 0 <= share <= 1:
        raise ScoringError(
            f"{name} {str(value)!r}: expected a number from 0 to 1, or with %, such as 97%"
        )
    return share


def parse_locus(value: str, name: str = "locus") -> str:
    """Return a locus, or two with a comma between, in capitals: of ``trb`` ``TRB``.

    Raises
    ------
    UsageError
        It is neither.
    """
    loci = value.upper() if isinstance(value, str) else ""
    if not _LOCI.fullmatch(loci) or len(set(loci.split(","))) < len(loci.split(",")):
        raise UsageError(
            f"{name} {value!r}: expected a locus, such as TRB, or two, such as TRA,TRB"
        )
    return loci


def parse_ratio(value: float | str | Fraction, name: str = "ratio") -> Fraction:
    """Return a ratio exactly as it is written: ``1.5``.

    Parameters
    ----------
    name : str
        What messages call it.

    Raises
    ------
    ScoringError
        It is no number from 1 on with at most 18 decimals.
    """
    ratio = _exact(value, most_digits=_MOST_DECIMALS)
    if ratio is None or ratio < 1:
        raise ScoringError(f"{name} {str(value)!r}: expected a number of 1 or more, such as 1.5")
    return ratio


def _exact(
    value: float | str | Fraction, most_digits: int, *, percent: bool = False
) -> Fraction | None:
    """Return a number as it is written; None: it is none, or has too many digits."""
    text = str(value)
    try:
        if isinstance(value, Fraction):
            exact = value
        else:
            has_percent = percent and text.endswith("%")
            number = Decimal(text.removesuffix("%").strip() if has_percent else text.strip())
            if not number.is_finite() or (number and number.adjusted() < -_MOST_DECIMALS):
                return None
            if number.adjusted() > most_digits:
                return None
            exact = Fraction(number) / (100 if has_percent else 1)
    except (InvalidOperation, ValueError):
        return None
    return exact if exact.denominator <= 10**_MOST_DECIMALS else None


def parse_size(text: str) -> int:
    """Bytes of a size such as ``"512M"`` or ``"1.5 GiB"`` (powers of 1024).

    Raises
    ------
    ValueError
        If `text` is not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    size = float(match[1]) * _UNITS[match[2].upper()] if match else 0.0
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
