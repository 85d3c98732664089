"""Which pairs of reads must be scored on the other strand, once they are on the plus strand.

The source is ``cpu/filters/strand_filter.cpp``. An overlap on the other strand matters where it
passes, and where it scores more than one that passes on the plus strand.

Notes
-----
Thresholds may force a run of equal residues (`OverlapThresholds.forced_run`): reads without a word
in common on opposite strands have no overlap there that passes.

A match scores at most a, and whatever interrupts matches costs at least d. Let q be so small that
``a (q - 1) <= d``. With b interruptions, m matches hold at least ``m - (q - 1) (b + 1)`` q-grams
that both reads have. If they share t at most, the alignment scores at most ``a m - d b``, which is
no more than ``a (t + q - 1)``. Where that is no more than the score on the plus strand, the plus
strand is taken, also of equals.
"""

from __future__ import annotations

import threading

import numpy as np

from pairalign.base.arrays import Bools
from pairalign.base.error_types import CapacityError
from pairalign.base.native import library
from pairalign.engines.cpu.cpu_engine import SharedSet
from pairalign.engines.cpu.native_structs import NativeWindow
from pairalign.pairs.windows import Window
from pairalign.reads.overlap_kinds import describe_reaching
from pairalign.reads.reaching_pairs import ReachingPairs, column_scores
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

WORD = 11
"""Residues of words: WORD_RESIDUES in the source."""
_GRAMS = range(3, 7)
"""Of fewer residues all reads share most; more are not needed."""


class StrandFilter:
    """Drops pairs on the other strand that do not matter; may be asked from several threads.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA; overlaps that pass have a run of at least `WORD` residues.
    gram : int
        Residues of q-grams.
    match : int
        The most that a match scores.
    """

    def __init__(self, reads: SequenceSet, gram: int, match: int, threads: int) -> None:
        self._sets = SharedSet(reads), SharedSet(reads, reverse=True)
        self._numbers = gram, match, threads
        self._handle: int | None = None
        self._opening = threading.Thread(target=self._open, name="other strand", daemon=True)
        self._opening.start()  # devices get ready meanwhile

    @classmethod
    def of(cls, reads: SequenceSet, scoring: Scoring, threads: int) -> StrandFilter | None:
        """Return a filter, or None where the scoring leaves no q-grams to look at."""
        matches, others = column_scores(scoring, reads)
        if not len(matches) or matches.max() <= 0 or reads.alphabet.unambiguous != 4:
            return None
        match = int(matches.max())
        gram = 1 + min(scoring.gap_open, -int(others.max(initial=-scoring.gap_open))) // match
        return cls(reads, min(gram, _GRAMS[-1]), match, threads) if gram >= _GRAMS[0] else None

    def needed(self, window: Window, plus: ReachingPairs, both: bool, most: int) -> Bools | None:
        """Return which pairs of a window need their scores on the other strand.

        Parameters
        ----------
        plus : ReachingPairs
            Pairs that reach the least score on the plus strand.
        both : bool
            Whether it does not matter which strand scores more.
        most : int
            Pairs.

        Returns
        -------
        ndarray of bool, shape (pairs,), or None
            None: all; they are more than `most`, or finding out would take too long.

        Raises
        ------
        CapacityError
            Out of memory.
        """
        mask = np.empty(window.pairs, np.bool_)
        described, kept = describe_reaching(plus)
        self._opening.join()
        if not self._handle:
            raise CapacityError("out of memory for the words of the reads")
        count = library.pairalign_need_other_strand(
            *(self._handle, NativeWindow.of(window), described, both, window.pairs, most, mask)
        )
        del kept
        return None if count < 0 else mask

    def _open(self) -> None:
        sets = (shared_set.struct for shared_set in self._sets)
        self._handle = library.pairalign_open_strand_filter(*sets, *self._numbers)

    def close(self) -> None:
        """Free what the filter holds."""
        self._opening.join()
        handle, self._handle = self._handle, None  # before a signal can come: it is freed once
        if handle:
            library.pairalign_close_strand_filter(handle)
