"""What a report shows of a run, collected as it goes: histograms, pairs to offer, a heat map."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.identities import count_coverage
from pairalign.alignments.strands import exchange
from pairalign.base.arrays import Bools, Doubles, Float32s, Int32s, Int64s
from pairalign.base.error_types import DistanceError
from pairalign.jobs.report.heat_map import (
    MOST_SEQUENCES,
    HeatMap,
    TriangleCollector,
    make_heat_map,
    map_tree,
)
from pairalign.pairs.lists import PairList
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.significance import Significance
from pairalign.trees.distance_matrix import DistanceMatrix, number_of_pairs
from pairalign.trees.tree import GuideTree

_MOST_CELLS = 10**12
"""Of pairs that are aligned again for the page."""
_BINS = 40
_DENSE = 1 << 20
_SHARES = np.linspace(0, 1, _BINS + 1)
_ROWS = 1 << 20
"""Distances that are looked at together."""

Realign = Callable[[PairList], Iterable[Alignments]]
"""Aligns some pairs with CIGARs."""


@dataclass(frozen=True)
class Histogram:
    """How often values occur.

    Attributes
    ----------
    edges : ndarray of float64, shape (bins + 1,)
    counts : ndarray of int64, shape (bins,)
    is_share : bool
        Whether the values are shares, which are shown as percents.
    """

    title: str
    edges: Doubles
    counts: Int64s
    is_share: bool = False


@dataclass
class _Counted:
    """How often each of some whole numbers has come."""

    values: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    counts: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))

    def add(self, more: npt.NDArray[np.integer]) -> None:
        if not len(more):
            return
        low, high = int(more.min()), int(more.max())
        if high - low < _DENSE:
            dense = np.bincount(more.astype(np.int64) - low)
            values = np.flatnonzero(dense)
            counts, values = dense[values], values + low
        else:
            values, counts = (
                array.astype(np.int64) for array in np.unique(more, return_counts=True)
            )
        both = np.concatenate([self.values, values])
        weights = np.concatenate([self.counts, counts])
        self.values, places = np.unique(both, return_inverse=True)
        self.counts = np.zeros(len(self.values), np.int64)
        np.add.at(self.counts, places, weights)

    def histogram(self, title: str, scale: int = 1) -> Histogram:
        counts, edges = np.histogram(self.values / scale, _BINS, weights=self.counts)
        return Histogram(title, edges, counts.astype(np.int64))


@dataclass
class ReportCollector:
    """Collects alignments of a run for its report.

    Attributes
    ----------
    queries, targets : SequenceSet
        The same object for one set.
    significance : Significance or None
        What bits and E-values are made of, where they are known.
    no_map : str or None
        Why there is no heat map; empty if there may be one, None: the page has no place for it.
    which : str
        What pairs they are, if they are not all that the run has.
    pairs : int
        Alignments that came, of which the page offers some.
    ranked_by : str
        What decides which pairs are offered.
    is_all : bool
        Whether all that have an alignment are offered, after `offered`.
    """

    queries: SequenceSet
    targets: SequenceSet
    significance: Significance | None = None
    no_map: str | None = ""
    which: str = field(default="", init=False)
    pairs: int = field(default=0, init=False)
    ranked_by: str = field(default="", init=False)
    is_all: bool = field(default=False, init=False)
    _chosen: ChosenPairs | None = field(default=None, init=False)
    _scores: _Counted = field(default_factory=_Counted, init=False)
    _evalues: _Counted = field(default_factory=_Counted, init=False)
    _scale: int = field(default=1, init=False)
    _shares: Int64s = field(default_factory=lambda: np.zeros((2, _BINS), np.int64), init=False)
    _has_stats: bool = field(default=False, init=False)
    _triangle: TriangleCollector | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.no_map != "":
            return
        if self.queries is not self.targets:
            self.no_map = "it is drawn of one set"
        elif not 2 < len(self.queries) <= MOST_SEQUENCES:
            self.no_map = f"it is drawn of 3 to {MOST_SEQUENCES:,} sequences"
        else:
            self._triangle = TriangleCollector(self.queries)

    def add(self, alignments: Alignments) -> None:
        """Take in some more of the run's results."""
        if not len(alignments):
            return
        if self.queries is self.targets:  # hits of queries may come from both sequences
            alignments = exchange(alignments, alignments.query > alignments.target)
        self.pairs += len(alignments)
        logs = None  # which cost more than all else
        if self.significance is not None:
            logs = self.significance.log_evalues(alignments)
        self._count(alignments, logs)
        if self._triangle is not None:
            self._triangle.add(alignments)
        self._choose(alignments, logs)

    def histograms(self) -> list[Histogram]:
        """Return the histograms of what is known of the pairs, and of lengths."""
        shown = []
        if self._has_stats:
            for title, counts in zip(("Identity", "Coverage"), self._shares, strict=True):
                shown.append(Histogram(title, _SHARES, counts, is_share=True))
        if len(self._scores.values):
            shown.append(self._scores.histogram("Score", self._scale))
        if len(self._evalues.values):
            shown.append(self._evalues.histogram("-log10 of the E-value"))
        return [*shown, self._lengths()]

    def heat_map(self) -> HeatMap | None:
        """Make the heat map; None, and `no_map`, if there is none."""
        if self._triangle is None:
            return None
        heat_map = self._triangle.heat_map()
        if heat_map is None:
            self.no_map = "no pair has a value"
        return heat_map

    def offered(self, realign: Realign | None = None) -> Alignments | None:
        """Return the alignments that the page offers, with CIGARs; None if there are none.

        Parameters
        ----------
        realign : callable, optional
            Aligns the pairs if the run itself has no CIGARs of them; without it no pair is
            offered then.
        """
        if self._chosen is None:
            return None
        best = self._chosen.best()
        self.is_all = not self._chosen.dropped
        if best is None or best.has_cigar:
            return best
        if realign is None:
            return None
        pairs = _pairs_of(best)
        affordable = _affordable(pairs, best)
        self.is_all &= len(affordable) == len(pairs)
        again = list(realign(affordable))
        return concatenate(again) if again else None

    def _count(self, alignments: Alignments, log_evalues: Doubles | None) -> None:
        self._scale = alignments.scoring.scale
        self._scores.add(alignments.raw_score)
        if log_evalues is not None:
            self._evalues.add(np.floor(-log_evalues / np.log(10)).astype(np.int64))
        if not alignments.has_stats:
            return
        self._has_stats = True
        aligned, longer = count_coverage(alignments)
        for row, values in enumerate((np.nan_to_num(alignments.identity), aligned / longer)):
            bins = np.minimum((values * _BINS).astype(np.int64), _BINS - 1)
            self._shares[row] += np.bincount(bins, minlength=_BINS)

    def _choose(self, alignments: Alignments, log_evalues: Doubles | None) -> None:
        if self._chosen is None:
            self.ranked_by, rank = ranking(
                alignments.scoring.mode, alignments.has_stats, self.significance
            )
            self._chosen = self._chooser(rank)
        values = None
        if log_evalues is not None and self.ranked_by == "E-value":
            values = -log_evalues
        self._chosen.add(alignments, values)

    def _chooser(self, rank: Callable[[Alignments], Doubles]) -> ChosenPairs:
        counts = len(self.queries), len(self.targets)
        return ChosenPairs(counts, self.queries is self.targets, rank)

    def _lengths(self) -> Histogram:
        sets = [self.queries] if self.queries is self.targets else [self.queries, self.targets]
        lengths = np.concatenate([sequences.lengths for sequences in sets])
        counts, edges = np.histogram(lengths, min(_BINS, max(1, int(np.ptp(lengths)) + 1)))
        return Histogram("Length of the sequences", edges, counts)


class DistanceCollector(ReportCollector):
    """Collects the closest pairs of a set whose distances are known.

    Parameters
    ----------
    scoring : Scoring
        With which they were aligned.
    tree : GuideTree, optional
        Made of the distances; default: by UPGMA.
    """

    def __init__(
        self,
        sequences: SequenceSet,
        scoring: Scoring,
        matrix: DistanceMatrix,
        tree: GuideTree | None = None,
    ) -> None:
        super().__init__(sequences, sequences, no_map="of distances")
        self.no_map = ""
        self.matrix, self._tree = matrix, tree
        self.pairs = number_of_pairs(len(matrix))
        self.ranked_by = "distance"
        self._chosen = self._chooser(
            lambda alignments: -self.distances_of(alignments).astype(np.float64)
        )
        for pairs in _all_pairs(len(matrix)):
            scores = np.zeros(len(pairs[0]), np.int32)
            self._chosen.add(Alignments(
                queries=sequences, targets=sequences, scoring=scoring,
                query=pairs[0], target=pairs[1], raw_score=scores,
            ))  # fmt: skip

    def distances_of(self, alignments: Alignments) -> Float32s:
        """Return the distances of some pairs, float32 of shape (n,)."""
        count = len(self.matrix)
        row, column = alignments.query.astype(np.int64), alignments.target.astype(np.int64)
        row, column = np.minimum(row, column), np.maximum(row, column)
        places = row * count - row * (row + 1) // 2 + column - row - 1
        distances: Float32s = self.matrix.condensed[places]
        return distances

    def histograms(self) -> list[Histogram]:
        """Return the histograms of distances and lengths."""
        counts, edges = np.histogram(self.matrix.condensed, _BINS)
        return [Histogram(f"Distance ({self.matrix.measure})", edges, counts), self._lengths()]

    def heat_map(self) -> HeatMap | None:
        """Make the heat map; None, and `no_map`, if there is none."""
        if not 2 < len(self.matrix) <= MOST_SEQUENCES:
            self.no_map = f"it is drawn of 3 to {MOST_SEQUENCES:,} sequences"
            return None
        try:
            tree = self._tree or map_tree(self.matrix, self.queries)
        except DistanceError as error:
            self.no_map = str(error)
            return None
        return make_heat_map(self.matrix.condensed, 0.0, tree, f"distance ({self.matrix.measure})")


def _all_pairs(
    count: int,
) -> Iterable[tuple[Int32s, Int32s]]:
    """Give all pairs of a set, some rows at a time."""
    step = max(1, _ROWS // count)
    for start in range(0, count - 1, step):
        stop = min(start + step, count - 1)
        sizes = count - 1 - np.arange(start, stop)
        rows = np.repeat(np.arange(start, stop, dtype=np.int32), sizes)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        yield rows, (rows + 1 + within).astype(np.int32)


def _pairs_of(best: Alignments) -> PairList:
    """Return the pairs of some alignments, each once, in their order."""
    pairs = np.stack([best.query, best.target], axis=1)
    _, first = np.unique(pairs, axis=0, return_index=True)
    query, target = pairs[np.sort(first)].T
    return PairList(query.copy(), target.copy())


def _affordable(pairs: PairList, alignments: Alignments) -> PairList:
    """Return the first pairs, whose matrices are not too large together; at least one."""
    lengths = alignments.queries.lengths.astype(np.int64), alignments.targets.lengths
    cells = lengths[0][pairs.first] * lengths[1][pairs.second]
    few = max(1, int(np.searchsorted(np.cumsum(cells), _MOST_CELLS, "right")))
    return PairList(pairs.first[:few], pairs.second[:few])


MOST_PAIRS = 20_000
MOST_RESIDUES = 32_000_000
"""Of all sequences of the pairs: the page holds them."""


def ranking(
    mode: str, has_stats: bool, significance: Significance | None
) -> tuple[str, Callable[[Alignments], Doubles]]:
    """Return by what pairs are ranked: its name, and the values, of which the higher are better.

    Parameters
    ----------
    has_stats : bool
        Whether there are identities.
    significance : Significance or None
        What E-values are made of, where they are known.

    Notes
    -----
    Local alignments are ranked by E-value or, where it is not known, by score. So are alignments
    with free ends, by score: a few residues at the ends may be identical by chance. Alignments of
    whole sequences are ranked by identity.
    """
    if mode == "local" and significance is not None:
        return "E-value", lambda alignments: -significance.log_evalues(alignments)
    if mode == "global" and has_stats:
        return "identity", lambda alignments: np.nan_to_num(alignments.identity, nan=-1.0)
    return "score", lambda alignments: alignments.raw_score.astype(np.float64)


class ChosenPairs:
    """Keeps the best alignments of each sequence, as they come.

    Parameters
    ----------
    counts : (int, int)
        Sequences of the queries and of the targets.
    is_one_set : bool
        Whether these are the same: a pair then counts for both of its sequences.
    rank : callable
        Values of alignments, the higher the better; see `ranking`.

    Attributes
    ----------
    dropped : int
        Alignments for which there is no room, after `best`.

    Notes
    -----
    Of each sequence as many are kept as `MOST_PAIRS` has room for, at least one; of equals those
    that came first. Memory: 2.5 alignments for each of `MOST_PAIRS`, or 1.25 a sequence if that
    is more, and one call's.
    """

    def __init__(
        self, counts: tuple[int, int], is_one_set: bool, rank: Callable[[Alignments], Doubles]
    ) -> None:
        self._is_one_set = is_one_set
        self._nodes = counts[0] if is_one_set else sum(counts)
        self._shift = 0 if is_one_set else counts[0]
        self._rank = rank
        self._each = max(1, 2 * MOST_PAIRS // self._nodes)  # a pair is of two sequences
        self._parts: list[Alignments] = []
        self._held = 0
        self.dropped = 0
        self._floors = np.full(self._nodes, -np.inf)

    def add(self, alignments: Alignments, values: Doubles | None = None) -> None:
        """Take in some alignments; `values`: what they are ranked by, where it is known."""
        values = self._rank(alignments) if values is None else values
        useful = values >= np.minimum(*(self._floors[ends] for ends in self._ends(alignments)))
        self.dropped += len(alignments) - int(useful.sum())
        if alignments.has_stats:
            useful &= alignments.columns > 0
        self._parts.append(alignments.take(useful))
        self._held += len(self._parts[-1])
        if self._held > 1.25 * self._each * self._nodes:
            self._prune()

    def best(self) -> Alignments | None:
        """Return the alignments that the page has room for; None if there are none.

        All best ones of the sequences come before all second best ones, and so on: sequences
        are covered as far as they can be.
        """
        if not self._held:
            return None
        alignments = _distinct(concatenate(self._parts))
        values = self._rank(alignments)
        places = self._places(alignments, values)
        kept = np.flatnonzero(places < self._each)
        order = kept[np.lexsort((kept, -values[kept], places[kept]))][:MOST_PAIRS]
        chosen = alignments.take(order)
        chosen = chosen.take(self._fitting(chosen))
        self.dropped += len(alignments) - len(chosen)
        if not len(chosen):
            return None
        return chosen.take(np.argsort(-self._rank(chosen), kind="stable"))

    def _ends(self, alignments: Alignments) -> tuple[Int64s, Int64s]:
        """Nodes of queries and targets."""
        return alignments.query.astype(np.int64), alignments.target.astype(np.int64) + self._shift

    def _prune(self) -> None:
        alignments = _distinct(concatenate(self._parts))
        values = self._rank(alignments)
        kept = alignments.take(self._places(alignments, values, floors=True) < self._each)
        self.dropped += len(alignments) - len(kept)
        self._parts, self._held = [kept], len(kept)

    def _places(self, alignments: Alignments, values: Doubles, *, floors: bool = False) -> Int64s:
        """Return the place of each alignment among those of its sequences, the better of two.

        `floors`: remember below what value an alignment is of no use to a sequence.
        """
        nodes = np.concatenate(self._ends(alignments))
        both = np.concatenate([values, values])
        order = np.lexsort((-both, nodes))
        places = np.empty(len(nodes), np.int64)
        places[order] = np.arange(len(nodes)) - np.searchsorted(nodes[order], nodes[order])
        if floors:
            last = places == self._each - 1
            self._floors[nodes[last]] = both[last]
        count = len(alignments)
        least: Int64s = np.minimum(places[:count], places[count:])
        return least

    def _fitting(self, alignments: Alignments) -> Bools:
        """Which alignments have sequences that the page has room for, bool of shape (n,)."""
        lengths = [alignments.queries.lengths]
        if not self._is_one_set:
            lengths.append(alignments.targets.lengths)
        sizes = np.concatenate(lengths).tolist()
        seen = [False] * self._nodes
        fitting, room = [], MOST_RESIDUES
        for query, target in zip(*(ends.tolist() for ends in self._ends(alignments)), strict=True):
            needed = sum(sizes[node] for node in {query, target} if not seen[node])
            fits = needed <= room
            if fits:
                seen[query] = seen[target] = True
                room -= needed
            fitting.append(fits)
        return np.array(fitting, np.bool_)


def _distinct(alignments: Alignments) -> Alignments:
    """Return each alignment once, as it came first."""
    keys = [alignments.query, alignments.target, alignments.raw_score]
    if alignments.has_stats:
        keys += [alignments.field("query_start"), alignments.field("target_start")]
    order = np.lexsort(keys)
    same = np.ones(len(alignments), np.bool_)
    same[0] = False
    for key in keys:
        same[1:] &= key[order[1:]] == key[order[:-1]]
    return alignments.take(np.sort(order[~same])) if same.any() else alignments
