"""Cutting a connected piece of a network in two: which few sequences stand between the parts.

A region grows from a seed. What borders on it is the separator: without that, nothing connects the
region with the rest. The next sequence that joins the region is the one of the separator that makes
it grow least. Of all stages, from several seeds, the one is taken that promises the lowest price.
Regions grow in native code (``cpu/clusters/separators.cpp``).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s
from pairalign.base.native import Struct, library, struct_fields
from pairalign.jobs.splits.network import Network

_LOOKS = 200_000
"""Ends of edges that are looked at for one cut, about: some hundredths of a second."""
_LEAST_SEEDS = 4

_find_separator = library.pairalign_find_separator

Counts = list[int]


class NativePricedNetwork(Struct):
    """pairalign_priced_network."""

    _fields_ = struct_fields(
        "int32 count categories counted; pointer starts neighbours prices counted_in most"
    )


@dataclass(frozen=True)
class Sizes:
    """What a part of the sequences amounts to, by category: all, then those of each label.

    Attributes
    ----------
    of : ndarray of int32, shape (n, k)
        Categories that each sequence counts in.
    most : list of float
        What a part may have of each.
    """

    of: Int32s
    most: list[float]

    def count(self, members: Sequence[int]) -> Counts:
        """Count some sequences."""
        categories = self.of[np.asarray(members, np.int32)].reshape(-1)
        counts: Counts = np.bincount(categories, minlength=len(self.most)).tolist()
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
    prices: npt.ArrayLike,
    seed: int,
    threads: int = 1,
) -> list[int]:
    """Return sequences without which a connected piece is in parts that are less full.

    Parameters
    ----------
    piece : sequence of int
        Ascending; more than allowed.
    prices : array_like of float, shape (n,)
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
    members, costs = np.array(piece, np.int32), np.asarray(prices, np.float64)
    looks = int(network.degrees[members].sum()) + len(piece)
    count = min(len(piece), max(_LEAST_SEEDS, _LOOKS // looks))
    seeds = np.array(random.Random(seed).sample(piece, count), np.int32)
    categories, most = np.ascontiguousarray(sizes.of, np.int32), np.array(sizes.most, np.float64)
    native = NativePricedNetwork(
        *(len(network), len(most), categories.shape[1]),
        *(network.starts, network.others, costs, categories, most),
    )
    separator = np.empty_like(members)
    size = _find_separator(
        *(native, len(members), members, len(seeds), np.sort(seeds), threads, separator)
    )
    if size < 0:
        raise MemoryError("no memory to cut a cluster")
    found: list[int] = separator[:size].tolist()
    return found
