"""Posteriors of pairs of the same two sequences are computed once a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import SparsePosteriors, pairs_at
from pairalign.base.distinct import first_of_each
from pairalign.pairs.copies import find_copies

if TYPE_CHECKING:
    from pairalign.engines.posterior_computer import PosteriorComputer
    from pairalign.sequences.sets import SequenceSet


def with_copies_once(engine: PosteriorComputer, sequences: SequenceSet) -> PosteriorComputer:
    """Return an engine that gives the same; the engine itself where no sequences are the same."""
    copies = find_copies(sequences, None)
    if copies is None:
        return engine
    return _CopiesOnce(engine, copies.of_inputs()[0])


class _CopiesOnce:
    """A `PosteriorComputer`.

    Parameters
    ----------
    contents : ndarray of int64, shape (sequences,)
        The same number for the same codes.
    """

    def __init__(self, engine: PosteriorComputer, contents: npt.NDArray[np.int64]) -> None:
        self._engine, self._contents = engine, contents
        self.is_gpu, self.residues_at_once = engine.is_gpu, engine.residues_at_once

    def compute(
        self, queries: npt.NDArray[np.int32], targets: npt.NDArray[np.int32]
    ) -> SparsePosteriors:
        """Compute the posteriors of some pairs; see `PosteriorEngine.compute`."""
        whole = self._contents[queries] * (1 + int(self._contents.max())) + self._contents[targets]
        firsts, places = first_of_each(whole)  # as they come: those of a query follow each other
        if len(firsts) == len(whole):
            return self._engine.compute(queries, targets)
        posteriors = self._engine.compute(queries[firsts], targets[firsts])
        return pairs_at(posteriors, places, queries, targets)

    def cancel(self) -> None:
        """Make a running `compute`, and each to come, raise InterruptedError."""
        self._engine.cancel()

    def close(self) -> None:
        """Free what the engine holds."""
        self._engine.close()
