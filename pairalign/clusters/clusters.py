"""Clusters: which sequences of a set belong together, and what stands for each cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.identities import count_coverage
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Doubles, Int32s, Int64s
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Clusters:
    """The clusters of a set; iterate over them for the names of each, representative first.

    Attributes
    ----------
    sequences : SequenceSet
    linkage : str
        One of `pairalign.base.choices.LINKAGES`.
    thresholds : PairThresholds
        What had to be attained.
    labels : ndarray of int32, shape (n,)
        The cluster of each sequence, by input index. Clusters are numbered by their longest
        sequences, the longest first.
    representatives : ndarray of int32, shape (clusters,)
        Input index of the sequence that stands for each cluster.
    order : ndarray of int32, shape (n,)
        Input indices cluster by cluster: the representative, then the others, longest first.
    alignments : Alignments
        Each sequence that is no representative, the query, with its representative, the target;
        in the order of `order`, with CIGARs.
    edges : Alignments or None
        All pairs that are similar enough, if the request keeps them; no CIGARs.
    abundances : ndarray of int64, shape (n,), or None
        How often each sequence was seen, by input index; None: headers have no ``;size=``.
    """

    sequences: SequenceSet
    linkage: str
    thresholds: PairThresholds
    labels: Int32s
    representatives: Int32s
    order: Int32s
    alignments: Alignments
    edges: Alignments | None = None
    abundances: Int64s | None = None

    def __len__(self) -> int:
        return len(self.representatives)

    def __iter__(self) -> Iterator[list[str]]:
        names = self.sequences.names
        return ([names[index] for index in self.members(k)] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<Clusters: {len(self)} of {len(self.sequences)} sequences, {self.linkage} linkage>"

    @property
    def sizes(self) -> Int64s:
        """Number of sequences of each cluster, shape (clusters,)."""
        return np.bincount(self.labels, minlength=len(self))

    @property
    def cluster_abundances(self) -> Int64s:
        """How often the sequences of each cluster were seen together, shape (clusters,)."""
        if self.abundances is None:
            return self.sizes
        summed = np.zeros(len(self), np.int64)
        np.add.at(summed, self.labels, self.abundances)
        return summed

    def by_abundance(self) -> Self:
        """Return the same clusters, numbered by `cluster_abundances`, the highest first.

        Of equals that comes first which came first before.

        Returns
        -------
        Clusters
        """
        ranked = np.argsort(-self.cluster_abundances, kind="stable")
        number = np.empty(len(self), np.int32)
        number[ranked] = np.arange(len(self), dtype=np.int32)
        labels = number[self.labels]
        return replace(
            self,
            labels=labels,
            representatives=self.representatives[ranked],
            order=self.order[np.argsort(labels[self.order], kind="stable")],
            alignments=self.alignments.take(
                np.argsort(labels[self.alignments.query], kind="stable")
            ),
        )

    def members(self, cluster: int) -> Int32s:
        """Input indices of the sequences of a cluster, the representative first."""
        starts = np.concatenate(([0], np.cumsum(self.sizes)))
        return self.order[starts[cluster] : starts[cluster + 1]]

    @property
    def rows(self) -> Int32s:
        """Place of each sequence in `alignments`, int32 of shape (n,); -1 for representatives."""
        rows = np.full(len(self.sequences), -1, np.int32)
        rows[self.alignments.query] = np.arange(len(self.alignments), dtype=np.int32)
        return rows

    @property
    def identity(self) -> Doubles:
        """Identity of each sequence with its representative, shape (n,); 1 for these."""
        return self._of_members(*self.thresholds.count_identity(self.alignments))

    @property
    def coverage(self) -> Doubles:
        """Aligned residues by those of the longer of each sequence and its representative.

        Shape (n,); 1 for representatives.
        """
        return self._of_members(*count_coverage(self.alignments))

    def _of_members(self, part: Int64s, whole: Int64s) -> Doubles:
        values = np.ones(len(self.sequences))
        values[self.alignments.query] = part / whole
        return values
