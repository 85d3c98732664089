"""Which group each sequence is in: by its file, its name, a table, or a mapping."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, repeat

import numpy as np

from pairalign.base.choices import BY_FILE, BY_PREFIX, BY_RECORD, COMPRESSED_INPUTS, ON_DUPLICATE
from pairalign.base.error_types import DistanceError, SplitError, error_by_cause, shown_name
from pairalign.base.spelling import spelled
from pairalign.base.texts import stem_of
from pairalign.clusters.groups import Groups, Membership, make_groups
from pairalign.formats.group_files import read_group_table
from pairalign.sequences.input_rules import InputRules
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import check_names

GroupBy = str | os.PathLike[str] | Mapping[str, str]
"""``"file"``, ``"record"``, ``"name-prefix"``, the path of a table, or the group of each name."""

_SEPARATOR = "|"


def reading_of_groups(
    reading: InputRules, group_by: GroupBy | None, others: Sequence[str]
) -> InputRules:
    """Return how the first of several files is read, and the others with it, as one set.

    What has one name in two files is two sequences, where files are groups.
    """
    if group_by == BY_FILE and reading.on_duplicate == ON_DUPLICATE[0]:
        reading = replace(reading, on_duplicate="rename")
    return replace(reading, also=(*others, *reading.also))


def find_groups(group_by: GroupBy, sequences: SequenceSet) -> Groups:
    """Find the group of each sequence.

    Parameters
    ----------
    group_by : {"file", "record", "name-prefix"}, path or mapping of names to names of groups

    Returns
    -------
    Groups
        Each sequence is in one, and there are two or more.

    Raises
    ------
    DistanceError
        A sequence is in no group, there is one group, or its name is none that a matrix can have.
    SplitError
        The table cannot be read, has a sequence in two groups, or one that there is not.
    """
    if isinstance(group_by, Mapping):
        said = [
            Membership(name, group, None, k) for k, (name, group) in enumerate(group_by.items(), 1)
        ]
        groups = make_groups(sequences, said, "group_by", each="item")
    elif group_by == BY_FILE:
        groups = _by_file(sequences)
    elif group_by == BY_RECORD:
        groups = _numbered(list(sequences.names))
    elif group_by == BY_PREFIX:
        said = [Membership(name, _prefix(name, sequences), None, 0) for name in sequences.names]
        groups = _numbered([membership.group for membership in said])
    else:
        groups = _by_table(os.fspath(group_by), sequences)
    alone = np.flatnonzero(groups.labels < 0)
    if len(alone):
        name = shown_name(sequences.names[int(alone[0])])
        raise DistanceError(f"{sequences.source}: {name} is in no group")
    if len(groups.names) < 2:
        hint = f"; where each record is one: {spelled('group_by', BY_RECORD)}"
        raise DistanceError(
            f"{sequences.source}: one group, distances need two or more"
            f"{hint if group_by == BY_FILE else ''}"
        )
    check_names(groups.names, "groups")
    return groups


def _by_table(path: str, sequences: SequenceSet) -> Groups:
    try:
        return read_group_table(path, sequences)
    except FileNotFoundError as error:
        words = ", ".join((BY_FILE, BY_RECORD, BY_PREFIX))
        raise error_by_cause(SplitError, f"{error}; expected {words} or a table", error) from error


def _numbered(group_of_each: list[str]) -> Groups:
    numbers: dict[str, int] = {}
    labels = [numbers.setdefault(group, len(numbers)) for group in group_of_each]
    return Groups(tuple(numbers), np.array(labels, np.int32), None)


def _prefix(name: str, sequences: SequenceSet) -> str:
    prefix, separator, _ = name.partition(_SEPARATOR)
    if not separator or not prefix:
        raise DistanceError(
            f"{sequences.source}: {shown_name(name)} has no name of a group before a '{_SEPARATOR}'"
        )
    return prefix


def _by_file(sequences: SequenceSet) -> Groups:
    """Name the groups by their files: without folders and endings where these differ else."""
    parts = [(origin.name, len(origin.numbers)) for origin in sequences.origins]
    paths = list(dict.fromkeys(name for name, _ in parts))
    for shorter in (partial(stem_of, compressions=COMPRESSED_INPUTS), os.path.basename, str):
        names = [shorter(path) for path in paths]
        if len(set(names)) == len(names):
            break
    of_path = dict(zip(paths, names, strict=True))
    return _numbered(list(chain.from_iterable(repeat(of_path[path], n) for path, n in parts)))
