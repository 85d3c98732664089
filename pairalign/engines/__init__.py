"""Engines: what aligns the pairs of a window. `Engine` is the contract, `Want` what to compute."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pairalign.alignments import Alignments
from pairalign.windows import Window


class Detail(IntEnum):
    """How much of an alignment is wanted; each level includes the ones before it."""

    SCORE = 0
    STATS = 1
    CIGAR = 2


@dataclass(frozen=True)
class Want:
    """What an engine computes for the pairs of a window.

    Attributes
    ----------
    detail : Detail
        SCORE, STATS (spans, matches, columns) or CIGAR.
    min_raw_score : int or None
        Only pairs with at least this raw (scaled) score are traced and returned.
    """

    detail: Detail = Detail.CIGAR
    min_raw_score: int | None = None


class Engine(Protocol):
    """Aligns windows of the pair matrix of the sets it was opened with.

    Every engine returns the same bytes for the same window (see the conventions in the README).
    """

    name: str

    def align(
        self, window: Window, want: Want, keep: npt.NDArray[np.bool_] | None = None
    ) -> Alignments:
        """Align the pairs of `window` in their order, less those below ``want.min_raw_score``.

        Parameters
        ----------
        window : Window
        want : Want
        keep : ndarray of bool, shape (pairs of the window,), optional
            Only these pairs are aligned and returned.
        """
        ...

    def cancel(self) -> None:
        """Make a running `align` return early by raising; called from another thread."""
        ...

    def close(self) -> None:
        """Give memory and device back."""
        ...
