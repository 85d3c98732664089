"""The network of similar sequences: who is similar to whom, what is connected, and cuts.

A connected piece is cut in two where few sequences stand between the parts. A region grows from a
seed. What borders on it is the separator: without that, nothing connects the region with the rest.
The next sequence that joins the region is the one of the separator that makes it grow least. Of all
stages, from several seeds, the one is taken that promises the lowest price. Regions grow in native
code (``cpu/clusters/separators.cpp``).
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int32s
from pairalign.base.native import Struct, library, struct_fields
from pairalign.clusters.edge_clustering import SingleLinkage

_find_pieces = library.pairalign_find_pieces


class Network:
    """Sequences, by input index, and the edges between those that are similar enough.

    Parameters
    ----------
    count : int
        Sequences.
    one, other : ndarray of int32, shape (edges,)
        The ends of each edge; no edge comes twice.

    Attributes
    ----------
    one, other : ndarray of int32, shape (edges,)
    degrees : ndarray of int64, shape (count,)
        Neighbours of each sequence.
    starts, others : ndarray of int64, shape (count + 1,), ndarray of int32
        Where the neighbours of each sequence begin, and all of them, ascending.
    neighbours : list of list of int
        Those of each sequence, ascending.
    """

    def __init__(self, count: int, one: Int32s, other: Int32s) -> None:
        self.one, self.other = one, other
        ends = np.concatenate([one, other])
        order = np.lexsort((np.concatenate([other, one]), ends))
        self.others = np.ascontiguousarray(np.concatenate([other, one])[order], np.int32)
        self.degrees = np.bincount(ends, minlength=count)
        self.starts = np.concatenate(([0], np.cumsum(self.degrees)))
        others, starts = self.others.tolist(), self.starts.tolist()
        self.neighbours = [others[a:b] for a, b in itertools.pairwise(starts)]

    def __len__(self) -> int:
        return len(self.neighbours)

    def clusters(self) -> Int32s:
        """Return what edges connect: a number of each sequence, int32 of shape (n,).

        Clusters are numbered from 0, by their first sequences.
        """
        linkage = SingleLinkage(len(self))
        nothing = np.zeros(0, np.int64)
        linkage.add(self.one, self.other, nothing, nothing)
        return np.unique(linkage.leaders(), return_inverse=True)[1].astype(np.int32)

    def pieces(self, members: Iterable[int]) -> list[list[int]]:
        """Return the connected pieces of some sequences, each ascending, by first members."""
        chosen = np.array(sorted(members), np.int32)
        number = np.empty_like(chosen)
        count = _find_pieces(
            *(len(self), self.starts, self.others),
            *(len(chosen), chosen, number),
        )
        if count < 0:
            raise MemoryError("no memory to find pieces of a network")
        ordered = chosen[np.argsort(number, kind="stable")].tolist()
        ends = np.cumsum(np.bincount(number, minlength=count)).tolist()
        return [ordered[start:end] for start, end in itertools.pairwise([0, *ends])]


def least_removed(network: Network, pieces: Sequence[Sequence[int]], most: int) -> int:
    """Return a number of sequences that at least must go so that no piece has more than `most`.

    Parameters
    ----------
    pieces : sequence of sequences of int
        Connected ones, with more than `most` members each.
    most : int
        Members that are allowed.

    Notes
    -----
    The bounds of pieces add up, for none shares a sequence with another. Each is the largest of:

    - 1, since what is connected must be cut.
    - With r sequences removed, what stays has at most ``most - 1`` neighbours that stay, and r that
      do not. So all with more than ``most - 1 + r`` neighbours are among the r.
    - A part of the network in which each of h sequences has d neighbours or more stays connected
      until ``2 d + 2 - h`` are gone (two that are not neighbours share that number); while it is
      connected, ``h - most`` must go. The parts that are looked at are its cores.
    """
    return sum(
        max(1, _by_degrees(network, piece, most), _by_cores(network, piece, most))
        for piece in pieces
    )


def _by_degrees(network: Network, piece: Sequence[int], most: int) -> int:
    degrees = np.sort(network.degrees[np.array(piece)])[::-1]
    removed = 0
    while removed < len(piece) and int((degrees > most - 1 + removed).sum()) > removed:
        removed += 1
    return removed


def _by_cores(network: Network, piece: Sequence[int], most: int) -> int:
    """Return the best bound of all cores: peel off the sequence with fewest neighbours."""
    degrees = {k: int(network.degrees[k]) for k in piece}
    by_degree: list[set[int]] = [set() for _ in range(max(degrees.values()) + 1)]
    for k, degree in degrees.items():
        by_degree[degree].add(k)
    best = least = 0
    for left in range(len(piece), most, -1):
        while not by_degree[least]:
            least += 1
        best = max(best, min(2 * least + 2 - left, left - most))
        gone = by_degree[least].pop()
        del degrees[gone]
        for near in network.neighbours[gone]:
            if near in degrees:
                by_degree[degrees[near]].discard(near)
                degrees[near] -= 1
                by_degree[degrees[near]].add(near)
        least = max(0, least - 1)
    return best


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
