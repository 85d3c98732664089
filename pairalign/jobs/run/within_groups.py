"""The pairs within groups, as a list: of clusters or folds, from a file or from Python."""

from __future__ import annotations

import os

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.base.error_types import CapacityError, PairListError, UsageError, WrongTypeError
from pairalign.base.spelling import spelled
from pairalign.clusters.splits.given_groups import GivenGroups, memberships_of
from pairalign.clusters.splits.groups import Groups, make_groups
from pairalign.formats.group_files import read_groups
from pairalign.pairs.lists import PairList, pairs_within
from pairalign.sequences.sets import SequenceSet

_PAIR_BYTES = 64
"""That a pair of a list takes while it is sorted."""


def list_within(
    groups: str | os.PathLike[str] | GivenGroups, problem: Problem, memory_bytes: int
) -> PairList:
    """List all pairs of sequences of one group; sequences that are in none have no pairs.

    Parameters
    ----------
    groups : path, Split, Clusters, or mapping of names to groups
        A file as for `pairalign.formats.group_files.read_groups`.
    memory_bytes : int
        What the list may use.

    Raises
    ------
    UsageError
        There are two sets.
    FormatError, SplitError
        The groups cannot be read, name what is not among the sequences, or one twice.
    PairListError
        No group has two sequences.
    CapacityError
        There are more pairs than memory.
    """
    if not problem.is_one_set:
        raise UsageError(f"{spelled('within')} is of groups of one set, and there are two")
    source = os.fspath(groups) if isinstance(groups, (str, os.PathLike)) else "within"
    grouping = _groups_of(groups, problem.queries, source)
    sizes = np.bincount(grouping.labels[grouping.labels >= 0]).astype(np.int64)
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if pairs == 0:
        raise PairListError(f"{source}: no group has two sequences")
    if pairs * _PAIR_BYTES > memory_bytes:
        raise CapacityError(
            f"{source}: the list of {pairs:,} pairs within groups needs "
            f"{pairs * _PAIR_BYTES >> 20:,} MiB of memory, {memory_bytes >> 20:,} MiB are allowed; "
            f"allow more with {spelled('memory')}, or take smaller groups",
            pairs * _PAIR_BYTES,
            memory_bytes,
        )
    (listed,) = pairs_within(grouping.labels, pairs)
    return PairList(listed.first, listed.second, source)


def _groups_of(
    groups: str | os.PathLike[str] | GivenGroups, sequences: SequenceSet, source: str
) -> Groups:
    if isinstance(groups, (str, os.PathLike)):
        return read_groups(source, None, sequences)
    said = memberships_of(groups, "folds", sequences)
    if said is None:
        raise WrongTypeError(
            f"within: found {type(groups).__name__}, expected a path, clusters, a split, or names "
            "and their groups"
        )
    return make_groups(sequences, said, source, each="item")
