"""Thresholds of pairs in native code: ``cpu/filters/thresholds.h`` and ``passing.cpp``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Int32s
from pairalign.base.native import Struct, library, struct_fields
from pairalign.sequences.sets import SequenceSet

_COUNTS = ("matches", "mismatches", "gap_openings", "gap_residues")
_SPANS = ("query_start", "query_end", "target_start", "target_end")

Ends = tuple[Int32s, Int32s]
Sets = tuple[SequenceSet, SequenceSet]


class NativeThresholds(Struct):
    """Thresholds: ``pairalign_thresholds`` of ``cpu/filters/thresholds.h``."""

    _fields_ = struct_fields(
        "int64 identity identity_whole coverage coverage_whole ratio ratio_part ratio_whole; int32 "
        "identity_of coverage_of mode ends_cost"
    )


class NativeAligned(Struct):
    """Columns of alignments: ``pairalign_aligned`` of ``cpu/filters/passing.cpp``."""

    _fields_ = struct_fields(
        f"int64 pairs; pointer query target {' '.join((*_SPANS, *_COUNTS))} query_lengths "
        "target_lengths cigar cigar_offsets"
    )


def columns_of(alignments: Alignments, *, with_cigar: bool) -> dict[str, npt.NDArray[Any]]:
    """Return what identities and coverages are counted of."""
    columns: dict[str, npt.NDArray[Any]] = {
        name: alignments.field(name) for name in (*_SPANS, *_COUNTS)
    }
    if with_cigar:
        assert alignments.cigar is not None
        assert alignments.cigar_offsets is not None
        columns["cigar"] = np.ascontiguousarray(alignments.cigar)
        columns["cigar_offsets"] = alignments.cigar_offsets
    return columns


def find_passing(
    thresholds: NativeThresholds, pairs: Ends, sets: Sets, columns: dict[str, npt.NDArray[Any]]
) -> npt.NDArray[np.int64]:
    """Return which pairs, of input indices, pass: ascending positions.

    Parameters
    ----------
    columns : dict of ndarray
        See `columns_of`; empty where lengths alone are looked at.
    """
    ends = dict(zip(("query", "target"), pairs, strict=True))
    sides = zip(("query_lengths", "target_lengths"), sets, strict=True)
    lengths = {name: np.ascontiguousarray(sequences.lengths, np.int32) for name, sequences in sides}
    arrays = {**ends, **lengths, **columns}
    count = len(pairs[0])
    numbers = np.empty(count, np.int64)
    passing = library.pairalign_find_passing(NativeAligned(count, **arrays), thresholds, numbers)
    return numbers[:passing]
