"""Pairs of a set that have a new sequence: with earlier ones, and among themselves.

Engines get sets of some sequences, so that rows of the pair matrix are full, however new sequences
are spread among earlier ones by their lengths.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.query_slices import can_be_cut, in_whole
from pairalign.sequences.block_set import BlockSet


def align_added(job: AlignmentJob, old: int) -> Generator[Alignments, None, None]:
    """Align the pairs of a set with itself that have a new sequence.

    Parameters
    ----------
    job : AlignmentJob
        Of all pairs.
    old : int
        Sequences that are not new: the first ones of the input.

    Yields
    ------
    Alignments
        Of the sets of `job`, in an order of their own; each pair once, the earlier sequence is the
        query, as in the results of `job`.
    """
    if not can_be_cut(job):
        yield from AlignmentJob.like(job, only=(old, len(job.queries)))
        return
    earlier, added = split_set(job, old)
    for queries, targets in ((earlier, added), (added, None)):
        if targets is None and len(queries) == 1:
            continue
        part = AlignmentJob.like(job, queries=queries, targets=targets)
        for block in part:
            yield in_whole(block, job.problem)
        job.steps, job.devices = part.steps, part.devices


def split_set(job: AlignmentJob, old: int) -> tuple[BlockSet, BlockSet]:
    """Return the first `old` sequences of the queries, and the others."""
    are_new = job.queries.order >= old
    return _of_positions(job, ~are_new), _of_positions(job, are_new)


def _of_positions(job: AlignmentJob, chosen: npt.NDArray[np.bool_]) -> BlockSet:
    """Return the sequences at some sorted positions."""
    edges = np.flatnonzero(np.diff(chosen, prepend=False, append=False)).tolist()
    return BlockSet(job.queries, zip(edges[::2], edges[1::2], strict=True))
