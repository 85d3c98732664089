"""How often sequences were seen, and in which sample: what headers of reads say of it.

``;size=12`` is vsearch's and USEARCH's: reads that are equal are written once. ``;sample=S1`` (or
``;barcodelabel=S1``) names the sample; QIIME's reads are called ``S1_17``.
"""

from __future__ import annotations

import re

import numpy as np

from pairalign.base.arrays import Int64s
from pairalign.base.errors import FastaError
from pairalign.sequences.sets import SequenceSet

_SIZE = re.compile(r";\s*size=([^;\s]*)")
_SAMPLE = re.compile(r";\s*(?:sample|barcodelabel)=([^;\s]+)")
_MOST = 10**12
_MOST_DIGITS = 100  # Python reads no more than some thousands
_NO_SAMPLE = "all"


def read_abundances(sequences: SequenceSet) -> Int64s | None:
    """Return how often each sequence was seen, int64 of shape (n,): 1 where a header says nothing.

    None where no header has ``;size=``.

    Raises
    ------
    FastaError
        A ``;size=`` is no whole number from 1 to 10^12.
    """
    found = [_SIZE.search(header) for header in sequences.descriptions]
    if not any(found):
        return None
    abundances = np.ones(len(found), np.int64)
    for index, size in enumerate(found):
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


def sample_of(header: str) -> str:
    """Return the sample that a header names: ``;sample=``, or what is before the first ``_``."""
    named = _SAMPLE.search(header)
    if named:
        return named.group(1)
    name = header.split(maxsplit=1)[0] if header.strip() else ""
    first, underscore, _ = name.partition("_")
    return first if underscore and first else _NO_SAMPLE
