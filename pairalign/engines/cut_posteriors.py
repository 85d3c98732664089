"""Posteriors of similar DNA sequences part by part; ``cpu/posterior/cuts.cpp`` cuts the pairs.

Parts are computed on the host, whatever computes the other pairs: the same bytes for every device.
Parts are merged where a residue beside the cut between them is aligned with its counterpart with a
posterior below `_SURE`. Else no posterior differs by more than the cuts are unsure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import (
    ONE,
    SparsePosteriors,
    join_posteriors,
    with_pairs,
)
from pairalign.engines.cpu.cpu_posterior import join_parts
from pairalign.sequences.alphabets import DNA

if TYPE_CHECKING:
    from pairalign.engines.cpu.cpu_posterior import PosteriorEngine
    from pairalign.engines.posterior_computer import PosteriorComputer
    from pairalign.sequences.sets import SequenceSet

LEAST_LENGTH = 400
"""Of both sequences of a pair that is cut."""

_SURE = int(0.99 * ONE)

Indices = npt.NDArray[np.int32]


def is_ever_cut(sequences: SequenceSet) -> bool:
    """Whether pairs of a set may be cut."""
    return sequences.alphabet == DNA and int((sequences.lengths >= LEAST_LENGTH).sum()) > 1


class CutPosteriors:
    """A `PosteriorComputer` that cuts pairs.

    Parameters
    ----------
    engine : PosteriorComputer
        For whole pairs.
    host : PosteriorEngine
        For parts.
    memory_bytes : int, optional
        What the threads of the host may use for parts.
    """

    def __init__(
        self,
        engine: PosteriorComputer,
        host: PosteriorEngine,
        sequences: SequenceSet,
        memory_bytes: int | None = None,
    ) -> None:
        self._engine, self._host = engine, host
        self._memory_bytes = memory_bytes
        self._is_long = sequences.lengths >= LEAST_LENGTH
        self.is_gpu, self.residues_at_once = engine.is_gpu, engine.residues_at_once

    def compute(self, queries: Indices, targets: Indices) -> SparsePosteriors:
        """Compute the posteriors of some pairs; see `PosteriorEngine.compute`."""
        long = np.flatnonzero(self._is_long[queries] & self._is_long[targets])
        if not len(long):
            return self._engine.compute(queries, targets)
        counts = np.zeros(len(queries), np.int32)
        counts[long], parts = self._host.cut(queries[long], targets[long])
        joined = self._by_parts(queries, targets, counts, parts)
        whole = np.flatnonzero(np.diff(joined.offsets) == 0)
        if not len(whole):
            return joined
        others = self._engine.compute(queries[whole], targets[whole])
        return with_pairs(joined, whole, others)

    def _by_parts(
        self,
        queries: Indices,
        targets: Indices,
        counts: Indices,
        parts: npt.NDArray[np.void],
    ) -> SparsePosteriors:
        """Return the posteriors of the pairs that are cut; the others have no entries."""
        places = np.full(len(parts), -1, np.int64)
        rounds: list[SparsePosteriors] = []
        while True:
            new = np.flatnonzero(places < 0)
            pair = np.repeat(np.arange(len(queries)), counts)[new]
            start = sum(map(len, rounds))
            new_parts = queries[pair], targets[pair], parts[new]
            rounds.append(self._host.compute_parts(*new_parts, self._memory_bytes))
            places[new] = start + np.arange(len(new))
            posteriors = rounds[0] if len(rounds) == 1 else join_posteriors(rounds)
            arguments = queries, targets, counts, parts, places, posteriors
            counts, parts, places = self._host.merge_parts(*arguments, _SURE)
            if (places >= 0).all():
                return join_parts(queries, targets, counts, parts, places, posteriors)

    def cancel(self) -> None:
        """Make a running `compute`, and each to come, raise InterruptedError."""
        self._engine.cancel()
        self._host.cancel()

    def close(self) -> None:
        """Free what the engine holds."""
        self._engine.close()
