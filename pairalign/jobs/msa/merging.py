"""Alignments become one: the columns of each stay.

1. A tree of the sequences of each alignment, and one of the alignments by some of their sequences
   (`pairalign.jobs.msa.family_tree`).
2. Along the latter two alignments at a time are joined as groups of a large family are
   (`pairalign.jobs.msa.large`).

Alignments are taken in an order of their own, so that the order in which they are given changes
nothing but the order of the rows.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pairalign.base.error_types import AlignmentFileError, AlphabetError
from pairalign.base.spelling import spelled
from pairalign.engines.posterior_engines import check_device
from pairalign.jobs.msa.aligned_fasta import AnyAlignment, read_alignment
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.family_tree import (
    LINKAGE,
    family_tree,
    joined,
    pair_distances,
)
from pairalign.jobs.msa.grouping import (
    Grouping,
    Indices,
    Join,
    evenly,
    graft,
    joins_of,
)
from pairalign.jobs.msa.large import Aligner, Part, align_parts, residues_of
from pairalign.jobs.msa.msa_result import MultipleAlignment
from pairalign.jobs.msa.one_family import judge_alignment
from pairalign.jobs.msa.relatives import MOST_EVALUE, log_evalues
from pairalign.jobs.run.kept_results import Arrays
from pairalign.requests.resources import Resources
from pairalign.results import tree_result
from pairalign.sequences.input_rules import DEFAULT_RULES, InputRules
from pairalign.sequences.sets import SequenceSet, join_sets
from pairalign.trees.tree import GuideTree

log = logging.getLogger("pairalign")

_STANDING = 4
"""Sequences of an alignment by whose distances to those of others it is joined."""

_COMPARED = 200
"""Sequences by which is seen whether alignments have relatives in others, in all."""


class Given(NamedTuple):
    """Alignments that are to become one.

    Attributes
    ----------
    sequences : SequenceSet
        Of all, one alignment after the other.
    columns : ndarray of int32, shape (total_residues,)
        Of each residue in its alignment; none is without residues.
    starts : ndarray of int64, shape (alignments + 1,)
        Where the sequences of each begin.
    sources : list of str
        What messages call them.
    """

    sequences: SequenceSet
    columns: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]
    widths: list[int]
    sources: list[str]

    def members(self, index: int) -> Indices:
        """Return the input indices of the sequences of an alignment."""
        return np.arange(self.starts[index], self.starts[index + 1])

    def columns_of(self, members: Indices) -> npt.NDArray[np.int32]:
        """Return the columns of the residues of some sequences, one after the other."""
        return self.columns[residues_of(self.sequences, members)]


def read_given(
    alignments: Iterable[AnyAlignment],
    reading: InputRules = DEFAULT_RULES,
) -> Given:
    """Read alignments that are to become one.

    Parameters
    ----------
    alignments : iterable of MultipleAlignment or path
        Two or more.
    reading : InputRules
        How files are read; their alphabet is guessed of each if it is not given.

    Raises
    ------
    AlphabetError
        One is of DNA, another of proteins.
    FastaError, AlignmentFileError
        A file is no alignment, or has the name of a sequence in another; names file and record.
    """
    inputs = [read_alignment(one, reading.known_alphabet, reading) for one in alignments]
    sets = [sequences for sequences, _, _ in inputs]
    _check_alphabets(sets)
    sequences = together(sets)
    columns, widths = [], []
    for own, input_columns, width in inputs:
        used, places = np.unique(input_columns, return_inverse=True)
        columns.append(places.astype(np.int32))
        widths.append(len(used))
        if len(used) < width:
            log.info("%s: %d columns of gaps alone left out", own.source, width - len(used))
    starts = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    sources = [sequence_set.source for sequence_set in sets]
    return Given(sequences, np.concatenate(columns), starts, widths, sources)


def _check_alphabets(sets: Sequence[SequenceSet]) -> None:
    first = sets[0]
    for sequences in sets[1:]:
        if sequences.alphabet != first.alphabet:
            raise AlphabetError(
                f"{first.source} is of {first.alphabet.name}, {sequences.source} of "
                f"{sequences.alphabet.name}: they cannot be merged; if that is a wrong guess, say "
                f"{spelled('alphabet', 'protein')}"
            )


def together(sets: Sequence[SequenceSet]) -> SequenceSet:
    """Return one set of all; AlignmentFileError if two have a sequence of the same name."""
    home: dict[str, str] = {}
    for sequences in sets:
        for index, name in enumerate(sequences.names):
            if name in home:
                raise AlignmentFileError(
                    f"{sequences.source}: {sequences.record(index)} is in {home[name]} already; "
                    "rename it"
                )
        home |= dict.fromkeys(sequences.names, sequences.source)
    return join_sets(sets)


def merge_alignments(given: Given, run: FamilyRun) -> MultipleAlignment:
    """Make one alignment of two or more, in which the columns of each stay.

    Returns
    -------
    MultipleAlignment
        The rows of the first alignment, then those of the next. Columns that have gaps alone in
        an alignment are left out.

    Raises
    ------
    PartsError
        What was kept is damaged.
    CapacityError
        The posteriors of a join do not fit the memory.

    Notes
    -----
    Time grows with the scores that trees take, see `pairalign.jobs.msa.family_tree`, and with the
    product of the widths.
    """
    check_device(run.resources.device)
    sequences, grouping = given.sequences, _plan(given, run.resources)
    with closing(_Merger(given, grouping, run.resources)) as merger:
        columns, width = align_parts(merger, run)
    tree = tree_result.GuideTree.of(graft(list(sequences.names), grouping, LINKAGE))
    return replace(judge_alignment(sequences, columns, width, run), tree=tree)


def _plan(given: Given, resources: Resources) -> Grouping:
    """Return the alignments as groups, with their trees, and the joins of them."""
    sequences = given.sequences
    place = sequences.canonical_order().argsort()
    members = [
        indices[place[indices].argsort()]
        for indices in map(given.members, range(len(given.widths)))
    ]
    members.sort(key=lambda indices: int(place[indices[0]]))
    trees = [family_tree(sequences.reordered(indices), resources) for indices in members]
    standing = [indices[tree.leaves()] for indices, tree in zip(members, trees, strict=True)]
    _warn_of_strangers(given, standing, resources)
    return Grouping(members, trees, _joins(sequences, standing, resources))


def _joins(sequences: SequenceSet, groups: list[Indices], resources: Resources) -> list[Join]:
    """Return the joins of alignments, by the mean distances of some members of each."""
    some = [evenly(group, _STANDING) for group in groups]
    sizes = np.array([len(group) for group in some])
    distances = pair_distances(sequences.reordered(np.concatenate(some)), resources)
    sums, starts = distances.square(np.float64), np.cumsum(sizes) - sizes
    for axis in (0, 1):
        sums = np.add.reduceat(sums, starts, axis)
    means = (sums / np.outer(sizes, sizes)).astype(np.float32)
    names = [str(k) for k in range(len(some))]
    return joins_of(joined(names, means[np.triu_indices(len(some), 1)]))


def _warn_of_strangers(given: Given, standing: list[Indices], resources: Resources) -> None:
    """Say which alignments are like no other: some sequences have no significant alignment."""
    some = np.concatenate(
        [evenly(indices, max(1, _COMPARED // len(standing))) for indices in standing]
    )
    home = np.searchsorted(given.starts, some, side="right") - 1
    for index, source in enumerate(given.sources):
        members, others = some[home == index], some[home != index]
        least = log_evalues(given.sequences, members, others, resources).min()
        if least + math.log(len(members)) > math.log(MOST_EVALUE):
            log.warning(
                "%s: none of its sequences is similar to one of another alignment: where they are "
                "aligned may be chance",
                source,
            )


class _Merger(Aligner):
    """Joins alignments that are given; see `Aligner`."""

    def __init__(self, given: Given, grouping: Grouping, resources: Resources) -> None:
        self._given = given
        at_once = len(grouping.groups) // 2
        super().__init__(given.sequences, grouping, resources, at_once)

    def group_cells(self, members: Indices) -> int:
        return 0

    def group_bytes(self, members: Indices) -> int:
        return 0

    def align(self, members: Indices, tree: GuideTree, before: Arrays | None = None) -> Part:
        """Return the alignment of a group, with its sequences in the order of the tree."""
        index = int(np.searchsorted(self._given.starts, members[0], side="right")) - 1
        leaves = members[tree.leaves()]
        return Part(leaves, self._given.columns_of(leaves), self._given.widths[index])
