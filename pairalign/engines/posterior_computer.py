"""What computes posteriors of pairs: an engine of cores or of a GPU, or what wraps one."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import SparsePosteriors


class PosteriorComputer(Protocol):
    """An engine for posteriors: `PosteriorEngine`, or one of a GPU."""

    is_gpu: bool
    """Whether calls are best made beside each other."""

    residues_at_once: int
    """Residues of queries that it is best given at a time, memory allowing."""

    def compute(
        self, queries: npt.NDArray[np.int32], targets: npt.NDArray[np.int32]
    ) -> SparsePosteriors:
        """Compute the posteriors of some pairs; see `PosteriorEngine.compute`."""

    def cancel(self) -> None:
        """Make a running `compute`, and each to come, raise InterruptedError."""

    def close(self) -> None:
        """Free what it holds."""
