"""The alignments of a .uc file: runs of both sequences from end to end, of all pairs at once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments

_MATCH, _DELETION, _INSERTION = range(3)
_TEXT_OF = "MDI"
# A .uc file has the query's residues without a partner as D, the target's as I: the other way
# round.
_UC_OPERATIONS = np.full(16, _MATCH, np.int64)
_UC_OPERATIONS[1], _UC_OPERATIONS[2] = _DELETION, _INSERTION


def write_uc_paths(alignments: Alignments) -> list[str]:
    """Return the alignment column of each pair, from end to end of both sequences.

    Parameters
    ----------
    alignments : Alignments
        With CIGARs; the query is the member, the target its representative.

    Returns
    -------
    list of str
        ``=`` where both sequences are the same from end to end. On strand - the alignment runs
        along the representative, as in vsearch's files.
    """
    query_lengths = alignments.queries.lengths[alignments.query]
    target_lengths = alignments.targets.lengths[alignments.target]
    lengths, operations, pairs = _end_to_end(alignments, query_lengths, target_lengths)
    is_first = np.ones(len(lengths), np.bool_)
    is_first[1:] = (pairs[1:] != pairs[:-1]) | (operations[1:] != operations[:-1])
    starts = np.flatnonzero(is_first)
    joined = np.add.reduceat(lengths, starts) if len(starts) else lengths
    texts = _texts_of(joined, operations[starts])
    stops = np.searchsorted(pairs[starts], np.arange(len(alignments) + 1)).tolist()
    paths = ["".join(texts[start:stop]) for start, stop in pairwise(stops)]
    matches = alignments.field("matches")
    for same in np.flatnonzero((matches == query_lengths) & (matches == target_lengths)).tolist():
        paths[same] = "="
    return paths


def _end_to_end(
    alignments: Alignments,
    query_lengths: npt.NDArray[np.int32],
    target_lengths: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return lengths, operations and pairs of all runs but empty ones, those at the ends too."""
    assert alignments.cigar is not None
    assert alignments.cigar_offsets is not None
    counts = np.diff(alignments.cigar_offsets)
    before = alignments.field("query_start").astype(np.int64)
    after = query_lengths - alignments.field("query_end").astype(np.int64)
    if alignments.strand is not None:
        before, after = (
            np.where(alignments.strand < 0, after, before),
            np.where(alignments.strand < 0, before, after),
        )
    pairs = np.repeat(np.arange(len(alignments)), counts + 4)
    first = np.concatenate(([0], np.cumsum(counts + 4)))[:-1]
    last = first + counts + 2
    lengths, operations = np.empty((2, len(pairs)), np.int64)
    is_run = np.ones(len(pairs), np.bool_)
    ends = (
        (first, before, _DELETION),
        (first + 1, alignments.field("target_start"), _INSERTION),
        (last, after, _DELETION),
        (last + 1, target_lengths - alignments.field("target_end"), _INSERTION),
    )
    for places, residues, operation in ends:
        lengths[places], operations[places], is_run[places] = residues, operation, False
    runs = alignments.cigar[alignments.cigar_offsets[0] : alignments.cigar_offsets[-1]]
    lengths[is_run], operations[is_run] = runs >> 4, _UC_OPERATIONS[runs & 15]
    kept = lengths > 0
    return lengths[kept], operations[kept], pairs[kept]


def _texts_of(lengths: npt.NDArray[np.int64], operations: npt.NDArray[np.int64]) -> list[str]:
    """Return the text of each run; a count of 1 is left out."""
    distinct, places = np.unique(3 * lengths + operations, return_inverse=True)
    texts = [f"{key // 3 if key >= 6 else ''}{_TEXT_OF[key % 3]}" for key in distinct.tolist()]
    return [texts[place] for place in places.tolist()]
