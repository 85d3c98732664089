"""A job on an executor: its tasks are shards, and the results come together in order."""

from __future__ import annotations

import pickle
from bisect import bisect_left
from concurrent.futures import Executor
from dataclasses import fields, replace
from itertools import accumulate
from typing import Any

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.base.arguments import Shard
from pairalign.base.error_types import WrongTypeError
from pairalign.jobs.run.align import AlignmentJob

MOST_TASKS = 64

_SHARED = ("queries", "targets", "scoring", "significance")

_Columns = dict[str, Any]  # arrays, and None


def align_on(executor: Executor, job: AlignmentJob) -> list[Alignments]:
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
    if not hasattr(executor, "submit"):
        raise WrongTypeError(f"executor {executor!r}: expected a concurrent.futures.Executor")
    pickled = pickle.dumps(job)
    tasks = min(MOST_TASKS, job.pairs)
    waiting = [executor.submit(_align_shard, pickled, (k, tasks)) for k in range(1, tasks + 1)]
    try:
        pieces = [piece for task in waiting for piece in task.result()]
        return [
            Alignments(
                queries=job.queries, targets=job.problem.others, scoring=job.scoring, **columns
            )
            for _, columns in sorted(pieces, key=lambda piece: piece[0])
        ]
    finally:
        for task in waiting:
            task.cancel()


def _align_shard(pickled: bytes, shard: Shard) -> list[tuple[int, _Columns]]:
    """Align a shard; return its pieces, and where each begins, without sequences."""
    job: AlignmentJob = replace(pickle.loads(pickled), shard=shard)
    ends = list(accumulate(piece.pairs for piece in job.pieces))
    parts: dict[int, list[Alignments]] = {}
    for block in job:
        start = job.pieces[bisect_left(ends, job.pairs_done)].start
        parts.setdefault(start, []).append(block)
    return [(start, _columns_of(concatenate(some))) for start, some in parts.items()]


def _columns_of(alignments: Alignments) -> _Columns:
    return {
        field.name: getattr(alignments, field.name)
        for field in fields(alignments)
        if field.name not in _SHARED
    }
