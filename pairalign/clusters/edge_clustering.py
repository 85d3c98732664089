"""Clusters from a stream of edges, in native code (``cpu/clusters/clusters.cpp``).

An edge is a pair of sequences that are similar enough. Sequences are known by their places in the
order of `pairalign.jobs.clusters.cluster`, longest first. No edge is held.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.native import library
from pairalign.pairs.want import Wanted
from pairalign.pairs.windows import Window

_join = library.pairalign_join_sets
_roots = library.pairalign_find_roots
_assign = library.pairalign_assign_greedily


class EdgeClustering(ABC):
    """Takes edges and says in the end which sequences belong together."""

    @abstractmethod
    def add(self, one: Int32s, other: Int32s, parts: Int64s, wholes: Int64s) -> None:
        """Take some edges.

        Parameters
        ----------
        one, other : ndarray of int32, shape (edges,)
            Sequences, ``one < other``; all edges to a sequence come before those from it.
        parts, wholes : ndarray of int64, shape (edges,)
            The identities are ``parts / wholes``; both are below 2^31.
        """

    @abstractmethod
    def leaders(self) -> Int32s:
        """Return one sequence that stands for its cluster, of each sequence; int32 of shape (n,).

        It is the first, and so the longest, sequence of the cluster.
        """


class SingleLinkage(EdgeClustering):
    """Sequences that edges connect, over whatever others, are together (union-find).

    Parameters
    ----------
    count : int
        Sequences.
    """

    def __init__(self, count: int) -> None:
        self._parents = np.arange(count, dtype=np.int32)

    def add(self, one: Int32s, other: Int32s, parts: Int64s, wholes: Int64s) -> None:
        """Take some edges, in any order."""
        kept = [np.ascontiguousarray(ends, np.int32) for ends in (one, other)]
        _join(len(kept[0]), *kept, self._parents)

    def of(self, window: Window) -> Wanted:
        """Return which edges of a window still matter: those of clusters that are not connected.

        May be asked from another thread: what is connected stays so.
        """
        roots = self._parents.copy()
        _roots(len(roots), roots)
        rows = roots[window.row_start : window.row_stop]
        return Wanted(
            row_groups=rows, column_groups=roots[window.column_start : window.column_stop]
        )

    def leaders(self) -> Int32s:
        """Return the first sequence of each one's cluster, int32 of shape (n,)."""
        _roots(len(self._parents), self._parents)
        return self._parents


class GreedyLinkage(EdgeClustering):
    """Sequences go to the most similar of the representatives before them, or become one.

    Parameters
    ----------
    count : int
        Sequences.
    """

    def __init__(self, count: int) -> None:
        self._chosen = np.arange(count, dtype=np.int32)
        self._best = np.zeros(count, np.int64), np.ones(count, np.int64)
        self._taken = np.zeros(count, np.bool_)
        self._floors = np.zeros(count)

    def of(self, window: Window) -> Wanted:
        """Return which edges of a window still matter.

        Those from a sequence that has a representative do not, nor those to one whose identity with
        its representative is as high: that comes first. May be asked from another thread: what it
        says holds, for what has been taken stays so, and identities only rise.
        """
        rows = slice(window.row_start, window.row_stop)
        columns = slice(window.column_start, window.column_stop)
        return Wanted(~self._taken[rows], self._floors[columns].copy())

    def add(self, one: Int32s, other: Int32s, parts: Int64s, wholes: Int64s) -> None:
        """Take some edges; see `EdgeClustering.add` for their order."""
        ends = [np.ascontiguousarray(values, np.int32) for values in (one, other)]
        shares = [np.ascontiguousarray(values, np.int64) for values in (parts, wholes)]
        _assign(len(ends[0]), *ends, *shares, self._chosen, *self._best)
        changed = np.unique(ends[1])
        members = changed[self._chosen[changed] != changed]
        shares_of = self._best[0][members] / self._best[1][members]
        self._floors[members] = np.nextafter(shares_of, 0)
        self._taken[members] = True

    @property
    def best(self) -> tuple[Int64s, Int64s]:
        """Identities with the representatives, part by whole, shape (n,) each; 0 / 1: none."""
        return self._best

    def may_be_better(self, one: Int32s, other: Int32s, parts: Int64s, wholes: Int64s) -> Bools:
        """Which edges change something if their identities are at most ``parts / wholes``."""
        share = parts * self._best[1][other]
        least = self._best[0][other] * wholes
        may_be: Bools = (share > least) | ((share == least) & (one < self._chosen[other]))
        return may_be

    def leaders(self) -> Int32s:
        """Return the representative of each sequence, int32 of shape (n,)."""
        return self._chosen
