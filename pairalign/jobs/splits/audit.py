"""Audits: which pairs break what folds or clusters promise, each with its exact identity."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Bools, Int32s
from pairalign.base.declaration import changed
from pairalign.base.error_types import UsageError
from pairalign.base.function_options import takes
from pairalign.base.spelling import spelled
from pairalign.clusters.clusters import Clusters
from pairalign.clusters.folds import Split
from pairalign.clusters.groups import Groups, make_groups, memberships_of, promise_of
from pairalign.formats.group_files import TableColumns, read_groups
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import AnyScoring, Sequences
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.splits.audit_interactions import InteractionViolations, audit_interactions
from pairalign.jobs.splits.audit_request import AuditArguments, AuditRequest
from pairalign.jobs.splits.edges import (
    Leakage,
    Pairs,
    evalues_of,
    find_pairs,
    find_similar,
    request_of,
)
from pairalign.jobs.splits.split_interactions import InteractingSet, given_sets
from pairalign.jobs.splits.splits_result import ViolationRows
from pairalign.pairs.lists import PairList
from pairalign.requests.resources import Resources
from pairalign.requests.shared import ProblemOptions
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.significance import EvalueFilter

if TYPE_CHECKING:
    from typing_extensions import Unpack


SETS = ("train", "test")
"""What the two sets of an audit are called."""

AnyGroups = str | os.PathLike[str] | Split | Clusters | Mapping[str, Any] | Sequences
"""A file, what `pairalign.split` or `pairalign.cluster` returns, names and folds, or sequences."""

Kept = Callable[[Alignments], Bools]


@dataclass(frozen=True)
class Leaking:
    """How many sequences of a group reach the thresholds with one of another.

    Attributes
    ----------
    name : str
        Of the group.
    members : int
        All of the group.
    """

    name: str
    sequences: int
    members: int


@dataclass(frozen=True, eq=False, repr=False)
class Violations(ViolationRows):
    """Pairs that break what folds or clusters promise; iterate over them for rows of the table.

    Attributes
    ----------
    across : Pairs
        Pairs of two groups that reach the thresholds, in the order of output; before them each
        sequence that is in several groups, with itself.
    under : Pairs or None
        Members, the queries, that do not reach them with their representatives, the targets. None:
        folds have none.
    leaking : tuple of Leaking
        Of each group.
    queries, targets : SequenceSet
        What they are of; one and the same set where it has groups.
    grouping : Groups or None
        None: each set is a group of its own.
    identity_column : str
        The name of the column of identities.
    leakage : float or None
        What part of the identities of pairs that reach the thresholds is across groups, from 0 to
        1; None: not all pairs were looked at.
    """

    across: Pairs
    under: Pairs | None
    leaking: tuple[Leaking, ...]
    queries: SequenceSet
    targets: SequenceSet
    grouping: Groups | None
    identity_column: str
    leakage: float | None = None

    def __len__(self) -> int:
        return len(self.across) + (0 if self.under is None else len(self.under))

    def __repr__(self) -> str:
        groups = len(self.leaking)
        return f"<Violations: {len(self)} pairs, {self.members} sequences in {groups} groups>"

    @property
    def members(self) -> int:
        """How many sequences are in groups."""
        return sum(group.members for group in self.leaking)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of each row."""
        return ("violation", "name", "group", "other", "other_group", self.identity_column)

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        """Yield pairs of two groups, ``across``, then members ``under`` the threshold."""
        for kind, pairs in (("across", self.across), ("under", self.under)):
            if pairs is None:
                continue
            columns = (pairs.query.tolist(), pairs.target.tolist(), pairs.identity.tolist())
            for query, target, identity in zip(*columns, strict=True):
                names = self.queries.names[query], self.targets.names[target]
                for groups in self._groups_of(kind, query, target):
                    yield kind, names[0], groups[0], names[1], groups[1], f"{identity:.6f}"

    def _groups_of(self, kind: str, query: int, target: int) -> Iterator[tuple[str, str]]:
        """Yield the groups of a pair: each two that differ, or of a member the one it is in."""
        grouping = self.grouping
        if grouping is None:
            yield SETS
        elif kind == "under":
            group = grouping.names[grouping.represented(query, target)]
            yield group, group
        else:
            for first in grouping.groups_of(query):
                for second in grouping.groups_of(target):
                    if first != second and (query != target or first < second):
                        yield grouping.names[first], grouping.names[second]


@overload
def audit(
    groups: AnyGroups,
    sequences: Sequences | None = None,
    targets: None = None,
    *,
    pairs: Literal[False] = False,
    name_column: str | None = None,
    fold_column: str | None = None,
    read_as: Literal["folds", "clstr", "uc", "tsv", "fasta"] | None = None,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[AuditArguments],
) -> Violations: ...


@overload
def audit(
    groups: str | os.PathLike[str],
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    pairs: Literal[True],
    second: Mapping[str, Any] | None = None,
    second_clusters: str | os.PathLike[str] | None = None,
    name_column: str | None = None,
    fold_column: str | None = None,
    read_as: Literal["folds", "clstr", "uc", "tsv", "fasta"] | None = None,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[AuditArguments],
) -> InteractionViolations: ...


@takes(AuditArguments, AuditRequest, ProblemOptions, Resources)
def audit(
    groups: AnyGroups,
    sequences: Sequences | None = None,
    targets: Sequences | None = None,
    *,
    pairs: bool = False,
    second: Mapping[str, Any] | None = None,
    second_clusters: str | os.PathLike[str] | None = None,
    name_column: str | None = None,
    fold_column: str | None = None,
    read_as: Literal["folds", "clstr", "uc", "tsv", "fasta"] | None = None,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[AuditArguments],
) -> Violations | InteractionViolations:
    """List the pairs that break what folds or clusters promise.

    Parameters
    ----------
    groups : path, Split, Clusters, mapping of names to folds, or sequences
        A file of folds or clusters, or what `pairalign.split` or `pairalign.cluster` returns; or
        sequences, or with ``read_as="fasta"`` their file: the training set, `sequences` being the
        test set.
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        As for `pairalign.align`; default: those of a split or of clusters, whose thresholds are
        the default then.
    targets : as `sequences`, optional
        With `pairs`, the second set.
    pairs : bool
        `groups` is a table of interactions with a column of folds.
    second, second_clusters
        As for `pairalign.split`.
    name_column, fold_column : str, optional
        The columns of a table of folds that have the names and the folds.
    read_as : str, optional
        How the file is read; default: by the end of its name. Of a mapping ``"folds"`` or
        ``"fasta"`` says what it is; default: folds, where it has names of `sequences` and few
        different values.
    scoring, mode, progress
        As for `pairalign.split`.

    Returns
    -------
    Violations, or with `pairs` InteractionViolations
        Of length 0 where the promise holds.

    Raises
    ------
    SplitError
        The groups cannot be read, or name what is not among the sequences.
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
    """
    if sequences is None:
        if not isinstance(groups, (Split, Clusters)):
            raise UsageError("no sequences: a split or clusters alone have their own")
        sequences = groups.sequences
    if not {"min_identity", "max_evalue"} & options.keys():
        options = {**promise_of(groups), **options}  # type: ignore[typeddict-item]
    call = Call(audit, options, sequences, scoring=scoring, mode=mode, progress=progress)
    request, call = request_of(AuditRequest, call, pairs=pairs)
    is_file = isinstance(groups, (str, os.PathLike)) and read_as != "fasta"
    if pairs or targets is not None:
        if not (pairs and is_file):
            raise UsageError(
                "targets are the second set of interactions: give pairs and their file"
            )
        first = InteractingSet.of(call.read(), request)
        sets = given_sets(first, call, targets, second_clusters, second)
        return audit_interactions(os.fspath(groups), fold_column, sets, call.resources)  # type: ignore[arg-type]
    problem = call.read()
    queries = problem.queries
    said = None if is_file else memberships_of(groups, read_as, queries)
    if said is not None:
        grouping = make_groups(queries, said, "groups", several=True, each="item")
    elif is_file:
        columns = TableColumns(name_column, fold_column, None)
        path = os.fspath(groups)  # type: ignore[arg-type]
        grouping = read_groups(path, read_as, queries, columns, several=True)
    else:
        return _audit_two(replace(call, sequences=groups, targets=sequences), request)
    return _counted(audit_groups(problem, grouping, request, call.resources))


def _audit_two(call: Call, request: AuditRequest) -> Violations:
    """Look at two sets, train and test."""
    if not request.looks_across:
        across = spelled("across", "none")
        raise UsageError(f"{across} looks at members of clusters; two sets have none")
    problem = call.read()
    return _counted(audit_sets(problem, request, call.resources))


def _counted(violations: Violations) -> Violations:
    """Leave out what counts steps while pairs are aligned: results go to other processes."""
    return replace(violations, across=replace(violations.across, steps=None))


def audit_groups(
    problem: Problem, groups: Groups, request: AuditRequest, resources: Resources
) -> Violations:
    """Align all pairs, and members with their representatives, and look at them.

    Parameters
    ----------
    problem : Problem
        Of one set.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
    """
    others = [(member, group) for member, more in groups.others.items() for group, _ in more]
    more = np.array(others, np.int32).reshape(-1, 2)
    are_in_several = np.zeros(len(groups.labels), np.bool_)
    are_in_several[more[:, 0]] = True

    leakage = Leakage()

    def is_across(alignments: Alignments) -> Bools:
        first, second = groups.labels[alignments.query], groups.labels[alignments.target]
        differ = (
            (first != second) | are_in_several[alignments.query] | are_in_several[alignments.target]
        )
        inside = (first >= 0) & (second >= 0)
        share, whole = request.thresholds.count_identity(alignments)
        leakage.add((share / whole)[inside], differ[inside])
        kept: Bools = differ & inside
        return kept

    evalues = evalues_of(request, problem, resources)
    across = Pairs.none()
    if request.looks_across:
        if len(problem.queries) > 1:
            across = find_similar(request, problem, resources, keep=is_across, evalues=evalues)
        across = _with_themselves(np.flatnonzero(are_in_several).astype(np.int32), across)
    under = None
    if groups.representatives is not None:
        under = _find_under(problem, groups, request, resources, evalues)
    leaks = np.zeros(len(groups.labels), np.bool_)
    leaks[across.query] = leaks[across.target] = True
    inside = groups.labels >= 0
    labels = np.concatenate((groups.labels[inside], more[:, 1]))
    of_leaking = np.concatenate((leaks[inside], leaks[more[:, 0]]))
    members = np.bincount(labels, minlength=len(groups.names))
    leaking = np.bincount(labels[of_leaking], minlength=len(groups.names))
    counts = zip(groups.names, leaking.tolist(), members.tolist(), strict=True)
    return Violations(
        across,
        under,
        tuple(Leaking(*fields) for fields in counts),
        problem.queries,
        problem.queries,
        groups,
        request.thresholds.identity_column,
        leakage.share if request.looks_across else None,
    )


def _with_themselves(several: Int32s, pairs: Pairs) -> Pairs:
    """Put sequences that are in several groups before the pairs that were found."""
    count = len(several)
    own = Pairs(several, several, np.ones(count), np.ones(count, np.bool_))
    return Pairs.joined((own, pairs))


def audit_sets(problem: Problem, request: AuditRequest, resources: Resources) -> Violations:
    """Align every sequence of a set, train, with all of another, test; see `audit_groups`.

    The database of E-values is both, as before they were split.
    """
    if request.evalues.db_size is None and request.evalues.max_evalue is not None:
        residues = sum(sequences.total_residues for sequences in problem.sets)
        request = changed(request, db_size=residues)
    across = find_similar(request, problem, resources)
    ends = zip(SETS, (across.query, across.target), problem.sets, strict=True)
    leaking = (
        Leaking(name, len(np.unique(indices)), len(sequences)) for name, indices, sequences in ends
    )
    column = request.thresholds.identity_column
    return Violations(across, None, tuple(leaking), problem.queries, problem.others, None, column)


def _find_under(
    problem: Problem,
    groups: Groups,
    request: AuditRequest,
    resources: Resources,
    evalues: EvalueFilter | None,
) -> Pairs:
    """Return members that do not reach the thresholds with their representatives."""
    thresholds = request.thresholds
    represented = [*groups.represented_pairs()]
    if not represented:
        return Pairs.none()
    members, leaders = np.array(represented, np.int32).T
    pairs = PairList(members, leaders, may_repeat=True)
    failures = find_pairs(
        problem,
        thresholds,
        resources,
        pair_list=pairs,
        keep=_fails(thresholds, evalues),
        strand=request.strand,
    )
    are_members = set(represented)
    both = zip(failures.query.tolist(), failures.target.tolist(), strict=True)
    turned = np.fromiter((pair in are_members for pair in both), np.bool_, len(failures))
    return replace(
        failures,
        query=np.where(turned, failures.query, failures.target),
        target=np.where(turned, failures.target, failures.query),
    )


def _fails(thresholds: PairThresholds, evalues: EvalueFilter | None) -> Kept:
    def fails(alignments: Alignments) -> Bools:
        kept = np.ones(len(alignments), np.bool_)
        kept[thresholds.passing(alignments)] = False
        return kept if evalues is None else kept | ~evalues.passes(alignments)

    return fails
