"""Groups of sequences that somebody has made, in a file or in Python: folds, clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pairalign.base.arrays import Int32s
from pairalign.base.error_types import SplitError, UsageError, shown_name
from pairalign.clusters.clusters import Clusters
from pairalign.clusters.folds import Split
from pairalign.sequences.sets import SequenceSet

_DATABASES = ("sp", "tr", "gi", "ref", "gb", "emb", "dbj", "pdb", "lcl")
"""What stands before the first ``|`` of a name where the second part is the identifier.

After ``gi|NUMBER|DATABASE`` it is the fourth, after ``gnl|DATABASE`` the third."""


@dataclass(frozen=True)
class Groups:
    """Which group each sequence of a set is in.

    Attributes
    ----------
    names : tuple of str
        Of the groups.
    labels : ndarray of int32, shape (n,)
        The group of each sequence, by input index; -1: none.
    representatives : ndarray of int32, shape (n,), or None
        Input index of what stands for the group of each sequence, -1 where there is none. None:
        the groups are folds.
    others : dict of int to list of (int, int)
        Of each sequence that is in several groups, all but the first: the group, and what stands
        for that, or -1.
    """

    names: tuple[str, ...]
    labels: Int32s
    representatives: Int32s | None
    others: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def groups_of(self, sequence: int) -> list[int]:
        """Return all groups of a sequence."""
        more = self.others.get(sequence, ())
        return [int(self.labels[sequence]), *(group for group, _ in more)]

    def represented_pairs(self) -> Iterator[tuple[int, int]]:
        """Yield each member of a cluster, but its representative, with that."""
        assert self.representatives is not None
        for member, first in enumerate(self.representatives.tolist()):
            for leader in (first, *(leader for _, leader in self.others.get(member, ()))):
                if leader not in (-1, member):
                    yield member, leader

    def represented(self, sequence: int, representative: int) -> int:
        """Return the group of a sequence that another stands for."""
        more = self.others.get(sequence, ())
        of_leader = {leader: group for group, leader in more}
        return of_leader.get(representative, int(self.labels[sequence]))


@dataclass(frozen=True)
class Membership:
    """What a line of a file says.

    Attributes
    ----------
    representative : str or None
        None: it is known of no sequence, as in folds.
    """

    name: str
    group: str
    representative: str | None
    line: int


def make_groups(
    sequences: SequenceSet,
    said: list[Membership],
    source: str,
    *,
    several: bool = False,
    each: str = "line",
) -> Groups:
    """Make groups of what a file says; with `several` a sequence may be in more than one.

    `each` is what messages call a membership.

    Raises
    ------
    SplitError
        It names a sequence that is not there, or could be several, or one twice; or a group has
        two representatives, or that of another.
    """
    finder = NameFinder(sequences.names, sequences.descriptions, sequences.source)
    numbers: dict[str, int] = {}
    leaders: dict[str, tuple[int, str]] = {}
    labels = np.full(len(sequences), -1, np.int32)
    representatives = np.full(len(sequences), -1, np.int32)
    others: dict[int, list[tuple[int, int]]] = {}
    inside: set[tuple[int, int]] = set()
    for membership in said:
        where = f"{source}: {each} {membership.line}"
        index, leader = finder.find(membership.name, where), -1
        number = numbers.setdefault(membership.group, len(numbers))
        if membership.representative is not None:
            leader = finder.find(membership.representative, where)
            if leaders.setdefault(membership.group, (leader, where))[0] != leader:
                raise SplitError(
                    f"{where}: {shown_name(membership.group)} has another representative"
                )
        if (index, number) in inside or (labels[index] >= 0 and not several):
            raise SplitError(f"{where}: {shown_name(membership.name)} again; each sequence once")
        inside.add((index, number))
        if labels[index] < 0:
            labels[index], representatives[index] = number, leader
        else:
            others.setdefault(index, []).append((number, leader))
    for group, (leader, where) in leaders.items():
        number = numbers[group]
        if labels[leader] < 0:  # it is a member, whether the file says so or not
            labels[leader], representatives[leader] = number, leader
        elif (leader, number) not in inside:
            if not several:
                name = shown_name(sequences.names[leader])
                other = f"stands for {shown_name(group)}, and is in another"
                raise SplitError(f"{where}: {name} {other}")
            others.setdefault(leader, []).append((number, leader))
    if not said:
        raise SplitError(f"{source}: no sequence is named")
    has_any = any(membership.representative is not None for membership in said)
    return Groups(tuple(numbers), labels, representatives if has_any else None, others)


class NameFinder:
    """Finds sequences by names as other programs write them: cut, or an identifier alone.

    Parameters
    ----------
    names, headers : sequence of str
        Of the sequences; headers may be none.
    source : str
        Where they are from, for messages.
    """

    def __init__(self, names: Sequence[str], headers: Sequence[str], source: str) -> None:
        self._source = source
        self._exact = {name: k for k, name in enumerate(names)}
        self._headers = {header: k for k, header in enumerate(headers)}
        parts = [_identifiers(name) for name in names]
        counts = Counter(part for identifiers in parts for part in identifiers)
        self._unique = {
            part: k
            for k, identifiers in enumerate(parts)
            for part in identifiers
            if counts[part] == 1
        }
        self._names = sorted(self._exact)

    def find(self, name: str, where: str) -> int:
        """Return the input index of a name; SplitError if there is none, or several."""
        for indices in (self._exact, self._headers, self._unique):
            if name in indices:
                return indices[name]
        if name.endswith("..."):  # CD-HIT cuts names
            return self._find_cut(name.removesuffix("..."), where)
        raise SplitError(f"{where}: no sequence {shown_name(name)} in {self._source}")

    def _find_cut(self, start: str, where: str) -> int:
        from bisect import bisect_left

        if start in self._exact:
            return self._exact[start]
        at = bisect_left(self._names, start)
        matches = [name for name in self._names[at : at + 2] if name.startswith(start)]
        if len(matches) != 1:
            several = "several sequences" if matches else "no sequence"
            raise SplitError(
                f"{where}: {several} of {self._source} begin with {shown_name(start)}; "
                "have names written in full (cd-hit -d 0)"
            )
        return self._exact[matches[0]]


def _identifiers(name: str) -> set[str]:
    """Return what a name may be called by programs that cut it at ``|`` or ``;``."""
    parts = name.split("|")
    identifiers = {parts[0], name.split(";")[0]}
    if len(parts) > 1 and parts[0] in _DATABASES:
        identifiers = {parts[1], *parts[3:4]} if parts[0] == "gi" else {parts[1]}
    elif len(parts) > 2 and parts[0] == "gnl":
        identifiers = {parts[2]}
    return identifiers - {name}


GivenGroups = Split | Clusters | Mapping[str, Any]
"""What Python may have groups as; a mapping is of names to groups."""

_LONGEST = 20
"""Characters of a name of a fold, where nobody has said that it is one."""


def promise_of(groups: object) -> dict[str, Any]:
    """Return the options that say what a split or clusters promise; none of other groups."""
    if not isinstance(groups, (Split, Clusters)):
        return {}
    options = {name: value for name, value in vars(groups.thresholds).items() if value}
    evalue = groups.max_evalue if isinstance(groups, Split) else None
    if evalue is None:
        return {**options, "min_identity": groups.thresholds.least_identity}
    return {**options, "max_evalue": evalue}


def memberships_of(
    groups: object, read_as: str | None, sequences: SequenceSet
) -> list[Membership] | None:
    """Return which sequences are in which group; None: these are no groups but sequences.

    Parameters
    ----------
    groups : Split, Clusters, mapping of names to folds, or sequences
    read_as : str or None
        ``"folds"`` or ``"fasta"`` says what a mapping is. Else one of names that `sequences` has to
        short values of which few differ, or to no text, is of folds.

    Raises
    ------
    UsageError
        A mapping may be of folds or of sequences.
    """
    if isinstance(groups, Split):
        names = groups.sequences.names
        return [
            Membership(name, groups.fold_names[fold], None, number)
            for number, (name, fold) in enumerate(zip(names, groups.folds, strict=True), 1)
            if fold >= 0
        ]
    if isinstance(groups, Clusters):
        leaders = [groups.sequences.names[k] for k in groups.representatives]
        of_each = zip(groups.sequences.names, groups.labels, strict=True)
        return [
            Membership(name, leaders[label], leaders[label], number)
            for number, (name, label) in enumerate(of_each, 1)
        ]
    if not isinstance(groups, Mapping) or not _are_folds(groups, read_as, sequences):
        return None
    return [
        Membership(str(name), str(fold), None, number)
        for number, (name, fold) in enumerate(groups.items(), 1)
        if fold is not None and fold != "" and fold == fold  # NaN is missing as well
    ]


def _are_folds(groups: Mapping[Any, Any], read_as: str | None, sequences: SequenceSet) -> bool:
    if read_as is not None:
        return read_as == "folds"
    values = list(groups.values())
    if any(value is None or hasattr(value, "__index__") for value in values):
        return True
    if not all(isinstance(value, str) and len(value) < _LONGEST for value in values):
        return False
    shared_names = set(sequences.names).intersection(map(str, groups))
    if shared_names and len(set(values)) <= max(2, len(values) // 2):
        return True
    if len(shared_names) == len(values) > 0:
        raise UsageError(
            "groups: the names are those of sequences, and their values may be folds or residues: "
            "add read_as='folds' or read_as='fasta'"
        )
    return False
