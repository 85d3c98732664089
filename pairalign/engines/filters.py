"""Scoring every pair in bulk before any is aligned: the filter behind ``--filter bitwise``.

A `ScoreFilter` scores the pairs of a window by linear-gap local alignment
(`pairalign.engines.bitwise_scoring`), many pairs to a machine word, and says which of them reach
a threshold. Only those need an affine alignment with traceback
(``Engine.align(window, want, pair_mask)``).

References
----------
T. Nishimura, J. L. Bordim, Y. Ito, K. Nakano: Accelerating the Smith-Waterman algorithm using
bitwise parallel bulk computation technique on GPU. IPDPS Workshops, 2017.
"""

from __future__ import annotations

from collections.abc import Sequence

from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Bools, Int32s
from pairalign.base.error_types import DeviceError
from pairalign.engines import Engine, EngineRequest
from pairalign.engines.bitwise_scoring import why_not
from pairalign.engines.device.specification import parse_indices
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window


class ScoreFilter:
    """Scores windows with one engine; made by `open_filters`.

    Parameters
    ----------
    engine : Engine
        What scores; the filter closes it.

    Attributes
    ----------
    name : str
        The engine's: ``"cpu"``, ``"cuda:0"``.
    """

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self._engine = engine

    def scores(self, window: Window) -> Int32s:
        """Return the raw score of every pair of `window`, in the order of its positions.

        The window's strand counts: with -1 the sequences of the columns are reverse-complemented.

        Returns
        -------
        ndarray of int32, shape (pairs,)
            In units of ``1 / scoring.scale``.
        """
        return self._engine.align(window, Want(Detail.SCORE)).raw_score

    def passing(self, window: Window, min_raw_score: int) -> Bools:
        """Return which pairs of `window` score at least `min_raw_score`, bool of shape (pairs,)."""
        return self.scores(window) >= min_raw_score

    def cancel(self) -> None:
        """Make a running call raise InterruptedError soon."""
        self._engine.cancel()

    def close(self) -> None:
        """Give memory and device back."""
        self._engine.close()


def open_filters(
    device: str,
    problem: Problem,
    *,
    threads: int,
    memory_bytes: int,
) -> Sequence[ScoreFilter]:
    """Open filters: one on the CPU, or one on each GPU. A filter serves one thread at a time.

    Parameters
    ----------
    device : str
        ``"cpu"``, ``"cuda"`` or ``"cuda:0,1"``.
    problem : Problem
        Of its scoring: local, DNA, a match and a mismatch score, ``gap_open == gap_extend``.
    threads : int
        Of the CPU.
    memory_bytes : int
        What each device may use.

    Raises
    ------
    DeviceError
        The scoring is something else (the message says what), or the device cannot be used.
    """
    reason = why_not(problem.scoring)
    if reason is not None:
        raise DeviceError(f"bitwise filter: {reason}")
    if device == "cpu":
        from pairalign.engines.cpu.cpu_bitwise import CpuBitwise

        return [ScoreFilter(CpuBitwise(problem, threads=threads))]
    indices = parse_indices(device, "cuda")
    if indices is None:
        raise DeviceError(f"bitwise filter: runs on cpu and cuda, found device '{device}'")

    from pairalign.engines.cuda.cuda_engine import open_cuda_engines
    from pairalign.engines.cuda.cuda_selection import choose_devices

    request = EngineRequest(
        problem,
        threads=threads,
        memory_bytes=memory_bytes,
        device_bytes=memory_bytes,
        kernel="bitwise",
        detail=Detail.SCORE,
        per_device=1,
    )
    engines = open_cuda_engines(choose_devices(indices), request)
    return [ScoreFilter(engine) for engine in engines]
