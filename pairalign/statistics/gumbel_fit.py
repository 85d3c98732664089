"""Lambda and K of local scores from scores of random sequences, and from the scoring alone.

The best score of two random sequences of L residues is at least x with probability ``1 - exp(-E)``,
``E = K area exp(-lambda x)``, where `area` is what is left of ``L^2`` once an alignment has to lie
inside (`LengthLaw`). How many residues alignments of a score take is measured as well. Scores below
a quantile, where E is large and the law is not yet good, count as below it and no more.

References
----------
.. [1] S. F. Altschul, R. Bundschuh, R. Olsen, T. Hwa. The estimation of statistical parameters for
   local alignment score distributions. Nucleic Acids Research 29:351-361, 2001.
.. [2] S. Karlin, S. F. Altschul. Methods for assessing the statistical significance of molecular
   sequence features by using general scoring schemes. PNAS 87:2264-2268, 1990.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.error_types import ScoringError
from pairalign.statistics.finite_size import LengthLaw

Doubles = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.integer[Any]]

_BELOW = 0.1
"""Share of the scores that only count as below a quantile."""
_GOLDEN = (math.sqrt(5) - 1) / 2


def ungapped_lambda(matrix: npt.NDArray[np.int32], first: Doubles, second: Doubles) -> float:
    """Return lambda of alignments without gaps: the root of ``sum p q exp(lambda s) = 1`` above 0.

    Gaps make scores larger, so with gaps lambda is at most as large.

    Parameters
    ----------
    matrix : ndarray of int32, shape (n, n)
        Raw scores.
    first, second : ndarray of float64, shape (n,)
        Shares of the residues in the one and in the other sequence.

    Raises
    ------
    ScoringError
        Random residues score 0 or more on average, or no pair of residues scores above 0.
    """
    shares = np.outer(first, second)
    used = shares > 0
    if (shares * matrix).sum() >= 0:
        raise ScoringError("random residues score 0 or more on average: there are no E-values")
    most = int(matrix[used].max())
    if most <= 0:
        raise ScoringError("no two residues score above 0: there are no E-values")

    def above(value: float) -> bool:
        return float((shares[used] * np.exp(value * matrix[used])).sum()) > 1

    low, high = 0.0, 1.0 / most
    while not above(high):
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if above(middle) else (middle, high)
    return (low + high) / 2


def fit_length_law(scores: Numbers, spans: Doubles) -> LengthLaw:
    """Return how many residues alignments take, by their score.

    Parameters
    ----------
    scores : ndarray of int, shape (pairs,)
        Raw.
    spans : ndarray of float64, shape (2, pairs)
        Residues of either sequence in the best alignment of random pairs.

    Notes
    -----
    Lines of least squares: through the residues, and through the squares and the products of what
    they differ by. Neither variance nor covariance falls with the score.
    """
    a, b = np.polyfit(scores, spans.mean(axis=0), 1).tolist()
    first, second = spans - (a * scores + b)
    alpha, beta = np.polyfit(scores, (first**2 + second**2) / 2, 1).tolist()
    sigma, tau = np.polyfit(scores, first * second, 1).tolist()
    return LengthLaw(a, b, max(alpha, 0.0), beta, max(sigma, 0.0), tau)


def fit_gumbel(
    scores: Numbers,
    length: int,
    step: int,
    law: LengthLaw,
    most_lambda: float,
) -> tuple[float, float]:
    """Return the lambda and K that make the best scores of random pairs most likely.

    Parameters
    ----------
    scores : ndarray of int, shape (pairs,)
        Raw.
    length : int
        Residues of each sequence.
    step : int
        All scores are multiples of it.
    law : LengthLaw
        Of the residues that alignments take.
    most_lambda : float
        Lambda is not larger.
    """
    values, counts = np.unique(scores, return_counts=True)
    first = int(np.argmax(np.cumsum(counts) > _BELOW * len(scores)))
    below, values, counts = int(counts[:first].sum()), values[first:], counts[first:]
    ends = np.stack((values, values + step)).astype(np.float64)
    start = math.pi / math.sqrt(6) / float(np.std(scores))
    sides = np.full(ends.size, length)
    room = law.log_evalues(start, 1.0, ends.ravel(), sides, sides).reshape(ends.shape)
    room += start * ends + math.log(length)  # what is left is ln of the area

    def likelihood(lambda_: float, log_k: float) -> float:
        expected = np.exp(np.minimum(log_k + room - lambda_ * ends, 700))
        shares = np.exp(-expected[1]) - np.exp(-expected[0])
        log_shares = np.log(np.maximum(shares, 1e-300))
        return float((counts * log_shares).sum() - below * expected[0, 0])

    def best_log_k(lambda_: float) -> float:
        # E of the median of what is left is about 1.
        middle = float(lambda_ * np.median(scores) - room.mean())
        return _highest(lambda value: likelihood(lambda_, value), middle - 4, middle + 4)

    lambda_ = _highest(lambda value: likelihood(value, best_log_k(value)), start / 2, 2 * start)
    lambda_ = min(lambda_, most_lambda)
    return lambda_, math.exp(best_log_k(lambda_))


def _highest(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one summit is highest, by golden sections."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > 1e-6 * max(abs(low), abs(high), 1e-3):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
    return (low + high) / 2
