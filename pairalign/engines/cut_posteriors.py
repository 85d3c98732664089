"""Posteriors of similar DNA sequences part by part; ``cpu/posterior/cuts.cpp`` cuts the pairs.

Parts are computed on the host, whatever computes the other pairs: the same bytes for every device.
A pair is computed as a whole where a residue beside a cut is aligned with its counterpart with a
posterior below `_SURE`. Else no posterior differs by more than the cuts are unsure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import ONE, SparsePosteriors, with_pairs
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
    sequences : SequenceSet
    """

    def __init__(
        self, engine: PosteriorComputer, host: PosteriorEngine, sequences: SequenceSet
    ) -> None:
        self._engine, self._host = engine, host
        self._is_long = sequences.lengths >= LEAST_LENGTH
        self.is_gpu, self.residues_at_once = engine.is_gpu, engine.residues_at_once

    def compute(self, queries: Indices, targets: Indices) -> SparsePosteriors:
        """Compute the posteriors of some pairs; see `PosteriorEngine.compute`."""
        long = np.flatnonzero(self._is_long[queries] & self._is_long[targets])
        if not len(long):
            return self._engine.compute(queries, targets)
        counts = np.zeros(len(queries), np.int64)
        counts[long], parts = self._host.cut(queries[long], targets[long])
        pair = np.repeat(np.arange(len(queries)), counts)
        found = self._host.compute_parts(queries[pair], targets[pair], parts)
        joined, is_sure = _join(found, parts, pair, queries, targets)
        whole = np.flatnonzero((counts == 0) | ~is_sure)
        if not len(whole):
            return joined
        others = self._engine.compute(queries[whole], targets[whole])
        return with_pairs(joined, whole, others)

    def cancel(self) -> None:
        """Make a running `compute`, and each to come, raise InterruptedError."""
        self._engine.cancel()
        self._host.cancel()

    def close(self) -> None:
        """Free what the engine holds."""
        self._engine.close()


def _join(
    found: SparsePosteriors,
    parts: npt.NDArray[np.void],
    pair: npt.NDArray[np.int64],
    queries: Indices,
    targets: Indices,
) -> tuple[SparsePosteriors, npt.NDArray[np.bool_]]:
    """Join the posteriors of parts; return whether each pair's cuts are sure: others have none."""
    part = np.repeat(np.arange(len(parts)), np.diff(found.offsets))
    rows, columns = found.rows + parts["x"][part], found.columns + parts["y"][part]
    sure = np.zeros((2, len(parts)), bool)
    firsts, lasts = np.append(True, np.diff(pair) > 0), np.append(np.diff(pair) > 0, True)
    if len(parts):
        sure[0], sure[1] = firsts, lasts
    is_sure_entry = found.values >= _SURE
    for side, name, beside in ((0, "core", 0), (1, "core_end", 1)):
        at = is_sure_entry & (rows == (parts[f"x_{name}"] - beside)[part])
        at &= columns == (parts[f"y_{name}"] - beside)[part]
        sure[side, part[at]] = True
    is_sure = np.ones(len(queries), bool)
    is_sure[pair[~sure.all(axis=0)]] = False
    inside = (rows >= parts["x_core"][part]) & (rows < parts["x_core_end"][part])
    inside &= (columns >= parts["y_core"][part]) & (columns < parts["y_core_end"][part])
    inside &= is_sure[pair[part]]
    counts = np.bincount(pair[part[inside]], minlength=len(queries))
    arithmetic = np.zeros(len(queries), np.uint8)
    np.maximum.at(arithmetic, pair, found.arithmetic)
    joined = SparsePosteriors(
        queries,
        targets,
        np.concatenate(([0], np.cumsum(counts))),
        rows[inside],
        columns[inside],
        found.values[inside],
        arithmetic,
    )
    return joined, is_sure
