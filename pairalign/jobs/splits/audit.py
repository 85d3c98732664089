"""Audits: which pairs break what folds or clusters promise, each with its exact identity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.thresholds import PairThresholds
from pairalign.jobs.splits.edges import Pairs, Resources, find_pairs
from pairalign.pairs.lists import PairList
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet
from pairalign.splits.groups import Groups


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
    def violations(self) -> int:
        """How many pairs break a promise."""
        return len(self.across) + (0 if self.under is None else len(self.under))


def audit_groups(
    sequences: SequenceSet,
    groups: Groups,
    scoring: Scoring,
    thresholds: PairThresholds,
    resources: Resources,
    *,
    across: bool = True,
) -> Audit:
    """Align all pairs, and members with their representatives, and look at them.

    Parameters
    ----------
    sequences : SequenceSet
    groups : Groups
    scoring : Scoring
    thresholds : PairThresholds
    resources : Resources
    across : bool
        Whether pairs of two groups are looked at.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
        See `pairalign.errors`.
    """

    def is_across(found: Alignments) -> npt.NDArray[np.bool_]:
        one, other = groups.labels[found.query], groups.labels[found.target]
        kept: npt.NDArray[np.bool_] = (one != other) & (one >= 0) & (other >= 0)
        return kept

    least = thresholds.min_identity
    found = Pairs.none()
    if across:
        found = find_pairs(sequences, None, scoring, thresholds, least, resources, keep=is_across)
    under = None
    if groups.representatives is not None:
        under = _find_under(sequences, groups.representatives, scoring, thresholds, resources)
    return Audit(found, under, len(groups.names), int((groups.labels >= 0).sum()))


def audit_sets(
    first: SequenceSet,
    second: SequenceSet,
    scoring: Scoring,
    thresholds: PairThresholds,
    resources: Resources,
) -> Audit:
    """Align every sequence of a set with all of another; see `audit_groups`."""
    found = find_pairs(first, second, scoring, thresholds, thresholds.min_identity, resources)
    return Audit(found, None, 2, len(first) + len(second))


def _find_under(
    sequences: SequenceSet,
    representatives: npt.NDArray[np.int32],
    scoring: Scoring,
    thresholds: PairThresholds,
    resources: Resources,
) -> Pairs:
    """Return members that do not reach the thresholds with their representatives."""
    indices = np.arange(len(sequences), dtype=np.int32)
    members = indices[(representatives >= 0) & (representatives != indices)]
    if not len(members):
        return Pairs.none()
    pairs = PairList(members, representatives[members], may_repeat=True)
    found = find_pairs(
        sequences,
        None,
        scoring,
        thresholds,
        thresholds.min_identity,
        resources,
        pair_list=pairs,
        keep=_fails(thresholds),
        everything=True,
    )
    turned = representatives[found.query] == found.target
    return Pairs(
        np.where(turned, found.query, found.target),
        np.where(turned, found.target, found.query),
        found.identity,
        found.reaches,
    )


def _fails(thresholds: PairThresholds) -> Callable[[Alignments], npt.NDArray[np.bool_]]:
    def fails(found: Alignments) -> npt.NDArray[np.bool_]:
        kept = np.ones(len(found), np.bool_)
        kept[thresholds.passing(found)] = False
        return kept

    return fails
