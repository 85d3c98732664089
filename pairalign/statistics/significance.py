"""How surprising local scores are: bit scores and E-values (Karlin and Altschul 1990).

The best local score of two unrelated sequences follows a Gumbel distribution with parameters lambda
and K. A raw score S is worth ``(lambda S - ln K) / ln 2`` bits, and a search space of ``m n`` cells
has ``K m n exp(-lambda S)`` alignments of at least that score by chance: the E-value.

Search spaces are BLAST's: for a query of m letters, ``(m - l) (n - N l)``, with the n letters and N
sequences of the database and the length adjustment l of Altschul and Gish (1996), so that an
alignment has room to end inside.

References
----------
.. [1] S. Karlin, S. F. Altschul. Methods for assessing the statistical significance of molecular
   sequence features by using general scoring schemes. PNAS 87:2264-2268, 1990.
.. [2] S. F. Altschul, W. Gish. Local alignment statistics. Methods in Enzymology 266:460-480, 1996.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Int32s
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.composition import PairComposition
from pairalign.statistics.published import PUBLISHED

Doubles = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Gumbel:
    """Parameters of the distribution of local scores.

    Attributes
    ----------
    lambda_ : float
        Of raw scores: nats a raw (scaled) unit.
    k : float
    alpha, beta : float
        An alignment of raw score S has ``alpha S + beta`` letters on average.
    source : str
        Where they come from, for people.
    """

    lambda_: float
    k: float
    alpha: float
    beta: float
    source: str


@dataclass(frozen=True, eq=False)
class Significance:
    """What bit scores and E-values of a run are made of.

    Attributes
    ----------
    gumbel : Gumbel
    spaces : tuple of two float64 arrays
        The search space of each sequence as a query: of the queries' set among the targets, and of
        the targets' set among the queries.
    database : tuple of int
        Letters and sequences of the database that queries are searched in.
    composition : PairComposition or None
        What the letters of a pair do to its lambda; None: nothing.
    """

    gumbel: Gumbel
    spaces: tuple[Doubles, Doubles]
    database: tuple[int, int]
    composition: PairComposition | None = None

    def lambdas(self, query: Numbers, target: Numbers) -> Doubles:
        """Return lambda of each of some pairs, float64."""
        if self.composition is None:
            return np.full(len(query), self.gumbel.lambda_)
        values: Doubles = self.gumbel.lambda_ * self.composition.ratios(query, target)
        return values

    def evalue(self, raw_score: npt.ArrayLike, query: npt.ArrayLike) -> Doubles:
        """Return the E-values of raw scores of some queries, whatever the letters, float64."""
        scores = np.asarray(raw_score, np.float64)
        values: Doubles = np.exp(
            math.log(self.gumbel.k)
            + np.log(self.spaces[0][np.asarray(query)])
            - self.gumbel.lambda_ * scores
        )
        return values

    def evalues(self, found: Alignments, *, exchanged: bool = False) -> Doubles:
        """Return the E-values of alignments; `exchanged`: with the targets as queries; float64."""
        spaces = self.spaces[1][found.target] if exchanged else self.spaces[0][found.query]
        nats = self.lambdas(found.query, found.target) * found.raw_score
        values: Doubles = np.exp(math.log(self.gumbel.k) + np.log(spaces) - nats)
        return values

    def bits(self, found: Alignments) -> Doubles:
        """Return the bit scores of some alignments, float64."""
        nats = self.lambdas(found.query, found.target) * found.raw_score - math.log(self.gumbel.k)
        values: Doubles = nats / math.log(2)
        return values

    def least_raw_scores(self, max_evalue: float) -> tuple[Int32s, Int32s]:
        """Return the least raw score whose E-value is at most `max_evalue`, for each query.

        Returns
        -------
        tuple of two int32 arrays
            For the queries, and for the targets where they are the query. Exact: the E-value of
            one less is larger.
        """
        most = math.log(max_evalue)
        gumbel = self.gumbel
        found = []
        for space in self.spaces:
            log_space = math.log(gumbel.k) + np.log(space)
            scores = np.ceil((log_space - most) / gumbel.lambda_) - 1
            while (above := log_space - gumbel.lambda_ * scores > most).any():
                scores += above
            found.append(np.clip(scores, 1, 2**31 - 1).astype(np.int32))
        return found[0], found[1]


class EvalueFilter:
    """Keeps pairs whose E-value is small enough; either way round, where both are written.

    Parameters
    ----------
    significance : Significance
    max_evalue : float
        Above 0.
    both_ways : bool
        A pair passes if it does with the query, or with the target, as the query.

    Attributes
    ----------
    min_raw_score : int
        No pair with a lower raw score passes.
    least_raw_scores : two ndarrays of int32
        What a pair must reach, by its query and, where `both_ways`, by its target.
    both_ways : bool
    """

    def __init__(self, significance: Significance, max_evalue: float, both_ways: bool) -> None:
        self.least_raw_scores = significance.least_raw_scores(max_evalue)
        self.both_ways = both_ways
        self._significance, self._most = significance, max_evalue
        used = self.least_raw_scores if both_ways else self.least_raw_scores[:1]
        self.min_raw_score = min(int(least.min()) for least in used)

    def passes(self, found: Alignments) -> npt.NDArray[np.bool_]:
        """Return which of some alignments pass."""
        passes: npt.NDArray[np.bool_]
        passes = found.raw_score >= self.least_raw_scores[0][found.query]
        if self.both_ways:
            passes |= found.raw_score >= self.least_raw_scores[1][found.target]
        if self._significance.composition is None:
            return passes
        places = np.flatnonzero(passes)  # composition only raises E-values
        left = found.take(places)
        passing = self._significance.evalues(left) <= self._most
        if self.both_ways:
            passing |= self._significance.evalues(left, exchanged=True) <= self._most
        passes[places] = passing
        return passes

    def passing(self, found: Alignments) -> Alignments:
        """Return those of some alignments that pass, in their order."""
        passes = self.passes(found)
        return found if passes.all() else found.take(passes)


def find_gumbel(scoring: Scoring) -> Gumbel | None:
    """Return the published parameters of a scoring; None where there are none.

    They are for local alignments with a matrix that is exactly that of its name.
    """
    if scoring.mode != "local" or scoring.scale != 1 or scoring.matrix_name not in PUBLISHED:
        return None
    named = make_scoring(scoring.alphabet, mode="local", matrix=scoring.matrix_name)
    if not np.array_equal(named.matrix, scoring.matrix):
        return None
    existence, extension = scoring.gap_open - scoring.gap_extend, scoring.gap_extend
    for *costs, lambda_, k, alpha, beta in PUBLISHED[scoring.matrix_name]:
        if costs == [existence, extension]:
            return Gumbel(lambda_, k, alpha, beta, "published")
    return None


def find_significance(
    scoring: Scoring,
    queries: SequenceSet,
    targets: SequenceSet | None = None,
    database_letters: int | None = None,
    gumbel: Gumbel | None = None,
    composition: PairComposition | None = None,
) -> Significance | None:
    """Return what bit scores and E-values of a run are made of; None where it is not known.

    Parameters
    ----------
    scoring : Scoring
    queries, targets : SequenceSet
        Without `targets`, the queries are the database as well.
    database_letters : int, optional
        Size of the database, instead of the letters of the set that is searched.
    gumbel : Gumbel, optional
        Parameters of the scoring; default: published ones.
    composition : PairComposition, optional
        What the letters of a pair do to its lambda.

    Notes
    -----
    A target as the query, where pairs are written both ways, is searched among the queries.
    """
    gumbel = gumbel or find_gumbel(scoring)
    if gumbel is None:
        return None
    other = queries if targets is None else targets
    spaces = [
        search_spaces(
            gumbel, one.lengths, database_letters or other_set.total_residues, len(other_set)
        )
        for one, other_set in ((queries, other), (other, queries))
    ]
    database = (database_letters or other.total_residues, len(other))
    return Significance(gumbel, (spaces[0], spaces[1]), database, composition)


def search_spaces(
    gumbel: Gumbel, lengths: npt.ArrayLike, database_letters: int, sequences: int
) -> Doubles:
    """Return the effective size of the search space of queries, float64 of their shape.

    Parameters
    ----------
    gumbel : Gumbel
    lengths : array_like of int
        Of the queries.
    database_letters, sequences : int
        The database.

    Notes
    -----
    The length adjustment is the largest whole l with ``l <= alpha / lambda ln(K (m - l) (n - N
    l)) + beta`` that leaves ``K (m - l) (n - N l)`` above the larger of m and n; found by halving.
    """
    m = np.asarray(lengths, np.float64)
    n = float(database_letters)

    def fits(cut: Doubles) -> npt.NDArray[np.bool_]:
        rest, others = m - cut, n - sequences * cut
        space = gumbel.k * rest * others
        inside = (rest > 0) & (others > 0) & (space > np.maximum(m, n))
        expected = gumbel.alpha / gumbel.lambda_ * np.log(np.where(inside, space, 1)) + gumbel.beta
        fitting: npt.NDArray[np.bool_] = inside & (cut <= expected)
        return fitting

    low, high = np.zeros_like(m), m.copy()
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        fitting = fits(middle)
        low, high = np.where(fitting, middle, low), np.where(fitting, high, middle)
    spaces: Doubles = np.maximum(m - low, 1) * np.maximum(n - sequences * low, 1)
    return spaces
