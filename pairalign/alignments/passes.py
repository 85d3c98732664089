"""Single passes over the fields of many pairs, in native code (``cpu/pairs``, ``cpu/filters``).

No array is made on the way, and the interpreter is free meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, runs_of
from pairalign.base.arrays import Doubles, Float32s, Int32s, Int64s
from pairalign.base.native import Struct, library, struct_fields
from pairalign.sequences.sets import SequenceSet

_place = library.pairalign_place_in_triangle
_extremes = library.pairalign_find_extremes
_differences = library.pairalign_find_differences


class NativeCounts(Struct):
    """pairalign_counts."""

    _fields_ = struct_fields(
        "int64 pairs; pointer query target raw_score matches mismatches gap_residues lengths "
        "own_scores"
    )


DIFFERENCES = ("identity-aligned", "identity", "identity-shorter", "score")
"""What `find_differences` can count, in the order of pairalign_difference."""


def find_differences(
    difference: str,
    alignments: Alignments,
    own_scores: Doubles | None = None,
) -> Doubles:
    """Return how different pairs of sequences are, float64 of shape (n,).

    Parameters
    ----------
    difference : str
        One of `DIFFERENCES`: 1 less the share of matches among the alignment columns without gaps,
        among all of them, or among the residues of the shorter sequence; or 1 less twice the raw
        score by the scores of both with themselves. 1 where there is nothing to divide by.
    alignments : Alignments
        With counts unless `difference` is ``"score"``.
    own_scores : ndarray of float64, shape (sequences,), optional
        Raw score of each sequence with itself, for ``"score"``; of two sets those of the targets
        follow those of the queries.
    """
    lengths, target = alignments.queries.lengths, alignments.target
    if alignments.targets is not alignments.queries:  # one set after the other
        target = target + np.int32(len(lengths))
        lengths = np.concatenate((lengths, alignments.targets.lengths))
    names = "raw_score", "matches", "mismatches", "gap_residues"
    fields = [alignments.query, target, *(getattr(alignments, name) for name in names)]
    if difference == "score":
        assert own_scores is not None
        own_scores = np.ascontiguousarray(own_scores, np.float64)
    else:
        assert alignments.has_stats
    kept = [*fields, np.ascontiguousarray(lengths, np.int32), own_scores]
    values = np.empty(len(alignments), np.float64)
    counts = NativeCounts(len(alignments), *kept)
    _differences(counts, DIFFERENCES.index(difference), values)
    return values


def place_in_triangle(
    query: Int32s,
    target: Int32s,
    values: Doubles,
    count: int,
    condensed: Float32s,
) -> None:
    """Put values of pairs of one set where they belong in its condensed triangle.

    Parameters
    ----------
    query, target : ndarray of int32, shape (n,)
        Input indices, ``query < target``.
    values : ndarray of float64, shape (n,)
    count : int
        Sequences of the set.
    condensed : ndarray of float32, shape (count * (count - 1) / 2,)
    """
    assert len(query) == len(target) == len(values)
    assert condensed.shape == (count * (count - 1) // 2,)
    assert condensed.dtype == np.float32
    kept = (
        np.ascontiguousarray(query, np.int32),
        np.ascontiguousarray(target, np.int32),
        np.ascontiguousarray(values, np.float64),
    )
    _place(len(query), *kept, count, condensed)


def find_extremes(
    counts: Sequence[Int32s], scores: Int32s | None = None, threads: int = 1
) -> tuple[int, int] | None:
    """Find the pairs with the highest and the lowest identity, or score.

    Parameters
    ----------
    counts : sequence of three ndarrays of int32, shape (n,)
        Matches, mismatches, gap residues.
    scores : ndarray of int32, shape (n,), optional
        Raw scores, by which pairs are then compared.

    Returns
    -------
    (int, int) or None
        Indices of the two, the first of equals; None where nothing is aligned in any pair.

    Raises
    ------
    MemoryError
    """
    fields = [
        None if values is None else np.ascontiguousarray(values, np.int32)
        for values in (*counts, scores)
    ]
    indices = np.zeros(2, np.int64)
    aligned = _extremes(len(counts[0]), *fields, threads, indices)
    if aligned < 0:
        raise MemoryError("no memory to find pairs in")
    return (int(indices[0]), int(indices[1])) if aligned else None


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
        runs, columns["cigar_offsets"] = runs_of(alignments)
        columns["cigar"] = np.ascontiguousarray(runs)
    return columns


def find_passing(
    thresholds: NativeThresholds, pairs: Ends, sets: Sets, columns: dict[str, npt.NDArray[Any]]
) -> Int64s:
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
