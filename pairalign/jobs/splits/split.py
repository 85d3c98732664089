"""Splits: folds, or training, validation and test sets, without similar pairs across them.

All pairs are aligned. What pairs that reach the thresholds connect, a cluster, goes into one fold.
Clusters are packed into folds so that these have their shares of all sequences, and of those of
each label. A cluster that is larger than a fold is cut: as few sequences as can be found are
removed so that its parts are not connected. What is found need not be the least possible; a bound
is given of what at least must go.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds, make_pair_thresholds
from pairalign.base.arguments import parse_share
from pairalign.base.arrays import Int32s
from pairalign.base.choices import STRANDS
from pairalign.base.errors import SplitError
from pairalign.clusters.splits.labels import as_priorities, as_values
from pairalign.clusters.splits.network import Network, least_removed
from pairalign.clusters.splits.packing import FoldLimits, Folds, find_too_large, pack
from pairalign.clusters.splits.result import Split
from pairalign.clusters.splits.separators import Sizes
from pairalign.jobs.run.inputs import AnyScoring, ProblemRequest, Sequences, read_problem
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.resources import Resources
from pairalign.jobs.splits.edges import Pairs, find_pairs

DEFAULT_FOLDS = 5
DEFAULT_TOLERANCE = Fraction(5, 100)
NEAREST_BELOW = Fraction(1, 10)
"""How far below the threshold nearest sequences are looked for unless it is said."""

TRAIN = "train"
_MOST_FOLDS = 1_000_000
_MOST_NAMED = 5

_BALANCED_FROM = 20
"""Sequences of a label in a fold, in the mean, from which clusters are cut to balance the label."""


@dataclass(frozen=True)
class SplitRequest:
    """What is asked for.

    Attributes
    ----------
    thresholds : PairThresholds
        What no pair across folds may reach.
    folds : tuple of (str, Fraction)
        Names of the folds, and the share of all sequences that each is to have; they add up to 1.
    labels : tuple of str, or None
        Of each sequence.
    priorities : tuple of float, or None
        Of each sequence: removing it costs 1 more than that.
    tolerance : Fraction
        By how much of its share a fold may be too large.
    remove : bool
        Whether sequences may be removed.
    nearest_from : Fraction
        Least identity at which nearest sequences of other folds are looked for.
    seed : int
    strand : {"plus", "both"}
        Both: each pair is aligned on the strand of DNA on which it scores more.
    resources : Resources
    """

    thresholds: PairThresholds
    folds: tuple[tuple[str, Fraction], ...]
    labels: tuple[str, ...] | None = None
    priorities: tuple[float, ...] | None = None
    tolerance: Fraction = DEFAULT_TOLERANCE
    remove: bool = True
    nearest_from: Fraction = Fraction(0)
    seed: int = 0
    strand: str = STRANDS[0]
    resources: Resources = field(default_factory=Resources)


def plan_folds(
    folds: int | None = None,
    test: float | str | Fraction | None = None,
    val: float | str | Fraction | None = None,
) -> tuple[tuple[str, Fraction], ...]:
    """Return names and shares: of `folds` equal ones, or of train, val and test.

    Raises
    ------
    SplitError
        Both are asked for, fewer than 2 folds or very many, or shares that leave nothing for
        training.
    """
    if test is None and val is None:
        count = DEFAULT_FOLDS if folds is None else folds
        if count < 2:
            raise SplitError(f"folds: found {count}, expected 2 or more")
        if count > _MOST_FOLDS:
            raise SplitError(f"folds: found {count}, expected at most {_MOST_FOLDS:,}")
        return tuple((str(k), Fraction(1, count)) for k in range(count))
    if folds is not None:
        raise SplitError("ask for folds, or for shares of test and val, not for both")
    shares = {
        name: parse_share(value, name)
        for name, value in (("val", val), ("test", test))
        if value is not None
    }
    rest = 1 - sum(shares.values(), Fraction(0))
    if rest <= 0 or not all(shares.values()):
        raise SplitError("test and val: expected shares above 0 that leave some for train")
    return ((TRAIN, rest), *shares.items())


def run_split(problem: Problem, request: SplitRequest) -> tuple[Split, Pairs]:
    """Align all pairs and make the folds; also return the pairs that were looked at.

    Raises
    ------
    SplitError
        Nothing may be removed, and a cluster fits into no fold; there are more folds than
        sequences; or training, validation or test set would have no sequence.
    AlphabetError, ScoringError, CapacityError, DeviceError
        See `pairalign.errors`.
    """
    sequences = problem.queries
    count = len(sequences)
    if count < len(request.folds):
        raise SplitError(f"{sequences.source}: {count:,} sequences, {len(request.folds):,} folds")
    asked = request.thresholds, request.nearest_from, request.resources
    pairs = find_pairs(problem, *asked, strand=request.strand)
    network = Network(count, pairs.query[pairs.reaches], pairs.target[pairs.reaches])
    folds, sizes = _plan_sizes(count, request)
    prices = [1.0] * count
    if request.priorities is not None:
        prices = [1.0 + priority for priority in request.priorities]
    too_large = find_too_large(network, sizes)
    places = pack(
        network, folds, FoldLimits(sizes, prices if request.remove else None, request.seed)
    )
    found = np.array(places, np.int32)
    empty = _say_empty(network, found, request)
    if empty and request.folds[0][0] == TRAIN:
        raise SplitError(f"{sequences.source}: {empty}")
    nearest, nearest_identity = _find_nearest(pairs, found)
    split = Split(
        sequences=sequences,
        thresholds=request.thresholds,
        fold_names=tuple(name for name, _ in request.folds),
        folds=found,
        labels=request.labels,
        clusters=network.clusters(),
        edges=int(pairs.reaches.sum()),
        least_removed=least_removed(network, too_large, int(sizes.most[0])),
        nearest=nearest,
        nearest_identity=nearest_identity,
        nearest_from=float(request.nearest_from),
        remark=empty,
    )
    return split, pairs


def _say_empty(network: Network, places: Int32s, request: SplitRequest) -> str:
    """Say which folds have no sequence, and why; nothing where all have some."""
    names = [name for name, _ in request.folds]
    missing = sorted(set(range(len(names))).difference(places.tolist()))
    if not missing:
        return ""
    left = len(network.pieces(np.flatnonzero(places >= 0).tolist()))
    clusters = "1 cluster" if left == 1 else f"{left:,} clusters"
    reason = f"the sequences that are left make {clusters}, and a cluster is in one fold"
    if left >= len(names):
        reason = "no cluster that is left fits into it"
    what = "fold" if len(missing) == 1 else "folds"
    shown = ", ".join(names[fold] for fold in missing[:_MOST_NAMED])
    shown += "" if len(missing) <= _MOST_NAMED else ", ..."
    return (
        f"no sequence in {what} {shown}: {reason}; ask for a higher identity, a lower tolerance, "
        "fewer folds or other shares"
    )


def _plan_sizes(count: int, request: SplitRequest) -> tuple[Folds, Sizes]:
    """Return empty folds, and what the largest may have of all sequences and of each label."""
    totals = [count]
    categories: list[tuple[int, ...]] = [(0,)] * count
    if request.labels is not None:
        of_label = Counter(request.labels)
        number = {label: k for k, label in enumerate(sorted(of_label), 1)}
        totals += [of_label[label] for label in number]
        categories = [(0, number[label]) for label in request.labels]
    most, targets = [], []
    for _, share in request.folds:
        targets.append([float(total * share) for total in totals])
        most.append([_most(k, total * share, request) for k, total in enumerate(totals)])
    largest = [max(column) for column in zip(*most, strict=True)]
    return Folds(most, targets), Sizes(categories, largest)


def _most(category: int, share: Fraction, request: SplitRequest) -> float:
    """Return what a fold may have of a category; labels with few sequences are not limited."""
    if category > 0 and share < _BALANCED_FROM:
        return math.inf
    return math.ceil(share * (1 + request.tolerance))


def _find_nearest(pairs: Pairs, folds: Int32s) -> tuple[Int32s, npt.NDArray[np.float64]]:
    """Return each sequence's most similar one in another fold, and its identity."""
    nearest = np.full(len(folds), -1, np.int32)
    identity = np.full(len(folds), np.nan)
    one, other = folds[pairs.query], folds[pairs.target]
    across = np.flatnonzero((one != other) & (one >= 0) & (other >= 0))
    ends = np.concatenate([pairs.query[across], pairs.target[across]])
    others = np.concatenate([pairs.target[across], pairs.query[across]])
    values = np.tile(pairs.identity[across], 2)
    order = np.lexsort((others, -values, ends))
    sequences, first = np.unique(ends[order], return_index=True)
    nearest[sequences] = others[order][first]
    identity[sequences] = values[order][first]
    return nearest, identity


def split(
    sequences: Sequences,
    *,
    min_identity: float | str | Fraction,
    identity_of: str = "full",
    min_coverage: float | str | Fraction | None = None,
    coverage_of: str = "aligned",
    max_length_ratio: float | str | Fraction | None = None,
    folds: int | None = None,
    test: float | str | Fraction | None = None,
    val: float | str | Fraction | None = None,
    labels: Sequence[str] | str | None = None,
    priorities: Sequence[float] | str | None = None,
    tolerance: float | str | Fraction = DEFAULT_TOLERANCE,
    remove: bool = True,
    nearest_from: float | str | Fraction | None = None,
    seed: int = 0,
    strand: str = STRANDS[0],
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    device: str = "auto",
    kernel: str | None = None,
    threads: int | None = None,
    memory_bytes: int | None = None,
    progress: Progress = False,
) -> Split:
    """Split a set into folds so that no pair across folds is too similar.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        As for `pairalign.align`; one is enough.
    min_identity : float, str or Fraction
        From 0 to 1 or as ``"30%"``, exactly as written; with `min_coverage`, what no pair across
        folds reaches. A pair that just reaches both stays together.
    identity_of : {"columns", "aligned", "shorter", "internal", "mbl", "full", "longer", "mean"}
        What the identity is, see `pairalign.align`.
    min_coverage : float, str or Fraction, optional
        Default: none.
    coverage_of : {"both", "query", "target", "shorter", "aligned"}
        What the coverage is, see `pairalign.base.choices.COVERAGES`.
    max_length_ratio : float, str or Fraction, optional
        As for `pairalign.align`; pairs beyond it may be across folds.
    folds : int, optional
        Equal folds, named from ``"0"``; default: 5.
    test, val : float, str or Fraction, optional
        Shares of all sequences, instead of `folds`: the folds are train, val and test.
    labels : sequence of str, or str, optional
        Of each sequence, or what headers call it (``|label=...``); folds get like shares of each.
    priorities : sequence of float, or str, optional
        Of each sequence, at least 0, or what headers call it; removing a sequence costs 1 more
        than its priority, and little is to be paid.
    tolerance : float, str or Fraction
        By how much of its share a fold may be too large, and have too much of a label.
    remove : bool
        Whether sequences may be removed where a cluster is larger than a fold.
    nearest_from : float, str or Fraction, optional
        Least identity at which the nearest sequences of other folds are looked for; the lower, the
        more pairs are aligned. Default: 0.1 below `min_identity`.
    seed : int
        Of ties; the same seed gives the same folds.
    strand, scoring, mode, device, kernel, threads, memory_bytes, progress
        As for `pairalign.align`.

    Returns
    -------
    Split

    Raises
    ------
    SplitError
        The folds cannot be made as asked, or labels are missing.
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
        See `pairalign.errors`.
    ValueError
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
    >>> found = pairalign.split(globins, min_identity=0.5, folds=2, tolerance=0.5)
    >>> list(found)
    [['HBB', 'HBD'], ['HBZ']]
    """
    problem = read_problem(ProblemRequest(sequences, None, scoring, mode))
    if problem.replaced_message:
        warnings.warn(problem.replaced_message, stacklevel=2)
    first = problem.queries
    thresholds = make_pair_thresholds(
        min_identity, identity_of, min_coverage, coverage_of, max_length_ratio
    )
    request = SplitRequest(
        thresholds,
        plan_folds(folds, test, val),
        None if labels is None else tuple(as_values(first, labels, "labels")),
        None if priorities is None else tuple(as_priorities(first, priorities)),
        parse_share(tolerance, "tolerance"),
        remove,
        choose_nearest(thresholds, nearest_from),
        seed,
        strand,
        Resources(device, kernel, threads, memory_bytes, progress),
    )
    found = run_split(problem, request)[0]
    if found.remark:
        warnings.warn(found.remark, stacklevel=2)
    return found


def choose_nearest(
    thresholds: PairThresholds, nearest_from: float | str | Fraction | None
) -> Fraction:
    """Return the least identity at which nearest sequences are looked for."""
    if nearest_from is None:
        return max(Fraction(0), thresholds.min_identity - NEAREST_BELOW)
    return min(thresholds.min_identity, parse_share(nearest_from, "nearest_from"))
