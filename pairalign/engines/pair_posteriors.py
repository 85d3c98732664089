"""Posteriors of any pairs of two sets, and how sure they make the columns of alignments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.posteriors import SparsePosteriors
from pairalign.engines.cpu.cpu_posterior import mark_columns
from pairalign.engines.posterior_computer import PosteriorComputer, PosteriorRequest
from pairalign.engines.posterior_engines import (
    BATCHES,
    CALLS,
    compute_pieces,
    open_posterior_engine,
)
from pairalign.sequences.sets import SequenceSet, join_sets

_PIECE_RESIDUES = 1 << 18
"""Residues of queries whose posteriors are in memory at a time."""

Indices = npt.NDArray[np.int32]


class PairPosteriors:
    """Computes posteriors of pairs of one set, or of two.

    Parameters
    ----------
    queries, targets : SequenceSet
        The same object for pairs of one set.
    device : str
        See `open_posterior_engine`.
    cells : int
        How much there is to do, about.

    Raises
    ------
    DeviceError, KernelBuildError
        See `open_posterior_engine`.
    """

    def __init__(
        self,
        queries: SequenceSet,
        targets: SequenceSet,
        *,
        device: str,
        threads: int,
        memory_bytes: int,
        cells: int,
    ) -> None:
        self.threads = threads
        self._lengths = queries.lengths
        self._before = 0 if targets is queries else len(queries)
        self._engine: PosteriorComputer = open_posterior_engine(
            device,
            PosteriorRequest(
                queries if targets is queries else join_sets((queries, targets), are_numbered=True),
                threads=threads,
                memory_bytes=memory_bytes,
                cells=cells,
                calls=CALLS,
            ),
        )

    def pieces(self, query: Indices, target: Indices) -> Iterator[tuple[slice, SparsePosteriors]]:
        """Compute the posteriors of some pairs, as many at a time as memory is meant to hold."""
        filled = np.cumsum(self._lengths[query], dtype=np.int64) // _PIECE_RESIDUES
        bounds = [0, *(np.flatnonzero(np.diff(filled)) + 1).tolist(), len(query)]
        parts = [slice(start, stop) for start, stop in itertools.pairwise(bounds) if start < stop]
        pairs = ((query[part], target[part] + self._before) for part in parts)
        at_once = max(1, self._engine.residues_at_once // _PIECE_RESIDUES // BATCHES)
        yield from zip(parts, compute_pieces(self._engine, pairs, at_once), strict=True)

    def cancel(self) -> None:
        """Make what is computed raise InterruptedError; from any thread."""
        self._engine.cancel()

    def close(self) -> None:
        """Free what the engine holds."""
        self._engine.close()


class ColumnConfidence:
    """How sure the columns of alignments are, computed anew from posteriors of their pairs.

    Parameters
    ----------
    device : str
        See `open_posterior_engine`.
    memory_bytes : int
        As for `PairPosteriors`.
    cells : int
        How much there may be to do, about.
    """

    def __init__(self, device: str, threads: int, memory_bytes: int, cells: int = 0) -> None:
        self._options = {"threads": threads, "memory_bytes": memory_bytes, "cells": cells}
        self._device = device

    def marks(self, alignments: Alignments) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
        """Return a mark for each column; see `mark_columns`.

        Parameters
        ----------
        alignments : Alignments
            With CIGARs, on strand plus.

        Returns
        -------
        marks : ndarray of uint8
        offsets : ndarray of int64, shape (n + 1,)
        """
        posteriors = PairPosteriors(
            alignments.queries, alignments.targets, device=self._device, **self._options
        )
        try:
            parts = [
                mark_columns(piece, alignments[part], posteriors.threads)[0]
                for part, piece in posteriors.pieces(alignments.query, alignments.target)
            ]
        finally:
            posteriors.close()
        offsets = np.concatenate(([0], np.cumsum(alignments.columns, dtype=np.int64)))
        return np.concatenate([np.zeros(0, np.uint8), *parts]), offsets
