"""Transitions and transversions of DNA alignments, counted from their CIGARs.

A transition changes a purine into the other (A, G) or a pyrimidine into the other (C, T); any
other change of a base is a transversion. Columns with an ambiguous base (N, R, ...) are neither.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Int64s
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.complement import complement_of

INSERTION, DELETION, MISMATCH = 1, 2, 8
_CHUNK_RUNS = 1 << 18
"""Runs looked at together: the arrays of a step hold some 100 bytes a run and 40 a mismatch."""


def count_transitions(alignments: Alignments) -> tuple[Int64s, Int64s]:
    """Count transitions and transversions of each pair.

    Parameters
    ----------
    alignments : Alignments
        Of DNA, with CIGARs.

    Returns
    -------
    transitions, transversions : ndarray of int64, shape (n,)
    """
    offsets = alignments.cigar_offsets
    assert offsets is not None
    pairs = len(alignments)
    counts = np.zeros((2, pairs), np.int64)
    start = 0
    while start < pairs:
        stop = int(np.searchsorted(offsets, offsets[start] + _CHUNK_RUNS, side="right")) - 1
        stop = min(max(stop, start + 1), pairs)
        counts[:, start:stop] = _count(alignments[start:stop])
        start = stop
    return counts[0], counts[1]


def _count(part: Alignments) -> npt.NDArray[np.int64]:
    assert part.cigar is not None
    assert part.cigar_offsets is not None
    assert part.query_start is not None
    assert part.target_start is not None
    runs, offsets = part.cigar[: part.cigar_offsets[-1]], part.cigar_offsets
    pair = np.repeat(np.arange(len(part)), np.diff(offsets))
    operation, length = runs & 15, (runs >> 4).astype(np.int64)
    mismatched = operation == MISMATCH
    sizes = length[mismatched]
    letters = []
    # Where the first residue of each span is in the set, and where residues go from there: those of
    # a query on strand -1 from its end backwards.
    steps = np.ones(len(part), np.int64) if part.strand is None else part.strand.astype(np.int64)
    assert part.query_end is not None
    first_of_query = np.where(steps > 0, part.query_start, part.query_end - 1)
    for sequences, index, first, other, step in (
        (part.queries, part.query, first_of_query, DELETION, steps),
        (part.targets, part.target, part.target_start, INSERTION, np.ones_like(steps)),
    ):
        # Residues of this sequence that come before each run, over all pairs; then of its own pair.
        before = np.cumsum(np.where(operation == other, 0, length))
        before = np.concatenate((np.zeros(1, np.int64), before))
        place = before[:-1] - before[offsets[pair]]
        inside = _ranges(place[mismatched], sizes)
        of_pair = np.repeat(pair[mismatched], sizes)
        letters.append(
            sequences.codes[(sequences.offsets[index] + first)[of_pair] + step[of_pair] * inside]
        )
    query, target = letters
    if part.strand is not None:
        complement = complement_of(part.queries.alphabet)
        query = np.where(np.repeat(steps[pair[mismatched]], sizes) < 0, complement[query], query)
    definite = (query < DNA.definite) & (target < DNA.definite)
    # A, C, G, T are 0 to 3: transitions change by 2.
    transition = (query ^ target) == 2
    owner = np.repeat(pair[mismatched], sizes)
    return np.stack(
        [
            np.bincount(owner[definite & kind], minlength=len(part))
            for kind in (transition, ~transition)
        ]
    )


def _ranges(starts: Int64s, sizes: Int64s) -> Int64s:
    """Concatenate ``start, start + 1, ... start + size - 1`` of every range."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    shifts: Int64s = np.repeat(starts - (ends - sizes), sizes)
    return np.arange(total) + shifts
