"""New sequences in an alignment that is given, whose columns stay as they are.

Each new sequence is joined by the posteriors between it and the sequences that are the nearest to
it by global scores: by the heaviest chain of residues and columns (``cpu/msa/chain.cpp``). New
sequences do not depend on each other. Residues that match no column are put between columns, from
the left; they are not aligned with each other.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import SparsePosteriors, part_of
from pairalign.engines.cpu.cpu_msa import join_columns
from pairalign.engines.posterior_computer import PosteriorRequest
from pairalign.engines.posterior_engines import check_device, open_posterior_engine
from pairalign.jobs.msa.aligned_fasta import AnyAlignment, read_alignment
from pairalign.jobs.msa.confidence import Confidence
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.family_tree import distances_to
from pairalign.jobs.msa.grouping import Indices
from pairalign.jobs.msa.merging import together
from pairalign.jobs.msa.msa_result import MultipleAlignment
from pairalign.jobs.msa.one_family import score_alignment
from pairalign.jobs.msa.relatives import find_elsewhere, find_relatives
from pairalign.jobs.run.inputs import ProblemRequest, read_sets, with_alphabet
from pairalign.jobs.run.kept_results import KeptResults
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.progress import show_progress
from pairalign.requests.resources import Resources
from pairalign.sequences.alphabets import guess_alphabet
from pairalign.sequences.sets import SequenceSet

NEAREST = 16
"""Sequences of the alignment that a new one is compared with."""

_Fit = npt.NDArray[np.int32]
"""The column of each residue of a new sequence; below 0: ~ the columns before it."""

_ARE_CHOSEN = (MultipleAlignment, SequenceSet)
"""What has an alphabet that somebody may have chosen; see `read_sets`."""

_AT_ONCE = 64
"""New sequences whose posteriors are in memory at a time."""


def read_addition(
    to: AnyAlignment, request: ProblemRequest
) -> tuple[MultipleAlignment, SequenceSet]:
    """Read an alignment, and new sequences.

    Parameters
    ----------
    to : MultipleAlignment or path
    request : ProblemRequest
        Its targets are new; how the sequences of a file are read as well.

    Returns
    -------
    old : MultipleAlignment
    both : SequenceSet
        Its sequences, then the new ones.

    Raises
    ------
    FastaError, AlignmentFileError
        The alignment is none, or a new sequence has the name of one that is in it.
    """
    rules = replace(request.reading, degap=True, qualities=False)
    old, columns, width = read_alignment(to, rules.known_alphabet, rules)
    old, new = read_sets(request._replace(sequences=old, reading=rules))
    assert new is not None
    is_guessed = rules.known_alphabet is None
    if is_guessed and not any(isinstance(one, _ARE_CHOSEN) for one in (to, request.targets)):
        common = guess_alphabet(old.byte_counts, new.byte_counts)
        old, new = with_alphabet(old, common), with_alphabet(new, common)
    unknown = Confidence.unknown(old.total_residues)
    return MultipleAlignment(old, columns, width, *unknown, None), together((old, new))


def add_sequences(old: MultipleAlignment, both: SequenceSet, run: FamilyRun) -> MultipleAlignment:
    """Add sequences to a multiple alignment; its columns are kept.

    Parameters
    ----------
    both : SequenceSet
        The sequences of the alignment, then the new ones.

    Returns
    -------
    MultipleAlignment
        The sequences of the alignment, then the new ones; without a tree.

    Raises
    ------
    PartsError
        What was kept is damaged.
    """
    check_device(run.resources.device)
    columns, width = _join_new(both, old, run)
    relatives = find_relatives(both, run.resources, old=len(old.sequences))
    elsewhere = find_elsewhere(both, columns, relatives, run.resources)
    scored = score_alignment(both, columns, width, run)
    return replace(scored, unlike=relatives.unlike(), elsewhere=elsewhere)


def _join_new(
    both: SequenceSet, old: MultipleAlignment, run: FamilyRun
) -> tuple[npt.NDArray[np.int32], int]:
    """Return the columns of all residues, those of the alignment first, and how many there are."""
    lengths = both.lengths.astype(np.int64)
    fits = _fits_before(run.kept, lengths[len(old) :])
    new = np.arange(len(old), len(both))
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
                each = partners.shape[1]
                added = [
                    _fit(part_of(posteriors, start, start + each), both, old)
                    for start in range(0, len(targets), each)
                ]
                if run.kept is not None:
                    arrays = {"first": np.array(len(fits)), "fits": np.concatenate(added)}
                    run.kept.add("added", arrays, len(targets))
                fits += added
                meter.update(int((lengths[partners].sum(axis=1) * lengths[batch]).sum()))
    return _columns_of(old, fits)


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


def _fit(posteriors: SparsePosteriors, both: SequenceSet, old: MultipleAlignment) -> _Fit:
    """Return where the residues of a new sequence are, by its pairs."""
    residues = np.repeat(both.offsets[posteriors.queries], np.diff(posteriors.offsets))
    length = int(both.lengths[posteriors.targets[0]])
    kept, places, whole = join_columns(
        old.columns[residues + posteriors.rows],
        posteriors.columns,
        posteriors.values,
        (old.width, length),
    )
    column_of = np.full(whole, -1, np.int32)
    column_of[kept] = np.arange(old.width)
    before = np.searchsorted(kept, places).astype(np.int32)
    fit: _Fit = np.where(column_of[places] >= 0, column_of[places], ~before)
    return fit


def _columns_of(old: MultipleAlignment, fits: list[_Fit]) -> tuple[npt.NDArray[np.int32], int]:
    """Return the columns of all residues, those of the alignment first, and how many are."""
    width = old.width
    most = np.zeros(width + 1, np.int64)  # residues before each column, and behind
    for fit in fits:
        np.maximum(most, np.bincount(~fit[fit < 0], minlength=width + 1), out=most)
    begins = np.arange(width + 1) + np.cumsum(most) - most  # of insertions
    places = begins + most  # of columns
    parts = [places[old.columns]]
    for fit in fits:
        slot = np.where(fit < 0, ~fit, -1)
        starts = np.flatnonzero(np.diff(slot, prepend=-2))
        run = np.zeros(len(fit), np.int64)
        run[starts] = starts
        rank = np.arange(len(fit)) - np.maximum.accumulate(run)
        parts.append(np.where(fit < 0, begins[slot] + rank, places[np.maximum(fit, 0)]))
    return np.concatenate(parts).astype(np.int32), int(places[-1])
