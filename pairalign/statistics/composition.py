"""What the residues of a pair do to lambda: E-values of sequences with an unusual composition.

Lambda is that of sequences with the usual residues. Two that are rich in the same ones reach higher
scores by chance. As in BLAST's first mode of composition-based statistics [1]_, lambda of a pair
follows from two lambdas without gaps, which are exact: of the residues that the two sequences have,
and of the usual ones. BLAST multiplies lambda by their ratio. Here their difference is added: gaps
take from lambda what they cost, whatever the residues. Otherwise E-values of pairs that are rich in
the same residues are too small, and those of others too large, the more so the less gaps cost. The
ratio of a pair's lambda to that of all may exceed 1, up to `MOST_RATIO`: without that, E-values of
short sequences, whose composition varies most, would be too large on average.

With DNA what gaps take grows as lambda falls: it is multiplied by ``1 + 0.8 G d``, with the cost of
a gap's first base G and what the lambda without gaps is below the usual one, d. 0.8 was chosen on
every other published scoring, with random reads of 30% GC.

Few residues say little of a composition: each sequence is given `PSEUDOCOUNTS` usual ones more, as
in the composition-based matrix adjustment of BLAST [2]_, which has 20 and no variance. How many was
chosen on every other protein of a mean length of 51, with one order of their residues.

A composition is known from few residues, so lambda varies: the fewer there are, the more. Then
``exp(-lambda S)`` is too large in the mean, by ``exp(V S^2 / 2)`` with V the variance of lambda, as
of a logarithm that is normal. V follows from the derivatives of lambda by the shares of residues
and their multinomial variances (the delta method [3]_), and E-values are divided by that factor.
That holds while an alignment takes a small part of its sequences. One that takes more uses up the
residues that score most, which is drawing without replacement: the third order of what that costs
is a factor ``exp(W S^3 / 6)`` more. Both together are at most `MOST_FACTOR`.

The difference of lambdas holds while a ratio is not small: gaps add more the smaller lambda is.
From a ratio of `USUAL_RATIO` down to `BIASED_RATIO` another law takes over, which holds where
scores grow with the lengths, too. An alignment of a pair has at most as many columns as the shorter
sequence has residues, n. By Chernoff's bound [5]_ a score S is worth, in nats,

    max over theta of (theta S - n max(0, ln sum q t exp(theta s) + h)),

with the shares q and t of the residues and their scores s. h is what gaps add to each column: 0.23
times the root of what they add with the usual residues, ``-ln sum q t exp(lambda s)`` with the
lambda of alignments with gaps, and of the mean square score of the pair's residues by that of the
usual ones. A sequence scores far more with itself than its residues in random order do, whatever
they are, so it finds itself. The form of h, 0.23 and the two ratios were chosen on every other
human protein of Swiss-Prot.

Scores are multiples of a step d, and ``exp(-lambda S)`` counts all pairs with S or more. So fewer
pairs than X have an E-value of at most X, by a factor of 0.88 on average with a lambda d of 0.27.
The scores above S and half of those that are S are what should be counted of a discrete score (the
mid-P of Lancaster [4]_): E-values are multiplied by ``(1 + exp(-lambda d)) / 2``. Scores of DNA are
further apart. In the mean over the limits X between two of them, as many pairs as X have an E-value
of at most X with a factor of ``(1 - exp(-lambda d)) / (lambda d)``, which it is for these.

References
----------
.. [1] A. A. Schaffer, L. Aravind, T. L. Madden, S. Shavirin, J. L. Spouge, Y. I. Wolf, E. V.
   Koonin, S. F. Altschul. Improving the accuracy of PSI-BLAST protein database searches with
   composition-based statistics and other refinements. Nucleic Acids Research 29:2994-3005, 2001.
.. [2] S. F. Altschul, J. C. Wootton, E. M. Gertz, R. Agarwala, A. Morgulis, A. A. Schaffer, Y.-K.
   Yu. Protein database searches using compositionally adjusted substitution matrices. FEBS Journal
   272:5101-5109, 2005.
.. [3] G. W. Oehlert. A note on the delta method. The American Statistician 46:27-29, 1992.
.. [4] H. O. Lancaster. Significance tests in discrete distributions. Journal of the American
   Statistical Association 56:223-234, 1961.
"""

from __future__ import annotations

import math
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Doubles, Int32s
from pairalign.base.native import library
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

Numbers = npt.NDArray[np.integer[Any]]

LETTERS = {"protein": 20, "dna": 4}
"""Codes of residues that have a share: the ambiguous and the rare ones are left out."""

PSEUDOCOUNTS = 10
"""Usual residues that each sequence is given beside its own."""

MOST_RATIO, LEAST_RATIO = 1.25, 0.05
"""Of lambda of a pair to that of all."""

USUAL_RATIO, BIASED_RATIO = 0.7, 0.5
"""From the one on lambdas alone count, up to the other the bound alone; linear between them."""

_GAIN = 0.23
_GAPS_GROWTH = 0.8
_MOST_THETA = 10
"""Of the bound, by the usual lambda."""

MOST_FACTOR = math.exp(4)
"""That few residues divide an E-value by."""

_DECIMALS, _COST_DECIMALS = 6, 9
_LEAST_STEP = 1e-6
"""Nats."""

_pair_lambdas = library.pairalign_pair_lambdas
_pair_bounds = library.pairalign_pair_bounds


class PairComposition:
    """Ratios of lambda, for the pairs of two sets.

    Parameters
    ----------
    usual : tuple of two ndarrays of float64, shape (residues,)
        Shares of the usual residues of queries and of targets, by code.
    usual_lambda : float
        Lambda without gaps, of raw scores, of sequences with the usual residues.
    gapped_lambda : float
        Their lambda with gaps.
    """

    def __init__(
        self,
        scoring: Scoring,
        queries: SequenceSet,
        targets: SequenceSet,
        usual: tuple[Doubles, Doubles],
        usual_lambda: float,
        gapped_lambda: float,
    ) -> None:
        residues = LETTERS[scoring.alphabet.name]
        matrix = scoring.matrix[:residues, :residues]
        scores, places = np.unique(matrix, return_inverse=True)
        self._scores = scores.astype(np.float64)
        self._places = np.ascontiguousarray(places.reshape(matrix.shape), np.int32)
        self._sets = (queries, usual[0]), (targets, usual[1])
        self._usual, self._gapped = usual_lambda, gapped_lambda
        chances = np.outer(*usual)
        added = max(0.0, -math.log((chances * np.exp(gapped_lambda * matrix)).sum()))
        self._gain = _GAIN * math.sqrt(added / (chances * matrix**2).sum())
        self._is_dna = scoring.alphabet.name == "dna"
        self._gap_open = scoring.gap_open
        self._step = math.gcd(*scores.tolist(), scoring.gap_open, scoring.gap_extend)

    def of_sets(self, queries: SequenceSet, targets: SequenceSet) -> PairComposition:
        """Return the same for some of the sequences, whose input indices are those of new sets."""
        some = copy(self)
        vars(some).pop("_known", None)
        some._sets = (queries, self._sets[0][1]), (targets, self._sets[1][1])
        return some

    @cached_property
    def _known(self) -> list[_Shares]:
        return [_Shares(*side) for side in self._sets]

    def _shares_of(self, query: Numbers, target: Numbers) -> list[tuple[Doubles, Doubles]]:
        """Return the shares of residues, and their noise, of both sets where pairs have them."""
        return [shares.of(few) for shares, few in zip(self._known, (query, target), strict=True)]

    def ratios(self, query: Numbers, target: Numbers) -> Doubles:
        """Return lambda of pairs by that of all, from `LEAST_RATIO` to `MOST_RATIO`, float64.

        Parameters
        ----------
        query, target : ndarray of int, shape (pairs,)
            Input indices.
        """
        return self.ratios_and_costs(query, target)[0]

    def worth_and_costs(
        self, query: Numbers, target: Numbers, raw_scores: Int32s
    ) -> tuple[Doubles, Doubles]:
        """Return what raw scores are worth with usual residues, and ln of divisors of E-values.

        Parameters
        ----------
        query, target : ndarray of int, shape (pairs,)
            Input indices.
        raw_scores : ndarray of int32, shape (pairs,)

        Returns
        -------
        (ndarray of float64, ndarray of float64)
        """
        ratios, second, third = self.ratios_and_costs(query, target)
        nats = self._gapped * raw_scores
        costs = np.minimum(second * nats**2 / 2 + third * nats**3 / 6, math.log(MOST_FACTOR))
        return self._worth(ratios, query, target, raw_scores), costs - self.log_halves(ratios)

    def _worth(
        self, ratios: Doubles, query: Numbers, target: Numbers, raw_scores: Int32s
    ) -> Doubles:
        scores: Doubles = ratios * raw_scores
        few = np.flatnonzero((ratios < USUAL_RATIO) & (raw_scores > 0))
        if len(few):
            share = (ratios[few] - BIASED_RATIO) / (USUAL_RATIO - BIASED_RATIO)
            share = np.clip(share, 0, 1)
            bounds = self._bounds(query[few], target[few], raw_scores[few])
            scores[few] = share * scores[few] + (1 - share) * bounds * raw_scores[few]
        return scores

    def _bounds(self, query: Numbers, target: Numbers, raw_scores: Int32s) -> Doubles:
        """Return Chernoff's bound of each of some scores above 0, by lambda of all times it."""
        sides = [np.ascontiguousarray(one, np.int32) for one in (query, target)]
        (queries, _), (targets, _) = self._sets
        shorter = np.minimum(queries.lengths[sides[0]], targets.lengths[sides[1]])
        columns = np.ascontiguousarray(shorter, np.int32)
        scores = np.ascontiguousarray(raw_scores, np.int32)
        nats = np.empty(len(scores))
        (first, _), (second, _) = self._shares_of(*sides)
        _pair_bounds(
            *(len(nats), *sides, first, second, columns, scores),
            *(len(self._places), self._places, self._scores, len(self._scores)),
            *(self._gain, _MOST_THETA * self._usual, nats),
        )
        bounds = np.round(nats / (self._gapped * scores), _DECIMALS)
        return np.asarray(np.clip(bounds, 0, MOST_RATIO), np.float64)

    @cached_property
    def most_cost(self) -> float:
        """The largest ln of a divisor of E-values, or more."""
        halved = -float(self.log_halves(np.array([MOST_RATIO]))[0])
        return math.log(MOST_FACTOR) + max(math.log(2), halved)

    def log_halves(self, ratios: Doubles) -> Doubles:
        """Return ln of what E-values are multiplied by, since scores are discrete; float64.

        Parameters
        ----------
        ratios : ndarray of float64
            Lambda of pairs by that of all.
        """
        steps = np.maximum(self._gapped * self._step * ratios, _LEAST_STEP)
        equal = np.exp(-steps)
        counted = (1 - equal) / steps if self._is_dna else (1 + equal) / 2
        return np.asarray(np.round(np.log(counted), _COST_DECIMALS), np.float64)

    def ratios_and_costs(self, query: Numbers, target: Numbers) -> tuple[Doubles, Doubles, Doubles]:
        """Return lambda of pairs by that of all, its variance V, and W; three arrays of float64.

        E-values are to be divided by ``exp(V x^2 / 2 + W x^3 / 6)``, where x is a score times
        lambda of all.

        Parameters
        ----------
        query, target : ndarray of int, shape (pairs,)
            Input indices.
        """
        indices = [np.ascontiguousarray(numbers, np.int32) for numbers in (query, target)]
        lambdas, variances, thirds = np.empty((3, len(indices[0])))
        (first, noise), (second, noise2) = self._shares_of(*indices)
        _pair_lambdas(
            *(len(lambdas), *indices, first, second, noise, noise2),
            *(len(self._places), self._places, self._scores, len(self._scores)),
            *(self._usual + (ratio - 1) * self._gapped for ratio in (LEAST_RATIO, MOST_RATIO)),
            *(lambdas, variances, thirds),
        )
        more, slopes = self._more_by_gaps(lambdas)
        ratios = np.round(1 + (lambdas - self._usual - more) / self._gapped, _DECIMALS)
        second, third = (
            np.round(values * slopes**order / self._gapped**order, _COST_DECIMALS)
            for order, values in ((2, variances), (3, thirds))
        )
        return np.clip(ratios, LEAST_RATIO, MOST_RATIO), second, third

    def _more_by_gaps(self, lambdas: Doubles) -> tuple[Doubles, Doubles]:
        """Return what gaps take from lambdas more than usual, and the slope of what is left."""
        if not self._is_dna:
            return np.zeros_like(lambdas), np.ones_like(lambdas)
        usual = max(0.0, self._usual - self._gapped)
        rate = usual * _GAPS_GROWTH * self._gap_open
        more = np.maximum(rate * (self._usual - lambdas), -usual)
        return more, np.full_like(lambdas, 1 + rate)


class _Shares:
    """The shares of the residues of sequences, computed when a pair first asks for them.

    Of a database few sequences score enough with some queries. Threads that ask for the same ones
    write the same numbers.
    """

    def __init__(self, sequences: SequenceSet, usual: Doubles) -> None:
        self._sequences, self._usual = sequences, usual
        self._shares = np.empty((len(sequences), len(usual)))
        self._noise = np.empty(len(sequences))
        self._is_known = np.zeros(len(sequences), np.bool_)

    def of(self, indices: Numbers) -> tuple[Doubles, Doubles]:
        """Return arrays that are right for some sequences.

        Shares of shape (sequences, residues), and what a share of one residue in n varies by, n by
        its square with pseudocounts.
        """
        new = np.unique(indices[~self._is_known[indices]])
        counts = np.empty((len(new), len(self._usual)))
        for row, index in enumerate(new.tolist()):
            codes = np.bincount(self._sequences.codes_of(index), minlength=len(self._usual))
            counts[row] = codes[: len(self._usual)]
        residues = counts.sum(axis=1)
        counts += PSEUDOCOUNTS * self._usual
        self._shares[new] = counts / counts.sum(axis=1, keepdims=True)
        self._noise[new] = residues / (residues + PSEUDOCOUNTS) ** 2
        self._is_known[new] = True
        return self._shares, self._noise
