"""From what a user says of overlaps to scoring and thresholds, with a sample of the reads.

Every pair goes through the stages of `pairalign.jobs.overlaps.stages`, on both strands; which
filters stand before them is decided here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import raw_minimum
from pairalign.base.arguments import parse_share
from pairalign.base.error_types import DeviceError, ScoringError
from pairalign.base.spelling import spelled
from pairalign.engines import Engine
from pairalign.engines.filters import ScoreFilter, open_filters
from pairalign.jobs.overlaps.exact_runs import (
    RunFilter,
    count_hits,
    estimate_hits,
    shared_by_chance,
    words_of,
)
from pairalign.jobs.overlaps.overlap_request import OverlapRequest
from pairalign.jobs.overlaps.presets import AUTO, PRESETS, Preset, find_preset
from pairalign.jobs.overlaps.stages import OverlapThresholds, SharedFilter, StagedEngine
from pairalign.jobs.run.inputs import as_scoring
from pairalign.jobs.run.procedure import PlannedJob
from pairalign.jobs.run.progress import Stages
from pairalign.jobs.run.slabs import result_bytes
from pairalign.pairs.want import Detail
from pairalign.pairs.windows import Window, join_windows
from pairalign.reads.candidates import Candidates, CandidateStrands
from pairalign.scoring.scoring import Scoring
from pairalign.scoring.scoring_request import check_any
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.alignments.thresholds import PairThresholds
    from pairalign.engines.cpu.strand_filter import StrandFilter
    from pairalign.engines.cpu.suboptimal import SuboptimalAligner
    from pairalign.jobs.overlaps.choice import Chance

log = logging.getLogger("pairalign")

_MANY_BY_CHANCE, _SAFE = 1.0, 0.02
_MOST = 2**31 - 1  # residues or overlaps


@dataclass(frozen=True)
class OverlapPlan:
    """What reads are scored with, and what is asked of their overlaps."""

    preset: Preset
    scoring: Scoring
    thresholds: OverlapThresholds


def plan_overlaps(
    request: OverlapRequest, reads: SequenceSet, *, threads: int, memory_bytes: int
) -> OverlapPlan:
    """Choose preset, scoring and thresholds; say what ``auto`` took, and what chance reaches.

    Parameters
    ----------
    request : OverlapRequest
        Which has been checked.
    reads : SequenceSet
        Of DNA.

    Raises
    ------
    ScoringError
        Costs or a least score that make no sense.
    UsageError
        A number of residues or overlaps is none, or out of bounds.
    """
    preset = request.preset
    chosen = find_preset(preset) if preset != AUTO else _choose(reads, threads, memory_bytes)
    scoring = scoring_for(request, chosen)
    thresholds = make_thresholds(chosen, scoring, request)
    if len(reads) < 2 or (preset != AUTO and request.max_false is None):
        return OverlapPlan(chosen, scoring, thresholds)
    from pairalign.jobs.overlaps.choice import measure_chance

    chance = measure_chance(reads, scoring, thresholds, threads=threads, memory_bytes=memory_bytes)
    chosen = _fitted(chosen, scoring, chance)
    thresholds = make_thresholds(chosen, scoring, request)
    if request.max_false is not None:
        thresholds = chance.raised(thresholds, request.max_false)
    _say(chance, thresholds, scoring)
    return OverlapPlan(chosen, scoring, thresholds)


def scoring_for(request: OverlapRequest, preset: Preset) -> Scoring:
    """Return the scoring of a preset, with what is asked for instead.

    Raises
    ------
    ScoringError
        Costs out of bounds.
    """
    mode = request.scoring.mode
    if request.costs_instead is None:
        return preset.scoring(mode, **request.costs)
    return as_scoring(request.costs_instead, DNA, mode, preset.mode)


def check_costs(request: OverlapRequest) -> None:
    """Refuse scores and costs that make no sense for any reads, before these are read."""
    presets = PRESETS.values() if request.preset == AUTO else [find_preset(request.preset)]
    check_any(presets, lambda preset: scoring_for(request, preset))


def _choose(reads: SequenceSet, threads: int, memory_bytes: int) -> Preset:
    """Return the preset that ``auto`` means for some reads, and say why."""
    from pairalign.jobs.overlaps.choice import choose_preset, scaled_to

    if len(reads) < 2:  # nothing to look at; the job says so
        return scaled_to(PRESETS["ont"], reads)
    choice = choose_preset(reads, threads=threads, memory_bytes=memory_bytes)
    log.info("%s", choice.reason)
    return choice.preset


def _fitted(preset: Preset, scoring: Scoring, chance: Chance) -> Preset:
    """Return a preset whose least identity was lowered with what chance makes of it.

    Where unrelated reads align over as many residues as overlaps must have, identity alone keeps
    them out, and is that of the preset again. Elsewhere the least score is lowered, too, but not so
    far that chance would reach it; and the least overlap as much as the identity, because overlaps
    of such reads end before the reads do.
    """
    usual = find_preset(preset.name)
    if preset.min_identity == usual.min_identity:
        return preset
    if chance.identities is not None:
        return replace(preset, min_identity=usual.min_identity)
    safe = -(-chance.score_for(_SAFE) // scoring.scale)
    return replace(
        preset,
        min_score=min(preset.min_score, max(1, safe)),
        min_overlap=int(preset.min_overlap * preset.min_identity / usual.min_identity),
    )


def make_thresholds(preset: Preset, scoring: Scoring, limits: OverlapRequest) -> OverlapThresholds:
    """Return a preset's thresholds with those that are given instead.

    Raises
    ------
    ScoringError
        The least score is not a finite number, or the least identity no share.
    """
    least = preset.min_score if limits.min_score is None else limits.min_score
    raw = raw_minimum(least, scoring)
    assert raw is not None
    overlap = limits.min_overlap
    identity = preset.min_identity if limits.min_identity is None else limits.min_identity
    return OverlapThresholds(
        min_raw_score=max(1, raw),
        min_overlap=preset.min_overlap if overlap is None else overlap,
        min_identity=parse_share(identity, "min_identity"),
        all_strands=limits.all_strands,
        max_overlaps=(preset.max_overlaps if limits.max_overlaps is None else limits.max_overlaps),
    )


def _say(chance: Chance, limits: OverlapThresholds, scoring: Scoring) -> None:
    expected = chance.expected(limits)
    reached = f"score {scoring.format_score(chance.best_score)}"
    if chance.best_identity:
        reached += (
            f", and {100 * chance.best_identity:.1f}% identity over {limits.min_overlap:,} bases"
        )
    log.log(
        logging.WARNING if expected > _MANY_BY_CHANCE else logging.INFO,
        "chance: %d reads against reversed ones reach %s; asked for are score %s, "
        "%s bases and %.4g%%: about %.2g overlaps by chance are expected%s",
        chance.pairs,
        reached,
        scoring.format_score(limits.min_raw_score),
        f"{limits.min_overlap:,}",
        100 * float(limits.min_identity),
        expected,
        f" ({spelled('max_false')} raises what is asked for)" if expected > _MANY_BY_CHANCE else "",
    )


_LONGEST_TO_FILTER = 600
_CELLS_WORTH_RUNS = {False: 10**12, True: 10**10}
"""Of fewer, scoring all pairs takes no time that matters; by whether cores do it."""
_PAIR_WORTH_RUNS = {False: 10**6, True: 1}
"""Cells of a mean pair; GPUs score smaller ones sooner than a core finds words."""
_CELLS_WORTH_STRANDS = 10**9
_ENGINES_PER_GPU = 5
"""Their threads choose strands and pairs and copy what passes, for longer than the GPU works."""
_PAIRS_WORTH_ENGINES = 20 << 20
_JOINED_SLAB_BYTES = 2 << 30
"""Results of windows that are joined, if all pairs passed."""
_STRAND_THREADS = 4
_CELLS_A_HIT = 10**4
"""Cells that take a core as long as one word of two reads in the filter by runs."""
_SAFELY = 4
"""Factor beyond which shared words, by a sample, are too many."""
_MOST_BY_CHANCE = 0.2
"""Share of unrelated pairs that have a word in common, above which the filter is no use."""


@dataclass
class OverlapProcedure:
    """What is done with the pairs of reads; see `pairalign.jobs.run.procedure.Procedure`.

    Attributes
    ----------
    filter : {"auto", "none", "bitwise", "runs"}
        What leaves pairs out before anything is scored, and loses nothing. ``bitwise``: scores by
        `pairalign.engines.filters`, local and with gaps that cost no more, which are never lower.
        ``runs``: pairs without a run of equal residues that thresholds force,
        `OverlapThresholds.forced_run`. ``auto`` takes them where they were measured to be faster.
    candidates : Candidates or None
        Only these are aligned, at once and on their strands.
    stages : Stages
        What each stage did, and how long that took.
    """

    is_by_pair: ClassVar[bool] = False  # candidates are those of the whole set

    thresholds: OverlapThresholds
    filter: str = "auto"
    candidates: Candidates | None = None
    stages: Stages = field(default_factory=Stages)
    index: None = field(default=None, init=False)
    most_of_pair: int = field(default=1, init=False)  # most have none, and few have several
    _filters: list[ScoreFilter | StrandFilter] = field(default_factory=list, init=False, repr=False)

    def detail(self, want: Detail, thresholds: PairThresholds, mode: str) -> Detail:
        """Return what engines compute."""
        return want

    def fills(self, job: PlannedJob) -> int:
        """Return how many strands are looked at: candidates have theirs."""
        return 2 if self.candidates is None else 1

    def chooses(self, job: PlannedJob) -> bool:
        """Whether all pairs are looked at."""
        return self.candidates is None

    def engines_per_gpu(self, job: PlannedJob) -> int | None:
        """Return how many engines share a GPU, see `_ENGINES_PER_GPU`."""
        are_many = self.candidates is None and job.pairs >= _PAIRS_WORTH_ENGINES
        return _ENGINES_PER_GPU if are_many else None

    def wrap(self, engines: Sequence[Engine], job: PlannedJob) -> tuple[Sequence[Engine], None]:
        """Wrap engines so that pairs go through the stages."""
        strands = None
        if self.candidates is not None:
            strands = CandidateStrands(self.candidates, job.queries)
        filters = self._open_filters(engines, job)
        strand_filter = self._open_strand_filter(filters.values(), job)
        if strand_filter is not None:
            self._filters.append(strand_filter)
        has_suboptimal = self.thresholds.max_overlaps > 1
        staged = []
        for engine in engines:
            has_bands = self._has_bands(engine, job)
            aligner = self._open_aligner(job) if has_suboptimal or has_bands else None
            staged.append(
                StagedEngine(
                    engine,
                    self.thresholds,
                    self.stages,
                    filters.get(engine.name),
                    aligner if has_suboptimal else None,
                    strands,
                    aligner if has_bands else None,
                    self._open_opposite(job) if has_bands else None,
                    strand_filter,
                    job.window,
                )
            )
        return staged, None

    def join(
        self, slabs: Iterable[Window], engines: int, fits: Callable[[Window], bool], job: PlannedJob
    ) -> Iterable[Window]:
        """Join windows: the interpreter takes as long for each as a GPU does for its pairs."""
        if self.candidates is not None:
            return slabs
        limit = min(job.memory_bytes // 8, _JOINED_SLAB_BYTES)
        lengths = job.queries.lengths[job.queries.order]
        pair_bytes, residue_bytes = result_bytes(job.want.detail)

        def fit_memory(joined: Window) -> bool:
            residues = lengths[joined.row_start] + lengths[joined.column_start]  # none has more
            return bool(joined.pairs * (pair_bytes + residue_bytes * residues) <= limit)

        return join_windows(slabs, lambda window: fit_memory(window) and fits(window), 2 * engines)

    def close(self) -> None:
        """Close the filters."""
        for pair_filter in self._filters:
            pair_filter.close()
        self._filters.clear()

    def _has_bands(self, engine: Engine, job: PlannedJob) -> bool:
        """Whether best alignments are tried in bands: of candidates, where cores make them.

        With seeds on a GPU as well, or it would find what they take for granted that there is not.
        """
        if self.candidates is None or job.scoring.mode != "local":
            return False
        return self.candidates.seeds is not None or not engine.is_gpu

    def _open_filters(self, engines: Sequence[Engine], job: PlannedJob) -> dict[str, SharedFilter]:
        """Open a filter for every device that has engines; none where that is the faster choice."""
        if self.candidates is not None or self.filter == "none":
            return {}
        on_cores = all(engine.name == "cpu" for engine in engines)
        names = {engine.name for engine in engines}
        are_worth = self.filter == "auto" and self.runs_are_worth(job, on_cores=on_cores)
        if self.filter == "runs" or are_worth:
            shared = self._open_run_filter(job)
            if shared is not None:
                return dict.fromkeys(names, shared)
        if self.filter == "auto" and not (on_cores and self._bits_are_worth(job)):
            return {}
        return self._open_bit_filters(names, job)

    def _open_strand_filter(
        self, filters: Iterable[SharedFilter], job: PlannedJob
    ) -> StrandFilter | None:
        """Open what says which pairs are scored on the other strand; None where that is no use."""
        looks_at_runs = any(isinstance(shared.pair_filter, RunFilter) for shared in filters)
        if self.filter != "auto" or self.candidates is not None or looks_at_runs:
            return None
        if job.cells < _CELLS_WORTH_STRANDS or not self._runs_can_help(job):
            return None
        from pairalign.engines.cpu.strand_filter import StrandFilter

        return StrandFilter.of(job.queries, job.scoring, min(job.threads, _STRAND_THREADS))

    def runs_are_worth(self, job: PlannedJob, *, on_cores: bool) -> bool:
        """Whether overlaps have runs that few pairs share by chance, and there are pairs enough."""
        are_many = job.cells >= _CELLS_WORTH_RUNS[on_cores]
        are_long = job.cells >= _PAIR_WORTH_RUNS[on_cores] * job.pairs
        return are_many and are_long and self._runs_can_help(job)

    def _runs_can_help(self, job: PlannedJob) -> bool:
        run = self.thresholds.forced_run
        return run > 0 and shared_by_chance(job.queries, run) <= _MOST_BY_CHANCE

    def _bits_are_worth(self, job: PlannedJob) -> bool:
        """Whether the filter by bits was measured to save time, on cores: for short reads."""
        return int(job.queries.lengths.max()) <= _LONGEST_TO_FILTER

    def _open_run_filter(self, job: PlannedJob) -> SharedFilter | None:
        """Open the filter by runs; with ``auto`` not where reads repeat each other too much."""
        if not self._runs_can_help(job):
            raise ScoringError(
                f"filter runs: {self.thresholds.min_overlap:,} bases at "
                f"{100 * float(self.thresholds.min_identity):g}% identity force no run of equal "
                "bases that few of these reads share by chance; take another filter"
            )
        run, most_hits = self.thresholds.forced_run, job.cells // _CELLS_A_HIT
        if self.filter == "auto" and estimate_hits(job.queries, run) > _SAFELY * most_hits:
            return None
        words = words_of(job.queries, run)
        if self.filter == "auto" and count_hits(words) > most_hits:
            return None
        return SharedFilter(RunFilter(job.queries, words), self.thresholds.min_raw_score)

    def _open_bit_filters(self, names: Iterable[str], job: PlannedJob) -> dict[str, SharedFilter]:
        linear = replace(job.scoring, mode="local", gap_open=job.scoring.gap_extend)
        filters = {}
        for name in names:
            try:
                opened = open_filters(
                    name,
                    Problem(job.queries, None, linear),
                    threads=job.threads,
                    memory_bytes=job.memory_bytes,
                )
            except DeviceError:
                if self.filter == "auto":
                    continue
                raise
            self._filters += opened
            filters[name] = SharedFilter(opened[0], self.thresholds.min_raw_score)
        return filters

    def _open_opposite(self, job: PlannedJob) -> SuboptimalAligner | None:
        """Open what aligns candidates on the strand that they are not of: without seeds there."""
        assert self.candidates is not None
        if not self.candidates.may_lack_strands:
            return None
        from pairalign.engines.cpu.suboptimal import SuboptimalAligner

        return SuboptimalAligner(job.queries, job.queries, job.scoring, job.threads)

    def _open_aligner(self, job: PlannedJob) -> SuboptimalAligner:
        from pairalign.engines.cpu.suboptimal import SuboptimalAligner

        seeds = None if self.candidates is None else self.candidates.seeds
        return SuboptimalAligner(job.queries, job.queries, job.scoring, job.threads, seeds=seeds)
