"""Copies of a sequence in a family: one of them is aligned, the others get its row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import Unlike
from pairalign.base.distinct import first_of_each
from pairalign.jobs.msa.grouping import Grouping, Indices, Join, subset
from pairalign.jobs.msa.large import graft, residues_of
from pairalign.jobs.msa.latecomers import MOST_APART
from pairalign.pairs.copies import find_copies
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree


@dataclass(frozen=True)
class FamilyCopies:
    """Which sequences of a family are the same.

    Attributes
    ----------
    sequences : SequenceSet
        All.
    firsts : ndarray of int64
        Input indices of the first of all copies each, ascending.
    places : ndarray of int64, shape (n,)
        Of which of these each sequence is a copy.
    """

    sequences: SequenceSet
    firsts: Indices
    places: Indices

    def distinct(self) -> SequenceSet:
        """Return the sequences, each once."""
        return subset(self.sequences, self.firsts)

    def columns(self, distinct: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the columns of all residues by those of `distinct`."""
        return distinct[residues_of(self.distinct(), self.places)]

    def tree(self, distinct: GuideTree | None) -> GuideTree:
        """Return the tree of all: copies join first. None: of one distinct sequence."""
        groups = [np.flatnonzero(self.places == k) for k in range(len(self.firsts))]
        trees = [_ladder([self.sequences.names[k] for k in group.tolist()]) for group in groups]
        joins = [] if distinct is None else distinct.linkage.tolist()
        own = [Join(int(one), int(other), apart / 2) for one, other, apart, _ in joins]
        return graft(self.sequences, Grouping(groups, trees, own))

    def unlike(self, distinct: Sequence[Unlike]) -> tuple[Unlike, ...]:
        """Return what is like no other but its copies, unless these are many."""
        counts, most = np.bincount(self.places), len(self.places) // (1 + MOST_APART)
        shares = {k: share for k, share in distinct if counts[k] <= max(most, 1)}
        places = enumerate(self.places.tolist())
        return tuple(Unlike(index, shares[place]) for index, place in places if place in shares)


def find_family_copies(sequences: SequenceSet) -> FamilyCopies | None:
    """Find the sequences that are the same; None: there are none."""
    found = find_copies(sequences, None)
    if found is None:
        return None
    return FamilyCopies(sequences, *first_of_each(found.of_inputs()[0]))


def _ladder(names: list[str]) -> GuideTree:
    """Return the tree of sequences that are the same."""
    count = len(names)
    merges = np.arange(1, count)
    before = np.where(merges == 1, 0, count + merges - 2)
    links = np.column_stack((before, merges, np.zeros(count - 1), merges + 1)).astype(np.float64)
    children = links[:, :2].astype(np.int64)
    return GuideTree(names, children, np.zeros((count - 1, 2)), links, "upgma")
