"""Groups of similar sequences of a large family, and the tree that joins them.

A distance is 1 minus the score of the alignment with free end gaps by the lower score of the two
sequences with themselves, in 65536ths; of similar long DNA it comes from common words
(`pairalign.jobs.msa.word_distances`). Up to `MOST_IN_TREE` sequences UPGMA makes a tree of all
distances. Larger families are embedded as by mBed (Blackshields et al. 2010): the coordinates of a
sequence are its distances to about log2(n)^2 of all lengths. Parts that keep relatives together
(`pairalign.jobs.msa.relatives`) have a tree each, from which the groups are. Groups of different
parts may be near, so UPGMA of mean distances between four members of each joins all of them.

A group is a largest subtree of at most `MOST_IN_GROUP` sequences, along which it is aligned. All of
it is whole numbers, but UPGMA, which is the same on every machine.

References
----------
Blackshields G, Sievers F, Shi W, Wilm A, Higgins DG. Sequence embedding for fast construction of
guide trees for multiple sequence alignment. Algorithms Mol Biol 5:21, 2010.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.problem import Problem
from pairalign.jobs.distances.measures import self_scores
from pairalign.jobs.msa.relatives import part_points, parts_of_relatives, squares
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.linkage import cluster
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_joining import ordered_tree

MOST_IN_GROUP = 50
"""Sequences of a subtree that are aligned along it by posteriors alone."""

MOST_IN_TREE = 1000
"""Sequences whose distances are computed for all pairs."""

MOST_GROUPS_IN_TREE = 500
"""Groups that are compared with each other by some members of each."""

_COMPARED = 4
_ONE = 1 << 16

Indices = npt.NDArray[np.int64]
Distances = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Join:
    """Two nodes that are joined: groups from 0, then joins. `height` is half their distance."""

    first: int
    second: int
    height: float


@dataclass(frozen=True)
class Grouping:
    """Groups of sequences, and the joins that make one of them.

    Attributes
    ----------
    groups : list of ndarray of int64
        Input indices of each group, ascending.
    trees : list of GuideTree
        Of each group, over its sequences.
    joins : list of Join
        One less than there are groups; a join comes after its parts.
    """

    groups: list[Indices]
    trees: list[GuideTree]
    joins: list[Join]


@dataclass
class _Forest:
    """Trees over sequences; node n + k is join k."""

    count: int
    joins: list[Join] = field(default_factory=list)

    def grow(self, nodes: list[int], condensed: npt.NDArray[np.float32]) -> int:
        """Join nodes by UPGMA; return the root."""
        if len(nodes) == 1:
            return nodes[0]
        own = list(nodes)
        first = np.arange(len(nodes), dtype=np.int32)
        for one, other, distance, _ in cluster(condensed, first, "upgma").tolist():
            parts = (own[int(one)], own[int(other)])
            height = max(distance / 2, *(self.height(part) for part in parts))
            self.joins.append(Join(*parts, height))
            own.append(self.count + len(self.joins) - 1)
        return own[-1]

    def height(self, node: int) -> float:
        return 0.0 if node < self.count else self.joins[node - self.count].height

    def tree(self, names: list[str]) -> GuideTree:
        """Return the tree that all have become."""
        sizes, linkage, lengths = [1] * self.count, [], []
        for join in self.joins:
            parts = (join.first, join.second)
            sizes.append(sizes[join.first] + sizes[join.second])
            linkage.append([*parts, 2 * join.height / _ONE, sizes[-1]])
            lengths.append([(join.height - self.height(part)) / _ONE for part in parts])
        table = np.array(linkage)
        children = table[:, :2].astype(np.int64)
        return ordered_tree(names, children, np.array(lengths), table, "upgma")


def group_sequences(
    sequences: SequenceSet,
    *,
    threads: int,
    memory_bytes: int,
    most: int = MOST_IN_GROUP,
    scores: ScoreDistances | None = None,
) -> Grouping:
    """Part a family into groups of similar sequences.

    Parameters
    ----------
    sequences : SequenceSet
        More than `most`.
    threads, memory_bytes : int
        For the scores; they change nothing.
    most : int
        Sequences of a group.
    scores : ScoreDistances, optional
        Of the sequences, some of which may be known.

    Returns
    -------
    Grouping

    Notes
    -----
    Time: n log2(n)^2 and up to 900 n scores.
    """
    scores = scores or ScoreDistances(sequences, threads, memory_bytes)
    forest = _Forest(len(sequences))
    everything = np.arange(len(sequences))
    if len(sequences) <= MOST_IN_TREE:
        forest.grow(everything.tolist(), scores.of_all())
        return group_by_tree(forest.tree(sequences.names), most=most)
    points = scores.to_seeds()
    parts = parts_of_relatives(points, scores.of_pairs, together=most, most=MOST_IN_TREE)
    roots = [forest.grow(part.tolist(), scores.of_pairs(part)) for part in parts]
    centres = np.stack([points[part].sum(axis=0) // len(part) for part in parts])
    forest.grow(roots, _condensed(centres))
    grouping = group_by_tree(forest.tree(sequences.names), most=most)
    return replace(grouping, joins=join_groups(grouping.groups, scores))


def join_groups(groups: list[Indices], scores: ScoreDistances) -> list[Join]:
    """Return the joins of a tree of groups, by the mean distances of some members.

    Parameters
    ----------
    groups : list of ndarray of int64
        Input indices; two groups or more. The order decides between equal distances.
    scores : ScoreDistances
    """
    if len(groups) <= MOST_GROUPS_IN_TREE:
        forest = _Forest(len(groups))
        forest.grow(list(range(len(groups))), _between_groups(groups, scores))
        return [Join(join.first, join.second, join.height / _ONE) for join in forest.joins]
    points = scores.to_seeds()
    centres = np.stack([points[group].sum(axis=0) // len(group) for group in groups])
    forest = _Forest(len(groups))
    ones = np.ones(len(groups), np.int64)
    parts = part_points(centres, np.arange(len(groups)), ones, MOST_GROUPS_IN_TREE)
    roots = [
        forest.grow(part.tolist(), _between_groups([groups[k] for k in part], scores))
        for part in parts
    ]
    means = np.stack([centres[part].sum(axis=0) // len(part) for part in parts])
    forest.grow(roots, _condensed(means))
    return [Join(join.first, join.second, join.height / _ONE) for join in forest.joins]


def _between_groups(groups: list[Indices], scores: ScoreDistances) -> npt.NDArray[np.float32]:
    """Return the mean distances between some members of groups, condensed."""
    taken = np.arange(_COMPARED)
    members = np.concatenate([group[taken * len(group) // _COMPARED] for group in groups])
    kept, place = np.unique(members, return_inverse=True)
    table = np.zeros((len(kept), len(kept)), np.float32)
    first, second = np.triu_indices(len(kept), 1)
    table[first, second] = table[second, first] = scores.of_pairs(kept)
    means = [
        table[place[k * _COMPARED : (k + 1) * _COMPARED]][:, place[(k + 1) * _COMPARED :]]
        .astype(np.int64)
        .reshape(_COMPARED, -1, _COMPARED)
        .sum(axis=(0, 2))
        for k in range(len(groups) - 1)
    ]
    sums = np.concatenate([np.zeros(0, np.int64), *means])
    return (sums / _COMPARED**2).astype(np.float32)


def group_by_tree(tree: GuideTree, *, most: int = MOST_IN_GROUP) -> Grouping:
    """Take the largest subtrees of at most `most` sequences for groups."""
    roots: list[int] = []
    place: dict[int, int] = {}  # of groups and joins; groups: ~k, until it is known how many
    joins: list[tuple[int, int, float]] = []
    for merge, (_, _, distance, size) in enumerate(tree.linkage.tolist()):
        if size <= most:
            continue
        parts = tree.children[merge].tolist()
        for part in parts:
            if part not in place:
                place[part] = ~len(roots)
                roots.append(part)
        place[len(tree) + merge] = len(joins)
        joins.append((place[parts[0]], place[parts[1]], distance / 2))
    groups, trees = _subtrees(tree, roots)

    def numbered(node: int) -> int:
        return ~node if node < 0 else len(roots) + node

    shifted = [Join(numbered(one), numbered(two), height) for one, two, height in joins]
    return Grouping(groups, trees, shifted)


def _subtrees(tree: GuideTree, roots: list[int]) -> tuple[list[Indices], list[GuideTree]]:
    """Return the sequences below some nodes, which are all, and the trees that join them."""
    count, below = len(tree), np.full(tree.root + 1, len(roots))
    below[roots] = np.arange(len(roots))
    for merge in range(count - 2, -1, -1):
        if below[count + merge] < len(roots):
            below[tree.children[merge]] = below[count + merge]
    groups, merges = (_in_each(part, len(roots)) for part in (below[:count], below[count:]))
    trees = []
    for members, own in zip(groups, merges, strict=True):
        children = tree.children[own]
        of_merges = len(members) + np.searchsorted(own, children - count)
        children = np.where(children < count, np.searchsorted(members, children), of_merges)
        linkage = tree.linkage[own].copy()
        linkage[:, :2] = children
        names = [tree.names[index] for index in members.tolist()]
        trees.append(GuideTree(names, children, tree.lengths[own], linkage, tree.method))
    return groups, trees


def _in_each(group: Indices, count: int) -> list[Indices]:
    """Return what is in each of some groups, ascending; `count` and more are in none."""
    order = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[order], np.arange(count + 1))
    return np.split(order[: bounds[-1]], bounds[1:-1])


class _Related(NamedTuple):
    """What is above chance: `least` + `per_bit` * (bits of both lengths - 16), in tenths."""

    least: int
    per_bit: int


_RELATED = {True: _Related(300, 11), False: _Related(600, 26)}
"""By whether it is DNA; 28 bits for two of 200 residues, by lambda and K of local alignments."""


class ScoreDistances:
    """Distances from scores, computed when they are asked for."""

    def __init__(self, sequences: SequenceSet, threads: int, memory_bytes: int) -> None:
        self._sequences = sequences
        self._scoring = make_scoring(sequences.alphabet, mode="semiglobal")
        self._own = self_scores(sequences, self._scoring).astype(np.int64)
        used = Resources(device="cpu", threads=threads, memory=memory_bytes)
        self._run = RunRequest(detail=Detail.SCORE, resources=used)
        self._known: dict[str, npt.NDArray[Any]] = {}

    def of_all(self) -> npt.NDArray[np.float32]:
        """Return the distances of all pairs, condensed; computed once."""
        if "all" not in self._known:
            self._known["all"] = self.of_pairs(np.arange(len(self._sequences)))
        return self._known["all"]

    def seeds(self) -> Indices:
        """Return about log2(n)^2 sequences of all lengths."""
        count = len(self._sequences)
        width = count.bit_length() ** 2
        return self._sequences.order[np.arange(width, dtype=np.int64) * count // width].astype(
            np.int64
        )

    def to_seeds(self) -> Distances:
        """Return the distances of each sequence to those of `seeds`; computed once."""
        if "seeds" not in self._known:
            everything = np.arange(len(self._sequences))
            self._known["seeds"] = self.between(everything, self.seeds())
        return self._known["seeds"]

    def above_chance(
        self, distances: Distances, rows: Indices, columns: Indices
    ) -> npt.NDArray[np.bool_]:
        """Return which pairs have scores that unrelated sequences of their lengths seldom have.

        Parameters
        ----------
        distances : ndarray of int64
            A row for each of `rows`, a column for each of `columns`: input indices. None is above
            chance with itself.
        """
        most = np.minimum(self._own[rows][:, np.newaxis], self._own[columns])
        scores = -((distances - _ONE) * np.maximum(most, 1) // _ONE)
        least, per_bit = _RELATED[self._sequences.alphabet == DNA]
        bits = np.array([length.bit_length() for length in self._sequences.lengths.tolist()])
        found: npt.NDArray[np.bool_] = 10 * scores >= least + per_bit * (
            bits[rows][:, np.newaxis] + bits[columns] - 16
        )
        found[rows[:, np.newaxis] == columns] = False
        return found

    def of_pairs(self, indices: Indices) -> npt.NDArray[np.float32]:
        """Return the distances of all pairs of some sequences, condensed."""
        count = len(indices)
        condensed = np.zeros(count * (count - 1) // 2, np.float32)

        def place(query: Indices, target: Indices, distances: Distances) -> None:
            low, high = np.minimum(query, target), np.maximum(query, target)
            condensed[low * count - low * (low + 1) // 2 + high - low - 1] = distances

        if count > 1:
            self._align(indices, None, place)
        return condensed

    def between(self, first: Indices, second: Indices) -> Distances:
        """Return the distances of each of some sequences and each of others, int64."""
        table = np.zeros((len(first), len(second)), np.int64)

        def place(query: Indices, target: Indices, distances: Distances) -> None:
            table[query, target] = distances

        self._align(first, second, place)
        return table

    def _align(
        self,
        first: Indices,
        second: Indices | None,
        place: Callable[[Indices, Indices, Distances], None],
    ) -> None:
        one, other = (
            None if indices is None else subset(self._sequences, indices)
            for indices in (first, second)
        )
        assert one is not None
        job = plan_alignment(AlignRequest(), Problem(one, other, self._scoring), self._run).job
        own = self._own[first], self._own[first if second is None else second]
        with job.open() as results:
            for found in results:
                query, target = found.query.astype(np.int64), found.target.astype(np.int64)
                most = np.maximum(np.minimum(own[0][query], own[1][target]), 1)
                distances = _ONE - _ONE * found.raw_score.astype(np.int64) // most
                place(query, target, np.clip(distances, 0, _ONE))


def subset(sequences: SequenceSet, indices: Indices) -> SequenceSet:
    """Return some of the sequences, in the order of `indices`, as a set of their own."""
    bounds = sequences.offsets[indices], sequences.offsets[indices + 1]
    residues = b"".join(
        sequences.residues[start:stop].tobytes() for start, stop in zip(*bounds, strict=True)
    )
    records = Records(
        [sequences.names[index] for index in indices],
        [sequences.descriptions[index] for index in indices],
        residues,
        np.concatenate(([0], np.cumsum(bounds[1] - bounds[0]))),
    )
    return SequenceSet(records, alphabet=sequences.alphabet, source=sequences.source)


def _condensed(points: Distances) -> npt.NDArray[np.float32]:
    """Distances of all pairs of points, in the units of a coordinate."""
    rows = [squares(points[index + 1 :], points[index]) for index in range(len(points) - 1)]
    apart = np.concatenate([np.zeros(0, np.int64), *rows])
    distances: npt.NDArray[np.float32] = np.sqrt(apart / points.shape[1]).astype(np.float32)
    return distances
