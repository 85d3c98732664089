"""Engines: what aligns the pairs of a window. `Engine` is the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pairalign.pairs.want import Detail

if TYPE_CHECKING:  # the names of kernels are looked up without all that
    import numpy as np
    import numpy.typing as npt

    from pairalign.alignments.alignments import Alignments
    from pairalign.alignments.problem import Problem
    from pairalign.engines.cpu.cpu_pair_filter import PairFilter
    from pairalign.pairs.want import Want
    from pairalign.pairs.windows import Window
    from pairalign.reads.reaching_pairs import ReachingPairs
    from pairalign.scoring.scoring import Scoring
    from pairalign.sequences.sets import SequenceSet


class EngineRequest(NamedTuple):
    """What engines are opened for, and what they may use.

    Attributes
    ----------
    threads : int
        Of the CPU engine, which also takes pairs that a device has no room for.
    memory_bytes : int
        What that engine may use; a quarter of it is pinned for results of devices at most.
    device_bytes : int or None
        Memory to use on each device; None: nearly all that is free.
    kernel : str or None
        A kernel of `pairalign.engines.kernels.KERNELS` instead of ``"auto"``, the best that can.
    detail : Detail
        The most detail of all windows; some kernels compute scores only.
    per_device : int or None
        Engines that share a device; None: as many as keep it busy if they do nothing else.
    """

    problem: Problem
    threads: int = 1
    memory_bytes: int = 1 << 30
    device_bytes: int | None = None
    kernel: str | None = None
    detail: Detail = Detail.CIGAR
    per_device: int | None = None

    @property
    def cells(self) -> int:
        """Cells of all pairs' matrices, about."""
        rows, targets = self.problem.queries.total_residues, self.problem.targets
        return rows * rows // 2 if targets is None else rows * targets.total_residues


class OnDevice(Protocol):
    """Stages of a job that some engines can do on their device, see `CudaEngine`."""

    @property
    def queries(self) -> SequenceSet:
        """The sequences of the rows."""
        ...

    @property
    def scoring(self) -> Scoring:
        """What they are scored with."""
        ...

    def open_pair_filter(self, host: PairFilter) -> Any:
        """Open a filter of pairs on the device that drops the pairs that `host` does."""
        ...

    def reach(
        self, window: Window, least: int, least_by_end: npt.NDArray[np.int32]
    ) -> ReachingPairs | None:
        """Score all pairs of a window; of semiglobal ones look at where they end, too."""
        ...

    def align_numbers(
        self, window: Window, want: Want, numbers: npt.NDArray[np.int64]
    ) -> Alignments | None:
        """Align some pairs of a window, named by their numbers in it."""
        ...


class Engine(Protocol):
    """Aligns windows of the pair matrix of the sets it was opened with.

    Every engine returns the same bytes for the same window (see docs/conventions.md).
    """

    name: str
    is_gpu: bool
    """Whether it wants more pairs at a time than the cores of a machine do."""

    @property
    def on_device(self) -> OnDevice | None:
        """What its device can do of a job's stages; None: the host does them."""
        ...

    def align(
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Align the pairs of `window` in their order, less those below ``want.min_raw_score``.

        Parameters
        ----------
        pair_mask : ndarray of bool, shape (pairs of the window,), optional
            Only these pairs are aligned and returned.
        """
        ...

    def cancel(self) -> None:
        """Make a running `align` return early by raising; called from another thread."""
        ...

    def close(self) -> None:
        """Give memory and device back."""
        ...
