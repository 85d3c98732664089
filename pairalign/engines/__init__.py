"""Engines: what aligns the pairs of a window. `Engine` is the contract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # the names of kernels are looked up without all that
    import numpy as np
    import numpy.typing as npt

    from pairalign.alignments.alignments import Alignments
    from pairalign.pairs.want import Want
    from pairalign.pairs.windows import Window


class Engine(Protocol):
    """Aligns windows of the pair matrix of the sets it was opened with.

    Every engine returns the same bytes for the same window (see docs/conventions.md).
    """

    name: str
    is_gpu: bool
    """Whether it wants more pairs at a time than the cores of a machine do."""

    def align(
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Align the pairs of `window` in their order, less those below ``want.min_raw_score``.

        Parameters
        ----------
        window : Window
        want : Want
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
