"""Audits of interactions that have folds: similar pairs across folds in either of two sets.

A sequence is in each fold that has an interaction of it, so it may be in several: that is a
violation of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.base.arrays import Bools
from pairalign.jobs.splits.edges import find_similar
from pairalign.jobs.splits.interaction_tables import read_interaction_folds
from pairalign.jobs.splits.split_interactions import InteractingSet
from pairalign.jobs.splits.splits_result import ViolationRows
from pairalign.requests.resources import Resources

_ACROSS = "across"
_Row = tuple[str, ...]


@dataclass(frozen=True)
class LeakingSet:
    """How many sequences of a set are similar to one in another fold, or are in two.

    Attributes
    ----------
    sequences, members : int
        That leak, and all that have a fold.
    """

    sequences: int
    members: int


@dataclass(frozen=True, eq=False, repr=False)
class InteractionViolations(ViolationRows):
    """Pairs across folds of interactions; iterate over them for rows of the table.

    Attributes
    ----------
    columns : tuple of str
        The names of the columns of each row.
    rows : list of tuple of str
    fold_names : tuple of str
    leaking : tuple of LeakingSet
        Of each set.
    """

    columns: tuple[str, ...]
    rows: list[_Row]
    fold_names: tuple[str, ...]
    leaking: tuple[LeakingSet, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[_Row]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return f"<InteractionViolations: {len(self)} pairs, {len(self.fold_names)} folds>"


def audit_interactions(
    path: str, fold_column: str | None, sets: tuple[InteractingSet, ...], resources: Resources
) -> InteractionViolations:
    """Look at all pairs of sequences of each set that are in two folds.

    Parameters
    ----------
    path : str
        The interactions; see `read_interaction_folds`.
    sets : tuple of InteractingSet
        One where both ends of interactions are of the same set.

    Raises
    ------
    SplitError
        The interactions cannot be read, or name what is not in a set.
    UsageError, ScoringError, CapacityError, DeviceError
    """
    table, said = read_interaction_folds(path, (sets[0].finder, sets[-1].finder), fold_column)
    names = tuple(dict.fromkeys(said))
    number = {name: k for k, name in enumerate(names)}
    folds = np.array([number[name] for name in said], np.int64)
    members = [
        np.zeros((len(interacting_set.names), len(names)), np.bool_) for interacting_set in sets
    ]
    members[0][table.ends[:, 0], folds] = True
    members[-1][table.ends[:, 1], folds] = True
    rows: list[_Row] = []
    leaking = []
    for which, (interacting_set, inside) in enumerate(zip(sets, members, strict=True), 1):
        of_set, leaks = _look_at(interacting_set, inside, names, resources)
        rows += [(_ACROSS, str(which), *row) for row in of_set]
        leaking.append(LeakingSet(int(leaks.sum()), int(inside.any(axis=1).sum())))
    identities = {_column_of(interacting_set) for interacting_set in sets}
    identity = identities.pop() if len(identities) == 1 else "identity"
    columns = ("violation", "set", "name", "fold", "other", "other_fold", identity)
    return InteractionViolations(columns, rows, names, tuple(leaking))


def _column_of(interacting_set: InteractingSet) -> str:
    return (
        "identity"
        if interacting_set.request is None
        else interacting_set.request.thresholds.identity_column
    )


def _look_at(
    interacting_set: InteractingSet,
    inside: Bools,
    names: tuple[str, ...],
    resources: Resources,
) -> tuple[list[_Row], Bools]:
    """Return rows of a set, and which of its sequences leak; `inside`: in which folds each is."""
    rows: list[_Row] = []
    leaks = inside.sum(axis=1) > 1
    for k in np.flatnonzero(leaks).tolist():
        rows += _rows_of(interacting_set, names, inside, k, k, "1.000000")
    if interacting_set.clusters is not None:
        return rows + _across_clusters(interacting_set, inside, names, leaks), leaks
    assert interacting_set.problem is not None
    assert interacting_set.request is not None

    def is_across(alignments: Alignments) -> Bools:
        first, other = inside[alignments.query], inside[alignments.target]
        both = first.any(axis=1) & other.any(axis=1)
        several = (first | other).sum(axis=1) > 1
        across: Bools = both & several
        return across

    request, problem = interacting_set.request, interacting_set.problem
    pairs = find_similar(request, problem, resources, keep=is_across)
    columns = pairs.query.tolist(), pairs.target.tolist(), pairs.identity.tolist()
    for query, target, identity in zip(*columns, strict=True):
        rows += _rows_of(interacting_set, names, inside, query, target, f"{identity:.6f}")
    leaks[pairs.query] = leaks[pairs.target] = True
    return rows, leaks


def _rows_of(
    interacting_set: InteractingSet,
    names: tuple[str, ...],
    inside: Bools,
    query: int,
    target: int,
    identity: str,
) -> Iterator[_Row]:
    """Yield a row for each two folds that a pair is in."""
    for first in np.flatnonzero(inside[query]).tolist():
        for other in np.flatnonzero(inside[target]).tolist():
            if first != other and (query != target or first < other):
                ends = (
                    interacting_set.names[query],
                    names[first],
                    interacting_set.names[target],
                    names[other],
                )
                yield (*ends, identity)


def _across_clusters(
    interacting_set: InteractingSet,
    inside: Bools,
    names: tuple[str, ...],
    leaks: Bools,
) -> list[_Row]:
    """Return a row for each member of a cluster that is elsewhere than the first one."""
    assert interacting_set.clusters is not None
    rows: list[_Row] = []
    first_of: dict[int, int] = {}
    for k in np.flatnonzero(inside.any(axis=1)).tolist():
        first = first_of.setdefault(int(interacting_set.clusters[k]), k)
        if first != k:
            of_pair = list(_rows_of(interacting_set, names, inside, first, k, ""))
            leaks[[first, k]] |= bool(of_pair)
            rows += of_pair
    return rows
