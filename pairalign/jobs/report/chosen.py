"""Which pairs a report offers: the best of each sequence, within what a page can hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.base.arrays import Int64s
from pairalign.statistics.significance import Significance

Doubles = npt.NDArray[np.float64]

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

    def _fitting(self, alignments: Alignments) -> npt.NDArray[np.bool_]:
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
