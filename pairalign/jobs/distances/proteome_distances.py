"""Distances of proteomes and genomes: of pairs that are each other's best hits, or of residues.

**Proteomes.** The distance is the mean of the pairs that are each other's best hits. The best hit
of a protein in another group has the highest score above 0 of those that pass the
thresholds, of equal scores the protein that comes first by its residues. Two proteins are matched
that are each other's best hits; copies in a group are hits alike, and as many pairs of them are
matched as the group with fewer has. A protein counts in its group's share where one of its copies
is matched. With a measure of identity, 1 less the distance is the average amino
acid identity (Konstantinidis and Tiedje 2005).

Each group is aligned with all that come after it, so that no pair within a group is, or small ones
all at once; then the matched pairs are aligned once more for their distances.

**Genomes** (average nucleotide identity), of one record or more. Every record of a genome is
aligned with every record of another: one local alignment of each two. A residue counts in the
alignment of the highest score that has it, of equal scores in that of the records that come first
by their residues. With a genome's residues that are in an alignment (*aligned*), and those opposite
an equal residue (*matched*), over both genomes::

    ANI = matched / aligned        tANI = matched / residues        coverage = aligned / residues

where the coverage is of each genome. Gaps of the other genome are aligned residues that do not
match. tANI is vclust's.

References
----------
Konstantinidis KT, Tiedje JM. Towards a genome-based taxonomy for prokaryotes. J Bacteriol
187:6258-6264, 2005.

Zielezinski A, Gudys A, Barylski J, Siminski K, Rozwalak P, Dutilh BE, Deorowicz S. Ultrafast and
accurate sequence alignment and clustering of viral genomes. Nat Methods 22:1191-1194, 2025.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.best_hits import number_pairs
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Bools, Float32s, Int32s, Int64s
from pairalign.base.choices import GENOME_MEASURES
from pairalign.base.declaration import make
from pairalign.base.error_types import AlphabetError, CapacityError, ScoringError
from pairalign.base.spelling import spelled
from pairalign.clusters.groups import Groups
from pairalign.jobs.distances.measures import Measure, check_alphabet, find_measure, own_scores_of
from pairalign.jobs.run.align import Job
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.jobs.stages.copies_engine import either_is_query
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail
from pairalign.pairs.windows import cells_of_all
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.distance_request import DistanceRequest
from pairalign.requests.resources import Resources
from pairalign.requests.similar import EvalueRules
from pairalign.results.distances_result import GroupDistances
from pairalign.sequences.alphabets import DNA, PROTEIN
from pairalign.sequences.row_order import rank_rows
from pairalign.trees.distance_matrix import first_place, number_of_pairs

if TYPE_CHECKING:
    from pairalign.jobs.run.forecast import Work

_CELLS_OF_A_JOB = 3 * 10**8
"""Which a core fills while another job is planned and its engines open."""

_LAST = 0x7FFFFFFF
"""A hit as one number: its score, then `_LAST` less its target's rank; the largest is the best."""


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

    Raises
    ------
    AlphabetError
        The measure is not meant for the sequences.
    CapacityError
        There is no memory for a hit of each protein in each group.
    FastaError, ScoringError
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
    ranks = rank_rows(sequences, sequences)[0]
    best, aligned = _find_best(request, problem, groups, ranks, resources)
    matched = _matched(best, groups.labels, ranks)
    distances = _means(measure, problem, groups, matched, resources)
    sizes = np.bincount(groups.labels, minlength=len(groups.names)).astype(np.int64)
    first, second = np.triu_indices(len(sizes), 1)
    places = matched.places(groups.labels, len(sizes))
    counts, *inside = (
        np.bincount(places, copies, len(distances)).astype(np.int64)
        for copies in (matched.copies.min(axis=1), *matched.copies.T)
    )
    columns = {
        "matched": counts,
        "query_share": inside[0] / sizes[first],
        "target_share": inside[1] / sizes[second],
    }
    names = list(groups.names)
    group_distances = GroupDistances(names, distances, measure.name, sizes=sizes, columns=columns)
    return group_distances, aligned


def groups_work(
    request: DistanceRequest, problem: Problem, groups: Groups, resources: Resources
) -> Work:
    """Return what a dry run says of distances of groups: of pairs of different ones."""
    from pairalign.jobs.run.forecast import work_of

    pairs, cells = _between(groups, problem)
    detail = Detail.CIGAR if request.measure in GENOME_MEASURES else Detail.SCORE
    run = RunRequest(detail=detail, resources=resources)
    job = plan_alignment(request_of(request, problem), problem, run).job
    strands = job.procedure.fills(job)
    return replace(work_of(job), pairs=pairs, cells=strands * cells)


def _between(groups: Groups, problem: Problem) -> tuple[int, int]:
    """Return the pairs of different groups, and their cells."""
    sizes, residues = (
        np.bincount(groups.labels, of_sequence).astype(np.int64)
        for of_sequence in (np.ones(len(problem.queries)), problem.queries.lengths)
    )
    return cells_of_all(sizes, None), cells_of_all(residues, None)


def _check_memory(count: int, groups: int, resources: Resources) -> None:
    needed = 8 * count * groups
    limit = bytes_of(resources)
    if 2 * needed > limit:
        raise CapacityError(
            f"hits of {count:,} proteins in {groups:,} groups take {needed:,} bytes, over half of "
            f"the {limit:,} that are allowed",
            needed_bytes=2 * needed,
            available_bytes=limit,
        )


@dataclass(frozen=True)
class _Matched:
    """Proteins that are each other's best hits, a pair for all of their copies.

    Attributes
    ----------
    first, second : ndarray of int32, shape (n,)
        Input indices; the protein of the earlier group first.
    copies : ndarray of int64, shape (n, 2)
        How many proteins of its group are the same as each.
    """

    first: Int32s
    second: Int32s
    copies: Int64s

    def places(self, labels: Int32s, count: int) -> Int64s:
        """Return the place of each pair's groups among all pairs of `count` groups."""
        starts = np.array([first_place(row, count) for row in range(count)], np.int64)
        first, second = labels[self.first], labels[self.second]
        return starts[first] + second - first - 1


def _find_best(
    request: DistanceRequest,
    problem: Problem,
    groups: Groups,
    ranks: Int32s,
    resources: Resources,
) -> tuple[Int64s, Aligned]:
    """Return the best hit of each protein in each group as one number, 0: none."""
    labels = groups.labels
    options = request_of(request, problem)
    run = RunRequest(detail=Detail.SCORE, resources=resources)
    best = np.zeros((len(labels), len(groups.names)), np.int64)
    devices: tuple[str, ...] = ()
    for part, ours, others in _problems(options.evalues, problem, groups):
        job = plan_alignment(options, part, run).job
        with job.open() as results:
            for hits in results:
                ends = ours[hits.query], others[hits.target]
                _keep_best(best, labels, ranks, *ends, hits.raw_score)
        devices = job.devices
    return best, Aligned(*_between(groups, problem), devices)


def _problems(
    evalues: EvalueRules, problem: Problem, groups: Groups
) -> Iterator[tuple[Problem, Int32s, Int32s]]:
    """Yield sets that have all pairs of different groups, and the input indices of both sides.

    Small groups are aligned in one job, with their own pairs: less than to open engines for each.
    What E-values are made of may depend on the sets, and scores on which one is the query.
    """
    sequences, labels, count = problem.queries, groups.labels, len(groups.names)
    cells = (np.bincount(labels, sequences.lengths) ** 2).sum() / 2
    is_by_pair = evalues.max_evalue is None and either_is_query(problem.scoring)
    if is_by_pair and cells <= _CELLS_OF_A_JOB * (count - 1):
        every = np.arange(len(labels), dtype=np.int32)
        yield problem, every, every
        return
    for ours, others in groups_after(labels, count):
        sets = sequences.reordered(ours), sequences.reordered(others)
        yield Problem(*sets, problem.scoring), ours, others


def _keep_best(
    best: Int64s, labels: Int32s, ranks: Int32s, query: Int32s, target: Int32s, score: Int32s
) -> None:
    """Keep pairs that are better than what is known of either of their proteins."""
    kept = score > 0
    query, target, high = query[kept], target[kept], score[kept].astype(np.int64) << 32
    for protein, other in ((query, target), (target, query)):
        hits = high | (_LAST - ranks[other].astype(np.int64))
        np.maximum.at(best, (protein, labels[other]), hits)


def _matched(best: Int64s, labels: Int32s, ranks: Int32s) -> _Matched:
    """Return the pairs that are each other's best hits."""
    # A protein stands for its copies in its group, which have the same hits.
    numbers = labels.astype(np.int64) << 32 | ranks
    distinct, standing, copies = np.unique(numbers, return_index=True, return_counts=True)
    groups = np.arange(best.shape[1])
    place, group = np.nonzero((best[standing] > 0) & (groups > labels[standing][:, None]))
    protein = standing[place]
    best_hits = group.astype(np.int64) << 32 | (_LAST - (best[protein, group] & _LAST))
    near = np.searchsorted(distinct, best_hits)
    other = standing[near]
    back = best[other, labels[protein]]
    are_mutual = (back > 0) & (_LAST - (back & _LAST) == ranks[protein])
    both = np.stack((copies[place], copies[near]), axis=1)[are_mutual]
    ends = (protein[are_mutual].astype(np.int32), other[are_mutual].astype(np.int32))
    return _Matched(*ends, both)


def _means(
    measure: Measure,
    problem: Problem,
    groups: Groups,
    matched: _Matched,
    resources: Resources,
) -> Float32s:
    """Return the mean distance of the matched pairs of each two groups."""
    count = len(groups.names)
    means = np.full(number_of_pairs(count), measure.farthest)
    if not len(matched.first):
        return means.astype(np.float32)
    run = RunRequest(detail=measure.detail_of(problem), resources=resources)
    pairs = PairList(matched.first, matched.second)
    job = plan_alignment(AlignRequest(pairs=pairs), problem, run).job
    own_scores = own_scores_of(problem)
    keys, parts = [], []
    with job.open() as results:
        for alignments in results:
            keys.append(
                number_pairs(*_in_order(alignments.query, alignments.target, groups.labels))
            )
            parts.append(measure.compute(alignments, own_scores))
    order = np.argsort(np.concatenate(keys))
    pair_order = np.argsort(number_pairs(matched.first, matched.second))
    values = np.empty(len(pair_order))
    values[pair_order] = np.concatenate(parts)[order]
    weights, places = matched.copies.min(axis=1), matched.places(groups.labels, count)
    by_value = np.lexsort((weights, values, places))  # sums do not depend on the order of the input
    places, values, weights = places[by_value], values[by_value], weights[by_value]
    sums = np.bincount(places, values * weights, len(means))
    counts = np.bincount(places, weights, len(means))
    np.divide(sums, counts, out=means, where=counts > 0)
    return means.astype(np.float32)


def _in_order(query: Int32s, target: Int32s, labels: Int32s) -> tuple[Int32s, Int32s]:
    """Return the two proteins of pairs, that of the earlier group first."""
    turned = labels[query] > labels[target]
    return np.where(turned, target, query), np.where(turned, query, target)


_MATCH, _INSERTION, _DELETION = 7, 1, 2


@dataclass(frozen=True)
class Aligned:
    """What was aligned for distances of groups.

    Attributes
    ----------
    pairs, cells : int
        Of different groups, and their cells.
    """

    pairs: int = 0
    cells: int = 0
    devices: tuple[str, ...] = ()

    def and_of(self, job: Job) -> Aligned:
        """Return what was aligned, with the pairs of a job."""
        return Aligned(self.pairs + job.pairs, self.cells + job.cells, job.devices)


def request_of(request: DistanceRequest, problem: Problem) -> AlignRequest:
    """Return the request of alignments: E-values are of a database of all sequences."""
    has_limit = request.max_evalue is not None
    return make(
        AlignRequest,
        {
            "mode": problem.scoring.mode,
            "strand": request.strand,
            "min_identity": request.min_identity,
            "min_coverage": request.min_coverage,
            "max_evalue": request.max_evalue,
            "db_size": problem.queries.total_residues if has_limit else None,
            "both_ways": has_limit,
        },
    )


def groups_after(labels: Int32s, count: int) -> Iterator[tuple[Int32s, Int32s]]:
    """Yield the input indices of each group but the last, and of all groups after it."""
    for group in range(count - 1):
        ours, others = np.flatnonzero(labels == group), np.flatnonzero(labels > group)
        yield ours.astype(np.int32), others.astype(np.int32)


def measure_genomes(
    request: DistanceRequest, problem: Problem, groups: Groups, resources: Resources
) -> tuple[GroupDistances, Aligned]:
    """Align the records of all genomes, and measure how far apart the genomes are.

    Parameters
    ----------
    request, problem, groups, resources
        As for `pairalign.jobs.distances.proteome_distances.measure_groups`.

    Raises
    ------
    AlphabetError
        The sequences are no DNA.
    ScoringError
        The mode is not local.
    """
    sequences, count = problem.queries, len(groups.names)
    if sequences.alphabet != DNA:
        raise AlphabetError(
            f"{sequences.source}: {sequences.alphabet.name} sequences, but '{request.measure}' is "
            "of DNA"
        )
    if problem.scoring.mode != "local":
        raise ScoringError(
            f"genomes are aligned in parts: add {spelled('mode', 'local')}, the mode is "
            f"{problem.scoring.mode}"
        )
    options, run = request_of(request, problem), RunRequest(resources=resources)
    aligned, ranks = Aligned(), rank_rows(sequences, sequences)[0]
    counts = np.zeros((2, count, count), np.int64)  # aligned and matched, of a genome in another
    for group, (ours, others) in enumerate(groups_after(groups.labels, count)):
        sets = sequences.reordered(ours), sequences.reordered(others)
        job = plan_alignment(options, Problem(*sets, problem.scoring), run).job
        with job.open() as results:
            batches = list(results)
        if batches:
            both = concatenate(batches)
            ends = ranks[ours[both.query]], ranks[others[both.target]]
            _count(counts, group, groups.labels[others], both, ends)
        aligned = aligned.and_of(job)
    return _distances(request.measure, groups, sequences.lengths, counts), aligned


def _count(
    counts: Int64s, group: int, labels: Int32s, alignments: Alignments, ranks: tuple[Int32s, Int32s]
) -> None:
    """Count the residues of a genome that are aligned with each later one, and theirs.

    `ranks` of the two records of each alignment: those of copies are the same, and whichever of
    these comes first, the same residues count.
    """
    low, high = np.minimum(*ranks), np.maximum(*ranks)
    order = np.lexsort((high, low, -alignments.raw_score.astype(np.int64)))
    other = labels[alignments.target]
    for later in np.unique(other).tolist():
        sides = _Covered(), _Covered()
        for index in order[other[order] == later].tolist():
            for side, residues in zip(sides, _residues(alignments, index), strict=True):
                side.add(*residues)
        for side, ends in zip(sides, ((group, later), (later, group)), strict=True):
            counts[0][ends], counts[1][ends] = side.aligned, side.matched


class _Covered:
    """The residues of a genome that are in alignments so far, each once."""

    def __init__(self) -> None:
        self.aligned = self.matched = 0
        self._seen: dict[int, Bools] = {}

    def add(self, record: int, size: int, start: int, are_matched: Bools) -> None:
        """Count residues from `start` of a record of `size`, unless they have been."""
        seen = self._seen.setdefault(record, np.zeros(size, np.bool_))
        part = seen[start : start + len(are_matched)]
        self.aligned += int(np.count_nonzero(~part))
        self.matched += int(np.count_nonzero(are_matched & ~part))
        part[:] = True


def _residues(alignments: Alignments, index: int) -> Iterator[tuple[int, int, int, Bools]]:
    """Yield of both records: index, length, start of the span, which residues of it match."""
    assert alignments.cigar is not None
    assert alignments.cigar_offsets is not None
    runs = alignments.cigar[alignments.cigar_offsets[index] : alignments.cigar_offsets[index + 1]]
    operations, lengths = runs & 15, runs >> 4
    turned = alignments.strand is not None and alignments.strand[index] < 0
    for ends, starts, sets, gap in (
        (alignments.query, alignments.field("query_start"), alignments.queries, _DELETION),
        (alignments.target, alignments.field("target_start"), alignments.targets, _INSERTION),
    ):
        kept = operations != gap
        are_matched = np.repeat(operations[kept] == _MATCH, lengths[kept])
        if turned and gap == _DELETION:  # along the target, the query goes backwards
            are_matched = are_matched[::-1]
        record = int(ends[index])
        yield record, int(sets.lengths[record]), int(starts[index]), are_matched


def _distances(measure: str, groups: Groups, lengths: Int32s, counts: Int64s) -> GroupDistances:
    count = len(groups.names)
    residues = np.bincount(groups.labels, lengths, count)
    first, second = np.triu_indices(count, 1)
    query_counts, target_counts = counts[:, first, second], counts[:, second, first]
    aligned, matched = query_counts + target_counts
    ani = np.divide(matched, aligned, out=np.zeros(len(matched)), where=aligned > 0)
    columns = {
        "ani": ani,
        "tani": matched / (residues[first] + residues[second]),
        "query_coverage": query_counts[0] / residues[first],
        "target_coverage": target_counts[0] / residues[second],
    }
    sizes = np.bincount(groups.labels, minlength=count).astype(np.int64)
    distances = (1 - columns[measure]).astype(np.float32)
    return GroupDistances(list(groups.names), distances, measure, sizes=sizes, columns=columns)
