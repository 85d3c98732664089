"""Transitions and transversions, and ambiguous columns, counted from CIGARs.

A transition changes a purine into the other (A, G) or a pyrimidine into the other (C, T); any
other change of a base is a transversion. Columns with an ambiguous base (N, R, ...) are neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Int64s
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.complement import complement_of
from pairalign.sequences.sets import SequenceSet

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
    counts = np.zeros((2, len(alignments)), np.int64)
    for part in _parts(alignments):
        runs = _Runs(alignments[part])
        owner, query, target = runs.columns(MISMATCH)
        unambiguous = (query < DNA.unambiguous) & (target < DNA.unambiguous)
        # A, C, G, T are 0 to 3: transitions change by 2.
        transition = (query ^ target) == 2
        for number, kind in enumerate((transition, ~transition)):
            counts[number, part] = runs.count(owner[unambiguous & kind])
    return counts[0], counts[1]


def count_ambiguous(alignments: Alignments) -> Int64s:
    """Count the columns of two residues of each pair, of which one is ambiguous.

    Parameters
    ----------
    alignments : Alignments
        With CIGARs.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    unambiguous = alignments.scoring.alphabet.unambiguous
    counts = np.zeros(len(alignments), np.int64)
    for part in _parts(alignments):
        runs = _Runs(alignments[part])
        owner, query, target = runs.columns(MISMATCH)  # matches are of unambiguous residues
        ambiguous = (query >= unambiguous) | (target >= unambiguous)
        counts[part] = runs.count(owner[ambiguous])
    return counts


def _parts(alignments: Alignments) -> Iterator[slice]:
    """Cut pairs so that arrays of their runs stay small."""
    offsets = alignments.cigar_offsets
    assert offsets is not None
    pairs, start = len(alignments), 0
    while start < pairs:
        stop = int(np.searchsorted(offsets, offsets[start] + _CHUNK_RUNS, side="right")) - 1
        stop = min(max(stop, start + 1), pairs)
        yield slice(start, stop)
        start = stop


class _Runs:
    """The runs of some pairs' CIGARs, and the residues that are in them."""

    def __init__(self, part: Alignments) -> None:
        assert part.cigar is not None
        assert part.cigar_offsets is not None
        runs, offsets = part.cigar[: part.cigar_offsets[-1]], part.cigar_offsets
        self._part = part
        self._pair = np.repeat(np.arange(len(part)), np.diff(offsets))
        self._operation, self._length = runs & 15, (runs >> 4).astype(np.int64)
        self._first_run = offsets[self._pair]

    def count(self, owner: Int64s) -> Int64s:
        """Return how often each pair is an owner."""
        return np.bincount(owner, minlength=len(self._part))

    def columns(
        self, operation: int
    ) -> tuple[Int64s, npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Return pair and codes of query and target of the columns of an operation.

        Codes of a sequence that has a gap there are any.
        """
        part = self._part
        assert part.query_start is not None
        assert part.query_end is not None
        assert part.target_start is not None
        # Where the first residue of each span is in the set, and where residues go from there:
        # those of a query on strand -1 from its end backwards.
        steps = np.ones(len(part), np.int64)
        if part.strand is not None:
            steps = part.strand.astype(np.int64)
        first = np.where(steps > 0, part.query_start, part.query_end - 1)
        query = self._codes(part.queries, part.query, first, DELETION, steps, operation)
        steps_of_target, start = np.ones_like(steps), part.target_start
        target = self._codes(
            part.targets, part.target, start, INSERTION, steps_of_target, operation
        )
        chosen = self._operation == operation
        owner = np.repeat(self._pair[chosen], self._length[chosen])
        if part.strand is not None:
            complement = complement_of(part.queries.alphabet)
            query = np.where(steps[owner] < 0, complement[query], query)
        return owner, query, target

    def _codes(
        self,
        sequences: SequenceSet,
        index: npt.NDArray[np.int32],
        first: npt.NDArray[np.signedinteger[Any]],
        other: int,
        steps: Int64s,
        operation: int,
    ) -> npt.NDArray[np.uint8]:
        """Return the codes of one sequence; `other`: operation in which it has a gap."""
        chosen = self._operation == operation
        sizes = self._length[chosen]
        # Residues of this sequence that come before each run, over all pairs; then of its own pair.
        before = np.cumsum(np.where(self._operation == other, 0, self._length))
        before = np.concatenate((np.zeros(1, np.int64), before))
        place = before[:-1] - before[self._first_run]
        of_pair = np.repeat(self._pair[chosen], sizes)
        inside = _ranges(place[chosen], sizes)
        places = (sequences.offsets[index] + first)[of_pair] + steps[of_pair] * inside
        codes: npt.NDArray[np.uint8] = sequences.codes[np.minimum(places, len(sequences.codes) - 1)]
        return codes


def _ranges(starts: Int64s, sizes: Int64s) -> Int64s:
    """Concatenate ``start, start + 1, ... start + size - 1`` of every range."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    shifts: Int64s = np.repeat(starts - (ends - sizes), sizes)
    return np.arange(total) + shifts
