"""The pairs of an update: those that a file has, those with a new sequence, and hits of both."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import numpy as np

from pairalign.alignments.alignment_records import SetNames
from pairalign.alignments.alignments import Alignments
from pairalign.alignments.best_hits import BestHits, number_pairs, pairs_of_numbers
from pairalign.base.arrays import Int32s
from pairalign.base.choices import READER_NAMES
from pairalign.base.error_types import PartsError
from pairalign.formats import WRITERS
from pairalign.formats.output import map_file
from pairalign.formats.readers import open_reader
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.run.query_slices import can_be_cut, in_whole, jobs_of_queries
from pairalign.pairs.lists import PairList
from pairalign.sequences.sets import SequenceSet


def read_recorded_pairs(path: str, format: str, sequences: SequenceSet) -> tuple[Int32s, Int32s]:
    """Return the pairs of a file, each once: input indices, the lower first.

    Parameters
    ----------
    sequences : SequenceSet
        Aligned with itself.

    Raises
    ------
    PartsError
        The format is not read, or a name is that of no sequence.
    AlignmentFileError
        The file cannot be read.
    """
    if WRITERS[format].adds_pairs:
        return WRITERS[format].pairs_of(map_file(path))
    if format not in READER_NAMES:
        raise PartsError(
            f"{format} is not read back, so nothing can be added: write another format"
        )
    names = SetNames(sequences)
    reader = open_reader(path, format, (names, names))
    numbers = [np.empty(0, np.int64)]
    try:
        for piece in reader.pieces():
            records = reader.read(piece).records
            query, target = records["query"], records["target"]
            if (query < 0).any() or (target < 0).any():
                raise PartsError(f"'{path}': a record has a name that no sequence of its run has")
            low, high = np.minimum(query, target), np.maximum(query, target)
            numbers.append(np.unique(number_pairs(low, high)))
    finally:
        reader.close()
    return pairs_of_numbers(np.unique(np.concatenate(numbers)))


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


@dataclass
class AddedHitsJob(HitsJob):
    """A search for hits of one set, some of whose pairs are known to be none.

    A hit among all sequences that are not new was one among the earlier sequences: of the pairs of
    these, hits alone are ranked again, with the pairs that have a new sequence.

    Attributes
    ----------
    known : PairList
        Pairs of the first `old` sequences that may be hits.
    old : int
        The sequences after these are new.
    """

    known: PairList = field(kw_only=True)
    old: int = field(kw_only=True)

    def _rank(self, best: BestHits, start: int, stop: int) -> Iterator[Alignments]:
        changes = self._changes_to_rank() | {"resources": self.resources}
        if len(self.known):
            listed = AlignmentJob.like(self, **changes, pair_list=self.known)
            for alignments in listed:
                self._add(best, alignments, listed)
        job = AlignmentJob.like(self, **changes)
        for alignments in align_added(job, self.old):
            self._add(best, alignments, job)
            yield self._nothing()
