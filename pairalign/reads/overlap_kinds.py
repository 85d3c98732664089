"""How two reads overlap: dovetail, containment or internal match.

References
----------
H. Li: Minimap and miniasm: fast mapping and de novo assembly for noisy long sequences.
Bioinformatics 32(14):2103-2110, 2016 (its algorithm 5: overhangs decide).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Int64s
from pairalign.reads.overlap_passes import classify_natively
from pairalign.sequences.sets import SequenceSet

DOVETAIL, CONTAINED, CONTAINS, INTERNAL = 1, 2, 3, 4
"""The numbers of `pairalign.base.choices.OVERLAP_KINDS`."""

OVERHANG_SHARE = 0.8
"""Overhangs longer than this share of the overlap make it internal, however short they are."""


def classify(alignments: Alignments, max_overhang: int = 0) -> npt.NDArray[np.uint8]:
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


def classify_and_count(
    alignments: Alignments, max_overhang: int = 0
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Say how the two sequences of each alignment overlap, and how many there are of each kind.

    Returns
    -------
    kinds : ndarray of uint8, shape (n,)
        As `classify`.
    counts : ndarray of int64, shape (5,)
        By kind.
    """
    return classify_natively(alignments, max_overhang, OVERHANG_SHARE)


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


def _lengths(sequences: SequenceSet, index: npt.NDArray[np.int32]) -> Int64s:
    return sequences.lengths[index].astype(np.int64)
