"""Distances of all pairs of a set, or of two, from exact alignments: the input of guide trees.

The alignments themselves are never kept: each batch of results becomes distances in one float32
triangle or rectangle, which is all that is held. The measures are in
`pairalign.jobs.distances.measures`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast, overload

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.passes import place_in_triangle
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Float32s
from pairalign.base.choices import BY_FILE
from pairalign.base.error_types import DistanceError, UsageError, WrongTypeError
from pairalign.base.function_options import takes
from pairalign.jobs.distances.distinct_distances import distinct_run
from pairalign.jobs.distances.group_membership import GroupBy, find_groups, reading_of_groups
from pairalign.jobs.distances.measures import (
    Measure,
    ambiguous_message,
    check_alphabet,
    check_sets,
    find_measure,
    own_scores_of,
)
from pairalign.jobs.distances.near import check_on_cores, find_near
from pairalign.jobs.distances.proteome_distances import measure_groups
from pairalign.jobs.run.align import AlignmentJob, Job
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import AnyScoring, ProblemRequest, Sequences, read_problem
from pairalign.jobs.run.memory import PAIR_BYTES, check_memory, distance_bytes
from pairalign.jobs.run.progress import Progress, show_progress
from pairalign.jobs.run.run_request import WHOLE_RUN, RunRequest, plan_alignment
from pairalign.pairs.want import Detail
from pairalign.requests.distance_request import (
    DistanceArguments,
    DistanceRequest,
    GroupsArguments,
    NearArguments,
    OneSetArguments,
    TwoSetsArguments,
)
from pairalign.requests.resources import Resources
from pairalign.requests.shared import ProblemOptions
from pairalign.results.distances_result import (
    DistanceMatrix,
    GroupDistances,
    RectangularDistances,
    SparseDistances,
)
from pairalign.sequences.sets import SequenceSet
from pairalign.trees import distance_matrix
from pairalign.trees.distance_matrix import first_place, number_of_pairs

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pairalign.jobs.run.forecast import Work


_PART_PAIRS = 1 << 16  # pairs at a time: measures make many doubles of a pair


def plan_distances(
    request: DistanceRequest, problem: Problem, run: RunRequest = WHOLE_RUN, tree_bytes: int = 0
) -> AlignmentJob:
    """Plan the alignment of all pairs of a set, or of two, for their distances.

    Parameters
    ----------
    run : RunRequest
        Its memory is for the distances, too, and what is made of them; the distances of a shard
        are not held.
    tree_bytes : int
        What a tree of the distances takes for each pair besides.

    Raises
    ------
    AlphabetError
        The measure is not meant for the alphabet of the sequences.
    CapacityError
        There is not enough memory for the distances.
    FastaError, ScoringError
    """
    sequences, measure = problem.queries, find_measure(request.measure)
    run = run._replace(detail=measure.detail_of(problem))
    if request.is_of_receptors:
        from pairalign.jobs.receptors.tcrdist import ReceptorProcedure

        check_on_cores(run.resources)
        run = run._replace(procedure=ReceptorProcedure())
    if request.extend is not None:
        check_known(request.extend, measure, sequences)
        run = run._replace(only=(len(request.extend), len(sequences)))
    check_alphabet(measure, sequences)
    if run.shard is None:
        limit = run.resources.memory_bytes
        others = None if problem.targets is None else len(problem.targets)
        held_bytes = distance_bytes(len(sequences), limit, PAIR_BYTES + tree_bytes, others)
        run = run._replace(held_bytes=held_bytes)
    job = plan_alignment(request.align_request, problem, run).job
    assert isinstance(job, AlignmentJob)
    return job


def distance_work(
    request: DistanceRequest,
    job: AlignmentJob,
    write: Callable[[DistanceMatrix | RectangularDistances, str], None],
) -> Work:
    """Return what a dry run says of distances; `write` writes some into a file."""
    from pairalign.jobs.run.forecast import Sample, work_with

    def do(problem: Problem, path: str) -> Sample:
        run = RunRequest(resources=job.resources)
        some = plan_distances(replace(request, extend=None), problem, run)
        write(measure_run(some, find_measure(request.measure)), path)
        return Sample(cells=some.cells, devices=some.devices)

    work = work_with(job.problem, do, count_new(request, job), job.cells)
    return replace(work, written=job.pairs)


def count_new(request: DistanceRequest, job: AlignmentJob) -> int:
    """Count the pairs of a job whose distances are not known."""
    known = 0 if request.extend is None else len(request.extend.condensed)
    return job.pairs - known


def check_known(
    old_matrix: distance_matrix.DistanceMatrix, measure: Measure, sequences: SequenceSet
) -> None:
    """Refuse distances that are not those of the first sequences of a set.

    Raises
    ------
    DistanceError
        The names are others, none is left, or the measure is another.
    """
    if not isinstance(old_matrix, distance_matrix.DistanceMatrix):
        raise WrongTypeError(f"extend {old_matrix!r}: expected the distances of a set")
    count = len(old_matrix)
    if old_matrix.names != list(sequences.names[:count]):
        raise DistanceError(
            f"distances of {count:,} sequences, which are not the first {count:,} of "
            f"{sequences.source}: new sequences come last"
        )
    if count == len(sequences):
        raise DistanceError(f"{sequences.source} has no sequence that the distances have not")
    if old_matrix.measure not in ("", measure.name):
        raise DistanceError(f"the distances are {old_matrix.measure}, expected {measure.name}")


@overload
def distance(
    sequences: Sequences,
    targets: None = None,
    *,
    sparse: Literal[False] | None = None,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[OneSetArguments],
) -> DistanceMatrix: ...


@overload
def distance(
    sequences: Sequences,
    targets: None = None,
    *,
    group_by: GroupBy,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[GroupsArguments],
) -> GroupDistances: ...


@overload
def distance(  # type: ignore[overload-overlap]
    sequences: Sequences,
    targets: Sequences,
    *,
    sparse: Literal[False] | None = None,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[TwoSetsArguments],
) -> RectangularDistances: ...


@overload
def distance(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    sparse: Literal[True] | None = None,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[NearArguments],
) -> SparseDistances: ...


@takes(DistanceArguments, DistanceRequest, ProblemOptions, Resources)
def distance(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    sparse: bool | None = None,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    progress: Progress = False,
    **options: Unpack[DistanceArguments],
) -> DistanceMatrix | RectangularDistances | SparseDistances:
    """Align every pair of a set, or of two, and return how far apart they are.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        As for `pairalign.align`; at least two without `targets`.
    targets : the same, optional
        A second set: every one of `sequences` is aligned with every one of these. Without
        `circular` and `extend`.
    sparse : bool, optional
        Return the pairs within a limit and nothing of all others; default: where a limit, such as
        `max_drop`, is given.
    scoring : Scoring, or matrix as `make_scoring` takes it, optional
        As for `pairalign.align`.
    mode : {"global", "semiglobal", "local"}, optional
        Default: that of `scoring`, else global; one that is not that of `scoring` is an error.
    progress : bool or "lines"
        As for `pairalign.align`.

    Returns
    -------
    DistanceMatrix
        Of groups one with more, `GroupDistances`; of two sets `RectangularDistances`; with a limit
        `SparseDistances`, whose `csr` is a matrix of SciPy.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
    UsageError
        An unknown measure, or an argument out of its range.

    Notes
    -----
    Memory: 4 bytes a pair, 0.7 GB for 18,282 sequences, besides what aligning takes. Time is that
    of the alignments; ``kimura-2p``, and what leaves out N and X, need the alignments themselves,
    ``score`` not even counts.

    Examples
    --------
    >>> import pairalign
    >>> globins = {
    ...     "HBB": "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPK",
    ...     "HBD": "MVHLTPEEKTAVNALWGKVNVDAVGGEALGRLLVVYPWTQRFFESFGDLSSPDAVMGNPK",
    ...     "HBZ": "MSLTKTERTIIVSMWAKISTQADTIGTETLERLFLSHPQTKTYFPHFDLHPGSAQLRAHG",
    ... }
    >>> matrix = pairalign.distance(globins)
    >>> matrix
    <DistanceMatrix: 3 sequences, identity-aligned>
    >>> [round(float(distance), 3) for distance in matrix.row(0)]
    [0.0, 0.067, 0.672]
    """
    call = Call(
        distance, options, sequences, targets, scoring=scoring, mode=mode, progress=progress
    )
    request = call.request(DistanceRequest, targets=targets)
    if sparse not in (None, request.has_limit):
        raise UsageError("sparse=True goes with one limit, such as max_drop, and they with it")
    resources = call.resources
    distances: DistanceMatrix | RectangularDistances
    if request.group_by is not None:
        distances = _measure_grouped(request, call.problem_request, resources)
        return distances.similarities() if request.similarity else distances
    if request.is_of_receptors:
        from pairalign.jobs.receptors.tcrdist import read_receptor_problem, remark_on

        problem = read_receptor_problem(call.problem_request, request.v_genes)
        if remark := remark_on(problem):
            warnings.warn(remark, stacklevel=2)
    else:
        problem = call.read()
    if request.has_limit:
        return find_near(request, problem, resources)
    chosen = find_measure(request.measure)
    message = ambiguous_message(chosen, problem)
    if message is not None:
        warnings.warn(message, stacklevel=2)
    if request.circular:
        both = request.strand == "both"
        distances, _ = measure_circular(problem, chosen, both_strands=both, resources=resources)
    else:
        run = plan_distances(request, problem, RunRequest(resources=resources))
        distances = measure_run(run, chosen, request.extend)
    return distances.similarities() if request.similarity else distances


def _measure_grouped(
    request: DistanceRequest,
    problem_request: ProblemRequest,
    resources: Resources,
) -> GroupDistances:
    """Read the groups, and measure how far apart they are."""
    sequences = problem_request.sequences
    if request.group_by == BY_FILE and not isinstance(sequences, (str, os.PathLike, SequenceSet)):
        first, *others = (cast(str, path) for path in sequences)
        reading = reading_of_groups(problem_request.reading, request.group_by, others)
        problem_request = problem_request._replace(sequences=first, reading=reading)
    problem = read_problem(problem_request)
    assert request.group_by is not None
    groups = find_groups(request.group_by, problem.queries)
    if problem.replaced_message:
        warnings.warn(problem.replaced_message, stacklevel=3)
    return measure_groups(request, problem, groups, resources)[0]


def measure_run(
    run: AlignmentJob, measure: Measure, old_matrix: distance_matrix.DistanceMatrix | None = None
) -> DistanceMatrix | RectangularDistances:
    """Carry out a run over all pairs and keep nothing but the distances.

    Parameters
    ----------
    run : AlignmentJob
        Wants at least ``measure.detail_of(problem)`` and all pairs.
    old_matrix : DistanceMatrix, optional
        Of the first sequences of one set, whose pairs the run leaves out.

    Raises
    ------
    AlphabetError
        The measure is not meant for the alphabet of the sequences.
    DistanceError
        A matrix cannot have these names: Unicode has more white space than FASTA.
    CapacityError
        There is not enough memory for the distances.
    """
    assert run.want.detail >= measure.detail_of(run.problem)
    sequences, targets = run.queries, run.targets
    count, others = len(sequences), None if targets is None else len(targets)
    check_alphabet(measure, sequences)
    check_sets(run.problem)
    check_memory(count, PAIR_BYTES, others)
    distinct = distinct_run(run)
    if distinct is None:
        distances = _fill(run, measure)
    else:
        distances = distinct.spread(_fill(distinct.job, measure))
        run.devices = distinct.job.devices
    if targets is not None:
        names = list(sequences.names), list(targets.names)
        return RectangularDistances(*names, distances.reshape(count, -1), measure.name)
    if old_matrix is not None:
        first = len(old_matrix)
        for row in range(first - 1):  # `old_matrix.row` would gather what is above the diagonal
            start, place, length = first_place(row, count), first_place(row, first), first - 1 - row
            distances[start : start + length] = old_matrix.condensed[place : place + length]
    return DistanceMatrix(list(sequences.names), distances, measure.name)


def _fill(run: AlignmentJob, measure: Measure) -> Float32s:
    """Carry out a run; return the distances of its pairs, and NaN of those that it leaves out."""
    count = len(run.queries)
    others = None if run.targets is None else len(run.targets)
    own_scores = own_scores_of(run.problem)
    distances = np.empty(run.problem.pairs, np.float32)

    def place(alignments: Alignments) -> None:
        filled.result()
        for part in _parts_of(alignments):
            values = measure.compute(part, own_scores)
            if others is None:
                place_in_triangle(part.query, part.target, values, count, distances)
            else:
                distances[part.query.astype(np.int64) * others + part.target] = values

    with ThreadPoolExecutor(1) as beside:  # much memory takes a while, as engines do to open
        filled = beside.submit(distances.fill, np.nan)
        run.hand_out(place)
    return distances


def measure_circular(
    problem: Problem, measure: Measure, *, both_strands: bool, resources: Resources
) -> tuple[DistanceMatrix, int]:
    """Align every pair of a set of circles, see `pairalign.jobs.circular.circular`.

    The query of a pair is the sequence that runs along the rows of their matrix
    (docs/conventions.md), so distances do not depend on the order of the input.

    Parameters
    ----------
    problem : Problem
        Of one set; mode global.

    Returns
    -------
    matrix : DistanceMatrix
    best : int
        Of how many pairs it is known that no rotation scores more.

    Raises
    ------
    AlphabetError, ScoringError, CapacityError, DistanceError
    """
    from pairalign.jobs.circular.circular import align_circular

    sequences = problem.queries
    check_alphabet(measure, sequences)
    check_sets(problem)
    count, best = len(sequences), 0
    condensed = np.full(number_of_pairs(count), np.nan, np.float32)
    own_scores = own_scores_of(problem)
    rows, columns = np.triu_indices(count, 1)
    pairs = sequences.order[rows], sequences.order[columns]
    needed = measure.detail_of(problem)
    detail = max(needed, Detail.STATS)
    with show_progress(len(rows), resources.progress, "pairs") as meter:
        done = 0
        for part in align_circular(
            problem, *pairs, both_strands=both_strands, detail=detail, resources=resources
        ):
            alignments, stop = part.found, done + len(part.reversed)
            query, target = (side[done:stop] for side in pairs)
            shown = alignments
            if needed < Detail.CIGAR:  # a rotation is as long, and scores as much
                shown = replace(
                    alignments, queries=sequences, targets=sequences, query=query, target=target
                )
            values = measure.compute(shown, own_scores)
            ends = np.minimum(query, target), np.maximum(query, target)
            place_in_triangle(*ends, values, count, condensed)
            meter.update(stop - done)
            best += int(part.is_best.sum())
            done = stop
    return DistanceMatrix(list(sequences.names), condensed, measure.name), best


def measure_in_order(run: Job, measure: Measure) -> Generator[Float32s, None, None]:
    """Carry out a run over pairs; yield their distances in the order of windows.

    Parameters
    ----------
    run : Job
        May be a shard.

    Yields
    ------
    ndarray of float32, shape (n,)
        Those of the next ``n`` pairs; ``run.pairs_done`` counts all of them.
    """
    own_scores = own_scores_of(run.problem)
    with run.open() as results:
        for alignments in results:
            parts = _parts_of(alignments)
            values = [measure.compute(part, own_scores).astype(np.float32) for part in parts]
            del alignments, parts
            yield np.concatenate([np.empty(0, np.float32), *values])


def _parts_of(alignments: Alignments) -> Iterator[Alignments]:
    for start in range(0, len(alignments), _PART_PAIRS):
        yield alignments[start : start + _PART_PAIRS]
