"""The best hits of each query when sequences are added to a set whose hits are known.

A hit among all sequences that are not new was one among the earlier sequences: of the pairs of
these, hits alone are ranked again, with the pairs that have a new sequence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.best_hits import BestHits
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.update.new_pairs import align_added
from pairalign.pairs.lists import PairList


@dataclass
class AddedHitsJob(HitsJob):
    """A search for hits of one set, some of whose pairs are known to be none.

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
