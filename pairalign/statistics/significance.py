"""How surprising local scores are: bit scores and E-values (Karlin and Altschul 1990).

The best local score of two unrelated sequences follows a Gumbel distribution with parameters lambda
and K. A raw score S is worth ``(lambda S - ln K) / ln 2`` bits, and a search space of ``m n`` cells
has ``K m n exp(-lambda S)`` alignments of at least that score by chance: the E-value.

The space is corrected for the residues that an alignment takes, pair by pair (`LengthLaw`), where
their law is known, and scaled from the pair to the database. Elsewhere it is that of BLAST's older
E-values: ``(m - l) (n - N l)`` for a query of m residues, with the n residues and N sequences of
the database and the length adjustment l of Altschul and Gish (1996). A space that is given
(``--search-space``) is taken as it is.

Published parameters are in ``published.json``. A row has BLAST's gap costs (existence, extension; a
gap of k residues costs ``existence + k extension``), lambda, K, and of the residues that an
alignment takes: a and b of their mean (b is for the length adjustment of BLAST's older E-values and
bits of search spaces), alpha and sigma of their variance and covariance. BLAST's 11/1 is 12/1 here.
`tests/statistics/test_significance.py` compares each with what BLAST+ prints.

BLAST+'s BLOSUM80, in half bits, is another matrix than Biopython's of that name, in thirds of a
bit: its parameters are not here.

References
----------
.. [1] S. Karlin, S. F. Altschul. Methods for assessing the statistical significance of molecular
   sequence features by using general scoring schemes. PNAS 87:2264-2268, 1990.
.. [2] S. F. Altschul, W. Gish. Local alignment statistics. Methods in Enzymology 266:460-480, 1996.
.. [3] S. F. Altschul, R. Bundschuh, R. Olsen, T. Hwa. The estimation of statistical parameters for
   local alignment score distributions. Nucleic Acids Research 29:351-361, 2001.
.. [4] Y. Park, S. Sheetlin, N. Ma, T. L. Madden, J. L. Spouge. New finite-size correction for local
   alignment score distributions. BMC Research Notes 5:286, 2012.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools, Doubles, Int32s
from pairalign.base.choices import MASKS
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.alphabets import Alphabet
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.composition import MOST_RATIO, PairComposition
from pairalign.statistics.finite_size import LengthLaw, published_law, skewed_law
from pairalign.statistics.low_complexity import ResidueMasks

_FILE = json.loads(Path(__file__).with_name("published.json").read_text())

PUBLISHED: dict[str, list[tuple[float, ...]]] = {
    name: list(map(tuple, matrix["gapped"])) for name, matrix in _FILE["matrices"].items()
}

UNGAPPED: dict[str, tuple[float, float]] = {
    name: tuple(matrix["ungapped"]) for name, matrix in _FILE["matrices"].items()
}
"""a and alpha of alignments without gaps."""

FIRST_PASSAGE: dict[str, dict[tuple[float, ...], list[float]]] = {
    name: {(existence, extension): row for existence, extension, *row in matrix["lengths"]}
    for name, matrix in _FILE["matrices"].items()
}
"""By BLAST's costs: a, b, alpha and beta of inverse Gaussian lengths."""

PUBLISHED_DNA: dict[tuple[int, ...], list[list[float]]] = {
    tuple(map(int, scores.split())): rows for scores, rows in _FILE["dna"].items()
}
"""By match and mismatch, as blastn prints them: existence, extension, lambda, K, alpha, beta.

The last two are those of its length adjustment."""

BACKGROUND: dict[str, float] = _FILE["residues"]
"""Robinson and Robinson 1991: what the published parameters were computed for."""


Numbers = npt.NDArray[np.integer[Any]]

_MOST_SCORE = 2**31 - 1
_LENGTHS_AT_A_TIME = 1 << 14
"""Of a set: of a store no more are in memory."""
_LEAST_LOG = math.log(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Gumbel:
    """Parameters of the distribution of local scores.

    Attributes
    ----------
    lambda_ : float
        Of raw scores: nats a raw (scaled) unit.
    alpha, beta : float
        An alignment of raw score S has ``alpha S + beta`` residues on average, for the length
        adjustment.
    source : str
        Where they come from, for people.
    law : LengthLaw or None
        For the finite-size correction; None: the length adjustment is used.
    pair_law : LengthLaw or None
        In its place where lambda is that of each pair's composition; None: there is no other.
    """

    lambda_: float
    k: float
    alpha: float
    beta: float
    source: str
    law: LengthLaw | None = None
    pair_law: LengthLaw | None = None


class Searched(NamedTuple):
    """What queries are searched in, where it is not the other set.

    Attributes
    ----------
    residues : int or None
        Of the database.
    cells : float or None
        Of the search space of every query.
    """

    residues: int | None = None
    cells: float | None = None


THE_SETS = Searched()


@dataclass(frozen=True, eq=False)
class Significance:
    """What bit scores and E-values of a run are made of.

    Attributes
    ----------
    sets : tuple of two SequenceSet
        Queries and targets.
    databases : tuple of two (int, int)
        Residues and sequences of the database that queries are searched in, and of that which
        targets are searched in where they come as queries.
    composition : PairComposition or None
        What the residues of a pair do to its lambda; None: nothing.
    search_space : float or None
        Cells of the search space of every query, taken as they are; None: see the module.
    masks : ResidueMasks or None
        Residues of low complexity, which add nothing to the scores of bits and E-values.
    scored_mask : str or None
        What found the residues that score as unknown ones; None: none do.
    strands : int
        That each pair is aligned on; without `composition`, E-values are of one, as BLAST's.
    """

    gumbel: Gumbel
    sets: tuple[SequenceSet, SequenceSet]
    databases: tuple[tuple[int, int], tuple[int, int]]
    composition: PairComposition | None = None
    search_space: float | None = None
    masks: ResidueMasks | None = None
    scored_mask: str | None = None
    strands: int = 1

    @cached_property
    def lengths(self) -> tuple[Int32s, Int32s]:
        """Residues of the queries and of the targets, by input index."""
        return self.sets[0].lengths, self.sets[1].lengths

    def of_sets(self, queries: SequenceSet, targets: SequenceSet) -> Significance:
        """Return the same for some of the sequences, whose input indices are those of new sets."""
        composition = self.composition and self.composition.of_sets(queries, targets)
        masks = self.masks and ResidueMasks(queries, targets, self.masks.mask)
        return replace(self, sets=(queries, targets), composition=composition, masks=masks)

    def of_each_length(self) -> Significance:
        """Return the same for one sequence of each length, whatever its residues."""
        some = replace(self)
        vars(some)["lengths"] = tuple(map(_distinct_lengths, self.sets))
        return some

    @property
    def database(self) -> tuple[int, int]:
        """Residues and sequences of the database that queries are searched in."""
        return self.databases[0]

    @cached_property
    def log_spaces(self) -> tuple[Doubles, Doubles] | None:
        """Logarithms of the search spaces of queries, and of targets as queries.

        None where the space depends on both sequences of a pair.
        """
        if self.search_space is not None:
            every = [np.full(len(lengths), math.log(self.search_space)) for lengths in self.lengths]
        elif self.gumbel.law is None:
            every = [
                np.log(search_spaces(self.gumbel, lengths, *database))
                for lengths, database in zip(self.lengths, self.databases, strict=True)
            ]
        else:
            return None
        return every[0], every[1]

    def describe_space(self) -> str:
        """Return how search spaces are found, in words."""
        if self.search_space is not None:
            return f"search space of {self.search_space:g} cells"
        if self.gumbel.law is None:
            return "length adjustment (Altschul and Gish 1996)"
        lengths = "; inverse Gaussian lengths" if self.gumbel.law.skewed else ""
        return f"finite-size correction (Park et al. 2012{lengths})"

    def counted_scores(self, alignments: Alignments) -> Int32s:
        """Return the raw scores that bits and E-values are of, int32; with masks, of CIGARs."""
        return alignments.raw_score if self.masks is None else self.masks.raw_scores(alignments)

    def log_evalues(self, alignments: Alignments, *, exchanged: bool = False) -> Doubles:
        """Return ln of the E-values of alignments; `exchanged`: with the targets as queries."""
        return self._log_evalues(alignments, (exchanged,))[0]

    def log_evalues_each_way(self, alignments: Alignments) -> list[Doubles]:
        """Return `log_evalues` with the queries as queries, and with the targets, together."""
        return self._log_evalues(alignments, (False, True))

    def _log_evalues(self, alignments: Alignments, ways: Iterable[bool]) -> list[Doubles]:
        pairs = alignments.query, alignments.target
        scores, costs = self._worth_and_costs(self.counted_scores(alignments), *pairs)
        return [self.log_evalues_of(scores, *pairs, exchanged=way) - costs for way in ways]

    def _worth_and_costs(
        self, raw_scores: Int32s, query: Int32s, target: Int32s
    ) -> tuple[Doubles, Doubles]:
        if self.composition is None:
            return raw_scores.astype(np.float64), np.zeros(len(raw_scores))
        worth, costs = self.composition.worth_and_costs(query, target, raw_scores)
        return worth, costs - math.log(self.strands)

    def reaching(self, alignments: Alignments, max_evalue: float, ways: Iterable[bool]) -> Bools:
        """Return which of some alignments have an E-value of at most that, in any of some ways.

        Parameters
        ----------
        alignments : Alignments
        max_evalue : float
        ways : iterable of bool
            See `exchanged` of `log_evalues`.

        Notes
        -----
        Residues are looked at where the pair could have it with the best ones for it.
        """
        most = math.log(max_evalue)
        every = self.counted_scores(alignments), alignments.query, alignments.target
        may = np.arange(len(alignments))
        if self.composition is not None:
            least = [self._least_log_evalues(*every, exchanged=way) for way in ways]
            may = np.flatnonzero(np.min(least, axis=0) <= most)
        raw_scores, *pairs = (one[may] for one in every)
        scores, costs = self._worth_and_costs(raw_scores, *pairs)
        values = [self.log_evalues_of(scores, *pairs, exchanged=way) - costs for way in ways]
        reach = np.zeros(len(alignments), np.bool_)
        reach[may] = np.min(values, axis=0) <= most
        return reach

    def _least_log_evalues(
        self, raw_scores: Int32s, query: Int32s, target: Int32s, *, exchanged: bool
    ) -> Doubles:
        """Return what ln of the E-values of pairs is at least, whatever their residues."""
        assert self.composition is not None
        worth = MOST_RATIO * np.maximum(raw_scores, 0)
        least = self.log_evalues_of(worth, query, target, exchanged=exchanged)
        least += math.log(self.strands) - self.composition.most_cost
        if self.log_spaces is None and self.gumbel.law is not None:
            shorter = np.minimum(self.lengths[0][query], self.lengths[1][target])
            least[shorter < self.gumbel.law.falls_from(self.gumbel.lambda_)] = -np.inf
        return least

    def evalues(self, alignments: Alignments, *, exchanged: bool = False) -> Doubles:
        """Return the E-values of alignments; `exchanged`: with the targets as queries; float64.

        Those below the least double with all its bits are 0.
        """
        logs = self.log_evalues(alignments, exchanged=exchanged)
        return np.where(logs < _LEAST_LOG, 0.0, np.exp(logs))

    def bits(self, alignments: Alignments) -> Doubles:
        """Return the bit scores of some alignments, float64."""
        pairs = alignments.query, alignments.target
        scores, _ = self._worth_and_costs(self.counted_scores(alignments), *pairs)
        return (self.gumbel.lambda_ * scores - math.log(self.gumbel.k)) / math.log(2)

    def least_raw_score(
        self, max_evalue: float, queries: Numbers, targets: Numbers, *, exchanged: bool = False
    ) -> int:
        """Return a raw score that every pair of some sequences with a small E-value has.

        Parameters
        ----------
        queries, targets : ndarray of int, shape (n,), (m,)
            Input indices; pairs are all of one of each.
        exchanged : bool
            The targets are the queries of the pairs.

        Notes
        -----
        The E-value of a pair falls with its score and rises with the length of its query, so the
        shortest query with each length of target is enough. What is best for a pair is a ratio of
        `MOST_RATIO`, and an E-value by the largest divisor.
        """
        sides = (targets, queries) if exchanged else (queries, targets)
        lengths = self.lengths[::-1] if exchanged else self.lengths
        if self.log_spaces is None:
            shortest = sides[0][np.argmin(lengths[0][sides[0]])]
            _, first = np.unique(lengths[1][sides[1]], return_index=True)
            pairs = np.full(len(first), shortest), sides[1][first]
        else:
            smallest = sides[0][np.argmin(self.log_spaces[int(exchanged)][sides[0]])]
            pairs = np.array([smallest]), sides[1][:1]
        query, target = pairs[::-1] if exchanged else pairs
        ratio, cost = (1.0, 0.0)
        if self.composition is not None:
            ratio, cost = MOST_RATIO, self.composition.most_cost

        def may_pass(score: int) -> bool:
            scores = np.full(len(query), ratio * score)
            values = self.log_evalues_of(scores, query, target, exchanged=exchanged)
            return bool((values <= math.log(max_evalue) + cost).any())

        low, high = 0, 1
        while high < _MOST_SCORE and not may_pass(high):
            low, high = high, min(2 * high, _MOST_SCORE)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if may_pass(middle) else (middle, high)
        return high

    def log_evalues_of(
        self,
        scores: npt.ArrayLike,
        query: npt.ArrayLike,
        target: npt.ArrayLike,
        *,
        exchanged: bool = False,
    ) -> Doubles:
        """Return ln of the E-values of some raw scores, whatever the composition, float64.

        Parameters
        ----------
        scores : array_like of float, shape (pairs,)
        query, target : array_like of int, shape (pairs,)
            Input indices.
        exchanged : bool
            The targets are the queries.
        """
        scores, query, target = (np.asarray(array) for array in (scores, query, target))
        values: Doubles
        gumbel = self.gumbel
        if self.log_spaces is not None:
            spaces = self.log_spaces[1][target] if exchanged else self.log_spaces[0][query]
            values = math.log(gumbel.k) + spaces - gumbel.lambda_ * scores
            return values
        assert gumbel.law is not None
        m, n = self.lengths[0][query], self.lengths[1][target]
        if exchanged:
            m, n = n, m
        values = gumbel.law.log_evalues(gumbel.lambda_, gumbel.k, scores, m, n)
        values += math.log(self.databases[int(exchanged)][0])
        return values


class EvalueFilter:
    """Keeps pairs whose E-value is small enough; either way round, where both are written.

    Parameters
    ----------
    max_evalue : float
        Above 0.
    either_way : bool
        A pair passes if it does with the query, or with the target, as the query.

    Attributes
    ----------
    min_raw_score : int
        No pair with a lower raw score passes.
    """

    def __init__(self, significance: Significance, max_evalue: float, either_way: bool) -> None:
        self.either_way = either_way
        self._most = max_evalue
        self._significance = significance.of_each_length()
        every = [np.arange(len(lengths)) for lengths in self._significance.lengths]
        self.min_raw_score = self.least_raw_score(every[0], every[1])
        self._significance = significance

    @property
    def needs_cigars(self) -> bool:
        """Whether scores alone do not say what passes."""
        return self._significance.masks is not None

    def of_sets(self, queries: SequenceSet, targets: SequenceSet) -> EvalueFilter:
        """Return the same for some of the sequences, see `Significance.of_sets`."""
        some = copy(self)
        some._significance = self._significance.of_sets(queries, targets)
        return some

    def least_raw_score(self, queries: Numbers, targets: Numbers) -> int:
        """Return a raw score that every pair of some sequences that passes has."""
        least = self._significance.least_raw_score(self._most, queries, targets)
        if not self.either_way:
            return least
        other = self._significance.least_raw_score(self._most, queries, targets, exchanged=True)
        return min(least, other)

    def passes(self, alignments: Alignments) -> Bools:
        """Return which of some alignments pass."""
        ways = (False, True) if self.either_way else (False,)
        return self._significance.reaching(alignments, self._most, ways)

    def passes_one_way(self, alignments: Alignments, *, exchanged: bool = False) -> Bools:
        """Return which of some alignments pass; `exchanged`: with the targets as queries."""
        return self._significance.reaching(alignments, self._most, (exchanged,))

    def passing(self, alignments: Alignments) -> Alignments:
        """Return those of some alignments that pass, in their order."""
        passes = self.passes(alignments)
        return alignments if passes.all() else alignments.take(passes)


def find_gumbel(scoring: Scoring) -> Gumbel | None:
    """Return the published parameters of a scoring; None where there are none.

    They are for local alignments with a matrix that is exactly that of its name, or with one score
    for all matches and one for all mismatches.
    """
    if scoring.mode != "local" or scoring.scale != 1:
        return None
    costs = scoring.gap_open - scoring.gap_extend, scoring.gap_extend
    if scoring.alphabet.name == "dna":
        return _published_for_dna(scoring, costs)
    if scoring.matrix_name not in PUBLISHED:
        return None
    if not np.array_equal(_matrix_of(scoring.alphabet, scoring.matrix_name), scoring.matrix):
        return None
    for *gap_costs, lambda_, k, a, b, alpha, sigma in PUBLISHED[scoring.matrix_name]:
        if tuple(gap_costs) == costs:
            law = published_law(costs, (a, alpha, sigma), UNGAPPED[scoring.matrix_name])
            passage = skewed_law(*FIRST_PASSAGE[scoring.matrix_name][costs])
            return Gumbel(lambda_, k, a, b, "published", law, passage)
    return None


@cache
def _matrix_of(alphabet: Alphabet, name: str) -> Int32s:
    return make_scoring(alphabet, mode="local", matrix=name).matrix


def _published_for_dna(scoring: Scoring, costs: tuple[int, int]) -> Gumbel | None:
    """Return blastn's parameters of a match, a mismatch and costs of gaps, if it has any."""
    match, mismatch = int(scoring.matrix[0, 0]), int(scoring.matrix[0, 1])
    if not np.array_equal(np.where(np.eye(4), match, mismatch), scoring.matrix[:4, :4]):
        return None
    for *gap_costs, lambda_, k, alpha, beta in PUBLISHED_DNA.get((match, mismatch), ()):
        if tuple(gap_costs) == costs:
            return Gumbel(lambda_, k, alpha, beta, "published")
    return None


def find_significance(
    scoring: Scoring,
    queries: SequenceSet,
    targets: SequenceSet | None = None,
    searched: Searched = THE_SETS,
    gumbel: Gumbel | None = None,
    composition: PairComposition | None = None,
    mask: str = MASKS[0],
    strands: int = 1,
) -> Significance | None:
    """Return what bit scores and E-values of a run are made of; None where it is not known.

    Parameters
    ----------
    queries, targets : SequenceSet
        Without `targets`, the queries are the database as well.
    searched : Searched
        The database, where it is not the set that is searched.
    gumbel : Gumbel, optional
        Parameters of the scoring; default: published ones.
    composition : PairComposition, optional
        What the residues of a pair do to its lambda.
    mask : {"none", "tantan", "seg"}
        What residues of low complexity are found by.
    strands : int
        That each pair is aligned on.

    Notes
    -----
    A target as the query, where pairs are written both ways, is searched among the queries.
    """
    gumbel = gumbel or find_gumbel(scoring)
    if gumbel is None:
        return None
    if composition is not None and gumbel.pair_law is not None:
        gumbel = replace(gumbel, law=gumbel.pair_law)
    other = queries if targets is None else targets
    first, second = (
        (searched.residues or sequences.total_residues, len(sequences))
        for sequences in (other, queries)
    )
    masks = None if mask == MASKS[0] else ResidueMasks(queries, other, mask)
    significance = Significance(
        gumbel, (queries, other), (first, second), composition, searched.cells
    )
    return replace(significance, masks=masks, strands=strands)


def search_spaces(
    gumbel: Gumbel, lengths: npt.ArrayLike, database_residues: int, sequences: int
) -> Doubles:
    """Return the effective size of the search space of queries, float64 of their shape.

    Parameters
    ----------
    lengths : array_like of int
        Of the queries.
    database_residues, sequences : int
        The database.

    Notes
    -----
    The length adjustment is the largest whole l with ``l <= alpha / lambda ln(K (m - l) (n - N
    l)) + beta`` that leaves ``K (m - l) (n - N l)`` above the larger of m and n; found by halving.
    """
    m = np.asarray(lengths, np.float64)
    n = float(database_residues)

    def fits(cut: Doubles) -> Bools:
        rest, others = m - cut, n - sequences * cut
        space = gumbel.k * rest * others
        inside = (rest > 0) & (others > 0) & (space > np.maximum(m, n))
        expected = gumbel.alpha / gumbel.lambda_ * np.log(np.where(inside, space, 1)) + gumbel.beta
        fitting: Bools = inside & (cut <= expected)
        return fitting

    low, high = np.zeros_like(m), m.copy()
    while (high - low > 1).any():
        middle = np.floor((low + high) / 2)
        fitting = fits(middle)
        low, high = np.where(fitting, middle, low), np.where(fitting, high, middle)
    spaces: Doubles = np.maximum(m - low, 1) * np.maximum(n - sequences * low, 1)
    return spaces


def _distinct_lengths(sequences: SequenceSet) -> Int32s:
    """Return the lengths that sequences of a set have, each once, longest first, int32."""
    bounds = [*range(0, len(sequences), _LENGTHS_AT_A_TIME), len(sequences)]
    pieces = (sequences.lengths_between(*piece) for piece in itertools.pairwise(bounds))
    lengths = np.unique(np.concatenate([np.unique(piece) for piece in pieces]))
    return np.ascontiguousarray(lengths[::-1], np.int32)
