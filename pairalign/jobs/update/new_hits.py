"""The best hits of each query when sequences are added to a set whose hits are known.

A hit among all sequences that are not new was one among the earlier sequences, so pairs of these
are not ranked again: their hits compete with the pairs that have a new sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.best_hits import BestHits, hit_bytes, number_pairs
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.choices import RANKS
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.update.new_pairs import align_added


@dataclass(frozen=True)
class KnownHits:
    """Hits of each of the first `old` sequences of a set among themselves.

    Attributes
    ----------
    query, target, raw_score : ndarray of int32, shape (n,)
        Each hit once.
    """

    old: int
    query: Int32s
    target: Int32s
    raw_score: Int32s


@dataclass
class AddedHitsJob(HitsJob):
    """A search for hits of one set that gives those that were not known.

    Attributes
    ----------
    numbers : ndarray of int64, shape (hits,)
        After all results have come: `number_pairs` of all hits, query by query, best first.
    """

    known: KnownHits = field(kw_only=True)
    numbers: Int64s = field(init=False)

    def _rank(self, best: BestHits, start: int, stop: int) -> Iterator[Alignments]:
        best.add(self.known.query, self.known.target, self.known.raw_score)
        job = AlignmentJob.like(self, **{**self._changes_to_rank(), "resources": self.resources})
        for alignments in align_added(job, self.known.old):
            self._add(best, alignments, job)
            yield self._nothing()

    def _wanted(self, query: Int32s, target: Int32s) -> npt.NDArray[np.bool_]:
        self.numbers = number_pairs(query, target)
        known_numbers = number_pairs(self.known.query, self.known.target)
        return ~np.isin(self.numbers, known_numbers)


def can_add_hits(job: HitsJob) -> bool:
    """Whether `AddedHitsJob` is for a job: of all pairs, ranked by score, hits fit the memory."""
    fits = len(job.queries) * hit_bytes(job.ranking.most) <= job.memory_bytes // 4
    plain = job.targets is None and job.shard is None and job.pair_list is None and not job.once
    return fits and plain and job.ranking.by == RANKS[0]
