"""All pairs aligned at once, or block by block, for use from Python."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from pairalign.alignments.alignments import Alignment, Alignments, concatenate
from pairalign.alignments.problem import Problem
from pairalign.base.choices import ORIENTS, Coverage, Identity
from pairalign.base.declaration import check, make, takes
from pairalign.base.error_types import ScoringError
from pairalign.jobs.run.inputs import (
    AnyScoring,
    ProblemArguments,
    ProblemRequest,
    Sequences,
    given_problem,
    mode_of,
    read_problem,
)
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.resources import Resources
from pairalign.jobs.run.run_request import AlignmentPlan, RunRequest, plan_alignment
from pairalign.jobs.run.spread import align_on
from pairalign.pairs.lists import PairList, Pairs, as_pair_list
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.shared import KernelResources, ProblemOptions
from pairalign.sequences.python_sequences import record_name

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AlignArguments(ProblemArguments, total=False):
    """What functions take of `AlignRequest` and of `KernelResources`, as `align` describes it."""

    min_score: float | str | None
    min_identity: float | str | Fraction | None
    identity_of: Identity
    min_coverage: float | str | Fraction | None
    coverage_of: Coverage
    max_length_ratio: float | str | Fraction | None
    max_evalue: float | None
    both_ways: bool
    db_size: int | None
    search_space: float | None
    comp_based_stats: bool | None
    mask: Literal["none", "tantan", "seg"]
    mask_scores: bool
    strand: Literal["plus", "both"]
    objective: Literal["score", "mea"]
    orient: Literal["input", "canonical"]
    pairs: Pairs | None
    hsps: int
    max_hits: int | None
    rank: Literal["score", "bits", "evalue", "identity"] | None
    device: str
    kernel: str | None
    threads: int | None
    window: int | None
    memory: int | str | None


@takes(ProblemOptions)
def align(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    scoring: AnyScoring | None = None,
    mode: Literal["global", "semiglobal", "local"] | None = None,
    detail: Literal["cigar", "stats", "score"] = "cigar",
    min_score: float | str | None = None,
    min_identity: float | str | Fraction | None = None,
    identity_of: Identity = "columns",
    min_coverage: float | str | Fraction | None = None,
    coverage_of: Coverage = "both",
    max_length_ratio: float | str | Fraction | None = None,
    max_evalue: float | None = None,
    both_ways: bool = False,
    db_size: int | None = None,
    search_space: float | None = None,
    comp_based_stats: bool | None = None,
    mask: Literal["none", "tantan", "seg"] = "none",
    mask_scores: bool = False,
    strand: Literal["plus", "both"] = "plus",
    objective: Literal["score", "mea"] = "score",
    orient: Literal["input", "canonical"] = "input",
    pairs: Pairs | None = None,
    hsps: int = 1,
    max_hits: int | None = None,
    rank: Literal["score", "bits", "evalue", "identity"] | None = None,
    device: str = "auto",
    kernel: str | None = None,
    threads: int | None = None,
    window: int | None = None,
    memory: int | str | None = None,
    progress: Progress = False,
    executor: Executor | None = None,
    **more: Unpack[ProblemArguments],
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
    min_score : int, float or str, optional
        Leave out pairs with a lower score.
    min_identity : float, str or Fraction, optional
        Leave out pairs with a lower identity, from 0 to 1 or as ``"97%"``; exactly as written.
    identity_of : {"columns", "aligned", "shorter", "internal", "mbl", "full", "longer", "mean"}
        Matches by: columns; columns without gaps; residues of the shorter sequence; columns, the
        gaps at both ends left out; mbl: 1 less mismatches and gaps by residues of the longer
        sequence; columns, those of free end gaps counted; residues of the longer sequence; the mean
        of both.
    min_coverage : float, str or Fraction, optional
        Leave out pairs of which less is aligned.
    coverage_of : {"both", "query", "target", "shorter", "aligned"}
        What the coverage is, see `pairalign.base.choices.COVERAGES`.
    max_length_ratio : float, str or Fraction, optional
        Leave out, before anything is aligned, pairs whose longer sequence has more than that many
        times the residues of the shorter one; at least 1, exactly as written.
    max_evalue : float, optional
        Leave out local alignments with a higher E-value, see docs/formats.md.
    both_ways : bool
        With `max_evalue`: keep a pair also where it passes with query and target exchanged.
    db_size : int, optional
        Residues of the database that E-values are of, instead of those of the targets.
    search_space : float, optional
        Cells of the search space of every query, so that E-values do not depend on the sets.
    comp_based_stats : bool, optional
        E-values with the composition of each pair (default), or whatever it is.
    mask : {"none", "tantan", "seg"}
        Bits and E-values of alignments in which residues of low complexity add nothing to the
        score, see `pairalign.statistics.low_complexity`: repeats of few residues, by tantan, or
        segments of few kinds of residues, by SEG. There are CIGARs then whatever `detail`.
    mask_scores : bool
        Masked residues are X instead, in DNA N, and score so: in any mode, with other alignments.
    strand : {"plus", "both"}
        Both, for DNA: each pair is aligned on the strand with the higher score, plus if equal.
    objective : {"score", "mea"}
        mea: of each pair the global alignment with the highest expected accuracy, which is the sum
        of the posteriors of its aligned residues (`pairalign.posterior`), instead of the highest
        score. Scores and thresholds are those of that alignment.
    orient : {"input", "canonical"}
        Which sequence of a pair is its query: the earlier one, or the longer one, of equals the one
        whose residues come first. Of one set; that of the result then has its sequences in the
        order of `SequenceSet.canonical_order`, and indices are of it.
    pairs : PairList, path, array_like of int with shape (n, 2), or iterable of (str, str), optional
        Align just these, in the order of windows: names or input indices, or a file, see
        `pairalign.pairs.lists`. With `targets`, the first is of `sequences`, the second of them.
    hsps : int
        Non-intersecting local alignments of a pair (Waterman-Eggert): the best, then the best that
        reuses no residue pair, and so on, while they score more than 0 and pass the thresholds.
    max_hits : int, optional
        Only the best hits of each query, at most that number: query by query in the order of the
        input, each with its hits, best first. A hit is a pair that passes, in mode local with a
        score above 0. Of a set with itself each pair counts for both sequences, so that it may come
        twice, the second time with query and target exchanged. Of equally good hits the one of the
        higher score is better, then the one whose target comes first in the input.
    rank : {"score", "bits", "evalue", "identity"}, optional
        What the best hits are the best by; default: score. By identity all pairs are aligned, else
        hits alone.
    device : str
        ``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:0,1"``, ``"opencl"`` or ``"opencl:0,1"``.
    kernel : str, optional
        A kernel instead of the best that can, as ``--kernel`` names it.
    threads : int, optional
        Threads of the CPU engine; default: the cores that this process may use.
    window : int, optional
        Rows and columns of the windows that the pair matrix is cut into; decides the order.
        Default: 1,024; with `pairs` 65,536.
    memory : int or str, optional
        What the run may use, results apart, in bytes or as ``"8G"``; default: half of what is free.
    progress : bool or "lines"
        Show on stderr how far it is: a bar on a terminal or in a notebook, else (or with
        ``"lines"``) a line every 30 seconds.
    executor : concurrent.futures.Executor, optional
        Where to align, in tasks that are shards: threads, processes, or those of a cluster. Then
        `threads` (default: 1) and `memory` are those of a task; no progress is shown.
    matrix, match, mismatch, gap_open, gap_extend
    free_ends, end_gap_open, end_gap_extend, ties
        As for `make_scoring`, in place of `scoring`.
    alphabet, degap, also, on_empty, on_duplicate, names, locus
        As for `read_fasta`; of a SequenceSet they say nothing.

    Returns
    -------
    Alignments
        In the order of windows, with `max_hits` by query; held in memory as a whole. For sets too
        large for that use `stream`, or the command line.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, PairListError, CapacityError, DeviceError
        See `pairalign.errors`.
    TypeError
        Something is no sequence, no pair, or no scoring; the message says which.
    ValueError
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
    plan = _plan(dict(locals()))
    found = concatenate(list(plan.job) if executor is None else align_on(executor, plan.job))
    return replace(found, significance=plan.significance)


def align_pair(
    query: object,
    target: object,
    *,
    scoring: AnyScoring | None = None,
    mode: Literal["global", "semiglobal", "local"] | None = None,
    strand: Literal["plus", "both"] = "plus",
    objective: Literal["score", "mea"] = "score",
    device: str = "auto",
) -> Alignment:
    """Align two sequences.

    Parameters
    ----------
    query, target : str, bytes, or object with residues
        Such as Biopython's; one without a name is called ``query`` or ``target``.
    scoring, mode, strand, objective, device
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
    named = (("query", query), ("target", target))
    one, other = ({record_name(item) or name: item} for name, item in named)
    return align(
        one,
        other,
        scoring=scoring,
        mode=mode,
        strand=strand,
        objective=objective,
        device=device,
    )[0]


@takes(AlignRequest, KernelResources, ProblemOptions)
def stream(
    sequences: Sequences,
    targets: Sequences | None = None,
    *,
    scoring: AnyScoring | None = None,
    mode: Literal["global", "semiglobal", "local"] | None = None,
    detail: Literal["cigar", "stats", "score"] = "cigar",
    progress: Progress = False,
    **more: Unpack[AlignArguments],
) -> Iterator[Alignments]:
    """Align as `align` does, and give the results block by block, as they come.

    Parameters
    ----------
    sequences, targets, scoring, mode, detail, progress
    min_score, min_identity, identity_of, min_coverage, coverage_of, max_length_ratio
    max_evalue, db_size, search_space, comp_based_stats, both_ways, mask, mask_scores
    strand, objective, orient, pairs, hsps, max_hits, rank, window
    device, kernel, threads, memory
    matrix, match, mismatch, gap_open, gap_extend
    free_ends, end_gap_open, end_gap_extend, ties
    alphabet, degap, also, on_empty, on_duplicate, names, locus
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
    plan = _plan(dict(locals()))
    return (replace(found, significance=plan.significance) for found in plan.job if len(found) > 0)


def _in_canonical_order(
    problem: Problem, pairs: PairList | None
) -> tuple[Problem, PairList | None]:
    """Sort one set, so that the query of a pair follows from its two sequences."""
    if not problem.is_one_set:
        raise ValueError("orient='canonical' needs one set: of two, the first has the queries")
    order = problem.queries.canonical_order()
    if pairs is not None:
        places = np.argsort(order).astype(np.int32)
        pairs = replace(pairs, first=places[pairs.first], second=places[pairs.second])
    return problem.in_order(order), pairs


def _plan(given: dict[str, Any]) -> AlignmentPlan:
    """Read what is to be aligned and plan it; `given` are the arguments of `align`."""
    more = given.pop("more")
    given = {**more, **given}
    detail, scoring, executor = given["detail"], given["scoring"], given.get("executor")
    if not isinstance(detail, str) or detail.upper() not in Detail.__members__:
        raise ValueError(f"detail {detail!r}: expected cigar, stats or score")
    asked = make(AlignRequest, {**given, "mode": mode_of(scoring, given["mode"])})
    check(asked)
    resources = Resources.of(make(KernelResources, given), given["progress"] and executor is None)
    if resources.threads is None and executor is not None:
        resources = replace(resources, threads=1)
    sets = given["sequences"], given["targets"]
    problem = given_problem(*sets, scoring, given["mode"], problem_arguments(more))
    run = RunRequest(detail=Detail[detail.upper()], resources=resources)
    return plan_given(asked, problem, run)


def problem_arguments(more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that `given_problem` takes, of `AlignArguments`."""
    of_align = AlignArguments.__annotations__.keys() - ProblemArguments.__annotations__.keys()
    return {name: value for name, value in more.items() if name not in of_align}


def plan_given(asked: AlignRequest, problem: ProblemRequest, run: RunRequest) -> AlignmentPlan:
    """Read what is to be aligned, also pairs that are no file, and plan it; warn as Python does."""
    read = read_problem(problem)
    if read.replaced_message:
        warnings.warn(read.replaced_message, stacklevel=4)
    if asked.pairs is not None:
        asked = replace(asked, pairs=as_pair_list(asked.pairs, read.queries, read.targets))
    if asked.orient != ORIENTS[0]:
        read, in_order = _in_canonical_order(read, asked.pairs)
        asked = replace(asked, pairs=in_order)
    plan = plan_alignment(asked, read, run)
    if asked.is_masked and plan.significance is None:
        raise ScoringError("a mask is for E-values, and those are not known: give max_evalue")
    return plan
