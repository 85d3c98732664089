"""Pairs of a set that have a new sequence: with earlier ones, and among themselves."""

from __future__ import annotations

from collections.abc import Generator

from pairalign.alignments.alignments import Alignments
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.query_slices import can_be_cut, in_whole, jobs_of_queries


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
    count = len(job.queries)
    if not can_be_cut(job):
        yield from AlignmentJob.like(job, only=(old, count))
        return
    for part in jobs_of_queries(job, old, count, job.queries.total_residues + 1):
        for block in part:
            yield in_whole(block, job.problem)
        job.steps, job.devices = part.steps, part.devices
