"""How two reads overlap, dovetail, containment or internal match: one pass over many pairs.

References
----------
H. Li: Minimap and miniasm: fast mapping and de novo assembly for noisy long sequences.
Bioinformatics 32(14):2103-2110, 2016 (its algorithm 5: overhangs decide).

No array is made on the way, and the interpreter is free meanwhile.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Int32s, Int64s, UInt8s
from pairalign.base.native import Struct, library, struct_fields
from pairalign.reads.reaching_pairs import ReachingPairs
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.alignments.alignments import Alignments

DOVETAIL, CONTAINED, CONTAINS, INTERNAL = 1, 2, 3, 4
"""The numbers of `pairalign.base.choices.OVERLAP_KINDS`."""

OVERHANG_SHARE = 0.8
"""Overhangs longer than this share of the overlap make it internal, however short they are."""


def classify(alignments: Alignments, max_overhang: int = 0) -> UInt8s:
    """Say how the two sequences of each alignment overlap.

    Parameters
    ----------
    alignments : Alignments
        With spans; `strand` counts.
    max_overhang : int
        Residues that both sequences together may have beyond the alignment, on sides where they
        should go on matching, in an overlap that is not internal. Semiglobal alignments have none.

    Returns
    -------
    ndarray of uint8, shape (n,)
        `DOVETAIL`: each sequence goes on beyond the other's end. `CONTAINED`: the query ends within
        the target on both sides; `CONTAINS`: the target within the query (of two sequences that
        are aligned whole, the later one counts as contained). `INTERNAL`: both go on beyond the
        alignment on one side. 0 where nothing is aligned.
    """
    return classify_and_count(alignments, max_overhang)[0]


def classify_and_count(alignments: Alignments, max_overhang: int = 0) -> tuple[UInt8s, Int64s]:
    """Say how the two sequences of each alignment overlap, and how many there are of each kind.

    Returns
    -------
    kinds : ndarray of uint8, shape (n,)
        As `classify`.
    counts : ndarray of int64, shape (5,)
        By kind.
    """
    kinds, counts = np.empty(len(alignments), np.uint8), np.empty(KINDS, np.int64)
    _classify(_fields_of(alignments), max_overhang, OVERHANG_SHARE, kinds, counts)
    return kinds, counts


def overhangs(alignments: Alignments) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Residues before and after each alignment, seen along the target's strand.

    Returns
    -------
    query_left, query_right, target_left, target_right : ndarray of int64, shape (n,)
    """
    query_left = alignments.field("query_start").astype(np.int64)
    query_right = _lengths(alignments.queries, alignments.query) - alignments.field("query_end")
    target_left = alignments.field("target_start").astype(np.int64)
    target_right = _lengths(alignments.targets, alignments.target) - alignments.field("target_end")
    if alignments.strand is not None:
        minus = alignments.strand < 0
        query_left, query_right = (
            np.where(minus, query_right, query_left),
            np.where(minus, query_left, query_right),
        )
    return query_left, query_right, target_left, target_right


def _lengths(sequences: SequenceSet, index: Int32s) -> Int64s:
    return sequences.lengths[index].astype(np.int64)


KINDS = 5
"""Values of pairalign_overlap_kind."""

_INT32 = np.iinfo(np.int32)


class NativeFields(Struct):
    """pairalign_overlap_fields."""

    _fields_ = struct_fields(
        "int64 pairs; pointer query target query_start query_end target_start target_end matches "
        "mismatches gap_residues query_lengths target_lengths strand"
    )


class NativeReaching(Struct):
    """pairalign_reaching."""

    _fields_ = struct_fields("int64 count; pointer numbers scores may_pass")


_choose = library.pairalign_choose_strands
_find = library.pairalign_find_overlaps
_merge = library.pairalign_merge_strands
_classify = library.pairalign_classify_overlaps
_mark = library.pairalign_mark_indices


def describe_reaching(pairs: ReachingPairs) -> tuple[NativeReaching, tuple[Int32s, ...]]:
    """Describe pairs to native code; also return the arrays that must be kept meanwhile."""
    fields = pairs.numbers, pairs.raw_scores, pairs.may_pass
    arrays = tuple(np.ascontiguousarray(field, np.int32) for field in fields)
    return NativeReaching(len(arrays[0]), *arrays), arrays


def choose_strands(plus: ReachingPairs, minus: ReachingPairs, both: bool) -> tuple[Int64s, Int64s]:
    """Choose the pairs to align on each strand by their scores on both.

    Parameters
    ----------
    both : bool
        Whether to align on both strands where both reach the minimum, not just where the score is
        higher (of equals on the plus strand).

    Returns
    -------
    plus, minus : ndarray of int64
        Numbers of the pairs that are aligned there, ascending: those of them that may pass.
    """
    described, kept = zip(*(describe_reaching(pairs) for pairs in (plus, minus)), strict=True)
    strands = (NativeReaching * 2)(*described)
    # One more: what is not chosen is written, too, and then written over.
    chosen = [np.empty(len(pairs.numbers) + 1, np.int64) for pairs in (plus, minus)]
    counts = np.empty(2, np.int64)
    _choose(strands, both, *chosen, counts)
    del kept
    return chosen[0][: counts[0]], chosen[1][: counts[1]]


def find_overlaps(alignments: Alignments, min_overlap: int, min_identity: Fraction) -> Int64s:
    """Return the numbers of the alignments that are long and alike enough, ascending.

    Parameters
    ----------
    alignments : Alignments
        With spans.
    min_overlap : int
        Residues of the shorter span.
    min_identity : Fraction
        Matches by columns, from 0 to 1, at most 18 decimals.
    """
    numbers = np.empty(len(alignments), np.int64)
    least = min(max(min_overlap, 0), int(_INT32.max))
    share = min_identity.as_integer_ratio()
    count = _find(_fields_of(alignments), least, *share, numbers)
    return numbers[:count]


def merge_strands(plus: Int64s, minus: Int64s) -> Int64s:
    """Return the order of overlaps on both strands by pair, the plus strand first.

    Parameters
    ----------
    plus, minus : ndarray of int64
        The numbers of their pairs, ascending.

    Returns
    -------
    ndarray of int64
        Places in what was found on the plus strand, followed by what was on the minus strand.
    """
    pairs = [np.ascontiguousarray(numbers, np.int64) for numbers in (plus, minus)]
    order = np.empty(len(plus) + len(minus), np.int64)
    _merge(*(part for numbers in pairs for part in (len(numbers), numbers)), order)
    return order


def mark_indices(indices: Int32s, marks: Bools) -> None:
    """Set ``marks[indices]``.

    Parameters
    ----------
    indices : ndarray of int32, shape (n,)
        Of sequences.
    marks : ndarray of bool, shape (sequences,)
    """
    kept = np.ascontiguousarray(indices, np.int32)
    assert marks.dtype == np.bool_
    assert marks.flags.c_contiguous
    _mark(len(kept), kept, marks)


def _fields_of(alignments: Alignments) -> NativeFields:
    """Addresses of the fields; `alignments` keep them."""
    arrays: list[npt.NDArray[np.signedinteger] | None] = [alignments.query, alignments.target]
    for name in ("query_start", "query_end", "target_start", "target_end"):
        arrays.append(alignments.field(name))
    for name in ("matches", "mismatches", "gap_residues"):
        arrays.append(alignments.field(name))
    arrays += [alignments.queries.lengths, alignments.targets.lengths, alignments.strand]
    return NativeFields(len(alignments), *arrays)
