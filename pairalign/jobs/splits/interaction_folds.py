"""Folds of interactions: clusters of two sets go into folds so that most interactions are kept.

An interaction is kept if the clusters of its two ends are in the same fold. What is sought is the
most that can be kept at the asked shares (`Shares.worth`). As in the partitioning of graphs, folds
grow from seeds along the interactions; then clusters move, the best move first, also where it costs
something, and the best state of all is kept.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from pairalign.base.arrays import Int32s

_LOOKS = 1_000_000
"""Ends of interactions that are looked at for all starts, about: some seconds."""
_MOST_STARTS, _MOST_PASSES = 64, 12
_PATIENCE = 60
"""Moves without a better state after which a pass ends, at least."""

Worth = tuple[float, float]


@dataclass(frozen=True)
class Shares:
    """What each fold should have of the interactions that are kept.

    Attributes
    ----------
    shares : tuple of float
        They add up to 1.
    tolerance : float
        By how much of its share a fold may be too small.
    """

    shares: tuple[float, ...]
    tolerance: float

    def worth(self, kept: Sequence[int]) -> Worth:
        """Return how many interactions are kept, or fewer: as many as go with the poorest fold.

        All count where each fold has its share, less the tolerance. The second number decides
        between equals: it grows more with what a poor fold gets than with what a rich one does, so
        that folds become richer one by one.
        """
        total = sum(kept)
        scarce = min(
            n / (share * (1 - self.tolerance)) if self.tolerance < 1 else float(total)
            for n, share in zip(kept, self.shares, strict=True)
        )
        if scarce >= total:
            return float(total), float(total)
        spread = sum(math.sqrt(n * share) for n, share in zip(kept, self.shares, strict=True))
        return scarce, spread

    def are_met(self, kept: Sequence[int]) -> bool:
        """Whether each fold has its share."""
        return self.worth(kept)[0] >= sum(kept)


class Interactions:
    """Clusters, and how many interactions each two have, and each within itself.

    Parameters
    ----------
    count : int
        Clusters of both sets.
    ends : ndarray of int32, shape (interactions, 2)
        Their clusters; pairs may come again.
    """

    def __init__(self, count: int, ends: Int32s) -> None:
        near: list[dict[int, int]] = [{} for _ in range(count)]
        self.own = [0] * count
        for first, second in ends.tolist():
            if first == second:
                self.own[first] += 1
            else:
                near[first][second] = near[first].get(second, 0) + 1
                near[second][first] = near[second].get(first, 0) + 1
        self.near = [list(sorted(partners.items())) for partners in near]
        self.ends = [
            2 * inside + sum(partners.values())
            for inside, partners in zip(self.own, near, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.near)

    @property
    def edges(self) -> int:
        """Ends of edges between clusters."""
        return sum(map(len, self.near))


class _State:
    """The fold of each cluster, and what follows: interactions kept, and those to each fold."""

    def __init__(self, graph: Interactions, shares: Shares, folds: list[int]) -> None:
        self._graph = graph
        self.shares = shares
        self.folds = folds
        self.kept = [0] * len(shares.shares)
        self.to: list[defaultdict[int, int]] = []
        for cluster, near in enumerate(graph.near):
            to: defaultdict[int, int] = defaultdict(int)
            for other, n in near:
                to[folds[other]] += n
            self.to.append(to)
            self.kept[folds[cluster]] += graph.own[cluster]
            self.kept[folds[cluster]] += sum(
                n for k, n in near if k < cluster and folds[k] == folds[cluster]
            )

    @property
    def worth(self) -> Worth:
        return self.shares.worth(self.kept)

    def gain(self, cluster: int, fold: int) -> int:
        """Return how many more are kept once a cluster is in a fold."""
        to = self.to[cluster]
        return to.get(fold, 0) - to.get(self.folds[cluster], 0)

    def worth_after(self, cluster: int, fold: int) -> Worth:
        kept, inside, to = self.kept, self._graph.own[cluster], self.to[cluster]
        here = self.folds[cluster]
        before = kept[here], kept[fold]
        kept[here] -= inside + to.get(here, 0)
        kept[fold] += inside + to.get(fold, 0)
        worth = self.worth
        kept[here], kept[fold] = before
        return worth

    def move(self, cluster: int, fold: int) -> list[tuple[int, int]]:
        """Put a cluster into another fold; return its neighbours."""
        here, inside, to = self.folds[cluster], self._graph.own[cluster], self.to[cluster]
        self.kept[here] -= inside + to.get(here, 0)
        self.kept[fold] += inside + to.get(fold, 0)
        self.folds[cluster] = fold
        near = self._graph.near[cluster]
        for other, n in near:
            self.to[other][here] -= n
            self.to[other][fold] += n
        return near


def place_clusters(graph: Interactions, shares: Shares, seed: int) -> list[int]:
    """Return a fold for each cluster.

    Parameters
    ----------
    seed : int
        Of drawing where folds begin; the same seed gives the same folds.

    Notes
    -----
    The best of several starts. What is found need not be the most that can be kept: that is as hard
    as the partitioning of graphs.

    References
    ----------
    Fiduccia CM, Mattheyses RM. A linear-time heuristic for improving network partitions. Proc 19th
    Design Automation Conference, 175-181, 1982.
    """
    rng = random.Random(seed)
    starts = min(_MOST_STARTS, max(2, _LOOKS // (1 + graph.edges + len(graph))))
    best: tuple[Worth, list[int]] | None = None
    for start in range(starts):
        order = list(range(len(graph)))
        rng.shuffle(order)
        state = _grown(graph, shares, order, evenly=start % 2 == 1)
        _improve(state, order)
        if best is None or state.worth > best[0]:
            best = state.worth, list(state.folds)
    assert best is not None
    return best[1]


def _grown(graph: Interactions, shares: Shares, order: list[int], *, evenly: bool) -> _State:
    """Let each fold but the largest grow from seeds until it has its share.

    That is of what is kept; or, evenly, what folds need where all clusters interact, in which a
    fold with half of each set keeps a quarter. By the first way nothing is left there for the last
    of many folds, by the second small folds are poor where few clusters interact.
    """
    whole = sum(math.sqrt(share) for share in shares.shares)
    largest = max(range(len(shares.shares)), key=lambda fold: shares.shares[fold])
    state = _State(graph, shares, [largest] * len(graph))
    unseen = iter([cluster for cluster in order if graph.near[cluster] or graph.own[cluster]])
    for fold, share in enumerate(shares.shares):
        if fold == largest:
            continue
        waiting: list[tuple[int, int]] = []
        room = math.sqrt(share) / whole * sum(graph.ends)
        while room > 0 if evenly else state.kept[fold] < share * sum(state.kept):
            if not waiting:
                first = next(
                    (cluster for cluster in unseen if state.folds[cluster] == largest), None
                )
                if first is None:
                    break
                waiting.append((0, first))
            cost, cluster = heappop(waiting)
            if state.folds[cluster] != largest or (
                cost and cost != state.to[cluster][largest] - state.to[cluster][fold]
            ):
                continue
            room -= graph.ends[cluster]
            for other, _ in state.move(cluster, fold):
                if state.folds[other] == largest:
                    to = state.to[other]
                    heappush(waiting, (to[largest] - to[fold], other))
    return state


def _improve(state: _State, order: Sequence[int]) -> None:
    for _ in range(_MOST_PASSES):
        before = state.worth
        _pass(state, order)
        if state.worth <= before:
            break


def _pass(state: _State, order: Sequence[int]) -> None:
    """Move each cluster at most once, the best first; go back to the best state."""
    heaps = _Moves(state, order)
    best, done, kept_at = state.worth, list[tuple[int, int]](), 0
    patience = _PATIENCE + len(order) // 50
    while len(done) - kept_at < patience:
        move = heaps.pop_best()
        if move is None:
            break
        cluster, fold = move
        done.append((cluster, state.folds[cluster]))
        heaps.add(near for near, _ in state.move(cluster, fold))
        if state.worth > best:
            best, kept_at = state.worth, len(done)
    for cluster, fold in reversed(done[kept_at:]):
        state.move(cluster, fold)


class _Moves:
    """Moves that can be made, by the folds they are from and to; those that keep most first."""

    def __init__(self, state: _State, order: Sequence[int]) -> None:
        self._state = state
        self._moved: set[int] = set()
        self._heaps: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        self._rank = [0] * len(order)
        self._of_rank = order
        for rank, cluster in enumerate(order):
            self._rank[cluster] = rank
            for fold, gain in self._moves_of(cluster):
                self._heaps[state.folds[cluster], fold].append((-gain, rank))
        for heap in self._heaps.values():
            heapify(heap)

    def _moves_of(self, cluster: int) -> Iterable[tuple[int, int]]:
        state = self._state
        here = state.folds[cluster]
        return [
            (f, state.gain(cluster, f)) for f, n in state.to[cluster].items() if n and f != here
        ]

    def add(self, clusters: Iterable[int]) -> None:
        """Look again at some clusters."""
        for cluster in clusters:
            if cluster not in self._moved:
                for fold, gain in self._moves_of(cluster):
                    key = self._state.folds[cluster], fold
                    heappush(self._heaps[key], (-gain, self._rank[cluster]))

    def pop_best(self) -> tuple[int, int] | None:
        """Return the cluster and the fold of the move with the best state after it."""
        best: tuple[Worth, int, int, int] | None = None
        for here, fold in sorted(self._heaps):
            heap = self._heaps[here, fold]
            while heap and not self._holds(heap[0], here, fold):
                heappop(heap)
            if heap:
                cost, rank = heap[0]
                worth = self._state.worth_after(self._of_rank[rank], fold)
                candidate = worth, -cost, -rank, -fold
                best = candidate if best is None or candidate > best else best
        if best is None:
            return None
        cluster = self._of_rank[-best[2]]
        self._moved.add(cluster)
        return cluster, -best[3]

    def _holds(self, top: tuple[int, int], here: int, fold: int) -> bool:
        cluster = self._of_rank[top[1]]
        state = self._state
        is_here = cluster not in self._moved and state.folds[cluster] == here
        return is_here and -top[0] == state.gain(cluster, fold)
