"""Splits: folds, or training, validation and test sets, without similar pairs across them.

All pairs are aligned. What pairs that reach the thresholds connect, a cluster, goes into one fold.
Clusters are packed into folds so that these have their shares of all sequences, and of those of
each label. A cluster that is larger than a fold is cut: as few sequences as can be found are
removed so that its parts are not connected. What is found need not be the least possible; a bound
is given of what at least must go.
"""

from __future__ import annotations

import math
import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Bools, Doubles, Int32s
from pairalign.base.error_types import SplitError, UsageError
from pairalign.base.function_options import takes
from pairalign.base.texts import counted
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import AnyScoring, Sequences
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.splits.edges import Leakage, Pairs, find_similar, request_of
from pairalign.jobs.splits.interaction_tables import AnyInteractions, read_interactions
from pairalign.jobs.splits.labels import as_priorities, as_values
from pairalign.jobs.splits.network import Network, Sizes, least_removed
from pairalign.jobs.splits.packing import FoldLimits, Folds, find_too_large, pack
from pairalign.jobs.splits.split_interactions import (
    InteractingSet,
    given_sets,
    run_interaction_split,
)
from pairalign.jobs.splits.split_request import SplitArguments, SplitRequest
from pairalign.jobs.splits.splits_result import InteractionSplit, Split
from pairalign.requests.resources import Resources
from pairalign.requests.shared import ProblemOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MOST_NAMED = 5

_BALANCED_FROM = 20
"""Sequences of a label in a fold, in the mean, from which clusters are cut to balance the label."""


@dataclass(frozen=True)
class Known:
    """What is known of the sequences beside their residues.

    Attributes
    ----------
    labels : tuple of str, or None
        Of each sequence.
    priorities : tuple of float, or None
        Of each sequence: removing it costs 1 more than that.
    """

    labels: tuple[str, ...] | None = None
    priorities: tuple[float, ...] | None = None


NOTHING_KNOWN = Known()


def make_split(
    problem: Problem,
    request: SplitRequest,
    known: Known = NOTHING_KNOWN,
    resources: Resources | None = None,
) -> tuple[Split, Pairs]:
    """Align all pairs and make the folds; also return the pairs that were looked at.

    Raises
    ------
    SplitError
        Nothing may be removed, and a cluster fits into no fold; there are more folds than
        sequences; or training, validation or test set would have no sequence.
    AlphabetError, ScoringError, CapacityError, DeviceError
    """
    sequences = problem.queries
    count = len(sequences)
    shares = request.fold_shares
    if count < len(shares):
        raise SplitError(f"{sequences.source}: {count:,} sequences, {len(shares):,} folds")
    resources = resources or Resources()
    pairs = find_similar(request, problem, resources, from_identity=request.nearest_identity)
    # Sequences are numbered so that nothing depends on the order of the input.
    order, of_each = sequences.canonical_order(), sequences.canonical_places()
    numbered = replace(pairs, query=of_each[pairs.query], target=of_each[pairs.target])
    network = Network(count, numbered.query[pairs.reaches], numbered.target[pairs.reaches])
    labels = None if known.labels is None else tuple(known.labels[k] for k in order)
    folds, sizes = _plan_sizes(count, request, labels)
    prices = np.ones(count)
    if known.priorities is not None:
        prices += np.array(known.priorities)[order]
    too_large = find_too_large(network, sizes)
    priced = None if request.no_remove else prices
    limits = FoldLimits(sizes, priced, request.seed, resources.used_threads)
    places = pack(network, folds, limits)
    numbered_folds = np.array(places, np.int32)
    empty = _say_empty(network, numbered_folds, list(shares))
    if empty and request.has_shares:
        raise SplitError(f"{sequences.source}: {empty}")
    nearest, nearest_identity = _find_nearest(numbered, numbered_folds)
    nearest = np.where(nearest < 0, nearest, order[nearest])
    split = Split(
        sequences=sequences,
        thresholds=request.thresholds,
        max_evalue=request.evalues.max_evalue,
        fold_names=tuple(shares),
        folds=numbered_folds[of_each],
        labels=known.labels,
        clusters=network.clusters()[of_each],
        edges=int(pairs.reaches.sum()),
        least_removed=least_removed(network, too_large, int(sizes.most[0])),
        nearest=nearest[of_each],
        nearest_identity=nearest_identity[of_each],
        nearest_from=float(request.nearest_identity),
        leakage=_leakage_of(numbered, numbered_folds).share,
        remark=empty,
    )
    return split, pairs


def _say_empty(network: Network, places: Int32s, names: list[str]) -> str:
    """Say which folds have no sequence, and why; nothing where all have some."""
    missing = sorted(set(range(len(names))).difference(places.tolist()))
    if not missing:
        return ""
    left = len(network.pieces(np.flatnonzero(places >= 0).tolist()))
    reason = (
        f"the sequences that are left make {counted(left, 'cluster')}, and a cluster is in one fold"
    )
    if left >= len(names):
        reason = "no cluster that is left fits into it"
    what = "fold" if len(missing) == 1 else "folds"
    shown = ", ".join(names[fold] for fold in missing[:_MOST_NAMED])
    shown += "" if len(missing) <= _MOST_NAMED else ", ..."
    return (
        f"no sequence in {what} {shown}: {reason}; ask for a higher identity, a lower tolerance, "
        "fewer folds or other shares"
    )


def _plan_sizes(
    count: int, request: SplitRequest, labels: tuple[str, ...] | None
) -> tuple[Folds, Sizes]:
    """Return empty folds, and what the largest may have of all sequences and of each label."""
    totals = [count]
    categories = np.zeros((count, 1), np.int32)
    if labels is not None:
        of_label = Counter(labels)
        number = {label: k for k, label in enumerate(sorted(of_label), 1)}
        totals += [of_label[label] for label in number]
        categories = np.array([(0, number[label]) for label in labels], np.int32)
    most, targets, tolerance = [], [], request.exact_tolerance
    for share in request.fold_shares.values():
        targets.append([float(total * share) for total in totals])
        most.append([_most(k, total * share, tolerance) for k, total in enumerate(totals)])
    largest = [max(column) for column in zip(*most, strict=True)]
    return Folds(most, targets), Sizes(categories, largest)


def _most(category: int, share: Fraction, tolerance: Fraction) -> float:
    """Return what a fold may have of a category; labels with few sequences are not limited."""
    if category > 0 and share < _BALANCED_FROM:
        return math.inf
    return math.ceil(share * (1 + tolerance))


def _leakage_of(pairs: Pairs, folds: Int32s) -> Leakage:
    """Return how similar pairs in folds are, and those across folds."""
    inside, across = _in_folds(pairs, folds)
    leakage = Leakage()
    leakage.add(pairs.identity[inside], across[inside])
    return leakage


def _in_folds(pairs: Pairs, folds: Int32s) -> tuple[Bools, Bools]:
    """Return which pairs have both sequences in folds, and which of these in two."""
    query_folds, target_folds = folds[pairs.query], folds[pairs.target]
    inside = (query_folds >= 0) & (target_folds >= 0)
    return inside, inside & (query_folds != target_folds)


def _find_nearest(pairs: Pairs, folds: Int32s) -> tuple[Int32s, Doubles]:
    """Return each sequence's most similar one in another fold, and its identity."""
    across = np.flatnonzero(_in_folds(pairs, folds)[1])
    ends = np.concatenate([pairs.query[across], pairs.target[across]])
    others = np.concatenate([pairs.target[across], pairs.query[across]])
    values = np.tile(pairs.identity[across], 2)
    identity = np.full(len(folds), -np.inf)
    np.maximum.at(identity, ends, values)
    are_best = values == identity[ends]
    nearest = np.full(len(folds), len(folds), np.int32)
    np.minimum.at(nearest, ends[are_best], others[are_best])
    has_none = nearest == len(folds)
    nearest[has_none], identity[has_none] = -1, np.nan
    return nearest, identity


@overload
def split(
    sequences: Sequences,
    targets: None = None,
    *,
    pairs: None = None,
    labels: Sequence[str] | str | None = None,
    priorities: Sequence[float] | str | None = None,
    remove: bool = True,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[SplitArguments],
) -> Split: ...


@overload
def split(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    pairs: AnyInteractions,
    second: Mapping[str, Any] | None = None,
    second_clusters: str | os.PathLike[str] | None = None,
    labels: Sequence[str] | str | None = None,
    priorities: Sequence[float] | str | None = None,
    remove: bool = True,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[SplitArguments],
) -> InteractionSplit: ...


@takes(SplitArguments, SplitRequest, ProblemOptions, Resources, but=("no_remove",))
def split(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    pairs: AnyInteractions | None = None,
    second: Mapping[str, Any] | None = None,
    second_clusters: str | os.PathLike[str] | None = None,
    labels: Sequence[str] | str | None = None,
    priorities: Sequence[float] | str | None = None,
    remove: bool = True,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[SplitArguments],
) -> Split | InteractionSplit:
    """Split a set, or interactions of two, into folds so that no pair across is too similar.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        As for `pairalign.align`; one is enough.
    targets : as `sequences`, optional
        With `pairs`: the second set, which may be of another kind.
    pairs : path, DataFrame or rows, optional
        Interactions: a name of `sequences` and one of `targets` (or of `sequences`) and whatever
        else. They are split, and no pair across folds is too similar in either set.
    second : dict, optional
        Arguments for `targets` in place of those for `sequences`: ``{"min_identity": 0.9}``.
    second_clusters : path, optional
        In place of `targets`: names and clusters, as `pairalign.audit` reads them.
    labels : sequence of str, or str, optional
        Of each sequence, or what headers call it (``|label=...``); folds get like shares of each.
    priorities : sequence of float, or str, optional
        Of each sequence, at least 0, or what headers call it; removing a sequence costs 1 more
        than its priority, and little is to be paid.
    remove : bool
        Whether sequences may be removed where a cluster is larger than a fold.
    scoring, mode, progress
        As for `pairalign.align`; proteins without `min_identity` and `max_evalue` have
        ``mode="local", max_evalue=0.001``.

    Returns
    -------
    Split, or with `pairs` InteractionSplit

    Raises
    ------
    SplitError
        The folds cannot be made as asked, or labels are missing.
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
    UsageError
        An argument out of its range.

    Notes
    -----
    Time is that of the alignments of pairs that lengths, q-grams and scores do not rule out.
    Memory: 17 bytes a pair that reaches `nearest_from`, and some 100 a pair that reaches the
    thresholds.

    References
    ----------
    Teufel F et al. GraphPart: homology partitioning for biological sequence analysis. NAR Genomics
    and Bioinformatics 5:lqad088, 2023.

    Examples
    --------
    >>> import pairalign
    >>> globins = {
    ...     "HBB": "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPK",
    ...     "HBD": "MVHLTPEEKTAVNALWGKVNVDAVGGEALGRLLVVYPWTQRFFESFGDLSSPDAVMGNPK",
    ...     "HBZ": "MSLTKTERTIIVSMWAKISTQADTIGTETLERLFLSHPQTKTYFPHFDLHPGSAQLRAHG",
    ... }
    >>> folds = pairalign.split(globins, min_identity=0.5, folds=2, tolerance=0.5)
    >>> list(folds)
    [['HBB', 'HBD'], ['HBZ']]
    """
    call = Call(split, options, sequences, scoring=scoring, mode=mode, progress=progress)
    has_pairs = pairs is not None
    pair_options = {"pairs": has_pairs, "second": second, "second_clusters": second_clusters}
    request, call = request_of(SplitRequest, call, no_remove=not remove, **pair_options)
    problem = call.read()
    if targets is not None and not has_pairs:
        raise UsageError("two sets are split by the interactions between them: give pairs")
    if pairs is not None:
        if labels is not None or priorities is not None:
            raise UsageError("labels and priorities are of one set that is split")
        sets = given_sets(
            InteractingSet.of(problem, request), call, targets, second_clusters, second
        )
        return _split_pairs(sets, pairs, request, call.resources)
    first = problem.queries
    values = Known(
        None if labels is None else tuple(as_values(first, labels, "labels")),
        None if priorities is None else tuple(as_priorities(first, priorities)),
    )
    result = make_split(problem, request, values, call.resources)[0]
    if result.remark:
        warnings.warn(result.remark, stacklevel=2)
    return result


def _split_pairs(
    sets: tuple[InteractingSet, ...],
    pairs: AnyInteractions,
    request: SplitRequest,
    resources: Resources,
) -> InteractionSplit:
    table = read_interactions(pairs, (sets[0].finder, sets[-1].finder))
    result = run_interaction_split(sets, table, request, resources)
    if result.remark:
        warnings.warn(result.remark, stacklevel=3)
    return result
