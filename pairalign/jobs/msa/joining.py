"""Sequences are joined to an alignment whose columns stay as they are.

Each new sequence is joined by the posteriors between it and the sequences that are the nearest to
it by global scores: by the heaviest chain of residues and columns (``cpu/msa/chain.cpp``). New
sequences do not depend on each other. Residues that match no column are put between columns, from
the left; they are not aligned with each other.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import SparsePosteriors
from pairalign.engines.cpu.cpu_msa import join_columns
from pairalign.engines.posterior_computer import PosteriorRequest
from pairalign.engines.posterior_engines import open_posterior_engine
from pairalign.jobs.msa.family_tree import distances_to
from pairalign.jobs.msa.grouping import Indices
from pairalign.jobs.run.kept_results import KeptResults
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.progress import show_progress
from pairalign.requests.resources import Resources
from pairalign.sequences.sets import SequenceSet

NEAREST = 16
"""Sequences of the alignment that a new one is compared with."""

_AT_ONCE = 64
"""New sequences whose posteriors are in memory at a time."""


class Joined(NamedTuple):
    """Sequences that were joined to an alignment.

    Attributes
    ----------
    columns : ndarray of int32, shape (total_residues,)
        Of all residues, those of the alignment first.
    """

    columns: npt.NDArray[np.int32]
    width: int


def join_new(
    both: SequenceSet,
    columns: npt.NDArray[np.int32],
    width: int,
    resources: Resources,
    kept: KeptResults | None = None,
) -> Joined:
    """Join new sequences to an alignment.

    Parameters
    ----------
    both : SequenceSet
        The sequences of the alignment, then the new ones.
    columns : ndarray of int32
        Of the residues of the alignment.
    width : int
        Of the alignment.
    kept : KeptResults, optional
        Where new sequences are that were kept is taken from there, others are kept.
    """
    old = int(np.searchsorted(both.offsets, len(columns)))
    fits = _Fits(width, len(both) - old)
    if kept is not None:
        fits.take(kept, both.lengths[old:])
    new = np.arange(old, len(both))
    nearest = _nearest(both, new, resources)
    added, nearest = new[fits.known :], nearest[fits.known :]
    if len(added):
        lengths = both.lengths.astype(np.int64)
        cells = int((lengths[nearest].sum(axis=1) * lengths[added]).sum())
        request = PosteriorRequest(
            both,
            threads=resources.used_threads,
            memory_bytes=bytes_of(resources),
            cells=cells,
        )
        engine = open_posterior_engine(resources.device, request)
        with closing(engine), show_progress(cells, resources.progress, doing="aligning") as meter:
            for start in range(0, len(added), _AT_ONCE):
                batch, partners = added[start : start + _AT_ONCE], nearest[start : start + _AT_ONCE]
                targets = np.repeat(batch, partners.shape[1]).astype(np.int32)
                posteriors = engine.compute(partners.ravel().astype(np.int32), targets)
                new_fits = [
                    _join(posteriors, place, partners[place], both, columns, width)
                    for place in range(len(batch))
                ]
                if kept is not None:
                    fits.keep(kept, new_fits, len(targets))
                for fit in new_fits:
                    fits.add(fit)
                meter.update(int((lengths[partners].sum(axis=1) * lengths[batch]).sum()))
    return Joined(*fits.columns(columns))


def _nearest(both: SequenceSet, added: Indices, resources: Resources) -> Indices:
    """Return what each new sequence is compared with: input indices, a row each, ascending."""
    old = np.arange(len(both) - len(added))
    distances = distances_to(both.reordered(added), both.reordered(old), resources)
    return np.sort(np.argsort(distances, axis=1, kind="stable")[:, :NEAREST], axis=1)


def _join(
    posteriors: SparsePosteriors,
    place: int,
    nearest: Indices,
    both: SequenceSet,
    columns: npt.NDArray[np.int32],
    width: int,
) -> npt.NDArray[np.int32]:
    """Return the column of each residue of a new sequence.

    Below 0: ~ the columns before it.
    """
    each = len(nearest)
    pairs = slice(place * each, (place + 1) * each)
    counts = np.diff(posteriors.offsets[pairs.start : pairs.stop + 1])
    entries = slice(int(posteriors.offsets[pairs.start]), int(posteriors.offsets[pairs.stop]))
    residues = np.repeat(both.offsets[nearest], counts) + posteriors.rows[entries]
    length = int(both.lengths[posteriors.targets[pairs.start]])
    kept, places, whole = join_columns(
        columns[residues], posteriors.columns[entries], posteriors.values[entries], (width, length)
    )
    column_of = np.full(whole, -1, np.int32)
    column_of[kept] = np.arange(width)
    before = np.searchsorted(kept, places).astype(np.int32)
    fit: npt.NDArray[np.int32] = np.where(column_of[places] >= 0, column_of[places], ~before)
    return fit


@dataclass
class _Fits:
    """Where the residues of new sequences are: in columns of the alignment, or between them."""

    width: int
    count: int

    def __post_init__(self) -> None:
        self._fits: list[npt.NDArray[np.int32]] = []
        self._most = np.zeros(self.width + 1, np.int64)  # residues before each column, and behind

    @property
    def known(self) -> int:
        """How many of the new sequences, the first ones, have a fit."""
        return len(self._fits)

    def take(self, kept: KeptResults, lengths: npt.NDArray[np.int32]) -> None:
        """Take what was kept of sequences of some lengths."""
        for arrays in kept.before("added"):
            left, first = arrays["fits"], self.known
            while len(left) and self.known < self.count:
                length = int(lengths[self.known])
                self.add(left[:length])
                left = left[length:]
            if int(arrays["first"]) != first or len(left):
                raise kept.damaged("fits of other sequences")

    def keep(self, kept: KeptResults, fits: list[npt.NDArray[np.int32]], pairs: int) -> None:
        """Keep the next new sequences, which were joined by some pairs."""
        arrays = {
            "first": np.array(self.known),
            "fits": np.concatenate(fits),
        }
        kept.add("added", arrays, pairs)

    def add(self, fit: npt.NDArray[np.int32]) -> None:
        """Take the next new sequence, as `_join` gives it."""
        self._fits.append(fit)
        inserted = np.bincount(~fit[fit < 0], minlength=self.width + 1)
        np.maximum(self._most, inserted, out=self._most)

    def columns(self, old: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], int]:
        """Return the columns of all residues, those of the alignment first, and how many are."""
        begins = np.arange(self.width + 1) + np.cumsum(self._most) - self._most  # of insertions
        places = begins + self._most  # of columns
        parts = [places[old]]
        for fit in self._fits:
            slot = np.where(fit < 0, ~fit, 0)
            is_inserted = fit < 0
            starts = np.flatnonzero(np.diff(np.where(is_inserted, slot, -1), prepend=-2))
            run = np.zeros(len(fit), np.int64)
            run[starts] = starts
            rank = np.arange(len(fit)) - np.maximum.accumulate(run)
            parts.append(np.where(is_inserted, begins[slot] + rank, places[np.maximum(fit, 0)]))
        return np.concatenate(parts).astype(np.int32), int(places[-1])
