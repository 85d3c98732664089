"""How many residues alignments take, from scores of random sequences of several lengths.

An alignment grows residue by residue until it has its score, as a walk with a drift does until it
passes a level. The residues that this takes have an inverse Gaussian distribution [1]_, which is
skewed: far fewer alignments are very short than a normal distribution of the same variance says.
For sequences that are hardly longer than their alignments that decides on the E-value: normal
lengths make E-values of proteins of 51 residues up to eight times too large where gaps cost
little. The mean and the variance are lines in the score; what they are follows from how many random
pairs of each length reach each score.

References
----------
.. [1] M. C. K. Tweedie. Statistical properties of inverse Gaussian distributions. I. The Annals of
   Mathematical Statistics 28:362-377, 1957.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from pairalign.statistics.finite_size import LengthLaw, skewed_law

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

_HIGHEST_SHARE, _LEAST_PAIRS = 0.03, 30
"""Of the pairs of a length, which have a score that is looked at."""
_RELATIVE_ERROR = 0.03
"""Of the model: what more pairs say is not weighed more."""
_STEPS = 200


def fit_first_passage(
    counts: Mapping[int, Counts], lambda_: float, k: float, start: LengthLaw
) -> LengthLaw:
    """Return the skewed law that makes E-values of random pairs right, in least squares.

    Parameters
    ----------
    counts : mapping of int to ndarray of int64
        By the residues of either sequence: how many random pairs have each raw score.
    lambda_, k : float
        Of raw scores.
    start : LengthLaw
        A law to start from.

    Notes
    -----
    Steps of Levenberg and Marquardt, in logarithms of the share of pairs with at least a score.
    """
    scores, lengths, shares, weights = _tails(counts)

    def differences(values: Doubles) -> Doubles:
        log_evalues = skewed_law(*values.tolist()).log_evalues(lambda_, k, scores, lengths, lengths)
        expected = np.exp(np.minimum(log_evalues + np.log(lengths), 700))
        log_shares: Doubles = np.log(-np.expm1(-expected))
        return weights * (log_shares - np.log(shares))

    values = np.array([start.a, start.b, start.alpha / 2, start.beta / 2])
    sizes = np.maximum(np.abs(values), 1e-3)
    rest, damping = differences(values), 1e-2
    for _ in range(_STEPS):
        steps = 1e-4 * sizes * np.eye(len(values))
        slopes = np.stack([differences(values + step) - rest for step in steps], axis=1) / 1e-4
        squares, falls = slopes.T @ slopes, slopes.T @ rest
        squares[np.diag_indices_from(squares)] *= 1 + damping
        moved = values - sizes * np.linalg.lstsq(squares, falls, rcond=None)[0]
        left = differences(moved)
        if left @ left >= rest @ rest:
            damping *= 4
            if damping > 1e6:
                break
            continue
        small = (rest @ rest - left @ left) < 1e-9 * (rest @ rest)
        values, rest, damping = moved, left, damping / 3
        if small:
            break
    return skewed_law(*values.tolist())


def _tails(counts: Mapping[int, Counts]) -> tuple[Doubles, Counts, Doubles, Doubles]:
    """Return scores, lengths, shares of pairs with at least the score, and their weights."""
    rows = []
    for length, of_scores in counts.items():
        tail = of_scores[::-1].cumsum()[::-1]
        least = _LEAST_PAIRS / tail[0]
        for score in np.flatnonzero(of_scores):
            share = tail[score] / tail[0]
            if least <= share <= _HIGHEST_SHARE:
                error = np.sqrt(1 / tail[score] + _RELATIVE_ERROR**2)
                rows.append((score, length, share, 1 / error))
    scores, lengths, shares, weights = np.array(rows, np.float64).T
    return scores, lengths.astype(np.int64), shares, weights
