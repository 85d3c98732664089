"""Splits of interactions between two sets: no similar pair across folds in either.

Similar sequences of a set are a cluster, as in the split of one set; a cluster that is larger than
a fold is cut. An interaction is kept where its two ends are in one fold, so clusters of both sets
go into folds together (`place_clusters`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s
from pairalign.base.declaration import options_of
from pairalign.base.error_types import SplitError, UsageError
from pairalign.base.function_options import refuse_unknown
from pairalign.base.spelling import spelled
from pairalign.clusters.groups import NameFinder
from pairalign.formats.group_files import read_named_groups
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import Sequences, read_problem
from pairalign.jobs.splits.edges import AnySide, find_similar, request_of
from pairalign.jobs.splits.interaction_folds import Interactions, Shares, place_clusters
from pairalign.jobs.splits.interaction_split import Side
from pairalign.jobs.splits.interaction_tables import InteractionTable
from pairalign.jobs.splits.interactions_request import SecondSetOptions
from pairalign.jobs.splits.network import Network, Sizes, find_separator
from pairalign.jobs.splits.split_request import SplitRequest
from pairalign.jobs.splits.splits_result import InteractionSplit
from pairalign.requests.resources import Resources
from pairalign.sequences.sets import SequenceSet

_NOWHERE = -1


@dataclass(frozen=True)
class InteractingSet:
    """One of the sets: sequences and what is similar, or names and their clusters.

    Attributes
    ----------
    problem : Problem or None
        Of the set alone.
    clusters : ndarray of int32, shape (n,), or None
        Where they were given.
    """

    source: str
    names: Sequence[str]
    headers: Sequence[str] = ()
    problem: Problem | None = None
    request: AnySide | None = None
    clusters: Int32s | None = None

    @classmethod
    def of(cls, problem: Problem, request: AnySide) -> InteractingSet:
        """Return what sequences are."""
        queries = problem.queries
        return cls(queries.source, queries.names, queries.descriptions, problem, request)

    @classmethod
    def of_clusters(cls, path: str) -> InteractingSet:
        """Read names and clusters; see `read_named_groups`."""
        names, clusters = read_named_groups(path)
        return cls(path, names, clusters=clusters)

    @property
    def sequences(self) -> SequenceSet | None:
        """None: clusters were given."""
        return None if self.problem is None else self.problem.queries

    @property
    def finder(self) -> NameFinder:
        """What finds its sequences by name."""
        return NameFinder(self.names, self.headers, self.source)


def given_sets(
    first: InteractingSet,
    call: Call,
    targets: Sequences | None,
    clusters: str | os.PathLike[str] | None,
    second: Mapping[str, Any] | None,
) -> tuple[InteractingSet, ...]:
    """Return the sets that the arguments of a function give: two, or one.

    Parameters
    ----------
    call : Call
        Of the first.
    targets : Sequences, optional
        The second.
    clusters : path, optional
        In its place.
    second : mapping of str to object, optional
        Arguments in place of those of the first.

    Raises
    ------
    UsageError
        Arguments exclude each other.
    """
    if targets is None and second is not None:
        raise UsageError(f"{spelled('second')} is of a second set: give targets")
    if targets is not None and targets is call.sequences:
        raise UsageError(
            "targets are sequences: leave them out, since a sequence of both might be in two folds"
        )
    if targets is not None and clusters is not None:
        raise UsageError(f"{spelled('second_clusters')} is in place of targets: give one of them")
    if clusters is not None:
        return first, InteractingSet.of_clusters(os.fspath(clusters))
    if targets is None:
        return (first,)
    request: AnySide | None = first.request
    others = {name: value for name, value in call.options.items() if name != "also"}
    other = replace(call, sequences=targets, options=others)
    if second is not None:
        options = dict(second)
        scored = {"scoring": options.pop("scoring", None), "mode": options.pop("mode", None)}
        refuse_unknown("second", options, (option.name for option in options_of(SecondSetOptions)))
        request, other = request_of(SecondSetOptions, replace(other, options=options, **scored))
    assert request is not None
    problem = read_problem(other.problem_request)
    return first, InteractingSet.of(problem, request)


def run_interaction_split(
    sets: tuple[InteractingSet, ...],
    table: InteractionTable,
    request: SplitRequest,
    resources: Resources,
) -> InteractionSplit:
    """Find similar pairs in each set, and make the folds.

    Parameters
    ----------
    sets : tuple of InteractingSet
        Two; one where both ends of interactions are of the same set.

    Raises
    ------
    SplitError
        Training, validation or test set would have no interaction.
    UsageError, ScoringError, CapacityError, DeviceError
    """
    shares = tuple(request.fold_shares.values())
    goals = Shares(tuple(map(float, shares)), float(request.exact_tolerance))
    plans = [_Plan.of(interacting_set, request, resources) for interacting_set in sets]
    ends = np.stack([plans[k].places[table.ends[:, k]] for k in (0, -1)], axis=1)
    _link(plans, ends)
    for plan in plans:
        plan.cut(request)
    _place(plans, ends, goals, request.seed)
    _put_back(plans, ends, goals)
    folds = _folds_of(plans, ends)
    sides = tuple(plan.side() for plan in plans)
    kept = np.bincount(folds[folds >= 0], minlength=len(shares)).tolist()
    remark = _say_reached(kept, list(request.fold_shares), goals)
    if min(kept) == 0 and request.has_shares:
        raise SplitError(f"{table.source}: {remark}")
    pairs = table.ends if len(sets) > 1 else np.sort(table.ends, axis=1)
    return InteractionSplit(
        sides=sides,
        fold_names=tuple(request.fold_shares),
        shares=shares,
        tolerance=request.exact_tolerance,
        header=table.header,
        rows=table.rows,
        ends=table.ends,
        folds=folds,
        repeated=len(pairs) - len(np.unique(pairs, axis=0)),
        remark=remark,
    )


@dataclass
class _Plan:
    """A set whose sequences go into folds, numbered so that the order of the input is no matter.

    Attributes
    ----------
    places : ndarray of int32, shape (n,)
        The number of each input index.
    partners : list of list of (int, int)
        The other ends of the interactions of each sequence: number of the set, and index.
    pieces : list of list of int
        What stays together.
    folds : list of int
        Of each sequence; -1: not yet, or it is removed.
    """

    given: InteractingSet
    places: Int32s
    network: Network | None
    clusters: Int32s
    partners: list[list[tuple[int, int]]] = field(default_factory=list)
    pieces: list[list[int]] = field(default_factory=list)
    folds: list[int] = field(default_factory=list)

    @classmethod
    def of(
        cls, interacting_set: InteractingSet, options: SplitRequest, resources: Resources
    ) -> _Plan:
        """Find what is similar."""
        if interacting_set.clusters is not None:
            order = np.argsort(np.array(interacting_set.names, object))
            places = np.argsort(order).astype(np.int32)
            numbered = interacting_set.clusters[order]
            first, inverse = np.unique(numbered, return_index=True, return_inverse=True)[1:]
            ranks = np.argsort(np.argsort(first)).astype(np.int32)
            return cls(interacting_set, places, None, ranks[inverse])
        assert interacting_set.problem is not None
        assert interacting_set.request is not None
        problem, request = interacting_set.problem, interacting_set.request
        pairs = find_similar(request, problem, resources)
        places = problem.queries.canonical_places()
        network = Network(len(problem.queries), places[pairs.query], places[pairs.target])
        return cls(interacting_set, places, network, network.clusters())

    def cut(self, request: SplitRequest) -> None:
        """Make pieces; a cluster that is larger than a fold may be loses what connects its parts.

        A sequence costs its interactions. Clusters that were given are not cut: what is similar in
        them is not known.
        """
        count = len(self.given.names)
        self.folds = [_NOWHERE] * count
        if self.network is None or request.no_remove:
            members: list[list[int]] = [[] for _ in range(int(self.clusters.max()) + 1)]
            for index, cluster in enumerate(self.clusters.tolist()):
                members[cluster].append(index)
            self.pieces = members
            return
        largest = max(request.fold_shares.values())
        most = math.ceil(count * largest * (1 + request.exact_tolerance))
        sizes = Sizes(np.zeros((count, 1), np.int32), [float(most)])
        prices = np.array([1.0 + len(partners) for partners in self.partners])
        waiting = self.network.pieces(range(count))
        while waiting:
            piece = waiting.pop()
            if len(piece) <= most:
                self.pieces.append(piece)
                continue
            gone = find_separator(self.network, piece, sizes, prices, request.seed)
            waiting += self.network.pieces(set(piece).difference(gone))
        self.pieces.sort()

    def near(self, index: int) -> set[int]:
        """Return the folds of the sequences that are similar to one."""
        assert self.network is not None
        return {self.folds[other] for other in self.network.neighbours[index]} - {_NOWHERE}

    def side(self) -> Side:
        """Return the folds of the set."""
        return Side(
            source=self.given.source,
            names=tuple(self.given.names),
            folds=np.array(self.folds, np.int32)[self.places],
            clusters=self.clusters[self.places],
            edges=0 if self.network is None else len(self.network.one),
            sequences=self.given.sequences,
        )


def _link(plans: list[_Plan], ends: Int32s) -> None:
    """Tell sequences their partners; of an interaction with itself a sequence is one."""
    last = len(plans) - 1
    for plan in plans:
        plan.partners = [[] for _ in plan.given.names]
    for first, second in ends.tolist():
        plans[0].partners[first].append((last, second))
        if last or first != second:
            plans[last].partners[second].append((0, first))


def _place(plans: list[_Plan], ends: Int32s, goals: Shares, seed: int) -> None:
    """Put the pieces of all sets into folds."""
    numbers, count = [], 0
    for plan in plans:
        number = np.full(len(plan.folds), _NOWHERE, np.int32)
        for k, piece in enumerate(plan.pieces, count):
            number[piece] = k
        count += len(plan.pieces)
        numbers.append(number)
    of_ends = np.stack([numbers[0][ends[:, 0]], numbers[-1][ends[:, 1]]], axis=1)
    graph = Interactions(count, of_ends[(of_ends >= 0).all(axis=1)])
    folds = iter(place_clusters(graph, goals, seed))
    for plan in plans:
        of_pieces = [next(folds) for _ in plan.pieces]
        filled = [0] * len(goals.shares)
        alone = []
        for piece, fold in zip(plan.pieces, of_pieces, strict=True):
            if any(plan.partners[index] for index in piece):
                _fill(plan, piece, fold, filled)
            else:
                alone.append(piece)
        for piece in sorted(alone, key=lambda members: (-len(members), members[0])):
            _fill(plan, piece, _emptiest(filled, goals, range(len(filled))), filled)


def _fill(plan: _Plan, piece: list[int], fold: int, filled: list[int]) -> None:
    for index in piece:
        plan.folds[index] = fold
    filled[fold] += len(piece)


def _emptiest(filled: Sequence[int], goals: Shares, folds: Iterable[int]) -> int:
    return min(folds, key=lambda fold: (filled[fold] / goals.shares[fold], fold))


def _put_back(plans: list[_Plan], ends: Int32s, goals: Shares) -> None:
    """Put removed sequences back where similar ones are in one fold, if shares stay met.

    Those with most interactions come first; each goes where most are kept.
    """
    folds = _folds_of(plans, ends)
    kept = np.bincount(folds[folds >= 0], minlength=len(goals.shares)).tolist()
    left = [(plan, index) for plan in plans for index, fold in enumerate(plan.folds) if fold < 0]
    left.sort(key=lambda item: -len(item[0].partners[item[1]]))
    changed = True
    while changed:
        changed = False
        for plan, index in list(left):
            near = plan.near(index)
            if len(near) > 1:
                continue
            gains = [0] * len(kept)
            self_interactions = 0
            for side, other in plan.partners[index]:
                if plans[side] is plan and other == index:
                    self_interactions += 1
                elif plans[side].folds[other] >= 0:
                    gains[plans[side].folds[other]] += 1
            possible = near or range(len(kept))
            fold = min(possible, key=lambda k: (-gains[k], kept[k] / goals.shares[k], k))
            after = [n + (gains[k] + self_interactions) * (k == fold) for k, n in enumerate(kept)]
            if goals.are_met(kept) and not goals.are_met(after):
                continue
            plan.folds[index], kept, changed = fold, after, True
            left.remove((plan, index))


def _folds_of(plans: list[_Plan], ends: Int32s) -> Int32s:
    """Return the fold of each interaction, -1 where its ends are not in one."""
    first_folds = np.array(plans[0].folds, np.int32)[ends[:, 0]]
    second_folds = np.array(plans[-1].folds, np.int32)[ends[:, 1]]
    return np.where(first_folds == second_folds, first_folds, _NOWHERE).astype(np.int32)


def _say_reached(kept: list[int], names: list[str], goals: Shares) -> str:
    """Say what was reached where a fold has fewer than its share."""
    if goals.are_met(kept) and min(kept) > 0:
        return ""
    total = sum(kept)
    shown = ", ".join(
        f"{name} has {n:,} ({n / max(total, 1):.1%}, asked {share:.1%})"
        for name, n, share in zip(names, kept, goals.shares, strict=True)
    )
    return (
        f"the shares are not reached: of {total:,} interactions that are kept {shown}; clusters of "
        "a set are in one fold each: ask for a higher identity, a greater tolerance or other shares"
    )
