"""All pairs aligned at once, or block by block, for use from Python."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from pairalign.alignments.alignments import concatenate
from pairalign.alignments.problem import Problem
from pairalign.base.choices import ORIENTS
from pairalign.base.error_types import ScoringError, UsageError
from pairalign.base.function_options import refuse_unknown, taken_by, takes
from pairalign.jobs.run.align import align_on
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.inputs import AnyScoring, Sequences
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.run_request import AlignmentPlan, RunRequest, plan_alignment
from pairalign.pairs.lists import PairList, as_pair_list
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import (
    AlignArguments,
    AlignRequest,
    KindOfAlignment,
    PairArguments,
)
from pairalign.requests.resources import Resources
from pairalign.requests.shared import ProblemOptions, StrandOptions
from pairalign.results.alignment_result import Alignment
from pairalign.results.alignments_result import Alignments
from pairalign.sequences.python_sequences import record_name

if TYPE_CHECKING:
    from typing_extensions import Unpack

_KINDS = AlignRequest, ProblemOptions, Resources


@takes(AlignArguments, *_KINDS)
def align(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    scoring: AnyScoring | None = None,
    mode: Literal["global", "semiglobal", "local"] | None = None,
    detail: Literal["cigar", "stats", "score"] = "cigar",
    progress: Progress = False,
    executor: Executor | None = None,
    **options: Unpack[AlignArguments],
) -> Alignments:
    """Align every pair of a set, or every sequence of one set with every one of another.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        An iterable may also give records with a name (``.id`` or ``.name``) and residues
        (``.seq`` or ``.residues``), such as Biopython's. Unless it is a SequenceSet, its alphabet
        is that of `scoring`, or guessed.
    targets : the same, optional
        Without it, all N(N-1)/2 pairs of `sequences`.
    scoring : Scoring, or matrix as `make_scoring` takes it, optional
        From `pairalign.make_scoring`. Default: BLOSUM62 with gaps 11/1 for proteins, 2/-3 with gaps
        5/2 for DNA; a matrix has the same gaps.
    mode : {"global", "semiglobal", "local"}, optional
        Default: that of `scoring`, else global; one that is not that of `scoring` is an error.
    detail : {"cigar", "stats", "score"}
        What to compute: alignments; spans and counts; or scores alone.
    progress : bool or "lines"
        Show on stderr how far it is: a bar on a terminal or in a notebook, else (or with
        ``"lines"``) a line every 30 seconds.
    executor : concurrent.futures.Executor, optional
        Where to align, in tasks that are shards: threads, processes, or those of a cluster. Then
        `threads` (default: 1) and `memory` are those of a task; no progress is shown.

    Returns
    -------
    Alignments
        In the order of windows, best hits by query; held in memory as a whole. For sets too
        large for that use `stream`, or the command line.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, PairListError, CapacityError, DeviceError
        See `pairalign.errors`.
    WrongTypeError
        Something is no sequence, no pair, or no scoring; the message says which.
    UsageError
        An argument out of its range.

    Notes
    -----
    The conventions (scores, ties, spans, CIGAR) are in docs/conventions.md. Time is proportional
    to the sum of the products of the lengths.

    Examples
    --------
    >>> import pairalign
    >>> globins = {
    ...     "HBB": "MVHLTPEEKSAVTALWGKVNVDEVGGEALGRLLVVYPWTQRFFESFGDLSTPDAVMGNPK",
    ...     "HBD": "MVHLTPEEKTAVNALWGKVNVDAVGGEALGRLLVVYPWTQRFFESFGDLSSPDAVMGNPK",
    ...     "HBZ": "MSLTKTERTIIVSMWAKISTQADTIGTETLERLFLSHPQTKTYFPHFDLHPGSAQLRAHG",
    ... }
    >>> found = pairalign.align(globins)
    >>> found
    <Alignments: 3 pairs, global, with CIGARs>
    >>> found.score.tolist()
    [64, 66, 300]
    >>> best = found["HBB", "HBD"]
    >>> best.query.name, best.target.name, best.cigar
    ('HBB', 'HBD', '9=1X2=1X9=1X27=1X9=')
    >>> len(pairalign.align(globins, min_identity="90%"))
    1
    """
    call = Call(align, options, sequences, targets, scoring=scoring, mode=mode, progress=progress)
    plan = _plan(call, detail, executor)
    alignments = concatenate(list(plan.job) if executor is None else align_on(executor, plan.job))
    return Alignments.of(replace(alignments, significance=plan.significance))


@takes(
    PairArguments,
    *(KindOfAlignment, StrandOptions, ProblemOptions, Resources),
    but=("orient", "also", "min_score"),
)
def align_pair(
    query: object,
    target: object,
    *,
    scoring: AnyScoring | None = None,
    mode: Literal["global", "semiglobal", "local"] | None = None,
    **options: Unpack[PairArguments],
) -> Alignment:
    """Align two sequences.

    Parameters
    ----------
    query, target : str, bytes, or object with residues
        Such as Biopython's; one without a name is called ``query`` or ``target``.
    scoring, mode
        As for `align`.

    Returns
    -------
    Alignment
        In mode local it may be empty, with score 0.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError, TypeError
        See `align`.

    Examples
    --------
    >>> import pairalign
    >>> print(pairalign.align_pair("ACGTTGCAAC", "ACGTGCAC", mode="local"), end="")
    query x target
    score 9, 7 of 8 columns identical (87.5%), 1 residues in 1 gaps
    <BLANKLINE>
    query  1 ACGTTGCA 8
             |||| |||
    target 1 ACGT-GCA 7
    """
    refuse_unknown("align_pair", options, taken_by(align_pair).options)
    named = (("query", query), ("target", target))
    first, second = ({record_name(item) or name: item} for name, item in named)
    return align(
        first,
        second,
        scoring=scoring,
        mode=mode,
        **options,
    )[0]


@takes(AlignArguments, *_KINDS)
def stream(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    scoring: AnyScoring | None = None,
    mode: Literal["global", "semiglobal", "local"] | None = None,
    detail: Literal["cigar", "stats", "score"] = "cigar",
    progress: Progress = False,
    **options: Unpack[AlignArguments],
) -> Iterator[Alignments]:
    """Align as `align` does, and give the results block by block, as they come.

    Parameters
    ----------
    sequences, targets, scoring, mode, detail, progress
        As for `align`.

    Returns
    -------
    iterator of Alignments
        Together they are what `align` returns, in the same order; none is empty, and a few of
        them are in memory at a time. Arguments are checked, and sequences read, before it is
        returned.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, PairListError, CapacityError, DeviceError, TypeError
        See `align`.

    Examples
    --------
    >>> import pairalign
    >>> reads = ["ACGTTGCA", "ACGTTGGA", "TTGCAGGA"]
    >>> for block in pairalign.stream(reads, detail="score"):
    ...     print(len(block), block.score.max())
    3 11
    """
    call = Call(stream, options, sequences, targets, scoring=scoring, mode=mode, progress=progress)
    plan = _plan(call, detail)
    return (
        Alignments.of(replace(block, significance=plan.significance))
        for block in plan.job
        if len(block) > 0
    )


def _in_canonical_order(
    problem: Problem, pairs: PairList | None
) -> tuple[Problem, PairList | None]:
    """Sort one set, so that the query of a pair follows from its two sequences."""
    if not problem.is_one_set:
        raise UsageError("orient='canonical' needs one set: of two, the first has the queries")
    order = problem.queries.canonical_order()
    if pairs is not None:
        places = np.argsort(order).astype(np.int32)
        pairs = replace(pairs, first=places[pairs.first], second=places[pairs.second])
    return problem.in_order(order), pairs


def _plan(call: Call, detail: str, executor: Executor | None = None) -> AlignmentPlan:
    """Read what is to be aligned, and plan it."""
    if not isinstance(detail, str) or detail.upper() not in Detail.__members__:
        raise UsageError(f"detail {detail!r}: expected cigar, stats or score")
    request, resources = call.request(AlignRequest), call.resources
    if executor is not None:
        threads = 1 if resources.threads is None else resources.threads
        resources = replace(resources, threads=threads, progress=False)
    return plan_given(request, call, RunRequest(detail=Detail[detail.upper()], resources=resources))


def plan_given(request: AlignRequest, call: Call, run: RunRequest) -> AlignmentPlan:
    """Read what is to be aligned, also pairs that are no file, and plan it."""
    read = call.read(stacklevel=5)
    pairs = None
    if request.pairs is not None:
        pairs = as_pair_list(request.pairs, read.queries, read.targets)
    if request.orient != ORIENTS[0]:
        read, pairs = _in_canonical_order(read, pairs)
    plan = plan_alignment(replace(request, pairs=pairs), read, run)
    if request.masking.of_statistics and plan.significance is None:
        raise ScoringError("a mask is for E-values, and those are not known: give max_evalue")
    return plan
