"""Fragments across folds: pairs that are nearly identical over the shorter sequence."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Int32s
from pairalign.jobs.splits.edges import find_pairs
from pairalign.requests.resources import Resources

NEARLY_IDENTICAL = Fraction(9, 10)


def fragment_identity(thresholds: PairThresholds) -> Fraction:
    """Return from which identity pairs are counted: at least that of the promise."""
    return max(NEARLY_IDENTICAL, thresholds.least_identity)


def count_fragments(
    problem: Problem,
    groups: Int32s | None,
    least: Fraction,
    strand: str,
    resources: Resources,
) -> int:
    """Count pairs across groups by matches over the residues of the shorter, ends being free.

    Parameters
    ----------
    problem : Problem
        Aligned with the same costs in mode semiglobal.
    groups : ndarray of int32, shape (n,), or None
        Of each sequence, -1: none. None: the two sets are the groups.
    strand : {"plus", "both"}
    """

    def is_across(alignments: Alignments) -> npt.NDArray[np.bool_]:
        if groups is None:
            return np.ones(len(alignments), np.bool_)
        query_groups, target_groups = groups[alignments.query], groups[alignments.target]
        kept: npt.NDArray[np.bool_] = (
            (query_groups != target_groups) & (query_groups >= 0) & (target_groups >= 0)
        )
        return kept

    scoring = replace(problem.scoring, mode="semiglobal", end_gaps=None)
    thresholds = PairThresholds(least, "shorter")
    whole = replace(problem, scoring=scoring)
    quiet = replace(resources, progress=False)
    return len(find_pairs(whole, thresholds, least, quiet, keep=is_across, strand=strand))
