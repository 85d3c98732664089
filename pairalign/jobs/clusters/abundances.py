"""How often sequences were seen, and in which sample: what headers of reads say of it.

``;size=12`` is vsearch's and USEARCH's: reads that are equal are written once. ``;sample=S1`` (or
``;barcodelabel=S1``) names the sample, also at the beginning of a header. Other reads are numbered
in their sample: ``S1_17`` (QIIME), ``S1.17``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from pairalign.base.arrays import Int64s
from pairalign.base.error_types import FastaError, cut_name
from pairalign.base.texts import counted
from pairalign.sequences.sets import SequenceSet

_SIZE = re.compile(r";\s*size=([^;\s]*)")
_SAMPLE = re.compile(r"(?:^|;)\s*(?:sample|barcodelabel)=([^;\s]+)")
_NUMBERED = re.compile(r"(.+)[._]\d+", re.ASCII)
_NAME = re.compile(r"\S+")
_WORD = re.compile(r"\w+", re.ASCII)
_MOST = 10**12
_MOST_DIGITS = 100  # Python reads no more than some thousands
_NO_SAMPLE = "all"
_MOST_SHOWN = 5


def read_abundances(sequences: SequenceSet) -> Int64s | None:
    """Return how often each sequence was seen, int64 of shape (n,): 1 where a header says nothing.

    None where no header has ``;size=``.

    Raises
    ------
    FastaError
        A ``;size=`` is no whole number from 1 to 10^12.
    """
    sizes = [_SIZE.search(header) for header in sequences.descriptions]
    if not any(sizes):
        return None
    abundances = np.ones(len(sizes), np.int64)
    for index, size in enumerate(sizes):
        if size is None:
            continue
        digits = size.group(1)
        is_number = digits.isascii() and digits.isdigit() and len(digits) < _MOST_DIGITS
        if not (is_number and 1 <= int(digits) <= _MOST):
            raise FastaError(
                f"{sequences.source}: {sequences.record(index)}: ;size={digits}, expected a whole "
                "number from 1"
            )
        abundances[index] = int(digits)
    return abundances


def name_size(header: str, size: int) -> str:
    """Return a header with ``;size=`` after its name, instead of what it has."""
    without = _SIZE.sub("", header)
    name = _NAME.match(without)
    end = name.end() if name else 0
    return f"{without[:end].rstrip(';')};size={size}{without[end:]}"


def sample_of(header: str) -> str:
    """Return the sample that a header names, or that a read is numbered in.

    Without ``;sample=`` and ``;barcodelabel=`` it is what is before the last ``_`` or ``.`` of the
    name if a number follows. A name without a number is a sample as far as vsearch reads one, to
    the first character that is no letter, digit or ``_``, if there is a ``_``; else there is one
    sample, ``all``.
    """
    named = _SAMPLE.search(header)
    if named:
        return named.group(1)
    words = header.partition(";")[0].split(maxsplit=1)
    name = words[0] if words else ""
    numbered = _NUMBERED.fullmatch(name)
    if numbered:
        return numbered.group(1)
    word = _WORD.match(name)
    return word.group() if word and "_" in word.group().strip("_") else _NO_SAMPLE


def describe_samples(headers: Sequence[str]) -> str:
    """Say which samples are read from names, where headers do not name them; else nothing."""
    unnamed = [header for header in headers if not _SAMPLE.search(header)]
    if not unnamed:
        return ""
    names = sorted(set(map(sample_of, unnamed)))
    shown = ", ".join(map(cut_name, names[:_MOST_SHOWN])) + (", ..." * (len(names) > _MOST_SHOWN))
    return (
        f"{len(unnamed):,} of {len(headers):,} headers have no ;sample=: by their names they are "
        f"of {counted(len(names), 'sample')} ({shown})"
    )
