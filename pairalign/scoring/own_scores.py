"""What sequences score with themselves, without aligning them, where that is certain."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from pairalign.base.arrays import Doubles, Int64s
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet


def own_scores(sequences: SequenceSet, scoring: Scoring) -> Doubles:
    """Return the score of the best alignment of each sequence with itself.

    Returns
    -------
    ndarray of float64, shape (n,)
        nan where it is not certain.

    Notes
    -----
    With d(x) = s(x,x), let no two residues x, y of the set have 2 s(x,y) > d(x) + d(y). Then an
    alignment scores at most half of the sum of d over the aligned residues of both sequences, and
    the alignment without gaps attains that for all residues where no d is below 0. A residue with
    d < 0 that is not aligned saves d / 2 at most. Where that is no more than extending a gap costs,
    nothing is gained in mode global, and in mode local the best stretch without gaps is best.
    """
    diagonal = np.diagonal(scoring.matrix).astype(np.int64)
    present = np.flatnonzero(np.bincount(sequences.codes, minlength=len(diagonal)))
    doubled = 2 * scoring.matrix[np.ix_(present, present)].astype(np.int64)
    is_odd = np.zeros(len(diagonal), bool)
    is_odd[present] = (doubled > diagonal[present][:, np.newaxis] + diagonal[present]).any(axis=1)
    if scoring.mode not in ("global", "local"):
        is_odd |= diagonal < 0
    is_odd |= -diagonal > 2 * scoring.gap_extend
    starts, values = sequences.offsets[:-1], diagonal[sequences.codes]
    if scoring.mode == "local" and (diagonal[present] < 0).any():
        sums = _best_stretches(values, sequences.offsets)
    else:
        sums = np.add.reduceat(values, starts)
    scores: Doubles = sums / np.float64(scoring.scale)
    scores[np.logical_or.reduceat(is_odd[sequences.codes], starts)] = np.nan
    return scores


def _best_stretches(values: Int64s, offsets: Int64s) -> Int64s:
    """Return the largest sum of neighbouring values of each sequence, 0 at least."""
    sums = np.concatenate(([0], np.cumsum(values)))
    best = np.zeros(len(offsets) - 1, np.int64)
    for index, (start, stop) in enumerate(pairwise(offsets.tolist())):
        part = sums[start : stop + 1]
        best[index] = (part - np.minimum.accumulate(part)).max()
    return best
