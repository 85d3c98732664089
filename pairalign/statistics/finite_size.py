"""E-values of sequences of finite length: Park, Sheetlin, Ma, Madden and Spouge 2012.

An alignment of raw score S takes about ``a S + b`` residues of each sequence, with the variance
``alpha S + beta`` and the covariance ``sigma S + tau`` of both. What it takes is no starting point
of another, so the E-value of a pair of m and n residues is ``K area exp(-lambda S)``, where `area`
is the mean number of pairs of starting points from which there is room: ``m n`` less what the ends
cost, never 0. BLAST+ uses the same for proteins, with lengths that are normal. A *skewed* law has
inverse Gaussian lengths (`pairalign.statistics.gumbel_fit`).

References
----------
.. [1] Y. Park, S. Sheetlin, N. Ma, T. L. Madden, J. L. Spouge. New finite-size correction for local
   alignment score distributions. BMC Research Notes 5:286, 2012.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Doubles
from pairalign.base.native import Struct, library, struct_fields


class NativeLengthLaw(Struct):
    """pairalign_length_law."""

    _fields_ = struct_fields("double lambda log_k a b alpha beta sigma tau; int32 skewed")


_log_evalues = library.pairalign_log_evalues

_LEAST_VARIANCE, _NONE_BEYOND = 1.0, 9.0  # of a skewed law, as in cpu/statistics/evalues.cpp


@dataclass(frozen=True)
class LengthLaw:
    """How many residues an alignment of a raw score takes, by the score.

    Attributes
    ----------
    a, b : float
        Mean: ``a S + b``.
    alpha, beta : float
        Variance.
    sigma, tau : float
        Covariance of the residues of the two sequences; of a skewed law the variance.
    skewed : bool
        The alignment takes equally many residues of either sequence, and their number has an
        inverse Gaussian distribution; False: both are normal.
    """

    a: float
    b: float
    alpha: float
    beta: float
    sigma: float
    tau: float
    skewed: bool = False

    def falls_from(self, lambda_: float) -> float:
        """Return residues of the shorter sequence from which E-values fall with every score.

        With fewer, a skewed law may leave less room at the score up to which its variance is the
        least than above it, where the variance grows by `alpha`.

        Parameters
        ----------
        lambda_ : float
            Of raw scores.
        """
        if not self.skewed:
            return 0.0
        taken = max(1.0, self.a * (_LEAST_VARIANCE - self.beta) / self.alpha + self.b)
        return taken + max(_NONE_BEYOND, math.sqrt(self.alpha / lambda_))

    def log_evalues(
        self, lambda_: float, k: float, scores: npt.ArrayLike, m: npt.ArrayLike, n: npt.ArrayLike
    ) -> Doubles:
        """Return ln of the E-values of pairs for a database of one residue, float64, shape (n,).

        Parameters
        ----------
        lambda_, k : float
            Of raw scores.
        scores : array_like of float, shape (pairs,)
        m, n : array_like of int, shape (pairs,)
            Residues of the query and of the target.
        """
        values = np.ascontiguousarray(scores, np.float64)
        lengths = [np.ascontiguousarray(residues, np.int32) for residues in (m, n)]
        assert values.shape == lengths[0].shape == lengths[1].shape
        law = NativeLengthLaw(
            *(lambda_, math.log(k), self.a, self.b, self.alpha, self.beta),
            *(self.sigma, self.tau, self.skewed),
        )
        logs = np.empty(len(values))
        _log_evalues(law, len(values), values, *lengths, logs)
        return logs


def published_law(
    costs: tuple[int, int],
    gapped: tuple[float, float, float],
    ungapped: tuple[float, float],
) -> LengthLaw:
    """Return the law of a published scoring.

    Parameters
    ----------
    costs : (int, int)
        BLAST's: existence and extension.
    gapped : (float, float, float)
        a, alpha and sigma of alignments with gaps.
    ungapped : (float, float)
        a and alpha of those without.

    Notes
    -----
    What is constant follows from the cost of a gap's first residue G: ``b = 2 G (a' - a)``, ``beta
    = 2 G (alpha' - alpha)`` and ``tau = 2 G (alpha' - sigma)``, with those without gaps primed.
    """
    twice = 2 * sum(costs)
    a, alpha, sigma = gapped
    plain_a, plain_alpha = ungapped
    return LengthLaw(
        a,
        twice * (plain_a - a),
        alpha,
        twice * (plain_alpha - alpha),
        sigma,
        twice * (plain_alpha - sigma),
    )


def skewed_law(a: float, b: float, alpha: float, beta: float) -> LengthLaw:
    """Return the law of inverse Gaussian lengths: mean ``a S + b``, variance ``alpha S + beta``."""
    return LengthLaw(a, b, alpha, beta, alpha, beta, skewed=True)
