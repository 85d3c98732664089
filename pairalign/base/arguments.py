"""Values of options and arguments: how a text is read, and what a message says is expected."""

from __future__ import annotations

import math
import operator
import os
import re
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple, SupportsIndex

from pairalign.base.choices import LEAST_POSTERIOR_THRESHOLD
from pairalign.base.error_types import ScoringError, UsageError, WrongTypeError

_MOST_DECIMALS = 18
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_LOCI = re.compile(r"[A-Z]{3}(,[A-Z]{3})?")
_MOST = 1 << 60
_MOST_WHOLE = 2**31 - 2  # whose successor fits 32 bits
_DEVICE = re.compile(r"auto|cpu|(cuda|opencl)(:\d+(,\d+)*)?")

MOST_SHARDS = 1_000_000

Shard = tuple[int, int]
"""Which of how many, counted from 1: ``(3, 64)``."""


class Kind(NamedTuple):
    """What values an option takes.

    Attributes
    ----------
    read : callable
        Makes the value of a text; raises ValueError or ArithmeticError.
    expected : str
        What a right value is, for messages: "a number".
    completes : str
        What a shell completes: ``"files"``, ``"matrices"`` or nothing.
    least : int or None
        A whole number from that on, also in Python. None: it is none, or any.
    above : float or None
        A number above that, also in Python. None: it is none, or any.
    exact : callable or None
        Makes an exact number of what Python may give, and of the option's name for messages.
    is_read, is_written : bool
        It may name a file that a run reads, or writes.
    format : (str, tuple of str) or None
        What is said of a file with one format, whatever its name, and the ends that it may have.
    """

    read: Callable[[str], Any]
    expected: str
    completes: str = ""
    least: int | None = None
    above: float | None = None
    exact: Callable[[Any, str], Any] | None = None
    is_read: bool = False
    is_written: bool = False
    format: tuple[str, tuple[str, ...]] | None = None


def whole_number(name: str, value: object, least: int = 1, most: int = _MOST) -> int:
    """Return a whole number from `least` on; more than `most` is as good as that.

    Raises
    ------
    WrongTypeError, UsageError
        It is none, or a lower one.
    """
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise WrongTypeError(f"{name} {value!r}: expected a whole number")
    number = operator.index(value)
    if number < least:
        raise UsageError(f"{name} {number}: expected at least {least}")
    return min(number, most)


def path_text(name: str, value: object) -> str:
    """Return the text of a path; WrongTypeError if it is none."""
    if not isinstance(value, (str, os.PathLike)):
        raise WrongTypeError(f"{name} {value!r}: expected a path")
    return os.fspath(value)


def as_several(name: str, value: object) -> tuple[Any, ...]:
    """Return the values of what may be given again: one path is one value."""
    if isinstance(value, (str, os.PathLike)):
        return (value,)
    if value is not None and (isinstance(value, bytes) or not isinstance(value, Iterable)):
        raise WrongTypeError(f"{name} {value!r}: expected a path or several")
    return tuple(value or ())


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


def parse_size(text: str, name: str = "size") -> int:
    """Bytes of a size such as ``"512M"`` or ``"1.5 GiB"`` (powers of 1024).

    Raises
    ------
    UsageError
        If `text` is not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    size = float(match[1]) * _UNITS[match[2].upper()] if match else 0.0
    if size < 1:
        raise UsageError(f"{name} {text!r}: expected a number with K, M, G or T, such as 512M")
    return int(min(size, _MOST))


def _size_of(value: object, name: str) -> int:
    return parse_size(value, name) if isinstance(value, str) else whole_number(name, value)


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


def _parse_whole(text: str) -> int:
    number = int(text)
    if not 0 <= number <= _MOST_WHOLE:
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


def out_file(what: str, endings: tuple[str, ...]) -> Kind:
    """Return the kind of files with one format: "names are written as a table"."""
    return OUT_FILE._replace(format=(what, endings))


FOLDER = Kind(_parse_path, "the name of a folder", completes="files")
IN_FILE = Kind(_parse_path, "the name of a file", completes="files", is_read=True)
OUT_FILE = IN_FILE._replace(is_read=False, is_written=True)
LOCUS = Kind(parse_locus, "a locus, such as TRB, or two, such as TRA,TRB")
MATRIX = Kind(str, "the name of a matrix or of a file", completes="matrices", is_read=True)
POSITIVE = Kind(_parse_positive, "a whole number of at least 1", least=1)
WHOLE = Kind(_parse_whole, f"a whole number from 0 to {_MOST_WHOLE:,}", least=0)
COUNT = Kind(_parse_count, "a whole number of at least 0", least=0)
SEED = Kind(int, "a whole number", least=-_MOST)
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
SIZE = Kind(parse_size, "a number with K, M, G or T, such as 512M", exact=_size_of)
DIGIT = Kind(int, "a whole number")
