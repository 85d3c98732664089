"""Distances of groups of sequences, with what else is known of each two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int64s
from pairalign.trees.distance_matrix import DistanceMatrix, first_place
from pairalign.trees.tree_joining import cluster, cut_tree, equal_rows


@dataclass(frozen=True, eq=False, repr=False)
class GroupDistances(DistanceMatrix):
    """Distances of groups, as proteomes and genomes.

    Attributes
    ----------
    names : list of str
        Of the groups.
    condensed, measure, own, summary
        As those of `DistanceMatrix`.
    sizes : ndarray of int64, shape (n,)
        Sequences of each group.
    columns : dict of str to ndarray, shape (n(n-1)/2,)
        What else is known of the pairs of `condensed`: of proteomes ``matched``, how many proteins
        are each other's best hits, and their share of both, ``query_share`` and ``target_share``;
        of genomes ``ani``, ``tani``, and of both the share of residues that are aligned,
        ``query_coverage`` and ``target_coverage``.
    """

    sizes: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    def __repr__(self) -> str:
        count = int(self.sizes.sum())
        return f"<GroupDistances: {len(self)} groups of {count:,} sequences, {self.measure}>"

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield what the table has of each two groups.

        Yields
        ------
        tuple
            Names of both, their distance, and the values of `columns`.
        """
        for index, name in enumerate(self.names):
            start = first_place(index, len(self))
            for other in range(index + 1, len(self)):
                place = start + other - index - 1
                more = (column[place].item() for column in self.columns.values())
                yield name, self.names[other], float(self.condensed[place]), *more

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
        leaders = cut_tree(cluster(self.condensed, equal_rows(self), "upgma"), max_distance)
        members: dict[int, list[str]] = {}
        for leader, name in zip(leaders.tolist(), self.names, strict=True):
            members.setdefault(leader, []).append(name)
        return list(members.values())
