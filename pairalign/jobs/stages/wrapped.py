"""What wraps an engine and is one itself: it aligns in its own way, all else goes to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pairalign.engines import Engine, OnDevice

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pairalign.alignments.alignments import Alignments
    from pairalign.pairs.want import Want
    from pairalign.pairs.windows import Window


class WrappedEngine:
    """Base of the stages of a job that wrap an engine.

    Parameters
    ----------
    engine : Engine
        Closed with the wrapper.

    Attributes
    ----------
    name, is_gpu
        Those of `engine`.
    on_device : OnDevice or None
        None: what `engine` can do besides would go past the wrapper.
    """

    on_device: OnDevice | None = None

    def __init__(self, engine: Engine) -> None:
        self.name = engine.name
        self.is_gpu = engine.is_gpu
        self._engine = engine

    def align(
        self, window: Window, want: Want, pair_mask: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Align the pairs of `window`; see `pairalign.engines.Engine`."""
        return self._engine.align(window, want, pair_mask)

    def cancel(self) -> None:
        """Make a running `align` return early by raising."""
        self._engine.cancel()

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()
