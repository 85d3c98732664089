"""Alignments of a set with itself, seen from the other sequence: query and target exchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, reverse_runs
from pairalign.base.arrays import Bools, Int64s, UInt32s

_SIDES = (("query", "target"), ("query_start", "target_start"), ("query_end", "target_end"))
_INSERTION, _DELETION = 1, 2


def exchange(alignments: Alignments, which: Bools) -> Alignments:
    """Return alignments of which some have query and target exchanged.

    The alignment stays what it is: its columns, and so what each CIGAR says, are the same.

    Parameters
    ----------
    alignments : Alignments
        Of a set with itself.
    which : ndarray of bool, shape (n,)

    Returns
    -------
    Alignments
        On strand -1 the CIGAR runs along the new target as it was read, see
        `pairalign.alignments.strands`.
    """
    if not which.any():
        return alignments
    assert alignments.queries is alignments.targets
    changed: dict[str, Any] = {}
    for name, counterpart in _SIDES:
        values = getattr(alignments, name), getattr(alignments, counterpart)
        if values[0] is not None:
            changed[name] = np.where(which, values[1], values[0])
            changed[counterpart] = np.where(which, values[0], values[1])
    if alignments.cigar is not None and alignments.cigar_offsets is not None:
        changed["cigar"] = _exchange_runs(
            alignments.cigar, alignments.cigar_offsets, which, alignments.strand
        )
    return replace(alignments, **changed)


def _exchange_runs(
    cigar: UInt32s,
    offsets: Int64s,
    which: Bools,
    strand: npt.NDArray[np.int8] | None,
) -> UInt32s:
    """Make insertions deletions and deletions insertions; turn the runs of strand -1."""
    runs: UInt32s = cigar.copy()
    inside = np.zeros(len(runs), np.bool_)
    inside[offsets[0] : offsets[-1]] = np.repeat(which, np.diff(offsets))
    operation = runs & 15
    are_gaps = inside & ((operation == _INSERTION) | (operation == _DELETION))
    runs[are_gaps] ^= np.uint32(_INSERTION ^ _DELETION)
    if strand is not None:
        reverse_runs(runs, offsets, which & (strand < 0))
    return runs
