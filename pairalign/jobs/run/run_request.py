"""What is asked of an alignment of sets, and the one planner of it.

The command makes an `AlignRequest` of its options, `pairalign.align` of its arguments; a
`RunRequest` says how results are wanted; `plan_alignment` makes the job. Nothing edits the job
afterwards.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import raw_minimum
from pairalign.base.arguments import Shard
from pairalign.base.choices import MASKS, STRANDS
from pairalign.base.declaration import check
from pairalign.base.error_types import (
    CapacityError,
    PairListError,
    ScoringError,
    UsageError,
    WrongTypeError,
)
from pairalign.base.spelling import spelled
from pairalign.jobs.run.align import AlignmentJob, Job
from pairalign.jobs.run.inputs import check_problem
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.procedure import (
    AccuracyProcedure,
    PlainProcedure,
    Procedure,
    SuboptimalProcedure,
)
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import default_window
from pairalign.requests.align_request import ONE_ALIGNMENT_OF_A_HIT, AlignRequest
from pairalign.requests.resources import Resources
from pairalign.requests.similar import EvalueRules
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.clusters.groups import GivenGroups, Groups
    from pairalign.pairs.lists import PairList
    from pairalign.statistics.significance import EvalueFilter, Significance


class RunRequest(NamedTuple):
    """How the results of an alignment are wanted, and what may be used for it.

    Attributes
    ----------
    detail : Detail
        How much is wanted of each pair.
    statistics : bool
        Whether E-values are to be shown; where pairs are chosen by them they are found in any case.
    once : bool
        Each pair comes once, also where it is a hit of both sequences.
    shard, result_seconds, only
        As for `pairalign.jobs.run.align.AlignmentJob`.
    procedure : Procedure or None
        What is done with the pairs instead of what the request says, on the CPU.
    resources : Resources
    held_bytes : int
        Memory that is held meanwhile, of what may be used.
    """

    detail: Detail = Detail.CIGAR
    statistics: bool = False
    once: bool = False
    shard: Shard | None = None
    result_seconds: float | None = None
    only: tuple[int, int] | None = None
    procedure: Procedure | None = None
    resources: Resources = Resources()
    held_bytes: int = 0


WHOLE_RUN = RunRequest()


class Statistics(NamedTuple):
    """What bit scores and E-values are made of.

    Attributes
    ----------
    significance : Significance or None
        None: not known.
    reason : str or None
        Why E-values that were asked for are not known.
    are_shown : bool
        Whether they were asked for, and are known.
    """

    significance: Significance | None = None
    reason: str | None = None
    are_shown: bool = False


class AlignmentPlan(NamedTuple):
    """A planned job, and what its E-values are made of.

    Attributes
    ----------
    problem : Problem
        As it was read: the job's may have masked residues.
    request : AlignRequest
        What was asked of the pairs.
    run : RunRequest
        And of the results.
    """

    problem: Problem
    job: Job
    statistics: Statistics
    request: AlignRequest
    run: RunRequest

    @property
    def significance(self) -> Significance | None:
        """What E-values are made of, where that is known."""
        return self.statistics.significance

    def realign(self, pairs: PairList) -> Job:
        """Return a job that aligns some of the pairs that this has found, with CIGARs."""
        run = RunRequest(resources=self.run.resources)
        return plan_alignment(self.request.again(pairs), self.job.problem, run).job


def plan_alignment(
    request: AlignRequest, problem: Problem, run: RunRequest = WHOLE_RUN
) -> AlignmentPlan:
    """Plan an alignment: nothing is aligned before the job is opened.

    Parameters
    ----------
    request : AlignRequest
        Which has been checked, see `pairalign.base.declaration.check`.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, PairListError, ValueError, TypeError
        See `AlignmentJob`; ScoringError too where `max_evalue` needs what is not known.
    """
    pair_list, thresholds = _listed(request, problem, run.resources), request.thresholds
    unmasked_problem, problem = problem, _masked(problem, request.masking.of_scores)
    want = Want(
        Detail.CIGAR if request.masking.of_statistics else run.detail,
        raw_minimum(request.min_score, problem.scoring),
    )
    procedure = _procedure_of(request, problem, run)
    # Before E-values are looked for, which may take a while.
    computed = procedure.detail(want.detail, thresholds, problem.scoring.mode)
    check_problem(problem, computed, request.strand)
    _check_mask(problem, request.masking.mask)
    statistics = find_statistics(request, problem, run)
    kept = None
    evalues = request.evalues
    if evalues.max_evalue is not None:
        from pairalign.statistics.significance import EvalueFilter

        assert statistics.significance is not None
        either_way = request.shows_both_ways(problem.is_one_set)
        kept = EvalueFilter(statistics.significance, evalues.max_evalue, either_way)
        want = replace(want, min_raw_score=max(kept.min_raw_score, want.least_raw_score))
    kind: type[Job] = AlignmentJob
    more: dict[str, Any] = {}
    if request.ranking:
        from pairalign.jobs.run.hits import HitsJob

        if problem.is_one_set:
            check(request, (ONE_ALIGNMENT_OF_A_HIT,))
        kind, more = HitsJob, {"ranking": request.ranking, "once": run.once}
        if request.ranks_by_statistics:
            more["significance"] = statistics.significance
    has_list = pair_list is not None
    job = kind(
        problem.queries,
        problem.targets,
        problem.scoring,
        want,
        window=default_window(has_list) if request.window is None else request.window,
        pair_list=pair_list,
        shard=run.shard,
        only=run.only,
        pair_thresholds=thresholds,
        strand=request.strand,
        result_seconds=run.result_seconds,
        evalue_filter=kept,
        procedure=procedure,
        resources=_resources_of(procedure, run.resources),
        held_bytes=run.held_bytes,
        **more,
    )
    return AlignmentPlan(unmasked_problem, job, statistics, request, run)


def _listed(request: AlignRequest, problem: Problem, resources: Resources) -> PairList | None:
    """Return the pairs that are asked for, as a list; None: all."""
    if request.within is not None:
        return list_within(request.within, problem, bytes_of(resources))
    if request.pairs is None:
        return None
    from pairalign.pairs.lists import PairList, read_pair_list

    if isinstance(request.pairs, (str, os.PathLike)):
        return read_pair_list(request.pairs, *problem.sets)
    assert isinstance(request.pairs, PairList)
    return request.pairs


def _masked(problem: Problem, mask: str | None) -> Problem:
    if mask is None:
        return problem
    from pairalign.statistics.low_complexity import mask_problem

    return mask_problem(problem, mask)


def _check_mask(problem: Problem, mask: str) -> None:
    if mask != MASKS[0]:
        from pairalign.statistics.low_complexity import check_mask

        check_mask(problem.queries.alphabet, mask)


def _procedure_of(request: AlignRequest, problem: Problem, run: RunRequest) -> Procedure:
    """Return what engines do with the pairs."""
    if run.procedure is not None:
        return run.procedure
    if request.is_by_accuracy:
        return _by_accuracy(run.resources.device, problem)
    return PlainProcedure() if request.hsps == 1 else SuboptimalProcedure(request.hsps)


def _resources_of(procedure: Procedure, resources: Resources) -> Resources:
    """Return what a job may use: procedures that open devices themselves leave it the CPU."""
    if isinstance(procedure, (PlainProcedure, SuboptimalProcedure)):
        return resources
    return replace(resources, device="cpu", kernel=None)


def _by_accuracy(device: str, problem: Problem) -> AccuracyProcedure:
    """Return what aligns with the highest expected accuracy."""
    from pairalign.engines.posterior_engines import check_device

    check_device(device)
    if problem.scoring.mode != "global":
        raise ScoringError(
            f"objective mea aligns whole sequences, but the mode is {problem.scoring.mode}: "
            "take mode global"
        )
    return AccuracyProcedure(device)


def evalue_filter_of(
    evalues: EvalueRules, problem: Problem, strand: str, resources: Resources
) -> EvalueFilter | None:
    """Return what keeps pairs with an E-value that is small enough, either way round.

    Parameters
    ----------
    evalues : EvalueRules
        Without a largest E-value nothing is returned.
    strand : {"plus", "both"}

    Raises
    ------
    ScoringError
        The mode is not local, or there are no E-values.
    """
    if evalues.max_evalue is None:
        return None
    request = AlignRequest(evalues=evalues, strand=strand)
    from pairalign.statistics.significance import EvalueFilter

    significance = find_statistics(request, problem, RunRequest(resources=resources)).significance
    assert significance is not None
    return EvalueFilter(significance, evalues.max_evalue, either_way=True)


def find_statistics(
    request: AlignRequest, problem: Problem, run: RunRequest = WHOLE_RUN
) -> Statistics:
    """Find what bit scores and E-values are made of: what is published, or estimated if asked for.

    Parameters
    ----------
    request : AlignRequest
        With a largest E-value, or a rank that needs statistics, what nobody has published is
        estimated.
    run : RunRequest
        With `statistics` likewise.

    Raises
    ------
    ScoringError
        `max_evalue` or `rank` needs them, and there are none.
    """
    scoring, sets = problem.scoring, (problem.queries, problem.targets)
    gumbel = composition = reason = None
    are_needed = request.needs_statistics
    if scoring.mode != "local" and not (run.statistics or are_needed):
        return Statistics()
    from pairalign.statistics.significance import find_gumbel, find_significance

    if run.statistics or are_needed:
        try:
            if scoring.mode != "local":
                local = spelled("mode", "local")
                raise ScoringError(f"E-values are those of local alignments: add {local}")
            gumbel = find_gumbel(scoring)
            if gumbel is None:
                from pairalign.jobs.run.statistics import find_or_estimate_gumbel

                gumbel = find_or_estimate_gumbel(scoring, *sets, run.resources.used_threads)
        except ScoringError as error:
            if are_needed:
                raise
            reason = str(error)
    if request.evalues.by_composition and (gumbel or find_gumbel(scoring)) is not None:
        from pairalign.statistics.gumbel_fit import pair_composition

        try:
            composition = pair_composition(scoring, *sets, gumbel)
        except ScoringError as error:  # X or N alone
            if are_needed:
                raise
            return Statistics(reason=str(error) if run.statistics else None)
    mask = request.masking.of_statistics or MASKS[0]
    strands = 1 if request.strand == STRANDS[0] else 2
    significance = find_significance(
        scoring, *sets, request.evalues.searched, gumbel, composition, mask, strands
    )
    if significance is not None:
        significance = replace(significance, scored_mask=request.masking.of_scores)
    return Statistics(significance, reason, gumbel is not None and significance is not None)


_PAIR_BYTES = 64
"""That a pair of a list takes while it is sorted."""


def list_within(
    groups: str | os.PathLike[str] | GivenGroups, problem: Problem, memory_bytes: int
) -> PairList:
    """List all pairs of sequences of one group; sequences that are in none have no pairs.

    Parameters
    ----------
    groups : path, Split, Clusters, or mapping of names to groups
        A file as for `pairalign.formats.group_files.read_groups`.
    memory_bytes : int
        What the list may use.

    Raises
    ------
    UsageError
        There are two sets.
    FormatError, SplitError
        The groups cannot be read, name what is not among the sequences, or one twice.
    PairListError
        No group has two sequences.
    CapacityError
        There are more pairs than memory.
    """
    if not problem.is_one_set:
        raise UsageError(f"{spelled('within')} is of groups of one set, and there are two")
    source = os.fspath(groups) if isinstance(groups, (str, os.PathLike)) else "within"
    grouping = _groups_of(groups, problem.queries, source)
    sizes = np.bincount(grouping.labels[grouping.labels >= 0]).astype(np.int64)
    pairs = int((sizes * (sizes - 1) // 2).sum())
    if pairs == 0:
        raise PairListError(f"{source}: no group has two sequences")
    if pairs * _PAIR_BYTES > memory_bytes:
        raise CapacityError(
            f"{source}: the list of {pairs:,} pairs within groups needs "
            f"{pairs * _PAIR_BYTES >> 20:,} MiB of memory, {memory_bytes >> 20:,} MiB are allowed; "
            f"allow more with {spelled('memory')}, or take smaller groups",
            pairs * _PAIR_BYTES,
            memory_bytes,
        )
    from pairalign.pairs.lists import PairList, pairs_within

    (listed,) = pairs_within(grouping.labels, pairs)
    return PairList(listed.first, listed.second, source)


def _groups_of(
    groups: str | os.PathLike[str] | GivenGroups, sequences: SequenceSet, source: str
) -> Groups:
    from pairalign.clusters.groups import make_groups, memberships_of
    from pairalign.formats.group_files import read_groups

    if isinstance(groups, (str, os.PathLike)):
        return read_groups(source, None, sequences)
    said = memberships_of(groups, "folds", sequences)
    if said is None:
        raise WrongTypeError(
            f"within: found {type(groups).__name__}, expected a path, clusters, a split, or names "
            "and their groups"
        )
    return make_groups(sequences, said, source, each="item")
