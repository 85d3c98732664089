"""Greedy clusters that align the most similar representative first.

Sequences come in blocks, in canonical order or another. They are numbered in that order here;
other modules know them by places, those of the canonical order. What came before a block is
settled, so that an index of the representatives' seeds says with which of them a sequence may pass,
and how similar it may be; or common subsequences say so, where identities permit no seeds
(`pairalign.engines.cpu.representative_index`). The candidates of a sequence are aligned by that
bound, the highest first, until none that is left can be more similar than the best found, or as
similar and earlier in the order. In a block, those that no representative has taken are compared
with each other first: what becomes a representative among them is one for the rest of the block.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Int32s, Int64s
from pairalign.clusters.edge_clustering import GreedyLinkage
from pairalign.engines.cpu.cpu_engine import CpuEngine, SharedSet
from pairalign.engines.cpu.cpu_pair_filter import Grams, PairFilter
from pairalign.engines.cpu.representative_index import Candidates, Representatives
from pairalign.engines.cpu.seed_index import LEAST_IDENTITY
from pairalign.engines.kernels import AUTO
from pairalign.engines.selection import is_for_cores
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.progress import show_progress
from pairalign.jobs.stages.threshold_engine import Steps
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, mask_pairs
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST_SEQUENCES = 2000
"""Of fewer the other filters look at all pairs in the time that the index takes to be made."""

_BLOCK = 1024
_MOST_CANDIDATES = 1 << 22
"""That are found at once, about: as many of the representatives as were for other columns."""
_CHUNK = 512
"""Pairs that an engine aligns at once: a byte is held for each pair of their sequences."""


@dataclass
class GreedyClustering:
    """Clusters a set whose sequences are in canonical order.

    Parameters
    ----------
    detail : Detail
        What identities are counted of.
    order : ndarray of int32, shape (n,), or None
        The places in the order in which sequences become representatives; None: that of places.

    Attributes
    ----------
    steps : Steps
        How many pairs each step has left.
    """

    sequences: SequenceSet
    scoring: Scoring
    thresholds: PairThresholds
    detail: Detail
    resources: Resources
    order: Int32s | None = None
    steps: Steps = field(default_factory=Steps, init=False)

    def find_leaders(self, residues: int = 0) -> Int32s | None:
        """Return the place of each representative; None where all pairs may as well be aligned.

        Parameters
        ----------
        residues : int
            Of a seed; 0 chooses.

        Raises
        ------
        CapacityError, ScoringError
            As of engines.
        """
        self._shared = SharedSet(self.sequences)
        self._places = np.arange(len(self.sequences), dtype=np.int32)
        if self.order is not None:
            self._places = self.order
        pair_filter = PairFilter(
            Problem(self.sequences, None, self.scoring),
            self.thresholds,
            None,
            threads=self.resources.used_threads,
            grams=Grams.NONE,
            first=self._shared.chosen(self._places),
        )
        index = pair_filter.open_representatives(residues)
        try:
            return None if index is None else self._cluster(index)
        finally:
            if index is not None:
                index.close()
            pair_filter.close()

    def _cluster(self, index: Representatives) -> Int32s:
        count = len(self.sequences)
        self._index, self._representatives, self._share = index, 0, 0.0
        self._clusters = GreedyLinkage(count)
        self._memory_bytes = bytes_of(self.resources)
        self.steps.pairs, self.steps.seed = count * (count - 1) // 2, index.residues
        with show_progress(count, self.resources.progress, "sequences", "clustering") as meter:
            for first in range(0, count, _BLOCK):
                stop = min(first + _BLOCK, count)
                self._take_block(first, stop)
                meter.update(stop - first)
        self.steps.seedless = self.steps.pairs - index.found
        self.steps.possible = index.found
        leaders = np.empty(count, np.int32)
        leaders[self._places] = self._places[self._clusters.leaders()]
        return leaders

    def _take_block(self, first: int, stop: int) -> None:
        """Give the sequences of a block to representatives, or make them such."""
        index, leaders = self._index, self._clusters.leaders()
        step = max(1, int(_MOST_CANDIDATES / (1 + self._share * self._representatives)))
        for start in range(first, stop, step):
            candidates = self._find(start, min(start + step, stop), 0)
            pairs = step * max(1, self._representatives)
            self._share = max(self._share, len(candidates) / pairs)
            self._align_best(candidates)
        untaken = np.arange(first, stop, dtype=np.int32)
        untaken = untaken[leaders[first:stop] == untaken]
        index.add(untaken)
        candidates = self._find(first, stop, first)
        among = leaders[candidates.columns] == candidates.columns
        some = candidates.take(among)
        self._clusters.add(*self._align(some.take(np.argsort(some.rows, kind="stable"))))
        dropped = untaken[leaders[untaken] != untaken]
        index.drop(dropped)
        self._representatives += len(untaken) - len(dropped)
        self._align_best(candidates.take(~among & (leaders[candidates.rows] == candidates.rows)))

    def _find(self, first: int, stop: int, least_row: int) -> Candidates:
        clusters = self._clusters
        candidates = self._index.find(first, stop, least_row, clusters.best, clusters.leaders())
        self.steps.common += len(candidates)
        return candidates

    def _align_best(self, left: Candidates) -> None:
        """Align candidates with representatives, the best first, until none can be better."""
        clusters, width = self._clusters, 1
        while len(left):
            starts = np.flatnonzero(np.diff(left.columns, prepend=-1))
            places = np.arange(len(left)) - np.repeat(starts, np.diff(np.append(starts, len(left))))
            now = places < width
            clusters.add(*self._align(left.take(now)))
            left = left.take(~now)
            left = left.take(
                clusters.may_be_better(left.rows, left.columns, left.parts, left.wholes)
            )
            width *= 2

    def _align(self, some: Candidates) -> tuple[Int32s, Int32s, Int64s, Int64s]:
        """Return rows, columns, parts and wholes of those that pass, in the same order of rows."""
        known_pairs = some.take(some.are_known)
        edges = [(known_pairs.rows, known_pairs.columns, known_pairs.parts, known_pairs.wholes)]
        unknown_pairs = some.take(~some.are_known)
        self.steps.beatable += len(some)
        self.steps.known += len(known_pairs)
        self.steps.scoring += len(unknown_pairs)
        for aligned, numbers in self._align_chunks(unknown_pairs):
            which = self.thresholds.passing(aligned)
            self.steps.passing += len(which)
            identities = self.thresholds.count_identity(aligned.take(which))
            edges.append(
                (
                    unknown_pairs.rows[numbers[which]],
                    unknown_pairs.columns[numbers[which]],
                    *identities,
                )
            )
        rows, columns, parts, wholes = map(np.concatenate, zip(*edges, strict=True))
        order = np.argsort(rows, kind="stable")
        return rows[order], columns[order], parts[order], wholes[order]

    def _align_chunks(self, some: Candidates) -> Iterator[tuple[Alignments, Int64s]]:
        """Align pairs, some at a time, as those of a small set; yield which ones they are."""
        rows, columns = self._places[some.rows], self._places[some.columns]
        firsts, lasts = np.minimum(rows, columns), np.maximum(rows, columns)
        order = np.lexsort((lasts, firsts))
        for start in range(0, len(some), _CHUNK):
            numbers = order[start : start + _CHUNK]
            places, inverse = np.unique(
                np.concatenate((firsts[numbers], lasts[numbers])), return_inverse=True
            )
            ends = inverse.astype(np.int32).reshape(2, -1)
            window = Window(0, 0, len(places), 0, len(places), True)
            engine = CpuEngine(
                Problem(self.sequences, None, self.scoring),
                threads=self.resources.used_threads,
                memory_bytes=self._memory_bytes,
                first=self._shared.chosen(places),
            )
            try:
                mask = mask_pairs(window, *ends)
                yield engine.align(window, Want(self.detail), mask), numbers
            finally:
                engine.close()


def may_be_greedy(sequences: SequenceSet, thresholds: PairThresholds, resources: Resources) -> bool:
    """Whether it may take less time to look at representatives alone than at all pairs."""
    return (
        (thresholds.least_identity >= LEAST_IDENTITY or thresholds.is_of_shorter)
        and len(sequences) >= LEAST_SEQUENCES
        and resources.kernel in (None, AUTO)
        and is_for_cores(resources.device, sequences.total_residues**2 // 2)
    )
