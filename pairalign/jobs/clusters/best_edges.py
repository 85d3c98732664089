"""The best pairs of each sequence: what keeps large networks readable."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.thresholds import PairThresholds

_LEAST_HELD = 1 << 16
PLAIN_THRESHOLDS = PairThresholds()


class BestEdges:
    """Keeps the pairs that are among the best of either of their sequences.

    Parameters
    ----------
    best : int
        How many of each sequence: of highest rank, then highest score, then those whose other
        sequence comes first in `SequenceSet.canonical_order`.
    rank : {"score", "identity"}
    thresholds : PairThresholds
        Which say what the identity is.

    Notes
    -----
    Memory: at most about twice the pairs kept, and one call's.
    """

    def __init__(
        self, best: int, rank: str = "score", thresholds: PairThresholds = PLAIN_THRESHOLDS
    ) -> None:
        self._best = best
        self._thresholds = thresholds
        self._by_identity = rank == "identity"
        self._parts: list[Alignments] = []
        self._held = 0
        self._most_held = _LEAST_HELD

    def add(self, alignments: Alignments) -> None:
        """Take in some pairs, with counts."""
        self._parts.append(alignments.take(alignments.columns > 0).without(cigar=True))
        self._held += len(self._parts[-1])
        if self._held > self._most_held:
            kept = self.kept()
            assert kept is not None
            self._parts = [kept]
            self._held = len(kept)
            self._most_held = max(_LEAST_HELD, 2 * self._held)

    def kept(self) -> Alignments | None:
        """Return the pairs that are left, in the order in which they came; None if none came."""
        if not self._parts:
            return None
        alignments = concatenate(self._parts)
        numbers = np.arange(len(alignments))
        places = [
            sequences.canonical_places() for sequences in (alignments.queries, alignments.targets)
        ]
        sides = [
            (alignments.query, places[1][alignments.target]),
            (alignments.target, places[0][alignments.query]),
        ]
        if alignments.queries is alignments.targets:
            nodes, others = (np.concatenate(both) for both in zip(*sides, strict=True))
            keep = self._among_best(alignments, (nodes, others), np.concatenate([numbers, numbers]))
            return alignments.take(keep[: len(alignments)] | keep[len(alignments) :])
        by_query, by_target = (self._among_best(alignments, ends, numbers) for ends in sides)
        return alignments.take(by_query | by_target)

    def _among_best(
        self,
        alignments: Alignments,
        ends: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]],
        pairs: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.bool_]:
        """Return which ends of pairs are among the best of their node, bool of shape (ends,)."""
        nodes, others = ends  # others by their places
        keys: list[npt.NDArray[Any]] = [others, -alignments.raw_score[pairs].astype(np.int64)]
        if self._by_identity:
            part, whole = self._thresholds.count_identity(alignments)
            keys.append(-(part / whole)[pairs])
        order = np.lexsort([*keys, nodes])
        sorted_nodes = nodes[order]
        first = np.searchsorted(sorted_nodes, sorted_nodes)
        keep = np.zeros(len(nodes), np.bool_)
        keep[order] = np.arange(len(nodes)) - first < self._best
        return keep
