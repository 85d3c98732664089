"""Clusters of a set, from exact alignments of all its pairs.

Two sequences are *similar enough* if their alignment attains an identity and a coverage
(`pairalign.alignments.thresholds`). With that:

========  ==========================================================================================
single    a cluster is what pairs that are similar enough connect
complete  all pairs of a cluster are similar enough; clusters whose least similar pair is the most
          similar are joined first
average   the mean identity of the pairs between two clusters that are joined attains the threshold;
          the most similar are joined first. A pair whose coverage is too low counts as identity 0
greedy    longest first, a sequence goes to the most similar of the representatives before it that
          is similar enough, or becomes one
========  ==========================================================================================

The result does not depend on the order of the input: all is done in one order, by length, the
longest first, then by residues, then by name. Ties go to what comes first in it. Single, greedy and
complete linkage need only what passes, the first two one pair at a time; complete and average
linkage hold 12 bytes for each pair.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, concatenate
from pairalign.alignments.identities import needs_cigar
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Bools, Int32s, Int64s
from pairalign.base.choices import CLUSTER_ORDERS
from pairalign.base.error_types import ScoringError, UsageError, WrongTypeError
from pairalign.base.function_options import takes
from pairalign.jobs.clusters.abundances import read_abundances
from pairalign.jobs.clusters.cluster_request import (
    EDGES_IN_PYTHON,
    ClusterArguments,
    ClusterRequest,
)
from pairalign.jobs.clusters.cluster_work import ClusterWork
from pairalign.jobs.clusters.clusters_result import Clusters
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import AnyScoring, Sequences, check_strand
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.run_request import evalue_filter_of
from pairalign.requests.resources import Resources
from pairalign.requests.shared import ProblemOptions
from pairalign.results import alignments_result
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pairalign.jobs.stages.threshold_engine import Steps


@dataclass
class ClusterJob:
    """What is clustered, and how.

    Attributes
    ----------
    problem : Problem
        Of one set.
    request : ClusterRequest
        Which has been checked, see `pairalign.base.declaration.check`.
    steps : Steps or None
        How many pairs each step of the thresholds has left, after `run`.
    devices : tuple of str
        Those that aligned, after `run`.

    Raises
    ------
    AlphabetError, ScoringError, UsageError
    """

    problem: Problem
    request: ClusterRequest
    resources: Resources = field(default_factory=Resources)
    steps: Steps | None = field(default=None, init=False)
    devices: tuple[str, ...] = field(default=(), init=False)

    def __post_init__(self) -> None:
        scoring = self.problem.scoring
        check_strand(self.request.strand, self.problem.queries, scoring)
        ends = scoring.end_gaps
        if ends is not None and not ends.is_symmetric:
            raise ScoringError(
                f"{ends.describe(scoring.format_score)}: clusters need the same of query and "
                "target, since the order of the input makes no difference"
            )
        identity_of = self.request.thresholds.identity_of
        ranking = self.request.ranking
        if ranking and ranking.by == "identity" and needs_cigar(identity_of, scoring.mode):
            raise ScoringError(
                f"rank identity: edges are not ranked by identity {identity_of} in mode "
                f"{scoring.mode}; rank them by score, or take another identity or mode semiglobal"
            )

    def run(self) -> Clusters:
        """Align all pairs and return the clusters.

        Raises
        ------
        AlphabetError, ScoringError, CapacityError, DeviceError
        """
        sequences, request = self.problem.queries, self.request
        order = sequences.canonical_order()
        abundances = read_abundances(sequences)
        is_by_size = request.order != CLUSTER_ORDERS[0]
        problem = replace(self.problem, queries=sequences.reordered(order))
        work = ClusterWork(
            problem.queries,
            problem.scoring,
            request.thresholds,
            request.linkage,
            request.edges,
            strand=request.strand,
            resources=self.resources,
            known=None if request.extend is None else _known(request.extend, order),
            ranks=_ranks_by_size(abundances, order) if is_by_size else None,
            evalues=evalue_filter_of(request.evalues, problem, request.strand, self.resources),
        )
        leaders, edges = work.find_leaders()
        self.steps, self.devices = work.steps, work.devices
        first, labels = np.unique(leaders, return_inverse=True)
        chosen = work.find_medoids(labels, first) if request.representative == "medoid" else first
        alignments = work.align_with(chosen[labels])
        by_cluster = np.lexsort(
            (np.arange(len(labels)), np.arange(len(labels)) != chosen[labels], labels)
        )
        alignments = alignments.take(np.argsort(np.argsort(by_cluster)[alignments.query]))
        labels_of_input = np.empty(len(labels), np.int32)
        labels_of_input[order] = labels
        return Clusters(
            sequences=sequences,
            linkage=request.linkage,
            thresholds=request.thresholds,
            labels=labels_of_input,
            representatives=order[chosen],
            order=order[by_cluster],
            alignments=_of_input(alignments, sequences, order),
            abundances=abundances,
            edges=None if edges is None else self._chosen(_of_input(edges, sequences, order)),
        )

    def _chosen(self, edges: alignments_result.Alignments) -> alignments_result.Alignments:
        """Return the edges that are kept: all, or the best of each sequence."""
        if not self.request.ranking:
            return edges
        ranking = self.request.ranking
        best = BestEdges(ranking.most, ranking.by, self.request.thresholds)
        best.add(edges)
        chosen = best.kept()
        assert chosen is not None
        return alignments_result.Alignments.of(chosen)


@takes(ClusterArguments, ClusterRequest, ProblemOptions, Resources, but=("extend", "ties"))
def cluster(
    sequences: Sequences,
    *,
    edges: bool = False,
    extend: npt.ArrayLike | None = None,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[ClusterArguments],
) -> Clusters:
    """Align every pair of a set and put sequences that are similar enough together.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        As for `pairalign.align`; one is enough.
    edges : bool
        Keep all pairs that are similar enough, as `Clusters.edges`.
    extend : array_like of int, shape (n,), optional
        Linkage single: `Clusters.labels` of an earlier run with the same options, and -1 of
        sequences that it did not have; only pairs with one of these are aligned.
    scoring, mode, progress
        As for `pairalign.align`; with `max_evalue` and no scoring, the mode is local.

    Returns
    -------
    Clusters

    Raises
    ------
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
    UsageError
        An argument out of its range.

    Notes
    -----
    Time is that of the alignments of pairs that lengths,
    q-grams and scores do not rule out; average linkage aligns all. Memory: some bytes a residue;
    linkages complete and average 12 bytes a pair.

    References
    ----------
    Li W, Godzik A. Cd-hit: a fast program for clustering and comparing large sets of protein or
    nucleotide sequences. Bioinformatics 22:1658-1659, 2006.
    Rognes T et al. VSEARCH: a versatile open source tool for metagenomics. PeerJ 4:e2584, 2016.

    Examples
    --------
    >>> import pairalign
    >>> globins = {
    ...     "HBB": "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPK",
    ...     "HBD": "MVHLTPEEKTAVNALWGKVNVDAVGGEALGRLLVVYPWTQRFFESFGDLSSPDAVMGNPK",
    ...     "HBZ": "MSLTKTERTIIVSMWAKISTQADTIGTETLERLFLSHPQTKTYFPHFDLHPGSAQLRAHG",
    ... }
    >>> clusters = pairalign.cluster(globins, min_identity="90%")
    >>> list(clusters)
    [['HBZ'], ['HBB', 'HBD']]
    >>> clusters.labels.tolist()
    [1, 1, 0]
    """
    if mode is None and options.get("max_evalue") is not None and not isinstance(scoring, Scoring):
        mode = "local"
    call = Call(cluster, options, sequences, scoring=scoring, mode=mode, progress=progress)
    labels = None if extend is None else _as_labels(extend)
    request = call.request(ClusterRequest, more=EDGES_IN_PYTHON, edges=edges, extend=labels)
    return ClusterJob(call.read(), request, call.resources).run()


# ---------------------------------------------------------------------------------------------
# One order whatever that of the input


def _as_labels(extend: npt.ArrayLike) -> Int32s:
    labels = np.asarray(extend)
    if labels.dtype.kind not in "iu" and labels.size:
        raise WrongTypeError(f"extend: found an array of {labels.dtype}, expected whole numbers")
    return labels.astype(np.int32)


def _known(labels: Int32s, order: Int32s) -> Int32s:
    """Return the earlier clusters by place; UsageError unless there is one of each sequence."""
    if labels.shape != order.shape:
        raise UsageError(f"extend has shape {labels.shape}, expected ({len(order)},)")
    return labels[order]


def _ranks_by_size(abundances: Int64s | None, order: Int32s) -> Int32s | None:
    """Return the rank of each place: the most abundant first, then by place; None: by place."""
    if abundances is None:
        return None
    by_size = np.lexsort((np.arange(len(order)), -abundances[order]))
    ranks = np.empty(len(order), np.int32)
    ranks[by_size] = np.arange(len(order), dtype=np.int32)
    return ranks


def _of_input(
    alignments: Alignments, sequences: SequenceSet, order: Int32s
) -> alignments_result.Alignments:
    """Return alignments of the sequences in canonical order as results of those as read."""
    of_input = replace(
        alignments,
        queries=sequences,
        targets=sequences,
        query=order[alignments.query],
        target=order[alignments.target],
    )
    return alignments_result.Alignments.of(of_input)


_LEAST_HELD = 1 << 16
PLAIN_THRESHOLDS = PairThresholds()


class BestEdges:
    """Keeps the pairs that are among the best of either of their sequences.

    Parameters
    ----------
    best : int
        How many of each sequence: of highest rank, then highest score, then those whose other
        sequence comes first in `SequenceSet.canonical_order`.
    rank : {"score", "identity"}
    thresholds : PairThresholds
        Which say what the identity is.

    Notes
    -----
    Memory: at most about twice the pairs kept, and one call's.
    """

    def __init__(
        self, best: int, rank: str = "score", thresholds: PairThresholds = PLAIN_THRESHOLDS
    ) -> None:
        self._best = best
        self._thresholds = thresholds
        self._by_identity = rank == "identity"
        self._parts: list[Alignments] = []
        self._held = 0
        self._most_held = _LEAST_HELD

    def add(self, alignments: Alignments) -> None:
        """Take in some pairs, with counts."""
        self._parts.append(alignments.take(alignments.columns > 0).without(cigar=True))
        self._held += len(self._parts[-1])
        if self._held > self._most_held:
            kept = self.kept()
            assert kept is not None
            self._parts = [kept]
            self._held = len(kept)
            self._most_held = max(_LEAST_HELD, 2 * self._held)

    def kept(self) -> Alignments | None:
        """Return the pairs that are left, in the order in which they came; None if none came."""
        if not self._parts:
            return None
        alignments = concatenate(self._parts)
        numbers = np.arange(len(alignments))
        places = [
            sequences.canonical_places() for sequences in (alignments.queries, alignments.targets)
        ]
        sides = [
            (alignments.query, places[1][alignments.target]),
            (alignments.target, places[0][alignments.query]),
        ]
        if alignments.queries is alignments.targets:
            nodes, others = (np.concatenate(both) for both in zip(*sides, strict=True))
            keep = self._among_best(alignments, (nodes, others), np.concatenate([numbers, numbers]))
            return alignments.take(keep[: len(alignments)] | keep[len(alignments) :])
        by_query, by_target = (self._among_best(alignments, ends, numbers) for ends in sides)
        return alignments.take(by_query | by_target)

    def _among_best(
        self,
        alignments: Alignments,
        ends: tuple[Int32s, Int32s],
        pairs: Int64s,
    ) -> Bools:
        """Return which ends of pairs are among the best of their node, bool of shape (ends,)."""
        nodes, others = ends  # others by their places
        keys: list[npt.NDArray[Any]] = [others, -alignments.raw_score[pairs].astype(np.int64)]
        if self._by_identity:
            part, whole = self._thresholds.count_identity(alignments)
            keys.append(-(part / whole)[pairs])
        order = np.lexsort([*keys, nodes])
        sorted_nodes = nodes[order]
        first = np.searchsorted(sorted_nodes, sorted_nodes)
        keep = np.zeros(len(nodes), np.bool_)
        keep[order] = np.arange(len(nodes)) - first < self._best
        return keep
