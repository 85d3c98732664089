"""New sequences in an alignment that is given, whose columns stay as they are.

Clades of new sequences, which are nearer to each other than to the alignment, are aligned first,
one of all copies each. A clade is joined by the posteriors between its sequences and those that are
the nearest to them by global scores: by the heaviest chain of columns (``cpu/msa/chain.cpp``).
Clades do not depend on each other. Columns that match none are put between those of the alignment,
from the left; those of two clades are not aligned with each other.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.alignments.posteriors import SparsePosteriors, part_of
from pairalign.engines.cpu.cpu_msa import join_columns
from pairalign.engines.posterior_computer import PosteriorRequest
from pairalign.engines.posterior_engines import check_device, open_posterior_engine
from pairalign.jobs.msa.aligned_fasta import AnyAlignment, read_alignment
from pairalign.jobs.msa.confidence import Confidence
from pairalign.jobs.msa.distinct_members import distinct_members
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.family_tree import distances_to, family_tree
from pairalign.jobs.msa.grouping import MOST_IN_GROUP, Indices, subtrees
from pairalign.jobs.msa.merging import together
from pairalign.jobs.msa.msa_result import MultipleAlignment
from pairalign.jobs.msa.one_family import align_along, score_alignment
from pairalign.jobs.msa.relatives import find_elsewhere, find_relatives
from pairalign.jobs.run.inputs import ProblemRequest, read_sets, with_alphabet
from pairalign.jobs.run.kept_results import KeptResults
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.progress import show_progress
from pairalign.requests.resources import Resources
from pairalign.sequences.alphabets import guess_alphabet
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree import GuideTree

NEAREST = 16
"""Sequences of the alignment that a new one is compared with."""


class _Clade(NamedTuple):
    """Input indices of new sequences, ascending, and the tree along which these are aligned."""

    members: Indices
    tree: GuideTree


_Fit = npt.NDArray[np.int32]
"""Of each residue of a new sequence, shape (2, length): its column, or ~ the columns before it; and
which it is of those that its clade puts there."""

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
    new = distinct_members(both.reordered(np.arange(len(old), len(both))))
    both = both.reordered(np.append(np.arange(len(old)), len(old) + new.members))
    clades, nearest = _clades(both, len(old), run.resources)
    order = np.concatenate([clade.members for clade in clades])
    lengths = both.lengths.astype(np.int64)
    fits = _fits_before(run.kept, lengths[order])
    batches = _batches(clades, len(fits))
    each = nearest.shape[1]
    costs = lengths[nearest].sum(axis=1) * lengths[len(old) :]
    cells = int(costs[order[len(fits) :] - len(old)].sum())
    if batches:
        request = PosteriorRequest(
            both,
            threads=run.resources.used_threads,
            memory_bytes=bytes_of(run.resources),
            cells=cells,
        )
        engine = open_posterior_engine(run.resources.device, request)
        silent = replace(run, resources=replace(run.resources, progress=False), kept=None)
        with (
            closing(engine),
            show_progress(cells, run.resources.progress, doing="aligning") as meter,
        ):
            for batch in batches:
                members = np.concatenate([clade.members for clade in batch])
                targets = np.repeat(members, each).astype(np.int32)
                partners = nearest[members - len(old)].ravel().astype(np.int32)
                posteriors = engine.compute(partners, targets)
                added, start = [], 0
                for clade in batch:
                    stop = start + each * len(clade.members)
                    part = part_of(posteriors, start, stop)
                    added += _fits_of(clade, part, both, old, silent)
                    start = stop
                if run.kept is not None:
                    arrays = {"first": np.array(len(fits)), "fits": np.hstack(added)}
                    run.kept.add("added", arrays, len(targets))
                fits += added
                meter.update(int(costs[members - len(old)].sum()))
    by_input = np.argsort(order)[new.places]
    return _columns_of(old, [fits[place] for place in by_input.tolist()])


def _batches(clades: list[_Clade], done: int) -> list[list[_Clade]]:
    """Return the clades after some sequences, about `_AT_ONCE` sequences at a time."""
    batches: list[list[_Clade]] = []
    count = 0
    for clade in clades:
        count += len(clade.members)
        if count <= done:
            continue
        if not batches or sum(len(one.members) for one in batches[-1]) >= _AT_ONCE:
            batches.append([])
        batches[-1].append(clade)
    return batches


def _fits_before(kept: KeptResults | None, lengths: Indices) -> list[_Fit]:
    """Return what was kept of the first new sequences, whose lengths these are."""
    fits: list[_Fit] = []
    for arrays in kept.before("added") if kept is not None else ():
        left, first = arrays["fits"], len(fits)
        while left.size and len(fits) < len(lengths):
            length = int(lengths[len(fits)])
            fits.append(left[:, :length])
            left = left[:, length:]
        if int(arrays["first"]) != first or left.size:
            assert kept is not None
            raise kept.damaged("fits of other sequences")
    return fits


def _clades(both: SequenceSet, old: int, resources: Resources) -> tuple[list[_Clade], Indices]:
    """Return clades of new sequences, and what each new sequence is compared with.

    Returns
    -------
    clades : list of _Clade
        Largest subtrees of at most `MOST_IN_GROUP` sequences that are nearer to each other than
        each is to the alignment, in the mean.
    nearest : ndarray of int64
        Input indices of the nearest sequences of the alignment, a row for each new one, ascending.
    """
    new = both.reordered(np.arange(old, len(both)))
    distances = distances_to(new, both.reordered(np.arange(old)), resources)
    nearest = np.sort(np.argsort(distances, axis=1, kind="stable")[:, :NEAREST], axis=1)
    tree = family_tree(new, resources)
    apart = [*distances.min(axis=1).tolist(), *[0.0] * len(tree.children)]  # sums are exact
    are_whole = np.ones(tree.root + 1, np.bool_)
    for merge, (first, second) in enumerate(tree.children.tolist(), len(new)):
        apart[merge] = apart[first] + apart[second]
        between, size = tree.linkage[merge - len(new), 2:]
        is_near = size <= MOST_IN_GROUP and between * size < apart[merge]
        are_whole[merge] = is_near and are_whole[[first, second]].all()
    _, groups, trees = subtrees(tree, are_whole[len(new) :])
    return [_Clade(old + members, own) for members, own in zip(groups, trees, strict=True)], nearest


def _fits_of(
    clade: _Clade,
    posteriors: SparsePosteriors,
    both: SequenceSet,
    old: MultipleAlignment,
    run: FamilyRun,
) -> list[_Fit]:
    """Return where the residues of the sequences of a clade are, by the pairs of all in turn."""
    sequences = both.reordered(clade.members)
    columns, width = align_along(sequences, clade.tree, run)
    starts, counts = sequences.offsets, np.diff(posteriors.offsets)
    first = np.repeat(both.offsets[posteriors.queries], counts) + posteriors.rows
    each = len(posteriors) // len(clade.members)
    second = np.repeat(np.repeat(starts[:-1], each), counts) + posteriors.columns
    kept, places, whole = join_columns(
        old.columns[first], columns[second], posteriors.values, (old.width, width)
    )
    column_of = np.full(whole, -1, np.int32)
    column_of[kept] = np.arange(old.width)
    before = np.searchsorted(kept, places).astype(np.int32)
    fit = np.where(column_of[places] >= 0, column_of[places], ~before)
    begins = np.flatnonzero(np.diff(fit, prepend=fit[0] - 1))
    rank = np.arange(width) - np.repeat(begins, np.diff(begins, append=width))
    of_residues = np.stack((fit, rank)).astype(np.int32)[:, columns]
    return np.split(of_residues, starts[1:-1], axis=1)


def _columns_of(old: MultipleAlignment, fits: list[_Fit]) -> tuple[npt.NDArray[np.int32], int]:
    """Return the columns of all residues, those of the alignment first, and how many are."""
    column, rank = np.hstack(fits)
    is_new = column < 0
    most = np.zeros(old.width + 1, np.int64)  # columns before each, and behind
    np.maximum.at(most, ~column[is_new], rank[is_new] + 1)
    begins = np.arange(old.width + 1) + np.cumsum(most) - most  # of insertions
    places = begins + most  # of columns
    added = np.where(is_new, begins[np.where(is_new, ~column, 0)] + rank, places[column])
    return np.concatenate((places[old.columns], added)).astype(np.int32), int(places[-1])
