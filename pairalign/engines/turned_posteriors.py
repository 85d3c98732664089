"""Posteriors of pairs whose target is much longer are computed with the target along the rows.

A row begins and ends with gaps as long as what its columns are more than its rows, and their cost
is the range of its values; with the longer sequence along the rows, the rows' scales take it up.
Pairs with one long sequence also have it in common then, and share a vector.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import SparsePosteriors, with_sides_changed

if TYPE_CHECKING:
    from pairalign.engines.posterior_computer import PosteriorComputer
    from pairalign.scoring.posterior_models import PosteriorModel
    from pairalign.sequences.sets import SequenceSet

_MOST_BITS = 256
"""Of a gap's cost in a row: twice what float32 leaves (``common/posterior_scaling.h``), so that few
pairs are turned that it holds as they are."""


def with_long_turned(
    engine: PosteriorComputer, sequences: SequenceSet, model: PosteriorModel
) -> PosteriorComputer:
    """Return an engine that gives the same; the engine itself where lengths are like enough."""
    most = int(_MOST_BITS / -math.log2(model.extend_long))
    if np.ptp(sequences.lengths) <= most:
        return engine
    return _TurnedPosteriors(engine, sequences.lengths.astype(np.int64), most)


class _TurnedPosteriors:
    """A `PosteriorComputer`.

    Parameters
    ----------
    lengths : ndarray of int64, shape (sequences,)
    most : int
        Residues that a target may have more than the query.
    """

    def __init__(
        self, engine: PosteriorComputer, lengths: npt.NDArray[np.int64], most: int
    ) -> None:
        self._engine, self._lengths, self._most = engine, lengths, most
        self.is_gpu, self.residues_at_once = engine.is_gpu, engine.residues_at_once

    def compute(
        self, queries: npt.NDArray[np.int32], targets: npt.NDArray[np.int32]
    ) -> SparsePosteriors:
        """Compute the posteriors of some pairs; see `PosteriorEngine.compute`."""
        is_turned = self._lengths[targets] - self._lengths[queries] > self._most
        if not is_turned.any():
            return self._engine.compute(queries, targets)
        rows = np.where(is_turned, targets, queries)
        columns = np.where(is_turned, queries, targets)
        return with_sides_changed(self._engine.compute(rows, columns), is_turned)

    def cancel(self) -> None:
        """Make a running `compute`, and each to come, raise InterruptedError."""
        self._engine.cancel()

    def close(self) -> None:
        """Free what the engine holds."""
        self._engine.close()
