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
from pairalign.jobs.run.resources import Resources
from pairalign.jobs.splits.edges import Pairs, find_pairs
from pairalign.pairs.lists import PairList
from pairalign.requests.audit import AuditRequest

if TYPE_CHECKING:
    from pairalign.jobs.stages.threshold_engine import Steps


Kept = Callable[[Alignments], npt.NDArray[np.bool_]]


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
    groups : int
    members : int
        Sequences that are in groups.
    """

    across: Pairs
    under: Pairs | None
    groups: int
    members: int

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

    found = Pairs.none()
    if request.looks_across:
        found = _find_reaching(problem, request, resources, is_across)
    under = None
    if groups.representatives is not None:
        under = _find_under(problem, groups.representatives, request, resources)
    return Audit(found, under, len(groups.names), int((groups.labels >= 0).sum()))


def audit_sets(problem: Problem, request: AuditRequest, resources: Resources) -> Audit:
    """Align every sequence of a set with all of another; see `audit_groups`."""
    found = _find_reaching(problem, request, resources)
    return Audit(found, None, 2, sum(map(len, problem.sets)))


def _find_reaching(
    problem: Problem, request: AuditRequest, resources: Resources, keep: Kept | None = None
) -> Pairs:
    thresholds, strand = request.thresholds, request.strand
    least = thresholds.min_identity
    return find_pairs(problem, thresholds, least, resources, keep=keep, strand=strand)


def _find_under(
    problem: Problem,
    representatives: npt.NDArray[np.int32],
    request: AuditRequest,
    resources: Resources,
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
        keep=_fails(thresholds),
        everything=True,
        strand=request.strand,
    )
    turned = representatives[found.query] == found.target
    return replace(
        found,
        query=np.where(turned, found.query, found.target),
        target=np.where(turned, found.target, found.query),
    )


def _fails(thresholds: PairThresholds) -> Kept:
    def fails(found: Alignments) -> npt.NDArray[np.bool_]:
        kept = np.ones(len(found), np.bool_)
        kept[thresholds.passing(found)] = False
        return kept

    return fails
