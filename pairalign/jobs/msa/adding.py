"""New sequences in an alignment whose columns stay as they are.

Each new sequence is joined to the alignment by the posteriors between it and the sequences that are
the most similar to it: by the heaviest chain of residues and columns (``cpu/msa/chain.cpp``).
New sequences do not depend on each other. Residues that match no column are put between columns,
from the left; they are not aligned with each other.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import MultipleAlignment
from pairalign.alignments.posteriors import SparsePosteriors
from pairalign.base.errors import AlignmentFileError
from pairalign.engines.cpu.msa import join_columns
from pairalign.engines.posterior_engines import check_device, open_posterior_engine
from pairalign.engines.selection import usable_cores
from pairalign.formats.aligned_fasta import read_aligned_fasta
from pairalign.formats.kept import KeptResults
from pairalign.jobs.msa.grouping import Indices, ScoreDistances
from pairalign.jobs.msa.msa import score_multiple
from pairalign.jobs.run.inputs import ProblemRequest, Sequences, read_sets
from pairalign.jobs.run.memory import default_bytes
from pairalign.jobs.run.progress import Progress, show_progress
from pairalign.sequences.records import Records
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.tidying import InputRules

NEAREST = 16
"""Sequences of the alignment that a new one is compared with."""

_AT_ONCE = 64
"""New sequences whose posteriors are in memory at a time."""


def extend_multiple(
    alignment: MultipleAlignment | str | os.PathLike[str],
    sequences: Sequences,
    *,
    confidence: bool = True,
    partners: int | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress = False,
    kept: KeptResults | None = None,
) -> MultipleAlignment:
    """Add sequences to a multiple alignment; its columns are kept.

    Parameters
    ----------
    alignment : MultipleAlignment or path
        A path is of aligned FASTA, ours or another program's.
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        The new ones, as `pairalign.align` takes them.
    confidence : bool
        Whether to compute it, of all sequences.
    partners, seed
        For the confidence, see `score_multiple`.
    device, threads, memory, progress
        See `pairalign.msa`.
    kept : KeptResults, optional
        Where new sequences are, and posteriors, that were kept are taken from there, others are
        kept.

    Returns
    -------
    MultipleAlignment
        The sequences of the alignment, then the new ones; without a tree.

    Raises
    ------
    AlignmentFileError, FastaError
        The alignment is none, or a new sequence has the name of one that is in it.
    PartsError
        What was kept is damaged.

    Notes
    -----
    Time grows with the number of new sequences times that of the alignment's (scores), and with
    that of new ones (posteriors).
    """
    check_device(device)
    threads = usable_cores() if threads is None else threads
    memory_bytes = default_bytes() if memory is None else memory
    old, new, columns, width = _read(alignment, sequences)
    both = _together(old, new)
    fits = _Fits(width, len(new))
    if kept is not None:
        fits.take(kept, new.lengths)
    _fit(fits, both, columns, device, threads, memory_bytes, progress, kept)
    all_columns, all_width = fits.columns(columns)
    if not confidence:
        nothing = np.zeros(both.total_residues), np.zeros(both.total_residues, np.int32)
        return MultipleAlignment(both, all_columns, all_width, *nothing, None)
    return score_multiple(
        both,
        all_columns,
        all_width,
        partners=partners,
        seed=seed,
        device=device,
        threads=threads,
        memory=memory_bytes,
        progress=progress,
        kept=kept,
    )


def _fit(
    fits: _Fits,
    both: SequenceSet,
    columns: npt.NDArray[np.int32],
    device: str,
    threads: int,
    memory_bytes: int,
    progress: Progress,
    kept: KeptResults | None,
) -> None:
    """Join each new sequence that has no fit yet to the alignment."""
    old = len(both) - fits.count
    added = np.arange(old + fits.known, len(both))
    if not len(added):
        return
    distances = ScoreDistances(both, threads, memory_bytes).between(added, np.arange(old))
    nearest = np.sort(np.argsort(distances, axis=1, kind="stable")[:, :NEAREST], axis=1)
    lengths = both.lengths.astype(np.int64)
    cells = int((lengths[nearest].sum(axis=1) * lengths[added]).sum())
    engine = open_posterior_engine(
        device, both, threads=threads, memory_bytes=memory_bytes, cells=cells
    )
    with closing(engine), show_progress(cells, progress, doing="aligning") as meter:
        for start in range(0, len(added), _AT_ONCE):
            own, partners = added[start : start + _AT_ONCE], nearest[start : start + _AT_ONCE]
            targets = np.repeat(own, partners.shape[1]).astype(np.int32)
            found = engine.compute(partners.ravel().astype(np.int32), targets)
            made = [
                _join(found, place, partners, both, columns, fits.width)
                for place in range(len(own))
            ]
            if kept is not None:
                arrays = {"first": np.array(fits.known), "fits": np.concatenate(made)}
                kept.add("added", arrays, len(targets))
            for fit in made:
                fits.add(fit)
            meter.update(int((lengths[partners].sum(axis=1) * lengths[own]).sum()))


def _read(
    alignment: MultipleAlignment | str | os.PathLike[str], sequences: Sequences
) -> tuple[SequenceSet, SequenceSet, npt.NDArray[np.int32], int]:
    """Return the alignment's sequences, the new ones, and the columns of the former."""
    if isinstance(alignment, MultipleAlignment):
        old, new = read_sets(ProblemRequest(alignment.sequences, sequences))
        assert new is not None
        return old, new, alignment.columns, alignment.width
    rules = InputRules(degap=True)
    old, new = read_sets(ProblemRequest(os.fspath(alignment), sequences, rules=rules))
    assert new is not None
    return old, new, *read_aligned_fasta(alignment, old)


def _together(old: SequenceSet, new: SequenceSet) -> SequenceSet:
    """Return one set of both."""
    known = set(old.names)
    for index, name in enumerate(new.names):
        if name in known:
            raise AlignmentFileError(
                f"{new.source}: {new.record(index)} is in the alignment already; rename it"
            )
    records = Records(
        [*old.names, *new.names],
        [*old.descriptions, *new.descriptions],
        old.letters.tobytes() + new.letters.tobytes(),
        np.concatenate((old.offsets, new.offsets[1:] + old.offsets[-1])),
    )
    return SequenceSet(records, alphabet=old.alphabet, source=old.source)


def _join(
    found: SparsePosteriors,
    place: int,
    nearest: Indices,
    both: SequenceSet,
    columns: npt.NDArray[np.int32],
    width: int,
) -> npt.NDArray[np.int32]:
    """Return the column of each residue of a new sequence; below 0: ~ the columns before it."""
    each = nearest.shape[1]
    pairs = slice(place * each, (place + 1) * each)
    counts = np.diff(found.offsets[pairs.start : pairs.stop + 1])
    entries = slice(int(found.offsets[pairs.start]), int(found.offsets[pairs.stop]))
    residues = np.repeat(both.offsets[nearest[place]], counts) + found.rows[entries]
    length = int(both.lengths[found.targets[pairs.start]])
    kept, own, whole = join_columns(
        columns[residues], found.columns[entries], found.values[entries], (width, length)
    )
    column_of = np.full(whole, -1, np.int32)
    column_of[kept] = np.arange(width)
    before = np.searchsorted(kept, own).astype(np.int32)
    fit: npt.NDArray[np.int32] = np.where(column_of[own] >= 0, column_of[own], ~before)
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
