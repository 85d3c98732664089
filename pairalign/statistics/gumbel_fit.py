"""Lambda and K of local scores from scores of random sequences, and from the scoring.

The best score of two random sequences of L residues is at least x with probability ``1 - exp(-E)``,
``E = K area exp(-lambda x)``, where `area` is what is left of ``L^2`` once an alignment has to lie
inside (`LengthLaw`). How many residues alignments of a score take is measured as well. Scores below
a quantile, where E is large and the law is not yet good, count as below it and no more.

An alignment grows residue by residue until it has its score, as a walk with a drift does until it
passes a level. The residues that this takes have an inverse Gaussian distribution [3]_, which is
skewed: far fewer alignments are very short than a normal distribution of the same variance says.
For sequences that are hardly longer than their alignments that decides on the E-value: normal
lengths make E-values of proteins of 51 residues up to eight times too large where gaps cost
little. The mean and the variance are lines in the score; what they are follows from how many random
pairs of each length reach each score.

References
----------
.. [1] S. F. Altschul, R. Bundschuh, R. Olsen, T. Hwa. The estimation of statistical parameters for
   local alignment score distributions. Nucleic Acids Research 29:351-361, 2001.
.. [2] S. Karlin, S. F. Altschul. Methods for assessing the statistical significance of molecular
   sequence features by using general scoring schemes. PNAS 87:2264-2268, 1990.
.. [3] M. C. K. Tweedie. Statistical properties of inverse Gaussian distributions. I. The Annals of
   Mathematical Statistics 28:362-377, 1957.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Doubles, Int32s, Int64s
from pairalign.base.error_types import ScoringError
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.composition import LETTERS, PairComposition
from pairalign.statistics.finite_size import LengthLaw, skewed_law
from pairalign.statistics.significance import BACKGROUND, Gumbel, find_gumbel

Numbers = npt.NDArray[np.integer[Any]]

_BELOW = 0.1
"""Share of the scores that only count as below a quantile."""
_GOLDEN = (math.sqrt(5) - 1) / 2


def ungapped_lambda(matrix: Int32s, first: Doubles, second: Doubles) -> float:
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


_SHARES = 1000


def composition(sequences: SequenceSet) -> Doubles:
    """Return the shares of the residues of a set, by code, to a thousandth, float64."""
    alphabet = sequences.alphabet
    count = LETTERS[alphabet.name]
    counts = np.array(
        [
            sequences.byte_counts[np.flatnonzero(alphabet.encoding == code)].sum()
            for code in range(count)
        ],
        np.float64,
    )
    if not counts.sum():
        raise ScoringError(f"{sequences.source}: no unambiguous residues: there are no E-values")
    # Rounded, so that what is kept serves other sets that are alike.
    rounded = np.rint(_SHARES * counts / counts.sum())
    shares: Doubles = rounded / rounded.sum()
    return shares


def pair_composition(
    scoring: Scoring,
    queries: SequenceSet,
    targets: SequenceSet | None = None,
    gumbel: Gumbel | None = None,
) -> PairComposition:
    """Return what the residues of each pair do to lambda of a scoring.

    Usual are the residues that published parameters are for (of DNA all four bases alike), else
    those of the sets.
    Without parameters (`gumbel`, or published ones) lambda is that of alignments without gaps.

    Raises
    ------
    ScoringError
        Random residues score 0 or more on average.
    """
    other = queries if targets is None else targets
    shares = composition(queries), composition(other)
    if find_gumbel(scoring) is not None:
        usual = np.ones(LETTERS["dna"])
        if scoring.alphabet.name == "protein":
            usual = np.array([BACKGROUND[letter] for letter in scoring.alphabet.letters[:20]])
        shares = usual / usual.sum(), usual / usual.sum()
    residues = len(shares[0])
    lambda_ = ungapped_lambda(scoring.matrix[:residues, :residues], *shares)
    gumbel = gumbel or find_gumbel(scoring)
    gapped = lambda_ if gumbel is None else gumbel.lambda_
    return PairComposition(scoring, queries, other, shares, lambda_, gapped)


Counts = Int64s

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
