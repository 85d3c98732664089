"""Audits: which pairs break what folds or clusters promise, each with its exact identity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.clusters.splits.groups import Groups
from pairalign.jobs.run.request import evalue_filter_of
from pairalign.jobs.run.resources import Resources
from pairalign.jobs.splits.edges import Pairs, find_pairs
from pairalign.pairs.lists import PairList
from pairalign.requests.audit import AuditRequest
from pairalign.statistics.significance import EvalueFilter

if TYPE_CHECKING:
    from pairalign.jobs.stages.threshold_engine import Steps


SETS = ("train", "test")
"""What the two sets of an audit are called."""

Kept = Callable[[Alignments], npt.NDArray[np.bool_]]


@dataclass(frozen=True)
class Leaking:
    """How many sequences of a group reach the thresholds with one of another.

    Attributes
    ----------
    name : str
        Of the group.
    sequences : int
    members : int
        All of the group.
    """

    name: str
    sequences: int
    members: int


@dataclass(frozen=True)
class Audit:
    """What was found.

    Attributes
    ----------
    across : Pairs
        Pairs of two groups that reach the thresholds, in the order of output.
    under : Pairs or None
        Members, the queries, that do not reach them with their representatives, the targets. None:
        folds have none.
    leaking : tuple of Leaking
        Of each group.
    """

    across: Pairs
    under: Pairs | None
    leaking: tuple[Leaking, ...]

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.leaking)

    @property
    def members(self) -> int:
        """How many sequences are in groups."""
        return sum(one.members for one in self.leaking)

    @property
    def steps(self) -> Steps | None:
        """How many pairs across groups each step of the thresholds has left."""
        return self.across.steps

    @property
    def violations(self) -> int:
        """How many pairs break a promise."""
        return len(self.across) + (0 if self.under is None else len(self.under))


def audit_groups(
    problem: Problem, groups: Groups, request: AuditRequest, resources: Resources
) -> Audit:
    """Align all pairs, and members with their representatives, and look at them.

    Parameters
    ----------
    problem : Problem
        Of one set.
    groups : Groups
    request : AuditRequest
    resources : Resources

    Raises
    ------
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
        See `pairalign.errors`.
    """

    def is_across(found: Alignments) -> npt.NDArray[np.bool_]:
        one, other = groups.labels[found.query], groups.labels[found.target]
        kept: npt.NDArray[np.bool_] = (one != other) & (one >= 0) & (other >= 0)
        return kept

    evalues = evalue_filter_of(request, problem, request.strand, resources)
    found = Pairs.none()
    if request.looks_across:
        found = _find_reaching(problem, request, resources, evalues, is_across)
    under = None
    if groups.representatives is not None:
        under = _find_under(problem, groups.representatives, request, resources, evalues)
    ends = np.unique(np.concatenate((found.query, found.target)))
    members = np.bincount(groups.labels[groups.labels >= 0], minlength=len(groups.names))
    leaking = np.bincount(groups.labels[ends], minlength=len(groups.names))
    counts = zip(groups.names, leaking.tolist(), members.tolist(), strict=True)
    return Audit(found, under, tuple(Leaking(*one) for one in counts))


def audit_sets(problem: Problem, request: AuditRequest, resources: Resources) -> Audit:
    """Align every sequence of a set, train, with all of another, test; see `audit_groups`.

    The database of E-values is both, as before they were split.
    """
    asked = request
    if asked.db_size is None and asked.max_evalue is not None:
        asked = replace(asked, db_size=sum(one.total_residues for one in problem.sets))
    evalues = evalue_filter_of(asked, problem, asked.strand, resources)
    found = _find_reaching(problem, request, resources, evalues)
    ends = zip(SETS, (found.query, found.target), problem.sets, strict=True)
    leaking = (Leaking(name, len(np.unique(one)), len(known)) for name, one, known in ends)
    return Audit(found, None, tuple(leaking))


def _find_reaching(
    problem: Problem,
    request: AuditRequest,
    resources: Resources,
    evalues: EvalueFilter | None,
    keep: Kept | None = None,
) -> Pairs:
    return find_pairs(
        problem,
        request.thresholds,
        request.thresholds.min_identity,
        resources,
        keep=keep,
        strand=request.strand,
        evalues=evalues,
    )


def _find_under(
    problem: Problem,
    representatives: npt.NDArray[np.int32],
    request: AuditRequest,
    resources: Resources,
    evalues: EvalueFilter | None,
) -> Pairs:
    """Return members that do not reach the thresholds with their representatives."""
    thresholds = request.thresholds
    indices = np.arange(len(problem.queries), dtype=np.int32)
    members = indices[(representatives >= 0) & (representatives != indices)]
    if not len(members):
        return Pairs.none()
    pairs = PairList(members, representatives[members], may_repeat=True)
    found = find_pairs(
        problem,
        thresholds,
        thresholds.min_identity,
        resources,
        pair_list=pairs,
        keep=_fails(thresholds, evalues),
        everything=True,
        strand=request.strand,
    )
    turned = representatives[found.query] == found.target
    return replace(
        found,
        query=np.where(turned, found.query, found.target),
        target=np.where(turned, found.target, found.query),
    )


def _fails(thresholds: PairThresholds, evalues: EvalueFilter | None) -> Kept:
    def fails(found: Alignments) -> npt.NDArray[np.bool_]:
        kept = np.ones(len(found), np.bool_)
        kept[thresholds.passing(found)] = False
        return kept if evalues is None else kept | ~evalues.passes(found)

    return fails
