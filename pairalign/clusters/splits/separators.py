"""Cutting a connected piece of a network in two: which few sequences stand between the parts.

A region grows from a seed. What borders on it is the separator: without that, nothing connects the
region with the rest. The next sequence that joins the region is the one of the separator that makes
it grow least. Of all stages, from several seeds, the one is taken that promises the lowest price.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from pairalign.clusters.splits.network import Network

_LOOKS = 200_000
"""Ends of edges that are looked at for one cut, about: some tenths of a second."""
_LEAST_SEEDS = 4

Counts = list[int]


@dataclass(frozen=True)
class Sizes:
    """What a part of the sequences amounts to, by category: all, then those of each label.

    Attributes
    ----------
    of : list of tuple of int
        Categories that each sequence counts in.
    most : list of float
        What a part may have of each.
    """

    of: list[tuple[int, ...]]
    most: list[float]

    def count(self, members: Sequence[int]) -> Counts:
        """Count some sequences."""
        counts = [0] * len(self.most)
        for k in members:
            for category in self.of[k]:
                counts[category] += 1
        return counts

    def load(self, counts: Counts) -> float:
        """Return how full a part is: 1 is what is allowed."""
        return max(
            n / most if most > 0 else 2.0 * n for n, most in zip(counts, self.most, strict=True)
        )


def find_separator(
    network: Network, piece: Sequence[int], sizes: Sizes, prices: Sequence[float], seed: int
) -> list[int]:
    """Return sequences without which a connected piece is in parts that are less full.

    Parameters
    ----------
    network : Network
    piece : sequence of int
        More than allowed.
    sizes : Sizes
    prices : sequence of float
        Of removing each sequence; above 0.
    seed : int
        Of drawing where regions begin.

    Returns
    -------
    list of int
        Ascending. The lowest price found; of equal ones that of the first seed, then stage.

    Notes
    -----
    A stage whose parts both fit costs the price of its separator. Another costs that price for
    each bit by which the fuller part is less full than the whole was: what is too much, at that
    rate. Where nothing is cheaper, as for sequences that are all alike, just those go that are too
    many. Time: O(seeds edges log edges).
    """
    looks = sum(len(network.neighbours[k]) for k in piece) + len(piece)
    count = min(len(piece), max(_LEAST_SEEDS, _LOOKS // looks))
    seeds = random.Random(seed).sample(sorted(piece), count)
    trimmed = _trim(network, piece, sizes, prices)
    best = sum(prices[k] for k in trimmed), trimmed
    for first in sorted(seeds):
        found = _Growth(network, piece, sizes, prices, first).run(best[0])
        if found is not None:
            best = found
    return best[1]


def _trim(
    network: Network, piece: Sequence[int], sizes: Sizes, prices: Sequence[float]
) -> list[int]:
    """Return the cheapest sequences whose going makes a piece fit, connected or not.

    Of equally cheap ones those with most neighbours, then those that come first; of what there is
    most of first.
    """
    counts = sizes.count(piece)
    waiting = sorted(piece, key=lambda k: (prices[k], -len(network.neighbours[k]), k))
    trimmed = []
    for k in waiting:
        if sizes.load(counts) <= 1:
            break
        if any(counts[category] > sizes.most[category] for category in sizes.of[k]):
            trimmed.append(k)
            for category in sizes.of[k]:
                counts[category] -= 1
    return sorted(trimmed)


class _Growth:
    """A region that grows from a seed over a piece."""

    def __init__(
        self,
        network: Network,
        piece: Sequence[int],
        sizes: Sizes,
        prices: Sequence[float],
        seed: int,
    ) -> None:
        self._neighbours = network.neighbours
        self._prices = prices
        self._sizes = sizes
        self._outside = set(piece)
        self._border: set[int] = set()
        self._gains: dict[int, float] = {}
        self._heap: list[tuple[float, int]] = []
        self._price = 0.0
        self._region = sizes.count([])
        self._rest = sizes.count(piece)
        self._full = sizes.load(self._rest)
        self._touch(seed)

    def run(self, limit: float) -> tuple[float, list[int]] | None:
        """Grow over all; return the cheapest separator that costs less than `limit`."""
        best = None
        while self._heap:
            gain, joining = heappop(self._heap)
            if joining not in self._border or gain != self._gains[joining]:
                continue
            self._join(joining)
            cost = self._cost()
            if cost < limit:
                limit = cost
                best = cost, sorted(self._border)
        return best

    def _cost(self) -> float:
        fullest = max(self._sizes.load(self._region), self._sizes.load(self._rest))
        if fullest <= 1:
            return self._price
        gained = self._full - fullest
        return self._price * (self._full - 1) / gained if gained > 0 else float("inf")

    def _join(self, joining: int) -> None:
        """Take a sequence of the border into the region; its neighbours are the border's now."""
        self._border.discard(joining)
        self._price -= self._prices[joining]
        for category in self._sizes.of[joining]:
            self._region[category] += 1
        for near in self._neighbours[joining]:
            if near in self._outside:
                self._touch(near)

    def _touch(self, touched: int) -> None:
        """Move a sequence from outside to the border."""
        self._outside.discard(touched)
        self._border.add(touched)
        price = self._prices[touched]
        self._price += price
        for category in self._sizes.of[touched]:
            self._rest[category] -= 1
        gain = -price
        for near in self._neighbours[touched]:
            if near in self._outside:
                gain += self._prices[near]
            elif near in self._border:
                self._gains[near] -= price
                heappush(self._heap, (self._gains[near], near))
        self._gains[touched] = gain
        heappush(self._heap, (gain, touched))
