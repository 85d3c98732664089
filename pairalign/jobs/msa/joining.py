"""Sequences are joined to an alignment whose columns stay as they are.

Each new sequence is joined by the posteriors between it and the sequences that are the nearest to
it by global scores: by the heaviest chain of residues and columns (``cpu/msa/chain.cpp``). New
sequences do not depend on each other. Residues that match no column are put between columns, from
the left; they are not aligned with each other.
"""

from __future__ import annotations

from contextlib import closing

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import SparsePosteriors
from pairalign.engines.cpu.cpu_msa import join_columns
from pairalign.engines.posterior_computer import PosteriorRequest
from pairalign.engines.posterior_engines import open_posterior_engine
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.family_tree import distances_to
from pairalign.jobs.msa.grouping import Indices
from pairalign.jobs.run.kept_results import KeptResults
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.progress import show_progress
from pairalign.requests.resources import Resources
from pairalign.sequences.sets import SequenceSet

NEAREST = 16
"""Sequences of the alignment that a new one is compared with."""

_Fit = npt.NDArray[np.int32]
"""The column of each residue of a new sequence; below 0: ~ the columns before it."""

_AT_ONCE = 64
"""New sequences whose posteriors are in memory at a time."""


def join_new(
    both: SequenceSet, columns: npt.NDArray[np.int32], width: int, run: FamilyRun
) -> tuple[npt.NDArray[np.int32], int]:
    """Join new sequences to an alignment.

    Parameters
    ----------
    both : SequenceSet
        The sequences of the alignment, then the new ones.
    columns : ndarray of int32
        Of the residues of the alignment.
    width : int
        Of the alignment.

    Returns
    -------
    columns : ndarray of int32, shape (total_residues,)
        Of all residues, those of the alignment first.
    width : int
    """
    old = int(np.searchsorted(both.offsets, len(columns)))
    lengths = both.lengths.astype(np.int64)
    fits = _fits_before(run.kept, lengths[old:])
    new = np.arange(old, len(both))
    nearest = _nearest(both, new, run.resources)[len(fits) :]
    new = new[len(fits) :]
    cells = int((lengths[nearest].sum(axis=1) * lengths[new]).sum())
    if len(new):
        request = PosteriorRequest(
            both,
            threads=run.resources.used_threads,
            memory_bytes=bytes_of(run.resources),
            cells=cells,
        )
        engine = open_posterior_engine(run.resources.device, request)
        with (
            closing(engine),
            show_progress(cells, run.resources.progress, doing="aligning") as meter,
        ):
            for start in range(0, len(new), _AT_ONCE):
                batch, partners = new[start : start + _AT_ONCE], nearest[start : start + _AT_ONCE]
                targets = np.repeat(batch, partners.shape[1]).astype(np.int32)
                posteriors = engine.compute(partners.ravel().astype(np.int32), targets)
                added = [
                    _join(posteriors, place, partners[place], both, columns, width)
                    for place in range(len(batch))
                ]
                if run.kept is not None:
                    arrays = {"first": np.array(len(fits)), "fits": np.concatenate(added)}
                    run.kept.add("added", arrays, len(targets))
                fits += added
                meter.update(int((lengths[partners].sum(axis=1) * lengths[batch]).sum()))
    return _columns_of(columns, width, fits)


def _fits_before(kept: KeptResults | None, lengths: Indices) -> list[_Fit]:
    """Return what was kept of the first new sequences, whose lengths these are."""
    fits: list[_Fit] = []
    for arrays in kept.before("added") if kept is not None else ():
        left, first = arrays["fits"], len(fits)
        while len(left) and len(fits) < len(lengths):
            length = int(lengths[len(fits)])
            fits.append(left[:length])
            left = left[length:]
        if int(arrays["first"]) != first or len(left):
            assert kept is not None
            raise kept.damaged("fits of other sequences")
    return fits


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
) -> _Fit:
    """Return where the residues of a new sequence are."""
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
    fit: _Fit = np.where(column_of[places] >= 0, column_of[places], ~before)
    return fit


def _columns_of(
    old: npt.NDArray[np.int32], width: int, fits: list[_Fit]
) -> tuple[npt.NDArray[np.int32], int]:
    """Return the columns of all residues, those of the alignment first, and how many are."""
    most = np.zeros(width + 1, np.int64)  # residues before each column, and behind
    for fit in fits:
        np.maximum(most, np.bincount(~fit[fit < 0], minlength=width + 1), out=most)
    begins = np.arange(width + 1) + np.cumsum(most) - most  # of insertions
    places = begins + most  # of columns
    parts = [places[old]]
    for fit in fits:
        slot = np.where(fit < 0, ~fit, -1)
        starts = np.flatnonzero(np.diff(slot, prepend=-2))
        run = np.zeros(len(fit), np.int64)
        run[starts] = starts
        rank = np.arange(len(fit)) - np.maximum.accumulate(run)
        parts.append(np.where(fit < 0, begins[slot] + rank, places[np.maximum(fit, 0)]))
    return np.concatenate(parts).astype(np.int32), int(places[-1])
