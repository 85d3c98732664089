"""Overlaps of reads: every pair on both strands, scored first, aligned where that is worth it.

The second of pairalign's three jobs: what an assembler needs of its reads. Which scoring and which
thresholds suit which reads is in `pairalign.jobs.overlaps.presets`, how two reads can overlap in
`pairalign.reads.overlap_kinds`, and how pairs are scored first in `pairalign.jobs.overlaps.stages`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairalign.alignments.alignments import concatenate, no_alignments
from pairalign.base.choices import STRANDS
from pairalign.base.error_types import ScoringError, UsageError
from pairalign.base.function_options import takes
from pairalign.base.spelling import spelled
from pairalign.jobs.overlaps.overlap_plan import OverlapProcedure, plan_overlaps
from pairalign.jobs.overlaps.overlap_request import OverlapArguments, OverlapRequest
from pairalign.jobs.overlaps.overlap_table import Overlaps
from pairalign.jobs.overlaps.presets import Preset
from pairalign.jobs.overlaps.seeded_candidates import MAPPY, SEEDS, check_mappy, find_candidates
from pairalign.jobs.overlaps.stages import OverlapThresholds
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import (
    AnyScoring,
    Sequences,
    check_strand,
    given_sequences,
    read_sets,
)
from pairalign.jobs.run.memory import bytes_of
from pairalign.jobs.run.progress import Progress, Stages
from pairalign.jobs.run.run_request import RunRequest
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import default_window
from pairalign.reads.candidates import Candidates, read_candidates
from pairalign.reads.overlap_kinds import classify
from pairalign.requests.resources import Resources
from pairalign.requests.shared import InputOptions
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import complement_of
from pairalign.sequences.sets import SequenceSet

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class OverlapJob:
    """A planned search for overlaps.

    Attributes
    ----------
    alignment : AlignmentJob
        Iterate over it for the overlaps that are found, some pairs at a time.
    procedure : OverlapProcedure
        What it does with pairs: with thresholds, candidates and the counts of the stages.
    preset : Preset
        With the overhang that was asked for.
    """

    alignment: AlignmentJob
    procedure: OverlapProcedure
    preset: Preset

    @property
    def thresholds(self) -> OverlapThresholds:
        """What an overlap must reach."""
        return self.procedure.thresholds

    @property
    def candidates(self) -> Candidates | None:
        """Only these are aligned."""
        return self.procedure.candidates

    @property
    def stages(self) -> Stages:
        """What each stage did, and how long that took."""
        return self.procedure.stages


@takes(OverlapArguments, OverlapRequest, InputOptions, Resources)
def overlap(
    reads: Sequences,
    *,
    scoring: AnyScoring | None = None,
    progress: Progress = False,
    **options: Unpack[OverlapArguments],
) -> Overlaps:
    """Find the overlaps of a set of reads: every pair, both strands, exactly.

    Parameters
    ----------
    reads : SequenceSet, path, mapping of names to strings, or iterable of strings
        DNA; as for `pairalign.align`.
    scoring : Scoring, or matrix as `make_scoring` takes it, optional
        Instead of the preset's.
    progress : bool or "lines"
        As for `pairalign.align`.

    Returns
    -------
    Overlaps

    Raises
    ------
    AlphabetError
        The reads are proteins.
    FastaError, ScoringError, PairListError, MissingPackageError, CapacityError, DeviceError
    UsageError
        An argument out of its range.

    Notes
    -----
    Time is proportional to the square of the reads' residues: all pairs are scored twice, unless
    there are candidates.

    Examples
    --------
    >>> import pairalign
    >>> reads = {
    ...     "one": "ACGTTGCAACGTACGGTCATTAGCCATGGCTTACGGATCG",
    ...     "two": "TCATTAGCCATGGCTTACGGATCGATTACGCAGTAACCGT",
    ... }
    >>> overlaps = pairalign.overlap(reads, min_overlap=20, min_score=20)
    >>> overlaps
    <Overlaps: 1 of 2 reads, preset short>
    >>> overlap = overlaps.alignments[0]
    >>> overlap.query.name, overlap.query_start, overlap.target.name, overlap.target_end
    ('one', 16, 'two', 24)
    >>> overlaps.kind.tolist()
    ['dovetail']
    """
    call = Call(overlap, options, reads, progress=progress)
    request = call.request(OverlapRequest, costs_instead=scoring, mode=options.get("mode"))
    run = RunRequest(resources=call.resources)
    first, _ = read_sets(given_sequences(reads, options)._replace(scoring=scoring))
    job = plan_overlap_job(request, first, run, lambda said: warnings.warn(said, stacklevel=4))
    nothing = no_alignments(first, None, job.alignment.scoring, Detail.CIGAR)
    parts = list(job.alignment) or [replace(nothing, strand=np.empty(0, np.int8))]
    alignments = concatenate(parts)
    kinds = classify(alignments, job.preset.max_overhang)
    return Overlaps(Alignments.of(alignments), kinds, job.preset, job.stages)


def plan_overlap_job(
    request: OverlapRequest, reads: SequenceSet, run: RunRequest, warn: Callable[[str], None]
) -> OverlapJob:
    """Choose preset, scoring and thresholds, find candidates, and plan the job.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.
    warn : callable
        Told of residues that are scored as others.

    Returns
    -------
    OverlapJob
        Raises what `overlap` raises.
    """
    complement_of(reads.alphabet, reads.source)
    threads, memory_bytes = run.resources.used_threads, bytes_of(run.resources)
    candidates = request.candidates
    if candidates == MAPPY:
        check_mappy()  # what is missing is said before any work
    elif candidates not in (None, SEEDS) and not isinstance(candidates, Candidates):
        candidates = read_candidates(candidates, reads)
    plan = plan_overlaps(request, reads, threads=threads, memory_bytes=memory_bytes)
    if request.max_overhang is not None and plan.scoring.mode != "local":
        named = spelled("max_overhang"), spelled("mode", "local")
        raise UsageError(f"{named[0]} needs {named[1]}, but the mode is {plan.scoring.mode}")
    if plan.scoring.end_gaps is None:  # else `align_overlaps` says which modes there are
        check_strand(STRANDS[1], reads, plan.scoring)
    message = plan.scoring.replaced_message(reads)
    if message:
        warn(message)
    if candidates in (MAPPY, SEEDS):
        candidates = find_candidates(candidates, reads, plan, threads)
    assert candidates is None or isinstance(candidates, Candidates)
    procedure = OverlapProcedure(plan.thresholds, request.filter, candidates)
    job = align_overlaps(
        reads,
        plan.scoring,
        procedure,
        shard=run.shard,
        result_seconds=run.result_seconds,
        resources=run.resources,
    )
    preset = plan.preset
    if request.max_overhang is not None:
        preset = replace(preset, max_overhang=request.max_overhang)
    return OverlapJob(job, procedure, preset)


def align_overlaps(
    reads: SequenceSet, scoring: Scoring, procedure: OverlapProcedure, **how: Any
) -> AlignmentJob:
    """Plan the alignment of reads by a procedure; `how`: what else an `AlignmentJob` has.

    Raises
    ------
    ScoringError
        End gaps have costs of their own.
    """
    if scoring.end_gaps is not None:
        raise ScoringError("overlaps have free ends or none: expected mode semiglobal or local")
    if procedure.candidates is not None:
        how |= {"pair_list": procedure.candidates.pairs, "window": default_window(True)}
    return AlignmentJob(reads, None, scoring, Want(Detail.CIGAR), procedure=procedure, **how)
