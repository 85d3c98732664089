"""Types of arguments, for argparse's `type`: what the text of an option becomes."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import TypeVar

from pairalign.base.arguments import MOST_SHARDS, parse_shard, parse_share, parse_size
from pairalign.base.choices import LOCAL_CLUSTER

_Value = TypeVar("_Value")
_DEVICE = re.compile(r"auto|cpu|(cuda|opencl)(:\d+(,\d+)*)?")


def converter(convert: Callable[[str], _Value], expected: str) -> Callable[[str], _Value]:
    """Make a type for argparse whose message says what was expected.

    Parameters
    ----------
    convert : callable
        Makes the value of an argument's text; raises ValueError or ArithmeticError.
    expected : str
        What a right argument is, for the message: "a number".

    Returns
    -------
    callable
        For `type` of ``add_argument``.
    """

    def converted(text: str) -> _Value:
        try:
            return convert(text)
        except (ValueError, ArithmeticError):
            raise argparse.ArgumentTypeError(f"found '{text}', expected {expected}") from None

    return converted


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


def parse_above_zero(text: str) -> float:
    """Return a finite number above 0; ValueError if the text is none."""
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
    if text.startswith(LOCAL_CLUSTER) and int(text.removeprefix(LOCAL_CLUSTER)) < 1:
        raise ValueError
    return text


PATH = converter(_parse_path, "the name of a file")
POSITIVE = converter(_parse_positive, "a whole number of at least 1")
NUMBER = converter(_parse_number, "a number")
"""The text of a finite decimal number, which is kept as it is: costs are exact."""
SECONDS = converter(_parse_seconds, "a number of seconds, 0 or more")
SHARD = converter(parse_shard, f"K/N with K from 1 to N, and N up to {MOST_SHARDS:,}, such as 3/64")
CLUSTER = converter(_parse_cluster, "the address of a Dask scheduler, or local:N")
SHARE = converter(parse_share, "a number from 0 to 1, or with %, such as 0.97 or 97%")
DEVICE = converter(_parse_device, "auto, cpu, cuda, cuda:0,1, opencl or opencl:0,1")
SIZE = converter(parse_size, "a number with K, M, G or T, such as 512M")
