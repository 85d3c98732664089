"""Average nucleotide identity of genomes of one record or more.

Every record of a genome is aligned with every record of another: one local alignment of each two.
A residue counts in the alignment of the highest score that has it, of equal scores in that of the
records that come first by their residues. With a genome's residues that are in an alignment
(*aligned*), and those opposite an equal residue (*matched*), over both genomes::

    ANI = matched / aligned        tANI = matched / residues        coverage = aligned / residues

where the coverage is of each genome. Gaps of the other genome are aligned residues that do not
match. tANI is vclust's.

References
----------
Zielezinski A, Gudys A, Barylski J, Siminski K, Rozwalak P, Dutilh BE, Deorowicz S. Ultrafast and
accurate sequence alignment and clustering of viral genomes. Nat Methods 22:1191-1194, 2025.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.declaration import make
from pairalign.base.error_types import AlphabetError, ScoringError
from pairalign.base.spelling import spelled
from pairalign.clusters.splits.groups import Groups
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.distance_request import DistanceRequest
from pairalign.requests.resources import Resources
from pairalign.results.distances_result import GroupDistances
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.row_order import rank_rows

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

    def and_of(self, job: AlignmentJob) -> Aligned:
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
        self._seen: dict[int, npt.NDArray[np.bool_]] = {}

    def add(self, record: int, size: int, start: int, are_matched: npt.NDArray[np.bool_]) -> None:
        """Count residues from `start` of a record of `size`, unless they have been."""
        seen = self._seen.setdefault(record, np.zeros(size, np.bool_))
        part = seen[start : start + len(are_matched)]
        self.aligned += int(np.count_nonzero(~part))
        self.matched += int(np.count_nonzero(are_matched & ~part))
        part[:] = True


def _residues(
    alignments: Alignments, index: int
) -> Iterator[tuple[int, int, int, npt.NDArray[np.bool_]]]:
    """Yield of both records: index, length, start of the span, which residues of it match."""
    assert alignments.cigar is not None
    assert alignments.cigar_offsets is not None
    assert alignments.query_start is not None
    assert alignments.target_start is not None
    runs = alignments.cigar[alignments.cigar_offsets[index] : alignments.cigar_offsets[index + 1]]
    operations, lengths = runs & 15, runs >> 4
    turned = alignments.strand is not None and alignments.strand[index] < 0
    for ends, starts, sets, gap in (
        (alignments.query, alignments.query_start, alignments.queries, _DELETION),
        (alignments.target, alignments.target_start, alignments.targets, _INSERTION),
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
