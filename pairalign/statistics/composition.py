"""What the letters of a pair do to lambda: E-values of sequences with an unusual composition.

Lambda is that of sequences with the usual letters. Two that are rich in the same ones reach higher
scores by chance. As in BLAST's first mode of composition-based statistics, lambda of a pair is that
of all times the ratio of two lambdas without gaps, which are exact: of the letters that the two
sequences have, and of the usual ones. The ratio is never above 1, so E-values only rise.

References
----------
.. [1] A. A. Schaffer, L. Aravind, T. L. Madden, S. Shavirin, J. L. Spouge, Y. I. Wolf, E. V.
   Koonin, S. F. Altschul. Improving the accuracy of PSI-BLAST protein database searches with
   composition-based statistics and other refinements. Nucleic Acids Research 29:2994-3005, 2001.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

Doubles = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.integer[Any]]

LETTERS = {"protein": 20, "dna": 4}
"""Codes of letters that have a share: the ambiguous and the rare ones are left out."""

_LEAST = 0.5
_STEPS = 12
_TOGETHER = 1 << 14
_DECIMALS = 6


class PairComposition:
    """Ratios of lambda, for the pairs of two sets.

    Parameters
    ----------
    scoring : Scoring
    queries, targets : SequenceSet
    usual_lambda : float
        Lambda without gaps, of raw scores, of sequences with the usual letters.
    """

    def __init__(
        self, scoring: Scoring, queries: SequenceSet, targets: SequenceSet, usual_lambda: float
    ) -> None:
        letters = LETTERS[scoring.alphabet.name]
        matrix = scoring.matrix[:letters, :letters]
        self._values = np.unique(matrix).astype(np.float64)
        self._has_value = np.stack([(matrix == value) for value in self._values]).astype(np.float64)
        first = _shares(queries, letters)
        self._shares = first, first if targets is queries else _shares(targets, letters)
        self._usual = usual_lambda

    def ratios(self, query: Numbers, target: Numbers) -> Doubles:
        """Return lambda of pairs by that of all, from 0.5 to 1, float64.

        Parameters
        ----------
        query, target : ndarray of int
            Input indices.
        """
        parts = [
            self._ratios(query[start : start + _TOGETHER], target[start : start + _TOGETHER])
            for start in range(0, len(query), _TOGETHER)
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def _ratios(self, query: Numbers, target: Numbers) -> Doubles:
        shares = self._shares[0][query], self._shares[1][target]
        # How often a pair of letters has each score; sums in one order, whatever is together.
        often = np.einsum("ni,vij,nj->nv", shares[0], self._has_value, shares[1], optimize=False)
        ratios = np.ones(len(query))
        low = self._excess(often, np.full(len(query), _LEAST * self._usual)) >= 0
        low &= often.any(axis=1)
        ratios[low] = _LEAST
        inside = np.flatnonzero(~low & (self._excess(often, np.full(len(query), self._usual)) > 0))
        often, found = often[inside], np.full(len(inside), self._usual)
        for _ in range(_STEPS):  # Newton's, from above the root of a convex function: it falls
            slope = (often * self._values * np.exp(found[:, None] * self._values)).sum(axis=1)
            found = found - self._excess(often, found) / slope
        ratios[inside] = np.clip(found / self._usual, _LEAST, 1)
        rounded: Doubles = np.round(ratios, _DECIMALS)
        return rounded

    def _excess(self, often: Doubles, lambda_: Doubles) -> Doubles:
        """By how much the mean of ``exp(lambda s)`` exceeds 1."""
        sums: Doubles = (often * np.exp(lambda_[:, None] * self._values)).sum(axis=1)
        excess: Doubles = sums - often.sum(axis=1)
        return excess


def _shares(sequences: SequenceSet, letters: int) -> Doubles:
    """Return the shares of the letters of each sequence, shape (sequences, letters)."""
    counts = np.zeros((len(sequences), letters))
    for index in range(len(sequences)):
        codes = np.bincount(sequences.codes_of(index), minlength=letters)
        counts[index] = codes[:letters]
    shares: Doubles = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares
