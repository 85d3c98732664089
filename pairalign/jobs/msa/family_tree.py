"""The guide tree of a family: UPGMA of the exact global scores of all pairs.

A distance is that of ``pairalign tree --measure score``: 1 minus twice the score by the scores of
both sequences with themselves (`pairalign.jobs.distances.measures`). What is a part of others, or
like none, scores badly over the whole length, and is joined late: nobody has to find it.

A family of more than `MOST_UNPARTED` sequences is parted, unless they are short and all pairs are
done sooner: each goes to the nearest of some seeds of all lengths, and each part has a tree of its
own. What a part joins late may be nearer to sequences of other parts: so all these trees are cut at
one height, and the first sequences of the pieces, which are the longest, have the tree of all their
pairs. These grow with the number of sequences, not with its square.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.problem import Problem
from pairalign.jobs.distances.distance import measure_run, plan_distances
from pairalign.jobs.distances.guide_tree import METHOD_BYTES
from pairalign.jobs.distances.measures import find_measure
from pairalign.jobs.msa.distinct_members import distinct_members
from pairalign.jobs.msa.grouping import (
    Grouping,
    Indices,
    cut_trees,
    evenly,
    graft,
    joins_of,
    ladder,
)
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.run_request import RunRequest
from pairalign.requests.distance_request import DistanceRequest
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet, join_sets
from pairalign.trees.distance_matrix import DistanceMatrix, RectangularDistances
from pairalign.trees.tree import GuideTree
from pairalign.trees.tree_joining import join_closest

if TYPE_CHECKING:
    from pairalign.jobs.run.forecast import Work

MOST_UNPARTED = 1500
"""Sequences of a family that is not parted; pieces of a larger one are the geometric mean of this
and its sequences."""

_FEWEST_CELLS = 10**11
"""Of the matrices of all pairs of a family that is parted."""

LINKAGE = "upgma"


def family_tree(sequences: SequenceSet, resources: Resources) -> GuideTree:
    """Make the guide tree of a family.

    Parameters
    ----------
    sequences : SequenceSet
        Their order decides between equal distances.

    Raises
    ------
    CapacityError
        The distances do not fit the memory.

    Notes
    -----
    Time: that of all pairs; of a parted family that of n^1.5 pairs with seeds, of about as many in
    parts, and of ``MOST_UNPARTED * n / 2`` between pieces.
    """
    count = len(sequences)
    if count == 1:
        return ladder(list(sequences.names), LINKAGE)
    if not _is_parted(sequences):
        return joined(sequences.names, pair_distances(sequences, resources).condensed)
    parts = _parts(sequences, resources)
    trees = [family_tree(sequences.reordered(part), resources) for part in parts]
    pieces, trees = cut_trees(parts, trees, isqrt(count * MOST_UNPARTED))
    firsts = sequences.reordered(np.array([piece[0] for piece in pieces]))
    above = joined(firsts.names, pair_distances(firsts, resources).condensed)
    return graft(list(sequences.names), Grouping(pieces, trees, joins_of(above)), LINKAGE)


def _parts(sequences: SequenceSet, resources: Resources) -> list[Indices]:
    """Return the sequences that are nearest to each of some seeds."""
    seeds = _seeds(sequences)
    nearest = distances_to(sequences, sequences.reordered(seeds), resources).argmin(axis=1)
    nearest[seeds] = np.arange(len(seeds))
    return [np.flatnonzero(nearest == seed) for seed in range(len(seeds))]


def _is_parted(sequences: SequenceSet) -> bool:
    cells = sequences.total_residues**2 // 2
    return len(sequences) > MOST_UNPARTED and cells > _FEWEST_CELLS


def _seeds(sequences: SequenceSet) -> Indices:
    return np.sort(evenly(sequences.order.astype(np.int64), isqrt(len(sequences))))


def trees_work(families: Iterable[SequenceSet], resources: Resources) -> Work | None:
    """Return what a dry run says of the guide trees of families: of a parted one the first step."""
    from pairalign.jobs.run.forecast import work_of

    jobs = []
    for sequences in families:
        members = distinct_members(sequences).aligned
        if len(members) > 1:
            seeds = members.reordered(_seeds(members)) if _is_parted(members) else None
            jobs.append(_plan(members, seeds, resources))
    if not jobs:
        return None
    largest = max(jobs, key=lambda job: job.cells)
    pairs, cells = sum(job.pairs for job in jobs), sum(job.cells for job in jobs)
    return replace(work_of(largest), pairs=pairs, cells=cells, what="guide trees")


def joined(names: Sequence[str], condensed: npt.NDArray[np.float32]) -> GuideTree:
    """Return the tree of some distances, in the order of a `DistanceMatrix`."""
    first = np.arange(len(names), dtype=np.int32)
    return join_closest(DistanceMatrix(list(names), condensed), first, LINKAGE)


def pair_distances(sequences: SequenceSet, resources: Resources) -> DistanceMatrix:
    """Return the distances of all pairs of some sequences, two or more."""
    distances = measure_run(_plan(sequences, None, resources), find_measure("score"))
    assert isinstance(distances, DistanceMatrix)
    return distances


def distances_to(
    sequences: SequenceSet, targets: SequenceSet, resources: Resources
) -> npt.NDArray[np.float32]:
    """Return the distances of each of some sequences, a row, and each of others, a column."""
    distances = measure_run(_plan(sequences, targets, resources), find_measure("score"))
    assert isinstance(distances, RectangularDistances)
    return distances.values


def _plan(
    sequences: SequenceSet, targets: SequenceSet | None, resources: Resources
) -> AlignmentJob:
    first, second = (
        None if one is None else join_sets([one], are_numbered=True)
        for one in (sequences, targets)  # a table cannot have each name
    )
    assert first is not None
    request = DistanceRequest(measure="score")
    problem = Problem(first, second, make_scoring(sequences.alphabet, mode="global"))
    silent = replace(resources, progress=False)
    run, tree_bytes = RunRequest(resources=silent), METHOD_BYTES[LINKAGE]
    return plan_distances(request, problem, run, 0 if second else tree_bytes)
