"""Cutting a connected piece of a network in two: which few sequences stand between the parts.

A region grows from a seed. What borders on it is the separator: without that, nothing connects the
region with the rest. The next sequence that joins the region is the one of the separator that makes
it grow least. Of all stages, from several seeds, the one is taken that promises the lowest price.
Regions grow in native code (``cpu/clusters/separators.cpp``).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairalign.base.native import Struct, library, struct_fields
from pairalign.jobs.splits.network import Network

_LOOKS = 200_000
"""Ends of edges that are looked at for one cut, about: some hundredths of a second."""
_LEAST_SEEDS = 4

_cheapest_border = library.pairalign_cheapest_border

Counts = list[int]


class NativePricedNetwork(Struct):
    """pairalign_priced_network."""

    _fields_ = struct_fields(
        "int32 count categories; pointer starts neighbours prices counts_starts counted_in most"
    )


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
    network: Network,
    piece: Sequence[int],
    sizes: Sizes,
    prices: Sequence[float],
    seed: int,
    threads: int = 1,
) -> list[int]:
    """Return sequences without which a connected piece is in parts that are less full.

    Parameters
    ----------
    piece : sequence of int
        More than allowed.
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
    limit = sum(prices[k] for k in trimmed)
    return _find_border(network, piece, sizes, prices, seeds, limit, threads) or trimmed


def _find_border(
    network: Network,
    piece: Sequence[int],
    sizes: Sizes,
    prices: Sequence[float],
    seeds: list[int],
    limit: float,
    threads: int,
) -> list[int]:
    """Return the border that costs least of all stages; none if it does not cost less than that."""
    starts = np.cumsum([0, *map(len, sizes.of)], dtype=np.int64)
    counted_in = np.fromiter(itertools.chain.from_iterable(sizes.of), np.int32)
    costs, most = (np.array(values, np.float64) for values in (prices, sizes.most))
    members, first = (np.array(sorted(indices), np.int32) for indices in (piece, seeds))
    border = np.empty_like(members)
    native = NativePricedNetwork(
        *(len(network), len(most)),
        *(network.starts, network.others, costs, starts, counted_in, most),
    )
    count = _cheapest_border(
        *(native, len(members), members, len(first), first, limit, threads, border)
    )
    if count < 0:
        raise MemoryError("no memory to cut a cluster")
    least: list[int] = border[:count].tolist()
    return least


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
