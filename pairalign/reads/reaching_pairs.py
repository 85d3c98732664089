"""Pairs that reach a least score, and whether their alignments can be long and alike enough."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import complement_of
from pairalign.sequences.residues import codes_in
from pairalign.sequences.sets import SequenceSet

NEVER, ALWAYS = 2**31 - 1, -(2**31)
"""Scores that no alignment reaches, and that all do."""


@dataclass(frozen=True)
class ReachingPairs:
    """Pairs of a window whose scores reach a minimum.

    Attributes
    ----------
    numbers : ndarray of int32, shape (n,)
        Their numbers in the window, ascending.
    raw_scores : ndarray of int32, shape (n,)
    may_pass : ndarray of int32, shape (n,)
        0: their alignment is too short, or not alike enough; 1: it may pass.
    """

    numbers: Int32s
    raw_scores: Int32s
    may_pass: Int32s

    @classmethod
    def of_scores(
        cls, scores: Int32s, least: int, numbers: npt.NDArray[np.signedinteger] | None = None
    ) -> ReachingPairs:
        """Choose pairs by their scores alone, of all of a window or of some by their numbers."""
        reached = np.flatnonzero(scores >= least).astype(np.int32)
        raw_scores = scores[reached]
        if numbers is not None:
            reached = numbers[reached].astype(np.int32)
        return cls(reached, raw_scores, np.ones_like(raw_scores))


def column_scores(scoring: Scoring, reads: SequenceSet) -> tuple[Int32s, Int32s]:
    """Return what matches of DNA reads score on both strands, and what other columns do."""
    codes = codes_in(reads)
    used = np.zeros(len(scoring.matrix), np.bool_)
    used[codes] = used[complement_of(reads.alphabet)[codes]] = True
    pairs = used[:, None] & used[None, :]
    matching = np.diag(np.arange(len(used)) < scoring.alphabet.unambiguous) & pairs
    return scoring.matrix[matching], scoring.matrix[pairs & ~matching]


def least_by_end(
    scoring: Scoring, reads: SequenceSet, min_overlap: int, min_identity: Fraction
) -> Int32s:
    """Return what semiglobal alignments score at least that pass, by where they end.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.
    min_overlap : int
        Residues that the shorter span of an alignment must have.
    min_identity : Fraction
        Matches by columns that it must have.

    Returns
    -------
    ndarray of int32, shape (residues of the longest + 1,)
        By the residues of the two sequences before the end, of the fewer: `NEVER` where none
        passes, `ALWAYS` where their score says nothing.

    Notes
    -----
    With k and more residues before its end, the shorter span of an alignment has at most k. A
    semiglobal one starts at the first residue of one of its sequences, so it has at least k
    columns, of which ``i k`` are matches, for an identity of i. Of m matches and c columns, ``c <=
    m / i``; a match scores at least a, other columns cost at most w. So an alignment scores at
    least ``m a - (m / i - m) w``, which grows with m if it is positive.
    """
    longest = int(reads.lengths.max(initial=0))
    least = np.full(longest + 1, ALWAYS, np.int32)
    least[: max(0, min(min_overlap, longest + 1))] = NEVER
    matches, others = column_scores(scoring, reads)
    share, whole = min_identity.as_integer_ratio()
    if not share or not len(matches):
        return least
    worst = max(scoring.gap_open, -int(others.min(initial=0)))
    a_share = int(matches.min()) * share - worst * (whole - share)
    if a_share > 0:
        for residues in range(max(0, min_overlap), longest + 1):
            needed = -(-share * residues // whole)  # matches
            least[residues] = min(-(-a_share * needed // share), NEVER)
    return least
