"""Distances of a set with copies: those of distinct sequences, given to all of their copies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Float32s, Int32s, Int64s
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.memory import PAIR_BYTES
from pairalign.jobs.run.procedure import PlainProcedure
from pairalign.jobs.stages.copies_engine import either_is_query
from pairalign.pairs.copies import find_copies
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import first_place, lower_places

_WORTH = 0.5
"""Share of the sequences up to which a run is made of representatives alone."""


@dataclass(frozen=True)
class _Groups:
    """Sequences of a set that are the same.

    Attributes
    ----------
    numbers : ndarray of intp, shape (sequences,)
        The group of each, by the order of the input.
    firsts, seconds : ndarray of int32
        The first sequence of each group; the second one of each that has several.
    """

    numbers: npt.NDArray[np.intp]
    firsts: Int32s
    seconds: Int32s

    @classmethod
    def of(cls, numbers: Int64s) -> _Groups:
        """Return the groups of sequences with the same number, ascending."""
        _, firsts, groups = np.unique(numbers, return_index=True, return_inverse=True)
        others = np.ones(len(groups), np.bool_)
        others[firsts] = False
        later = np.flatnonzero(others)
        seconds = later[np.unique(groups[later], return_index=True)[1]]
        return cls(groups.astype(np.intp), firsts.astype(np.int32), seconds.astype(np.int32))


@dataclass(frozen=True)
class DistinctRun:
    """A run over representatives of all sequences.

    Attributes
    ----------
    job : AlignmentJob
        Of one set, over one of each group and then a second one of those that have several: the
        distance of copies is one of its results. Of two sets, over one of each group.
    """

    job: AlignmentJob
    rows: _Groups
    columns: _Groups

    def spread(self, distances: Float32s) -> Float32s:
        """Return the distances of all pairs, of those that the job has."""
        if self.job.targets is not None:
            by_row = distances.reshape(len(self.rows.firsts), -1)
            spread = np.empty((len(self.rows.numbers), len(self.columns.numbers)), np.float32)
            for number, row in zip(self.rows.numbers, spread, strict=True):
                np.take(by_row[number], self.columns.numbers, out=row, mode="clip")
            return spread.ravel()
        groups, count = self.rows.numbers, len(self.rows.numbers)
        condensed = np.empty(count * (count - 1) // 2, np.float32)
        members = np.argsort(groups, kind="stable")
        last, values = -1, distances
        for index in members.tolist():
            if groups[index] != last:
                last = int(groups[index])
                values = self._row(distances, last)
            start = first_place(index, count)
            place = condensed[start : start + count - 1 - index]
            np.take(values, groups[index + 1 :], out=place, mode="clip")
        return condensed

    def _row(self, distances: Float32s, group: int) -> Float32s:
        """Return the distances of a group's sequence to one of each group."""
        groups = self.rows
        count, distinct = len(groups.firsts) + len(groups.seconds), len(groups.firsts)
        row, start = np.empty(distinct, np.float32), first_place(group, count)
        row[:group] = distances[lower_places(group, count)]
        row[group + 1 :] = distances[start : start + distinct - 1 - group]
        second = np.searchsorted(groups.numbers[groups.seconds], group)
        row[group] = distances[
            min(start + distinct - 1 - group + second, len(distances) - 1)
        ]  # if any
        return row


def distinct_run(run: AlignmentJob) -> DistinctRun | None:
    """Return a run that has all distances of another; None where that is not worth it.

    Parameters
    ----------
    run : AlignmentJob
        Over all pairs of a set, or of two.
    """
    is_whole = run.only is None and run.shard is None
    is_plain = is_whole and type(run.procedure) is PlainProcedure
    if not is_plain or (run.targets is None and not either_is_query(run.scoring)):
        return None
    copies = find_copies(run.queries, run.targets)
    if copies is None:
        return None
    numbers = copies.of_inputs()
    rows = _Groups.of(numbers[0])
    if run.targets is None:
        columns, kept = rows, np.concatenate((rows.firsts, rows.seconds))
        pairs, targets = len(kept) * (len(kept) - 1) // 2, None
    else:
        columns, kept = _Groups.of(numbers[1]), rows.firsts
        pairs = len(kept) * len(columns.firsts)
        targets = _chosen(run.targets, columns.firsts)
    held_bytes = PAIR_BYTES * pairs
    if pairs > _WORTH**2 * run.problem.pairs or held_bytes > run.memory_bytes // 2:
        return None
    queries = _chosen(run.queries, kept)
    held_bytes += run.held_bytes
    job = replace(run, queries=queries, targets=targets, held_bytes=held_bytes)
    return DistinctRun(job, rows, columns)


def _chosen(sequences: SequenceSet, places: Int32s) -> SequenceSet:
    return sequences if len(places) == len(sequences) else sequences.reordered(places)
