"""Overlaps of reads: every pair on both strands, scored first, aligned where that is worth it.

The second of pairalign's three jobs: what an assembler needs of its reads. Which scoring and which
thresholds suit which reads is in `pairalign.jobs.overlaps.presets`, how two reads can overlap in
`pairalign.reads.kinds`, and how pairs are scored first in `pairalign.jobs.overlaps.stages`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from pairalign.alignments.alignments import concatenate
from pairalign.base.arguments import parse_share
from pairalign.base.choices import OVERLAP_FILTERS
from pairalign.engines import Engine
from pairalign.engines.filters import ScoreFilter, open_filters
from pairalign.engines.selection import usable_cores
from pairalign.errors import DeviceError, ScoringError
from pairalign.jobs.overlaps.found import Overlaps
from pairalign.jobs.overlaps.plan import Limits, plan_overlaps
from pairalign.jobs.overlaps.presets import AUTO, Preset
from pairalign.jobs.overlaps.request import OverlapRequest
from pairalign.jobs.overlaps.seeded_candidates import MAPPY, import_mappy, seed_candidates
from pairalign.jobs.overlaps.stages import SharedFilter, StagedEngine, Thresholds
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.inputs import AnyScoring, Sequences, as_scoring, as_sets
from pairalign.jobs.run.memory import default_bytes
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.slabs import result_bytes
from pairalign.jobs.run.stage_counts import Stages
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, default_window, join_windows
from pairalign.reads.candidates import Candidates, CandidateStrands, read_candidates
from pairalign.reads.exact_runs import (
    RunFilter,
    count_hits,
    estimate_hits,
    shared_by_chance,
    words_of,
)
from pairalign.reads.kinds import classify
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import complement_of
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from pairalign.engines.cpu.further import FurtherAligner
    from pairalign.engines.cpu.strand_filter import StrandFilter

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
"""So many cells take a core as long as one word of two reads in the filter by runs."""
_SAFELY = 4
"""So many times as many, by a sample, are too many."""
_MOST_BY_CHANCE = 0.2
"""Share of unrelated pairs that have a word in common, above which the filter is no use."""


@dataclass
class OverlapJob(AlignmentJob):
    """A planned search for overlaps; iterate over it for those found, some pairs at a time.

    Attributes
    ----------
    thresholds : Thresholds
    filter : {"auto", "none", "bitwise", "runs"}
        What leaves pairs out before anything is scored, and loses nothing. ``bitwise``: scores by
        `pairalign.engines.filters`, local and with gaps that cost no more, which are never lower.
        ``runs``: pairs without a run of equal letters that thresholds force,
        `Thresholds.forced_run`. ``auto`` takes them where they have been measured to be faster.
    candidates : Candidates or None
        Only these are aligned, at once and on their strands.
    stages : Stages
        What each stage did, and how long that took.

    Raises
    ------
    AlphabetError
        The reads are not DNA.
    ValueError
        An unknown filter, or thresholds out of range.
    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    filter: str = "auto"
    candidates: Candidates | None = None
    stages: Stages = field(default_factory=Stages)
    _filters: list[ScoreFilter | StrandFilter] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        assert self.targets is None
        assert self.hsps == 1  # thresholds have their own number
        complement_of(self.queries.alphabet, self.queries.source)
        if self.scoring.end_gaps is not None:
            raise ScoringError("overlaps have free ends or none: expected mode semiglobal or local")
        if self.filter not in OVERLAP_FILTERS:
            known = ", ".join(OVERLAP_FILTERS)
            raise ValueError(f"filter {self.filter!r}: expected one of {known}")
        parse_share(self.thresholds.min_identity, "min_identity")
        if self.candidates is not None:
            self.pair_list, self.window = self.candidates.pairs, default_window(True)
        super().__post_init__()

    @property
    def _chooses(self) -> bool:
        return self.candidates is None

    @property
    def _fills(self) -> int:
        return 2 if self.candidates is None else 1  # strands

    def _open_engines(self, per_gpu: int | None = None) -> Sequence[Engine]:
        are_many = self.candidates is None and self.pairs >= _PAIRS_WORTH_ENGINES
        return super()._open_engines(_ENGINES_PER_GPU if are_many else per_gpu)

    def _with_thresholds(self, engines: Sequence[Engine]) -> Sequence[Engine]:
        """Wrap engines so that pairs go through the stages."""
        strands = None
        if self.candidates is not None:
            strands = CandidateStrands(self.candidates, self.queries)
        filters = self._open_filters(engines)
        strand_filter = self._open_strand_filter(filters.values())
        if strand_filter is not None:
            self._filters.append(strand_filter)
        has_further = self.thresholds.max_overlaps > 1
        staged = []
        for engine in engines:
            has_corridors = self._has_corridors(engine)
            aligner = self._open_aligner() if has_further or has_corridors else None
            staged.append(
                StagedEngine(
                    engine,
                    self.thresholds,
                    self.stages,
                    filters.get(engine.name),
                    aligner if has_further else None,
                    strands,
                    aligner if has_corridors else None,
                    strand_filter,
                    self.window,
                )
            )
        return staged

    def _join(self, slabs: list[Window], engines: int, most_cells: int) -> list[Window]:
        """Join windows: the interpreter takes as long for each as a GPU does for its pairs."""
        if self.candidates is not None:
            return slabs
        limit = min(self.memory_bytes // 8, _JOINED_SLAB_BYTES)
        lengths = self.queries.lengths[self.queries.order]
        pair_bytes, letter_bytes = result_bytes(self._detail)

        def fits(joined: Window) -> bool:
            letters = lengths[joined.row_start] + lengths[joined.column_start]  # none has more
            fits_memory = joined.pairs * (pair_bytes + letter_bytes * letters) <= limit
            return bool(fits_memory and self._planned.cells_of(joined) <= most_cells)

        return list(join_windows(slabs, fits, 2 * engines))

    def _has_corridors(self, engine: Engine) -> bool:
        """Whether best alignments are tried in corridors: of candidates, where cores make them."""
        return self.candidates is not None and not engine.is_gpu and self.scoring.mode == "local"

    def _open_aligner(self) -> FurtherAligner:
        from pairalign.engines.cpu.further import FurtherAligner

        return FurtherAligner(self.queries, self.queries, self.scoring, self.threads)

    def _close_engines(self, engines: Iterable[Engine]) -> None:
        super()._close_engines(engines)
        for one in self._filters:
            one.close()
        self._filters.clear()

    def _open_filters(self, engines: Sequence[Engine]) -> dict[str, SharedFilter]:
        """Open a filter for every device that has engines; none where that is the faster choice."""
        if self.candidates is not None or self.filter == "none":
            return {}
        on_cores = all(engine.name == "cpu" for engine in engines)
        names = {engine.name for engine in engines}
        if self.filter == "runs" or (self.filter == "auto" and self._runs_are_worth(on_cores)):
            shared = self._open_run_filter()
            if shared is not None:
                return dict.fromkeys(names, shared)
        if self.filter == "auto" and not (on_cores and self._bits_are_worth()):
            return {}
        return self._open_bit_filters(names)

    def _open_strand_filter(self, filters: Iterable[SharedFilter]) -> StrandFilter | None:
        """Open what says which pairs are scored on the other strand; None where that is no use."""
        looks_at_runs = any(isinstance(one.pair_filter, RunFilter) for one in filters)
        if self.filter != "auto" or self.candidates is not None or looks_at_runs:
            return None
        if self.cells < _CELLS_WORTH_STRANDS or not self._runs_can_help():
            return None
        from pairalign.engines.cpu.strand_filter import StrandFilter

        return StrandFilter.of(self.queries, self.scoring, min(self.threads, _STRAND_THREADS))

    def _runs_are_worth(self, on_cores: bool) -> bool:
        """Whether overlaps have runs that few pairs share by chance, and there are pairs enough."""
        are_many = self.cells >= _CELLS_WORTH_RUNS[on_cores]
        are_long = self.cells >= _PAIR_WORTH_RUNS[on_cores] * self.pairs
        return are_many and are_long and self._runs_can_help()

    def _runs_can_help(self) -> bool:
        run = self.thresholds.forced_run
        return run > 0 and shared_by_chance(self.queries, run) <= _MOST_BY_CHANCE

    def _bits_are_worth(self) -> bool:
        """Whether the filter by bits was measured to save time, on cores: for short reads."""
        return int(self.queries.lengths.max()) <= _LONGEST_TO_FILTER

    def _open_run_filter(self) -> SharedFilter | None:
        """Open the filter by runs; with ``auto`` not where reads repeat each other too much."""
        if not self._runs_can_help():
            raise ScoringError(
                f"filter runs: {self.thresholds.min_overlap:,} letters at "
                f"{100 * float(self.thresholds.min_identity):g}% identity force no run of equal "
                "letters that few of these reads share by chance; take another filter"
            )
        run, most_hits = self.thresholds.forced_run, self.cells // _CELLS_A_HIT
        if self.filter == "auto" and estimate_hits(self.queries, run) > _SAFELY * most_hits:
            return None
        words = words_of(self.queries, run)
        if self.filter == "auto" and count_hits(words) > most_hits:
            return None
        return SharedFilter(RunFilter(self.queries, words), self.thresholds.min_raw_score)

    def _open_bit_filters(self, names: Iterable[str]) -> dict[str, SharedFilter]:
        linear = replace(self.scoring, mode="local", gap_open=self.scoring.gap_extend)
        found = {}
        for name in names:
            try:
                opened = open_filters(
                    name,
                    self.queries,
                    None,
                    linear,
                    threads=self.threads,
                    memory_bytes=self.memory_bytes,
                )
            except DeviceError:
                if self.filter == "auto":
                    continue
                raise
            self._filters += opened
            found[name] = SharedFilter(opened[0], self.thresholds.min_raw_score)
        return found


def overlaps(
    reads: Sequences,
    *,
    preset: str = AUTO,
    mode: str | None = None,
    scoring: AnyScoring | None = None,
    min_overlap: int | None = None,
    min_identity: float | str | Fraction | None = None,
    min_score: float | str | None = None,
    max_false: float | None = None,
    max_overlaps: int | None = None,
    all_strands: bool = False,
    candidates: Candidates | str | os.PathLike[str] | None = None,
    filter: str = "auto",
    max_overhang: int | None = None,
    device: str = "auto",
    kernel: str | None = None,
    threads: int | None = None,
    memory_bytes: int | None = None,
    progress: Progress = False,
) -> Overlaps:
    """Find the overlaps of a set of reads: every pair, both strands, exactly.

    Parameters
    ----------
    reads : SequenceSet, path, mapping of names to strings, or iterable of strings
        DNA; as for `pairalign.align`.
    preset : {"auto", "short", "hifi", "ont"}
        Scoring and thresholds, see `pairalign.jobs.overlaps.presets.PRESETS`; ``auto`` decides by a
        sample of the reads, see `pairalign.jobs.overlaps.choice.choose_preset`, and scales the
        least overlap to their lengths.
    mode : {"semiglobal", "local"}, optional
        Semiglobal alignments end at ends of reads: dovetails and containments. Local ones end where
        reads are no longer alike, and may also be internal. Default: semiglobal for ``short``,
        else local. One that is not that of `scoring` is an error.
    scoring : Scoring, or name or path of a matrix, optional
        Instead of the preset's.
    min_overlap, min_identity, min_score : optional
        Instead of the preset's: letters of the shorter span; matches by columns, 0 to 1; score.
    max_false : float, optional
        Raise the least score or identity until no more overlaps than these are expected by chance,
        as a sample of reads against reversed ones says.
    max_overlaps : int, optional
        Overlaps of a pair: the best, then the best that puts no two letters together which one
        before did, while they pass the thresholds; reads of circles and repeats have several.
        Default: 10, of ``short`` 1.
    all_strands : bool
        Keep both strands of a pair where both pass; else the one that scores more, of equals plus.
    candidates : Candidates, path or "mappy", optional
        Align these pairs alone, on the strands that are given: PAF, or a list of names, see
        `pairalign.reads.candidates`; or those that mappy finds (`seeded_candidates`).
    filter : {"auto", "none", "bitwise", "runs"}
        See `OverlapJob`.
    max_overhang : int, optional
        Instead of the preset's: residues that both reads may have beyond an end of an overlap.
    device, kernel, threads, memory_bytes, progress
        As for `pairalign.align`.

    Returns
    -------
    Overlaps

    Raises
    ------
    AlphabetError
        The reads are proteins.
    FastaError, ScoringError, PairListError, MissingPackageError, CapacityError, DeviceError
        See `pairalign.errors`.
    ValueError
        An argument out of its range.

    Notes
    -----
    Time is proportional to the square of the reads' letters: all pairs are scored twice, unless
    there are candidates.

    Examples
    --------
    >>> import pairalign
    >>> reads = {
    ...     "one": "ACGTTGCAACGTACGGTCATTAGCCATGGCTTACGGATCG",
    ...     "two": "TCATTAGCCATGGCTTACGGATCGATTACGCAGTAACCGT",
    ... }
    >>> found = pairalign.overlaps(reads, min_overlap=20, min_score=20)
    >>> found
    <Overlaps: 1 of 2 reads, preset short>
    >>> overlap = found.alignments[0]
    >>> overlap.query.name, overlap.query_start, overlap.target.name, overlap.target_end
    ('one', 16, 'two', 24)
    >>> found.kind.tolist()
    ['dovetail']
    """
    alphabet = scoring.alphabet if isinstance(scoring, Scoring) else None
    first, _ = as_sets(reads, None, alphabet)
    complement_of(first.alphabet, first.source)

    def scoring_of(chosen: Preset) -> Scoring:
        if scoring is None:
            return chosen.scoring(mode)
        return as_scoring(scoring, first.alphabet, mode, chosen.mode)

    asked = OverlapRequest(
        preset=preset,
        limits=Limits(min_overlap, min_identity, min_score, all_strands, max_false, max_overlaps),
        candidates=candidates,
        filter=filter,
        device=device,
        threads=threads,
        memory_bytes=memory_bytes,
        progress=progress,
        kernel=kernel,
    )
    run, chosen = plan_overlap_job(
        asked, first, scoring_of, lambda message: warnings.warn(message, stacklevel=4)
    )
    found = concatenate(list(run))
    if max_overhang is not None:
        chosen = replace(chosen, max_overhang=max_overhang)
    return Overlaps(found, classify(found, chosen.max_overhang), chosen, run.stages)


def plan_overlap_job(
    request: OverlapRequest,
    reads: SequenceSet,
    scoring_of: Callable[[Preset], Scoring],
    warn: Callable[[str], None],
) -> tuple[OverlapJob, Preset]:
    """Choose preset, scoring and thresholds, find candidates, and plan the job.

    Parameters
    ----------
    request : OverlapRequest
    reads : SequenceSet
        Of DNA.
    scoring_of : callable
        Makes the scoring of a preset, with what the user gave instead.
    warn : callable
        Told of letters that are scored as others.

    Returns
    -------
    OverlapJob, Preset
        Raises what `overlaps` raises.
    """
    threads = usable_cores() if request.threads is None else request.threads
    memory_bytes = default_bytes() if request.memory_bytes is None else request.memory_bytes
    candidates = request.candidates
    if candidates == MAPPY:
        import_mappy()  # what is missing is said before any work
    elif candidates is not None and not isinstance(candidates, Candidates):
        candidates = read_candidates(candidates, reads)
    plan = plan_overlaps(
        reads,
        request.preset,
        scoring_of,
        request.limits,
        threads=threads,
        memory_bytes=memory_bytes,
    )
    message = plan.scoring.replaced_message(reads)
    if message:
        warn(message)
    if candidates == MAPPY:
        candidates = seed_candidates(reads, plan.preset, plan.thresholds.min_overlap, threads)
    assert candidates is None or isinstance(candidates, Candidates)
    job = OverlapJob(
        reads,
        None,
        plan.scoring,
        Want(Detail.CIGAR),
        device=request.device,
        threads=threads,
        memory_bytes=memory_bytes,
        progress=request.progress,
        kernel=request.kernel,
        shard=request.shard,
        result_seconds=request.result_seconds,
        thresholds=plan.thresholds,
        filter=request.filter,
        candidates=candidates,
    )
    return job, plan.preset
