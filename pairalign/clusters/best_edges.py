"""The best pairs of each sequence: what keeps large networks readable."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, concatenate

_LEAST_HELD = 1 << 16


class BestEdges:
    """Keeps the pairs that are among the best of either of their sequences.

    Parameters
    ----------
    best : int
        So many of each sequence: of highest identity, then highest score, then those that come
        first.

    Notes
    -----
    Memory: at most about twice the pairs kept, and one call's.
    """

    def __init__(self, best: int) -> None:
        self._best = best
        self._parts: list[Alignments] = []
        self._held = 0
        self._most_held = _LEAST_HELD

    def add(self, found: Alignments) -> None:
        """Take in some pairs, with counts."""
        self._parts.append(found.take(found.columns > 0).without(cigar=True))
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
        found = concatenate(self._parts)
        keep = self._among_best(found, found.query) if found.queries is not found.targets else None
        if keep is None:
            return found.take(self._of_one_set(found))
        return found.take(keep | self._among_best(found, found.target))

    def _of_one_set(self, found: Alignments) -> npt.NDArray[np.bool_]:
        both = np.concatenate([np.arange(len(found)), np.arange(len(found))])
        keep = self._among_best(found, np.concatenate([found.query, found.target]), both)
        return np.asarray(keep[: len(found)] | keep[len(found) :])

    def _among_best(
        self,
        found: Alignments,
        nodes: npt.NDArray[np.int32],
        pairs: npt.NDArray[np.int64] | None = None,
    ) -> npt.NDArray[np.bool_]:
        """Return which ends of pairs are among the best of their node, bool of shape (ends,)."""
        pairs = np.arange(len(found)) if pairs is None else pairs
        order = np.lexsort((pairs, -found.raw_score[pairs], -found.identity[pairs], nodes))
        sorted_nodes = nodes[order]
        first = np.searchsorted(sorted_nodes, sorted_nodes)
        keep = np.zeros(len(nodes), np.bool_)
        keep[order] = np.arange(len(nodes)) - first < self._best
        return keep
