"""Distances of groups of sequences, with what they are means of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from pairalign.base.above import above
from pairalign.base.arrays import Int64s
from pairalign.trees.distance_matrix import DistanceMatrix, first_place
from pairalign.trees.joining import equal_rows
from pairalign.trees.linkage import cluster


@dataclass(frozen=True, eq=False, repr=False)
class GroupDistances(DistanceMatrix):
    """Distances of groups: the mean of those of pairs of sequences that are each other's best hits.

    Attributes
    ----------
    names : list of str
        Of the groups.
    condensed, measure, own, summary
        As those of `DistanceMatrix`.
    matched : ndarray of int64, shape (n(n-1)/2,)
        Sequences of each group that are matched with one of the other, of the pairs of
        `condensed`.
    sizes : ndarray of int64, shape (n,)
        Sequences of each group.
    """

    matched: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    sizes: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))

    def __repr__(self) -> str:
        count = int(self.sizes.sum())
        return f"<GroupDistances: {len(self)} groups of {count:,} sequences, {self.measure}>"

    def rows(self) -> Iterator[tuple[str, str, float, int, float, float]]:
        """Yield what the table has of each two groups.

        Yields
        ------
        (str, str, float, int, float, float)
            Names of both, their distance, matched sequences, and their share of each group.
        """
        for one, name in enumerate(self.names):
            start = first_place(one, len(self))
            for other in range(one + 1, len(self)):
                place = start + other - one - 1
                matched = int(self.matched[place])
                shares = matched / int(self.sizes[one]), matched / int(self.sizes[other])
                yield name, self.names[other], float(self.condensed[place]), matched, *shares

    def clusters(self, max_distance: float) -> list[list[str]]:
        """Cut the UPGMA tree of the groups: clusters that were joined within a distance.

        Parameters
        ----------
        max_distance : float
            The largest distance at which two clusters were joined that stay together.

        Returns
        -------
        list of list of str
            Names of the groups of each cluster, in their order.
        """
        firsts = list(range(len(self)))
        members = {k: [name] for k, name in enumerate(self.names)}
        for one, other, distance, _ in cluster(self.condensed, equal_rows(self), "upgma"):
            low, high = sorted((firsts[int(one)], firsts[int(other)]))
            firsts.append(low)
            if distance <= max_distance:
                members[low] += members.pop(high)
        order = {name: k for k, name in enumerate(self.names)}
        return [sorted(names, key=order.__getitem__) for names in members.values()]

    def write_table(self, path: str | os.PathLike[str]) -> None:
        """Write `rows` as TSV, as ``--matches`` does.

        Parameters
        ----------
        path : str or path
            The file appears when it is complete; ``.gz`` compresses.

        Raises
        ------
        OutputError
            The file cannot be written.
        """
        above("formats.group_table:write_group_table")(path, self)
