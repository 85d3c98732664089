"""Which sequences of a family are joined to the alignment of the others: fragments and outliers.

A fragment is like a part of others; fragments of different parts are not like each other, and no
tree has a place for them. An outlier is like nothing, and breaks what it is aligned with. Both are
found by scores with free end gaps, in whole numbers:

1. Two sequences are related if their score is above chance (`ScoreDistances.above_chance`). What is
   related to nothing is an outlier.
2. The family has the length that the most residues speak for, but no number of sequences for more
   than ten, or one in 64, do. What has less than half of it is short.
3. Short ones are fragments if two that have a long relative in common are often not related to each
   other. Domains that are alone in some sequences and a part of others mostly are; they stay, and
   what is much shorter is looked at apart.
4. Where there are fragments, all that is short is one, and what has less than two thirds if that
   shows the same; else many short outliers are.

All others are aligned first. Outliers among up to 100 of them stay, for these are aligned by all
pairs (up to 50 with rounds, see the shares of `pairalign.jobs.msa.progressive`), but where without
them there are rounds; among more than 1,000 they cost more than they spoil. An outlier that turns
out to be aligned with confidence is none (`pairalign.jobs.msa.one_family`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pairalign.jobs.msa.grouping import MOST_IN_GROUP, MOST_IN_TREE, Indices, ScoreDistances
from pairalign.jobs.msa.model_choice import MOST_OF_ALL_PAIRS
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_joining import ordered_tree

_MOST_ALIKE = (5, 8)
"""How often fragments that have a long relative in common are related to each other, at most."""

_PARTS = ((1, 2), (1, 3), (2, 9), (4, 27))
"""Of the usual length: what is shorter may be fragments, where longer domains are none."""

_LEAST_PAIRS = 20
_LEAST_SHORT = 6
"""What shows that there are fragments: such pairs, in both directions; short outliers."""

_SPEAKERS = (10, 64)
"""How many sequences speak for a length, at most: some, or one in 64."""

LEAST_FIRST = 3
"""Sequences that others are added to, at least."""

MOST_APART = 3
"""How many times as large the largest group of relatives is as those that are apart, at least."""

_COMPARED = 200
"""Scores for each sequence that looking for relatives of a few may take."""


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Latecomers:
    """What is added when the others are aligned, and what may be like no other.

    Attributes
    ----------
    added : ndarray of int64
        Input indices, ascending; none in a family without fragments and outliers.
    lonely : ndarray of int64
        Those that are related to nothing by their scores.
    apart : ndarray of int64
        Those that are related to a few others, and these to no more: copies of an outlier, say.
    doubtful : ndarray of int64
        Of the added ones those that are no fragments: relatives may be among them that are too far
        for scores.
    usual : ndarray of int64
        Those that have relatives, and are neither short nor too long.
    """

    added: Indices
    lonely: Indices
    apart: Indices
    doubtful: Indices
    usual: Indices

    @property
    def strange(self) -> Indices:
        """Those that may be like no other, ascending."""
        return np.union1d(self.lonely, self.apart)

    def without(self, indices: Indices) -> Latecomers:
        """Return latecomers without some, none of which is in doubt any more."""
        kept = np.setdiff1d(self.added, indices)
        return replace(self, added=kept, doubtful=np.zeros(0, np.int64))

    def among(self, indices: Indices) -> Latecomers:
        """Return what is known of some sequences that are aligned without the others."""
        lonely, apart, usual = (
            np.flatnonzero(np.isin(indices, one)) for one in (self.lonely, self.apart, self.usual)
        )
        nothing = np.zeros(0, np.int64)
        return Latecomers(nothing, lonely, apart, nothing, usual)

    def compared_with(self, first: SequenceSet) -> Indices:
        """Return which of the others the added ones may be compared with: of large families some.

        The same for any order of the input.
        """
        count = len(first)
        most = count if count <= MOST_IN_TREE else _COMPARED * count // len(self.added)
        return evenly(first.canonical_order().astype(np.int64), most)


def find_latecomers(sequences: SequenceSet, scores: ScoreDistances) -> Latecomers:
    """Find fragments and outliers.

    Parameters
    ----------
    sequences : SequenceSet
        Two or more.
    scores : ScoreDistances
        Of them.

    Returns
    -------
    Latecomers
    """
    count = len(sequences)
    related, columns, lonely = _relatives(sequences, scores)
    lengths = sequences.lengths.astype(np.int64)
    length = _usual_length(lengths[~lonely])
    short, long = 2 * lengths < length, 2 * lengths > 3 * length
    added = _fragments(related, columns, lengths, length)
    if not added.any() and int((lonely & short).sum()) >= _LEAST_SHORT:
        added = lonely & short
    is_fragment = added.copy()
    first = count - int(added.sum())
    related_ones = count - int((added | lonely).sum())
    if MOST_IN_TREE >= first > MOST_OF_ALL_PAIRS or first > MOST_IN_GROUP >= related_ones:
        added |= lonely
    if count - int(added.sum()) < LEAST_FIRST:
        added[:] = False
    doubtful = added & ~is_fragment
    usual = ~(added | lonely | short | long)
    apart = _apart(related) if len(columns) == count else np.zeros(count, bool)
    return Latecomers(*map(np.flatnonzero, (added, lonely, apart, doubtful, usual)))


def _relatives(sequences: SequenceSet, scores: ScoreDistances) -> tuple[Flags, Indices, Flags]:
    """Return which sequences (rows) are related to some (columns), these, and which to none."""
    count = len(sequences)
    everything = np.arange(count)
    if count <= MOST_IN_TREE:
        table = np.zeros((count, count), np.int64)
        first, second = np.triu_indices(count, 1)
        table[first, second] = table[second, first] = scores.of_all()
        related = scores.above_chance(table, everything, everything)
        return related, everything, _none(related)
    seeds = scores.seeds()
    related = scores.above_chance(scores.to_seeds(), everything, seeds)
    lonely = _none(related)
    left = np.flatnonzero(lonely)
    if len(left) > count // 2:  # too many to look at more closely
        lonely[:] = False
    elif len(left):
        others = evenly(sequences.order.astype(np.int64), _COMPARED * count // len(left))
        found = scores.above_chance(scores.between(left, others), left, others)
        lonely[left] = _none(found)
    return related, seeds, lonely


def _apart(related: Flags) -> Flags:
    """Return which sequences are in a small group of relatives that has no other relatives."""
    count = len(related)
    group = np.arange(count)
    while True:
        joined = np.minimum(group, np.where(related, group, count).min(axis=1))
        if np.array_equal(joined, group):
            break
        group = joined[joined]
    sizes = np.bincount(group, minlength=count)
    own = sizes[group]
    apart: Flags = (own > 1) & (MOST_APART * own <= sizes.max())
    return apart


def _none(related: Flags) -> Flags:
    lonely: Flags = ~np.logical_or.reduce(related, axis=1)
    return lonely


def evenly(indices: Indices, most: int) -> Indices:
    """Return at most `most` of some indices, evenly spaced."""
    taken = min(len(indices), max(most, 1))
    return indices[np.arange(taken, dtype=np.int64) * len(indices) // taken]


def _usual_length(lengths: Indices) -> int:
    """Return the length for which the most residues speak; 0 for no sequences.

    A sequence speaks for its length and all shorter ones. That no more than some do keeps many
    fragments from it; that they are some, a few sequences of several domains.
    """
    if not len(lengths):
        return 0
    some, one_in = _SPEAKERS
    longest = np.sort(lengths)[::-1]
    speakers = np.minimum(np.arange(1, len(lengths) + 1), max(some, -(-len(lengths) // one_in)))
    return int(longest[(longest * speakers).argmax()])


def _fragments(related: Flags, columns: Indices, lengths: Indices, length: int) -> Flags:
    """Return which sequences are fragments, by a length that most residues speak for."""
    for times, of in _PARTS:
        short = of * lengths < times * length
        if _are_fragments(related, columns, short, ~short):
            if of == 2:
                short |= _longer_fragments(related, columns, lengths, length)
            return short
    return np.zeros(len(lengths), bool)


def _longer_fragments(related: Flags, columns: Indices, lengths: Indices, length: int) -> Flags:
    """Return which of those that have a half to two thirds of a length are fragments."""
    short, long = 3 * lengths < 2 * length, 3 * lengths >= 2 * length
    between = short & (2 * lengths >= length)
    return between & _are_fragments(related, columns, between, long)


def _are_fragments(related: Flags, columns: Indices, short: Flags, long: Flags) -> bool:
    """Whether short sequences are of different parts of the long ones.

    Each long relative that two have in common counts. The sums are exact: float32 holds whole
    numbers up to the number of columns.
    """
    of_short, of_long = columns[short[columns]], long[columns]
    to_long = related[:, of_long].astype(np.float32)
    common = (to_long[short] @ to_long[of_short].T).astype(np.int64)
    common[np.flatnonzero(short)[:, np.newaxis] == of_short] = 0
    alike = int(common[related[short][:, short[columns]]].sum())
    times, of = _MOST_ALIKE
    enough = np.count_nonzero(common) >= _LEAST_PAIRS
    return bool(enough and of * alike < times * int(common.sum()))


def graft_latecomers(tree: GuideTree, sequences: SequenceSet, order: Indices) -> GuideTree:
    """Return the tree of all sequences: latecomers join at the root, one after the other.

    Parameters
    ----------
    tree : GuideTree
        Of the first of `order`.
    sequences : SequenceSet
        All.
    order : ndarray of int64
        Input indices: those of the tree, then latecomers.
    """
    count, first = len(sequences), len(tree)
    node = np.concatenate((order[:first], count + np.arange(first - 1)))
    links = tree.linkage.copy()
    links[:, :2] = node[links[:, :2].astype(np.int64)]
    height, root = float(links[-1, 2]), count + first - 2
    late = order[first:]
    late = late[np.argsort(sequences.canonical_order().argsort()[late])][::-1]
    tops = root + np.arange(len(late))
    more = [tops, late, np.full(len(late), height), first + 1 + np.arange(len(late))]
    linkage = np.vstack((links, np.column_stack(more)))
    children = linkage[:, :2].astype(np.int64)
    lengths = np.vstack((tree.lengths, np.column_stack((0 * tops, np.full(len(late), height / 2)))))
    return ordered_tree(list(sequences.names), children, lengths, linkage, tree.method)
