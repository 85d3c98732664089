"""Linear-gap local scores of DNA on this machine's cores, a pair in each bit of a vector.

512 pairs at a time with AVX-512, 256 with AVX2, 128 with SSE4.1 and NEON, 64 elsewhere; see
``cpu/bitwise/kernel.h``.

References
----------
T. Nishimura, J. L. Bordim, Y. Ito, K. Nakano: Accelerating the Smith-Waterman algorithm using
bitwise parallel bulk computation technique on GPU. IPDPS Workshops, 2017.
"""

from __future__ import annotations

from ctypes import c_int32

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.alignments.strands import to_original_strands
from pairalign.base.arrays import Bools, Int32s
from pairalign.base.error_types import CapacityError, DeviceError
from pairalign.base.native import library
from pairalign.base.spelling import spelled
from pairalign.engines.bitwise_scoring import linear_scores, why_not
from pairalign.engines.cpu.cpu_engine import SharedSet, instruction_set_of
from pairalign.engines.cpu.native_structs import CANCELLED, NO_MEMORY, NativeLinear, NativeWindow
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.sequences.complement import complement_of


class CpuBitwise:
    """Scores windows on the cores of this machine.

    Parameters
    ----------
    problem : Problem
        Of its scoring see `pairalign.engines.bitwise_scoring.why_not`.
    instruction_set : str or None
        One of `pairalign.engines.cpu.cpu_engine.instruction_sets`; None takes ``PAIRALIGN_ISA``
        from the environment, or the best.

    Raises
    ------
    DeviceError
        It cannot score with `scoring`, or the machine cannot run `instruction_set`.
    """

    name = "cpu"
    is_gpu = False
    on_device = None

    def __init__(
        self,
        problem: Problem,
        *,
        threads: int = 1,
        instruction_set: str | None = None,
    ) -> None:
        scoring = problem.scoring
        reason = why_not(scoring)
        if reason is not None:
            raise DeviceError(f"kernel 'bitwise': {reason}")
        self.queries, self.targets, self.scoring = problem.queries, problem.others, scoring
        self._one_set = problem.is_one_set
        self._first = SharedSet(problem.queries)
        self._second = None if problem.targets is None else SharedSet(problem.targets)
        scores = linear_scores(scoring)
        self._costs = NativeLinear(
            scores.match, scores.mismatch, scores.gap, scores.factor, scores.low_bits
        )
        self._threads = threads
        self._set = instruction_set_of(instruction_set)
        self._cancelled = c_int32(0)

    def scores(self, window: Window, pair_mask: Bools | None = None) -> Int32s:
        """Return the raw score of every pair of `window`, int32 of shape (pairs,).

        Parameters
        ----------
        pair_mask : ndarray of bool, shape (pairs,), optional
            Only these pairs are scored; the others get 0.

        Raises
        ------
        AlphabetError
            The window's strand is -1 and the sequences are not DNA.
        CapacityError
            The machine is out of memory.
        InterruptedError
            `cancel` was called.
        """
        if window.strand < 0:
            complement_of(self.scoring.alphabet)
        mask = None if pair_mask is None else np.ascontiguousarray(pair_mask, np.bool_)
        raw_scores = np.zeros(window.pairs, np.int32)
        status = library.pairalign_bitwise_scores(
            *(self._first.struct, self._second and self._second.struct),
            *(NativeWindow.of(window), self._costs, mask, self._threads, self._set.encode()),
            *(self._cancelled, raw_scores),
        )
        if status == CANCELLED:
            raise InterruptedError("alignment was cancelled")
        if status == NO_MEMORY:
            raise CapacityError(f"out of memory; lower {spelled('threads')}")
        assert status == 0
        return raw_scores

    def align(self, window: Window, want: Want, pair_mask: Bools | None = None) -> Alignments:
        """Score the pairs of `window`; see `pairalign.engines.Engine` and `scores`."""
        assert want.detail == Detail.SCORE
        scores = self.scores(window, pair_mask)
        rows, columns = window.positions()
        ones, others = self.queries.order[rows], self.targets.order[columns]
        row_first = ones < others if self._one_set else np.ones(len(ones), bool)
        alignments = Alignments(
            queries=self.queries,
            targets=self.targets,
            scoring=self.scoring,
            raw_score=scores,
            query=np.where(row_first, ones, others),
            target=np.where(row_first, others, ones),
        )
        mask = pair_mask
        if want.min_raw_score is not None:
            reach = scores >= want.min_raw_score
            mask = reach if pair_mask is None else reach & pair_mask
        return to_original_strands(alignments if mask is None else alignments.take(mask), window)

    def cancel(self) -> None:
        """Make a running `align` raise InterruptedError soon."""
        self._cancelled.value = 1

    def close(self) -> None:
        """Nothing is held."""
