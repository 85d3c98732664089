"""The guide tree of a family: UPGMA of the exact global scores of all pairs.

A distance is that of ``pairalign tree``: 1 minus twice the score by the scores of both sequences
with themselves (`pairalign.jobs.distances.measures`). What is a part of others, or like none,
scores badly over the whole length, and is joined late: nobody has to find it.

A family whose pairs are more than `MOST_CELLS` is parted: each sequence goes to the nearest of some
seeds of all lengths, each part has a tree of its own, and the parts have one of the mean distances
to the seeds of each other.
"""

from __future__ import annotations

from dataclasses import replace
from math import isqrt

import numpy as np
import numpy.typing as npt

from pairalign.alignments.problem import Problem
from pairalign.jobs.distances.distance import measure_run, plan_distances
from pairalign.jobs.distances.guide_tree import METHOD_BYTES
from pairalign.jobs.distances.measures import find_measure
from pairalign.jobs.msa.grouping import Grouping, Indices, evenly, graft, joins_of, subset
from pairalign.jobs.run.run_request import RunRequest
from pairalign.requests.distance_request import DistanceRequest
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix
from pairalign.trees.rectangular_distances import AnyDistances, RectangularDistances
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_joining import join_closest

MOST_CELLS = 5 * 10**12
"""Of the matrices of all pairs: about 18,000 sequences of 170 residues."""

LINKAGE = "upgma"

_ONE = 1 << 16


def family_tree(sequences: SequenceSet, resources: Resources) -> GuideTree:
    """Make the guide tree of a family.

    Parameters
    ----------
    sequences : SequenceSet
        Two or more. Their order decides between equal distances.
    resources : Resources

    Raises
    ------
    CapacityError
        The distances do not fit the memory.

    Notes
    -----
    Time: that of all pairs, or of about n^1.5 of them where these are more than `MOST_CELLS`.
    """
    count, names = len(sequences), list(sequences.names)
    if count < 3 or sequences.total_residues**2 // 2 <= MOST_CELLS:
        return _joined(names, pair_distances(sequences, resources).condensed)
    seeds = np.sort(evenly(sequences.order.astype(np.int64), isqrt(count)))
    to_seeds = _measured(sequences, subset(sequences, seeds), resources)
    assert isinstance(to_seeds, RectangularDistances)
    nearest = to_seeds.values.argmin(axis=1)
    nearest[seeds] = np.arange(len(seeds))
    groups = [np.flatnonzero(nearest == seed) for seed in range(len(seeds))]
    trees = [_tree_of_part(sequences, group, resources) for group in groups]
    above = join_nearest(to_seeds.values, groups, list(np.arange(len(seeds))[:, np.newaxis]))
    return graft(names, Grouping(groups, trees, joins_of(above)), LINKAGE)


def single_tree(name: str) -> GuideTree:
    """Return the tree of one sequence."""
    nothing = np.zeros((0, 2))
    return GuideTree([name], nothing.astype(np.int64), nothing, np.zeros((0, 4)), LINKAGE)


def _tree_of_part(sequences: SequenceSet, group: Indices, resources: Resources) -> GuideTree:
    if len(group) == 1:
        return single_tree(sequences.names[int(group[0])])
    return family_tree(subset(sequences, group), resources)


def _joined(names: list[str], condensed: npt.NDArray[np.float32]) -> GuideTree:
    first = np.arange(len(names), dtype=np.int32)
    return join_closest(DistanceMatrix(names, condensed), first, LINKAGE)


def pair_distances(sequences: SequenceSet, resources: Resources) -> DistanceMatrix:
    """Return the distances of all pairs of some sequences, two or more."""
    found = _measured(sequences, None, resources)
    assert isinstance(found, DistanceMatrix)
    return found


def join_nearest(
    distances: npt.NDArray[np.float32], rows: list[Indices], columns: list[Indices]
) -> GuideTree:
    """Return the tree of groups by the mean distances of members to some members of the others.

    Parameters
    ----------
    distances : ndarray of float32, shape (n, m)
    rows, columns : list of ndarray of int64
        Of each group those of its members.

    Notes
    -----
    The sums are of whole numbers: the same on every machine.
    """
    order = np.concatenate(columns)
    starts = np.cumsum([0, *map(len, columns)])[:-1]
    sums = np.stack(
        [
            np.rint(distances[group] * np.float32(_ONE)).astype(np.int64).sum(axis=0)
            for group in rows
        ]
    )
    counts = np.outer([len(group) for group in rows], [len(group) for group in columns])
    means = np.add.reduceat(sums[:, order], starts, axis=1) / counts
    one, other = np.triu_indices(len(rows), 1)
    condensed = ((means + means.T)[one, other] / (2 * _ONE)).astype(np.float32)
    return _joined([str(k) for k in range(len(rows))], condensed)


def _measured(
    sequences: SequenceSet, targets: SequenceSet | None, resources: Resources
) -> AnyDistances:
    """Return distances of all pairs of a set, or of each of one with each of another."""
    one, other = (None if own is None else _numbered(own) for own in (sequences, targets))
    assert one is not None
    request = DistanceRequest(measure="score")
    problem = Problem(one, other, make_scoring(sequences.alphabet, mode="global"))
    silent = replace(resources, progress=False)
    run, tree_bytes = RunRequest(resources=silent), METHOD_BYTES[LINKAGE]
    job = plan_distances(request, problem, run, 0 if other else tree_bytes)
    return measure_run(job, find_measure("score"))


def _numbered(sequences: SequenceSet) -> SequenceSet:
    """Return sequences with numbers for names: a table cannot have each name."""
    names = list(map(str, range(len(sequences))))
    records = Records(names, names, sequences.residues.tobytes(), sequences.offsets)
    return SequenceSet(records, alphabet=sequences.alphabet, source=sequences.source)
