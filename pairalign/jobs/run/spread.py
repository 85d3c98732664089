"""A job on an executor: its tasks are shards, and the results come together in order."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import fields, replace
from typing import Any, Protocol

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.problem import Problem
from pairalign.base.arguments import Shard
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

MOST_TASKS = 64

_SHARED = ("queries", "targets", "scoring", "significance")

_Columns = dict[str, Any]  # arrays, and None


class Shardable(Protocol):
    """What `align_on` needs of an `AlignmentJob`, a dataclass with a `shard`."""

    queries: SequenceSet
    scoring: Scoring

    @property
    def problem(self) -> Problem:
        """What is aligned with what."""

    @property
    def pairs(self) -> int:
        """Number of pairs."""

    def __iter__(self) -> Iterator[Alignments]:
        """Align."""


def align_on(executor: Executor, job: Shardable) -> list[Alignments]:
    """Align on an executor: threads, processes, or those of a cluster.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        Each task takes the sequences along, in a pickle, and opens engines of its own.
    job : AlignmentJob

    Returns
    -------
    list of Alignments
        In the order of output: what iterating over the job gives, cut elsewhere.
    """
    pickled = pickle.dumps(job)
    tasks = min(MOST_TASKS, job.pairs)
    waiting = [executor.submit(_align_shard, pickled, (k, tasks)) for k in range(1, tasks + 1)]
    try:
        return [
            Alignments(
                queries=job.queries, targets=job.problem.others, scoring=job.scoring, **columns
            )
            for columns in (task.result() for task in waiting)
            if columns is not None
        ]
    finally:
        for task in waiting:
            task.cancel()


def _align_shard(pickled: bytes, shard: Shard) -> _Columns | None:
    """Align a shard; None if it has no pairs. What comes back has no sequences in it."""
    job: Any = replace(pickle.loads(pickled), shard=shard)
    parts: list[Alignments] = list(job)
    if not parts:
        return None
    found = concatenate(parts)
    return {one.name: getattr(found, one.name) for one in fields(found) if one.name not in _SHARED}
