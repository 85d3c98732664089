"""Kinds of values that options take: how a text is read, and what a message says is expected."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from pairalign.base.arguments import (
    MOST_SHARDS,
    parse_locus,
    parse_ratio,
    parse_shard,
    parse_share,
    parse_size,
)
from pairalign.base.choices import LEAST_POSTERIOR_THRESHOLD
from pairalign.base.declaration import Kind

_LEAST = -(1 << 60)
_MOST = 2**31 - 2  # whose successor fits 32 bits
_DEVICE = re.compile(r"auto|cpu|(cuda|opencl)(:\d+(,\d+)*)?")


def _parse_whole(text: str) -> int:
    number = int(text)
    if not 0 <= number <= _MOST:
        raise ValueError
    return number


def _parse_count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _parse_positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _parse_number(text: str) -> str:
    if not Decimal(text).is_finite():
        raise ValueError
    return text


def _parse_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds < math.inf:
        raise ValueError
    return seconds


def _parse_above_zero(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise ValueError
    return number


def _parse_path(text: str) -> str:
    if not text:
        raise ValueError
    return text


def _parse_device(text: str) -> str:
    if not _DEVICE.fullmatch(text):
        raise ValueError
    return text


def _parse_cluster(text: str) -> str:
    if not text or text.startswith("local:"):  # which was for processes here
        raise ValueError
    return text


PATH = Kind(_parse_path, "the name of a file", completes="files")
LOCUS = Kind(parse_locus, "a locus, such as TRB, or two, such as TRA,TRB")
MATRIX = Kind(str, "the name of a matrix or of a file", completes="matrices")
POSITIVE = Kind(_parse_positive, "a whole number of at least 1", least=1)
WHOLE = Kind(_parse_whole, f"a whole number from 0 to {_MOST:,}", least=0)
COUNT = Kind(_parse_count, "a whole number of at least 0", least=0)
SEED = Kind(int, "a whole number", least=_LEAST)
SEED_OF_CHANCE = Kind(_parse_count, "a whole number, 0 or more", least=0)
NUMBER = Kind(_parse_number, "a number")
"""The text of a finite decimal number, which is kept as it is: costs are exact."""
ABOVE_ZERO = Kind(_parse_above_zero, "a number above 0", above=0)
POSTERIOR = Kind(_parse_above_zero, f"{LEAST_POSTERIOR_THRESHOLD:g} to 1", above=0)
SMALL_NUMBER = Kind(_parse_above_zero, "a number above 0, such as 0.001", above=0)
SECONDS = Kind(_parse_seconds, "a number of seconds, 0 or more")
SHARD = Kind(parse_shard, f"K/N with K from 1 to N, and N up to {MOST_SHARDS:,}, such as 3/64")
CLUSTER = Kind(_parse_cluster, "the address of a Dask scheduler, such as tcp://host:8786")
SHARE = Kind(parse_share, "a number from 0 to 1, or with %, such as 0.97 or 97%", exact=parse_share)
RATIO = Kind(parse_ratio, "a number of 1 or more, such as 1.5", exact=parse_ratio)
DEVICE = Kind(_parse_device, "auto, cpu, cuda, cuda:0,1, opencl or opencl:0,1")
SIZE = Kind(parse_size, "a number with K, M, G or T, such as 512M")
DIGIT = Kind(int, "a whole number")
