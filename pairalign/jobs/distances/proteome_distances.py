"""Distances of groups of proteins: the mean of the pairs that are each other's best hits.

The best hit of a protein in another group has the highest score above 0 of those that pass the
thresholds, of equal scores the protein that comes first in the input. Two proteins are matched that
are each other's best hits. With a measure of identity, 1 less the distance is the average amino
acid identity (Konstantinidis and Tiedje 2005).

Each group is aligned with all that come after it, so that no pair within a group is; then the
matched pairs are aligned once more for their distances.

References
----------
Konstantinidis KT, Tiedje JM. Towards a genome-based taxonomy for prokaryotes. J Bacteriol
187:6258-6264, 2005.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.choices import GENOME_MEASURES
from pairalign.base.error_types import AlphabetError, CapacityError
from pairalign.clusters.splits.groups import Groups
from pairalign.jobs.distances.genome_distances import (
    Aligned,
    groups_after,
    measure_genomes,
    request_of,
)
from pairalign.jobs.distances.measures import (
    Measure,
    check_alphabet,
    find_measure,
    own_scores_of,
)
from pairalign.jobs.run.memory import default_bytes
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.distance_request import DistanceRequest
from pairalign.requests.resources import Resources
from pairalign.sequences.alphabets import PROTEIN
from pairalign.trees.distance_matrix import first_place, number_of_pairs
from pairalign.trees.group_distances import GroupDistances

_LAST = 0x7FFFFFFF
"""Of a hit as one number: its score, then `_LAST` less its target; the largest is the best."""


def measure_groups(
    request: DistanceRequest, problem: Problem, groups: Groups, resources: Resources
) -> tuple[GroupDistances, Aligned]:
    """Align the sequences of all groups, and measure how far apart the groups are.

    Parameters
    ----------
    request : DistanceRequest
        Its measure, and what hits must reach.
    problem : Problem
        Of one set.
    groups : Groups
        Each sequence is in one.
    resources : Resources

    Raises
    ------
    AlphabetError
        The measure is not meant for the sequences.
    CapacityError
        There is no memory for a hit of each protein in each group.
    FastaError, ScoringError
        See `AlignmentJob`.
    """
    assert problem.is_one_set
    if request.measure in GENOME_MEASURES:
        return measure_genomes(request, problem, groups, resources)
    sequences, measure = problem.queries, find_measure(request.measure)
    if sequences.alphabet != PROTEIN:
        raise AlphabetError(
            f"{sequences.source}: {sequences.alphabet.name} sequences, but '{measure.name}' is of "
            f"groups of proteins; of DNA take one of {', '.join(GENOME_MEASURES)}"
        )
    check_alphabet(measure, sequences)
    _check_memory(len(sequences), len(groups.names), resources)
    best, aligned = _find_best(request, problem, groups, resources)
    matched = _matched(best, groups.labels)
    distances, counts = _means(measure, problem, groups, matched, resources)
    sizes = np.bincount(groups.labels, minlength=len(groups.names)).astype(np.int64)
    first, second = np.triu_indices(len(sizes), 1)
    columns = {
        "matched": counts,
        "query_share": counts / sizes[first],
        "target_share": counts / sizes[second],
    }
    names = list(groups.names)
    found = GroupDistances(names, distances, measure.name, sizes=sizes, columns=columns)
    return found, aligned


def _check_memory(count: int, groups: int, resources: Resources) -> None:
    needed = 8 * count * groups
    limit = default_bytes() if resources.memory_bytes is None else resources.memory_bytes
    if 2 * needed > limit:
        raise CapacityError(
            f"hits of {count:,} proteins in {groups:,} groups take {needed:,} bytes, over half of "
            f"the {limit:,} that are allowed",
            needed_bytes=2 * needed,
            available_bytes=limit,
        )


def _find_best(
    request: DistanceRequest, problem: Problem, groups: Groups, resources: Resources
) -> tuple[Int64s, Aligned]:
    """Return the best hit of each protein in each group as one number, 0: none."""
    sequences, labels = problem.queries, groups.labels
    asked = request_of(request, problem)
    run = RunRequest(detail=Detail.SCORE, resources=resources)
    best = np.zeros((len(sequences), len(groups.names)), np.int64)
    aligned = Aligned()
    for ours, others in groups_after(labels, len(groups.names)):
        sets = sequences.reordered(ours), sequences.reordered(others)
        job = plan_alignment(asked, Problem(*sets, problem.scoring), run).job
        with job.open() as results:
            for found in results:
                _keep_best(best, labels, ours[found.query], others[found.target], found.raw_score)
        aligned = aligned.and_of(job)
    return best, aligned


def _keep_best(best: Int64s, labels: Int32s, query: Int32s, target: Int32s, score: Int32s) -> None:
    """Keep pairs that are better than what is known of either of their proteins."""
    kept = score > 0
    query, target, high = query[kept], target[kept], score[kept].astype(np.int64) << 32
    for one, other in ((query, target), (target, query)):
        np.maximum.at(best, (one, labels[other]), high | (_LAST - other.astype(np.int64)))


def _matched(best: Int64s, labels: Int32s) -> PairList:
    """Return the pairs that are each other's best hits; the protein of the earlier group first."""
    groups = np.arange(best.shape[1])
    one, group = np.nonzero((best > 0) & (groups > labels[:, None]))
    other = _LAST - (best[one, group] & _LAST)
    back = _LAST - (best[other, labels[one]] & _LAST)
    are_mutual = (back == one) & (best[other, labels[one]] > 0)
    return PairList(one[are_mutual].astype(np.int32), other[are_mutual].astype(np.int32))


def _means(
    measure: Measure, problem: Problem, groups: Groups, matched: PairList, resources: Resources
) -> tuple[npt.NDArray[np.float32], Int64s]:
    """Return the mean distance of the matched pairs of each two groups, and their number."""
    count = len(groups.names)
    sums, counts = np.zeros(number_of_pairs(count)), np.zeros(number_of_pairs(count), np.int64)
    if len(matched):
        run = RunRequest(detail=measure.detail_of(problem), resources=resources)
        job = plan_alignment(AlignRequest(pairs=matched), problem, run).job
        own_scores = own_scores_of(problem)
        starts = np.array([first_place(row, count) for row in range(count)])
        with job.open() as results:
            for found in results:
                ends = groups.labels[found.query], groups.labels[found.target]
                low, high = np.minimum(*ends), np.maximum(*ends)
                places = starts[low] + high - low - 1
                np.add.at(sums, places, measure.compute(found, own_scores))
                np.add.at(counts, places, 1)
    means = np.full_like(sums, measure.farthest)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means.astype(np.float32), counts
