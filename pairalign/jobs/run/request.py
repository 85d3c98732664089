"""What is asked of an alignment of sets, and the one planner of it.

The command makes an `AlignRequest` of its options, `pairalign.align` of its arguments;
`plan_alignment` makes the job. Nothing edits the job afterwards.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds, raw_minimum
from pairalign.base.arguments import Shard
from pairalign.base.choices import MASKS, OBJECTIVES, RANKS, STRANDS
from pairalign.base.errors import ScoringError
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.hits import OF_STATISTICS, HitsJob
from pairalign.jobs.run.problem_checks import check_problem
from pairalign.jobs.run.procedure import AccuracyProcedure
from pairalign.jobs.run.resources import Resources
from pairalign.pairs.lists import PairList, read_pair_list
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import default_window
from pairalign.statistics.low_complexity import check_mask, mask_problem
from pairalign.statistics.significance import (
    EvalueFilter,
    Significance,
    find_gumbel,
    find_significance,
)
from pairalign.statistics.usual import chosen_composition


@dataclass(frozen=True)
class AlignRequest:
    """What is asked of the pairs of a set, or of two.

    Attributes
    ----------
    detail : Detail
        How much is wanted of each pair.
    min_score : int, float, str or None
        The least score, not yet a raw one.
    thresholds : PairThresholds
    max_evalue : float or None
        The highest E-value; `both_ways`: also as the target's, with the other as its query.
    both_ways : bool
    statistics : bool
        Whether E-values are to be shown; with `max_evalue` they are found in any case.
    db_size : int or None
        Residues of the database, instead of those of the set that is searched.
    search_space : float or None
        Cells of the search space of every query, taken as they are.
    comp_based_stats : bool or None
        E-values with the composition of each pair; None: those of proteins.
    mask : str
        What residues of low complexity are found by, one of `MASKS`.
    mask_scores : bool
        Masked residues score as X, in DNA as N; else they add nothing to bits and E-values.
    max_hits : int or None
        Hits of each query at most, see `pairalign.jobs.run.hits`; None: all pairs that pass.
    rank : str
        What the best hits are the best by, one of `RANKS`.
    once : bool
        Each pair comes once, also where it is a hit of both sequences.
    strand : str
        One of `STRANDS`.
    objective : str
        What an alignment is the best by, one of `OBJECTIVES`.
    pair_list : PairList, path or None
        Only these pairs; see `pairalign.pairs.lists.read_pair_list` for files.
    hsps, window, shard, result_seconds, only
        As for `pairalign.jobs.run.align.AlignmentJob`; None: its default.
    resources : Resources
    """

    detail: Detail = Detail.CIGAR
    min_score: float | str | None = None
    thresholds: PairThresholds = field(default_factory=PairThresholds)
    max_evalue: float | None = None
    both_ways: bool = False
    statistics: bool = False
    db_size: int | None = None
    search_space: float | None = None
    comp_based_stats: bool | None = None
    mask: str = MASKS[0]
    mask_scores: bool = False
    max_hits: int | None = None
    rank: str = RANKS[0]
    once: bool = False
    strand: str = STRANDS[0]
    objective: str = OBJECTIVES[0]
    pair_list: PairList | str | os.PathLike[str] | None = None
    hsps: int = 1
    window: int | None = None
    shard: Shard | None = None
    result_seconds: float | None = None
    only: tuple[int, int] | None = None
    resources: Resources = field(default_factory=Resources)

    def __post_init__(self) -> None:
        if self.max_evalue is not None and not self.max_evalue > 0:
            raise ValueError(f"max_evalue {self.max_evalue}: expected a number above 0")
        if self.rank not in RANKS:
            raise ValueError(f"rank {self.rank!r}: expected one of {', '.join(RANKS)}")
        if self.mask not in MASKS:
            raise ValueError(f"mask {self.mask!r}: expected one of {', '.join(MASKS)}")
        if self.mask_scores and self.mask == MASKS[0]:
            raise ValueError("mask_scores needs a mask: tantan or seg")
        if self.objective not in OBJECTIVES:
            raise ValueError(f"objective {self.objective!r}: expected score or mea")
        others = self.max_hits, self.max_evalue, self.hsps > 1, self.strand != STRANDS[0]
        if self.is_by_accuracy and any(others):
            raise ValueError(
                "objective mea gives one alignment of each pair on strand plus: leave max_hits, "
                "hsps, max_evalue and strand out"
            )
        if self.is_masked and (self.max_hits is not None or self.hsps > 1):
            raise ValueError("a mask looks at whole alignments: leave max_hits and hsps out")
        if self.max_hits is not None and self.both_ways:
            raise ValueError("max_hits gives each hit with its query first: leave both_ways out")

    @property
    def is_masked(self) -> bool:
        """Whether bits and E-values alone leave residues of low complexity out."""
        return self.mask != MASKS[0] and not self.mask_scores

    @property
    def is_by_accuracy(self) -> bool:
        """Whether alignments are those of the highest expected accuracy."""
        return self.objective == OBJECTIVES[1]

    @property
    def ranks_by_statistics(self) -> bool:
        """Whether hits are ranked by bits or E-values."""
        return self.max_hits is not None and self.rank in OF_STATISTICS

    def again(self, pairs: PairList) -> AlignRequest:
        """Return what asks for the alignments of some pairs that this has found."""
        return AlignRequest(
            detail=Detail.CIGAR,
            min_score=self.min_score,
            thresholds=self.thresholds,
            strand=self.strand,
            objective=self.objective,
            pair_list=pairs,
            hsps=self.hsps,
            window=self.window,
            resources=self.resources,
        )

    def shows_both_ways(self, problem: Problem) -> bool:
        """Whether a pair counts with either sequence as its query."""
        return self.both_ways or (self.max_hits is not None and problem.is_one_set)


@dataclass(frozen=True)
class Statistics:
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


@dataclass(frozen=True)
class AlignmentPlan:
    """A planned job, and what its E-values are made of.

    Attributes
    ----------
    job : AlignmentJob
    statistics : Statistics
    request : AlignRequest
        What was asked.
    """

    job: AlignmentJob
    statistics: Statistics
    request: AlignRequest

    @property
    def significance(self) -> Significance | None:
        """What E-values are made of, where that is known."""
        return self.statistics.significance

    def realign(self, pairs: PairList) -> AlignmentJob:
        """Return a job that aligns some of the pairs that this has found, with CIGARs."""
        return plan_alignment(self.request.again(pairs), self.job.problem).job


def plan_alignment(request: AlignRequest, problem: Problem) -> AlignmentPlan:
    """Plan an alignment: nothing is aligned before the job is opened.

    Parameters
    ----------
    request : AlignRequest
    problem : Problem

    Raises
    ------
    FastaError, AlphabetError, ScoringError, PairListError, ValueError, TypeError
        See `AlignmentJob`; ScoringError too where `max_evalue` needs what is not known.
    """
    pair_list = request.pair_list
    if isinstance(pair_list, (str, os.PathLike)):
        pair_list = read_pair_list(pair_list, *problem.sets)
    if request.mask_scores:
        problem = mask_problem(problem, request.mask)
    want = Want(
        Detail.CIGAR if request.is_masked else request.detail,
        raw_minimum(request.min_score, problem.scoring),
    )
    # Before E-values are looked for, which may take a while.
    check_problem(problem, want.detail, request.thresholds, request.hsps, request.strand)
    check_mask(problem.queries.alphabet, request.mask)
    found = find_statistics(request, problem)
    kept = None
    if request.max_evalue is not None:
        assert found.significance is not None
        both_ways = request.shows_both_ways(problem)
        kept = EvalueFilter(found.significance, request.max_evalue, both_ways)
        want = replace(want, min_raw_score=max(kept.min_raw_score, want.least_raw_score))
    kind: type[AlignmentJob] = AlignmentJob
    more: dict[str, Any] = {}
    if request.max_hits is not None:
        kind = HitsJob
        more = {"max_hits": request.max_hits, "rank": request.rank, "once": request.once}
        if request.ranks_by_statistics:
            more["significance"] = found.significance
    resources = request.resources.of_job()
    if request.is_by_accuracy:
        resources |= _by_accuracy(request, problem)
    has_list = request.pair_list is not None
    job = kind(
        problem.queries,
        problem.targets,
        problem.scoring,
        want,
        window=default_window(has_list) if request.window is None else request.window,
        pair_list=pair_list,
        shard=request.shard,
        only=request.only,
        pair_thresholds=request.thresholds,
        hsps=request.hsps,
        strand=request.strand,
        result_seconds=request.result_seconds,
        evalue_filter=kept,
        **resources,
        **more,
    )
    return AlignmentPlan(job, found, request)


def _by_accuracy(request: AlignRequest, problem: Problem) -> dict[str, Any]:
    """Return what a job is told whose alignments are those of the highest expected accuracy."""
    from pairalign.engines.posterior_engines import check_device

    device = request.resources.device
    check_device(device)
    if problem.scoring.mode != "global":
        raise ScoringError(
            f"objective mea aligns whole sequences, but the mode is {problem.scoring.mode}: "
            "take mode global"
        )
    return {"procedure": AccuracyProcedure(device), "device": "cpu", "kernel": None}


def find_statistics(request: AlignRequest, problem: Problem) -> Statistics:
    """Find what bit scores and E-values are made of: what is published, or estimated if asked for.

    Parameters
    ----------
    request : AlignRequest
        With `statistics`, `max_evalue` or a `rank` that needs them, what nobody has published is
        estimated.
    problem : Problem

    Raises
    ------
    ScoringError
        `max_evalue` or `rank` needs them, and there are none.
    """
    scoring, sets = problem.scoring, (problem.queries, problem.targets)
    gumbel = composition = reason = None
    are_needed = request.max_evalue is not None or request.ranks_by_statistics
    if request.statistics or are_needed:
        try:
            if scoring.mode != "local":
                raise ScoringError("E-values are those of local alignments: add --mode local")
            gumbel = find_gumbel(scoring)
            if gumbel is None:
                from pairalign.jobs.run.statistics import find_or_estimate_gumbel

                gumbel = find_or_estimate_gumbel(scoring, *sets, request.resources.used_threads)
        except ScoringError as error:
            if are_needed:
                raise
            reason = str(error)
    if gumbel is not None or find_gumbel(scoring) is not None:
        composition = chosen_composition(request.comp_based_stats, scoring, *sets, gumbel)
    space = request.search_space
    mask = request.mask if request.is_masked else MASKS[0]
    found = find_significance(scoring, *sets, request.db_size, gumbel, composition, space, mask)
    if found is not None and request.mask_scores:
        found = replace(found, scored_mask=request.mask)
    return Statistics(found, reason, gumbel is not None and found is not None)
