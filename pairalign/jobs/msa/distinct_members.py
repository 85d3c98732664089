"""What of a family is aligned: one of all copies each, in an order that the input does not decide.

The order is that of the sequences, of copies that of their names, so that a family has the same
rows whatever the order of its file. Copies have the row of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairalign.alignments.multiple import Unlike
from pairalign.jobs.msa.grouping import Grouping, Indices, graft, in_each, joins_of, ladder
from pairalign.jobs.msa.large import residues_of
from pairalign.pairs.copies import find_copies
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_joining import first_leaves


@dataclass(frozen=True)
class DistinctMembers:
    """The sequences of a family that are aligned.

    Attributes
    ----------
    aligned : SequenceSet
        Those that are aligned, in their order.
    members : ndarray of int64
        Input indices of these.
    places : ndarray of int64, shape (n,)
        Of which of these each sequence has the row.
    """

    family: SequenceSet
    aligned: SequenceSet
    members: Indices
    places: Indices

    @property
    def has_copies(self) -> bool:
        """Whether some sequences are not aligned themselves."""
        return len(self.members) < len(self.places)

    @property
    def residues(self) -> Indices:
        """For each residue of the family the place of that of which it has the column."""
        return residues_of(self.aligned, self.places)

    def tree_of_aligned(self, given: GuideTree | None) -> GuideTree | None:
        """Return a tree of the family as one of what is aligned: further copies are taken out."""
        if given is None or len(self.members) == 1:
            return None
        count = len(given)
        leaves = np.concatenate((self.members, np.setdiff1d(np.arange(count), self.members)))
        node = np.concatenate((np.argsort(leaves), np.arange(count, given.root + 1)))
        linkage = given.linkage.copy()
        linkage[:, :2] = node[given.children]
        names = [given.names[k] for k in leaves.tolist()]
        tree = GuideTree(names, node[given.children], given.lengths, linkage, given.method)
        return first_leaves(tree, len(self.members))

    def tree(self, distinct: GuideTree) -> GuideTree:
        """Return the tree of all, of that of what is aligned: copies join first."""
        names, method = list(self.family.names), distinct.method
        groups = in_each(self.places, len(self.members))
        trees = [ladder([names[k] for k in group.tolist()], method) for group in groups]
        return graft(names, Grouping(groups, trees, joins_of(distinct)), method)

    def unlike(self, distinct: Sequence[Unlike]) -> tuple[Unlike, ...]:
        """Return what is like no other: what has copies is like these."""
        evalues, counts = dict(distinct), np.bincount(self.places)
        places = enumerate(self.places.tolist())
        return tuple(
            Unlike(index, evalues[place])
            for index, place in places
            if place in evalues and counts[place] == 1
        )


def distinct_members(family: SequenceSet) -> DistinctMembers:
    """Find what of a family is aligned: one of all copies each."""
    order = family.canonical_order().astype(np.int64)
    copies = find_copies(family, None)
    numbers = np.arange(len(family)) if copies is None else copies.of_inputs()[0]
    _, firsts, places = np.unique(numbers[order], return_index=True, return_inverse=True)
    members = order[np.sort(firsts)]
    rank = np.argsort(np.argsort(firsts))
    of_each = np.empty(len(family), np.int64)
    of_each[order] = rank[places]
    return DistinctMembers(family, family.reordered(members), members, of_each)
