"""Pairs of consecutive queries with all others, in jobs of few sequences each.

Whatever the size of the sets, only a slice of the others is held at a time. Rows of the pair matrix
are full: of a set with itself a job has the earlier sequences, or the later ones, against the
queries, so that the earlier sequence of a pair is its query, as always.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.choices import STRANDS
from pairalign.jobs.run.align import AlignmentJob, Job
from pairalign.pairs.lists import PairList
from pairalign.sequences.block_set import BlockSet, PickedSet, indices_in_whole
from pairalign.sequences.sets import SequenceSet

_AT_A_TIME = 4096


def can_be_cut(job: Job) -> bool:
    """Whether the pairs of a job may be those of several sets.

    Of one set and of two, ties on the other strand may be other alignments.
    """
    return job.procedure.is_by_pair and job.strand == STRANDS[0]


def in_whole(alignments: Alignments, problem: Problem) -> Alignments:
    """Return results of blocks as those of the whole sets."""
    return replace(
        alignments,
        queries=problem.queries,
        targets=problem.others,
        query=indices_in_whole(alignments.queries)[alignments.query],
        target=indices_in_whole(alignments.targets)[alignments.target],
    )


def jobs_of_queries(
    job: Job, first: int, stop: int, residues: int, **changes: Any
) -> Iterator[AlignmentJob]:
    """Yield jobs that have together each pair of some queries once.

    Parameters
    ----------
    job : Job
        Of all pairs; one that `can_be_cut`.
    first, stop : int
        Half-open range of queries: input indices.
    residues : int
        About how many residues the others have together that a job holds.
    **changes
        What the jobs have otherwise.
    """
    problem = job.problem
    query_indices = np.arange(first, stop, dtype=np.int32)
    ours = PickedSet(problem.queries, problem.queries.positions_of(query_indices))
    if not problem.is_one_set:
        for start, end in _slices(problem.others, residues):
            targets = BlockSet(problem.others, [(start, end)])
            yield AlignmentJob.like(job, queries=ours, targets=targets, **changes)
        return
    if len(ours) > 1:
        yield AlignmentJob.like(job, queries=ours, targets=None, **changes)
    for start, end in _slices(problem.queries, residues):
        indices = problem.queries.indices_between(start, end)
        for are_earlier, chosen in ((True, indices < first), (False, indices >= stop)):
            if chosen.any():
                others = PickedSet(problem.queries, start + np.flatnonzero(chosen))
                queries, targets = (others, ours) if are_earlier else (ours, others)
                yield AlignmentJob.like(job, queries=queries, targets=targets, **changes)


def pairs_of_queries(problem: Problem, first: int, stop: int) -> int:
    """Count the pairs of some queries, of a set with itself each once."""
    count = stop - first
    if problem.is_one_set:
        return count * (len(problem.queries) - 1) - count * (count - 1) // 2
    return count * len(problem.others)


def cells_of_queries(problem: Problem, first: int, stop: int) -> int:
    """Count the cells of the pairs of some queries, of a set with itself each once."""
    lengths = problem.queries.lengths_at(np.arange(first, stop, dtype=np.int32)).astype(np.int64)
    total = int(lengths.sum())
    cells = total * problem.others.total_residues
    if problem.is_one_set:
        cells -= (total * total + sum(length * length for length in lengths.tolist())) // 2
    return cells


def job_of_list(job: Job, first: Int32s, second: Int32s, **changes: Any) -> AlignmentJob:
    """Return a job that aligns a list of pairs of the whole sets, and holds no other sequences."""
    problem = job.problem
    if problem.is_one_set:
        both = np.unique(np.concatenate((first, second)))
        some = PickedSet(problem.queries, problem.queries.positions_of(both))
        listed = PairList(_places(both, first), _places(both, second))
        return AlignmentJob.like(job, queries=some, targets=None, pair_list=listed, **changes)
    indices = np.unique(first), np.unique(second)
    queries, targets = (
        PickedSet(sequences, sequences.positions_of(some))
        for sequences, some in zip((problem.queries, problem.others), indices, strict=True)
    )
    listed = PairList(_places(indices[0], first), _places(indices[1], second))
    return AlignmentJob.like(job, queries=queries, targets=targets, pair_list=listed, **changes)


def lengths_of(sequences: SequenceSet, indices: Int32s) -> Int32s:
    """Return the lengths of sequences that may come several times, in any order."""
    some, places = np.unique(indices, return_inverse=True)
    return sequences.lengths_at(some)[places]


def _places(sorted_indices: Int32s, indices: Int32s) -> Int32s:
    return np.searchsorted(sorted_indices, indices).astype(np.int32)


def _slices(sequences: SequenceSet, residues: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of sorted positions of about as many residues as asked for."""
    start, before, bucket = 0, 0, 0
    for at in range(0, len(sequences), _AT_A_TIME):
        lengths = sequences.lengths_between(at, min(at + _AT_A_TIME, len(sequences)))
        ends = before + np.cumsum(lengths, dtype=np.int64)
        buckets: Int64s = (ends - lengths) // residues
        for place in np.flatnonzero(np.diff(buckets, prepend=bucket)).tolist():
            yield start, at + place
            start = at + place
        before, bucket = int(ends[-1]), int(buckets[-1])
    yield start, len(sequences)
