"""The similar pairs of a set, held as numbers: what splits and audits look at.

The leakage of folds is how much of the similarity of all pairs is across folds,
L = the sum of s(a, b) over pairs in two folds / the sum over all pairs in folds, where s is the
identity of a pair that is similar enough to be looked at, and 0 of others. Pairs are unordered, of
two sequences; all sequences weigh the same.

References
----------
Joeres R, Blumenthal DB, Kalinina OV. Data splitting to avoid information leakage with DataSAIL.
Nature Communications 16, 2025. doi:10.1038/s41467-025-58606-8
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.arrays import Bools, Doubles, Int32s
from pairalign.base.choices import DEFAULT_WINDOW, LIST_WINDOW, STRANDS
from pairalign.base.declaration import check, make
from pairalign.base.error_types import ScoringError
from pairalign.base.spelling import spelled
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.function_call import Call
from pairalign.jobs.run.run_request import evalue_filter_of
from pairalign.jobs.splits.audit_request import AuditRequest
from pairalign.jobs.splits.interactions_request import SecondSetOptions, SideRequest
from pairalign.jobs.splits.split_request import SplitRequest
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail, Want
from pairalign.requests.resources import Resources
from pairalign.requests.similar import OF_PROTEINS
from pairalign.scoring.scoring import Scoring
from pairalign.statistics.significance import EvalueFilter

if TYPE_CHECKING:
    from pairalign.jobs.stages.threshold_engine import Steps

_Folds = TypeVar("_Folds", SplitRequest, AuditRequest, SecondSetOptions)
AnySide = SplitRequest | AuditRequest | SideRequest
"""What says what is similar."""


@dataclass(frozen=True)
class Pairs:
    """Some pairs, in the order of output.

    Attributes
    ----------
    query, target : ndarray of int32, shape (pairs,)
        Input indices.
    identity : ndarray of float64, shape (pairs,)
        As the thresholds define it.
    reaches : ndarray of bool, shape (pairs,)
        Whether the pair reaches the thresholds; exact.
    steps : Steps or None
        How many pairs each step of the thresholds has left.
    devices : tuple of str
        Those that aligned.
    """

    query: Int32s
    target: Int32s
    identity: Doubles
    reaches: Bools
    steps: Steps | None = None
    devices: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.query)

    @classmethod
    def none(cls) -> Pairs:
        """Return no pairs."""
        nobody = np.zeros(0, np.int32)
        return cls(nobody, nobody, np.zeros(0), np.zeros(0, np.bool_))

    @classmethod
    def joined(cls, parts: Sequence[Pairs]) -> Pairs:
        """Return the pairs of several, part by part; what the last one knows of the run."""
        names = ("query", "target", "identity", "reaches")
        fields = {name: [getattr(part, name) for part in parts] for name in names}
        joined: dict[str, Any] = {name: np.concatenate(arrays) for name, arrays in fields.items()}
        return replace(parts[-1], **joined)


def request_of(kind: type[_Folds], call: Call, **own: object) -> tuple[_Folds, Call]:
    """Return the request of a function's arguments, and the call with the mode to align in."""
    is_known = call.mode is not None or isinstance(call.scoring, Scoring)
    mode = call.known_mode if is_known else None
    request = make(kind, {**call.options, **own, "mode": mode}).completed()
    check(request)
    return request, call if is_known else replace(call, mode=request.scoring.mode)


def evalues_of(request: AnySide, problem: Problem, resources: Resources) -> EvalueFilter | None:
    """Return what keeps homologous pairs, if these are kept.

    Raises
    ------
    UsageError
        Nothing was said of what is similar, and the sequences are DNA.
    ScoringError
        There are no E-values.
    """
    if problem.scoring.alphabet.name == "dna":
        check(request, (OF_PROTEINS,))
    try:
        return evalue_filter_of(request.evalues, problem, request.strand, resources)
    except ScoringError as error:
        if not request.is_usual:
            raise
        raise ScoringError(f"{error}; or give {spelled('min_identity', 'X')}") from None


def find_similar(
    request: AnySide,
    problem: Problem,
    resources: Resources,
    *,
    from_identity: Fraction | None = None,
    keep: Callable[[Alignments], Bools] | None = None,
    evalues: EvalueFilter | None = None,
) -> Pairs:
    """Find the pairs that are similar by a request; see `find_pairs`.

    `evalues` are those of `evalues_of`, where they are known.
    """
    return find_pairs(
        problem,
        request.thresholds,
        resources,
        from_identity=from_identity,
        keep=keep,
        strand=request.strand,
        evalues=evalues_of(request, problem, resources) if evalues is None else evalues,
    )


def find_pairs(
    problem: Problem,
    thresholds: PairThresholds,
    resources: Resources,
    *,
    from_identity: Fraction | None = None,
    pair_list: PairList | None = None,
    keep: Callable[[Alignments], Bools] | None = None,
    strand: str = STRANDS[0],
    evalues: EvalueFilter | None = None,
) -> Pairs:
    """Align; keep the pairs that reach the thresholds, or but for their identity do.

    Parameters
    ----------
    from_identity : Fraction, optional
        Keep pairs with a lower identity as well; of each it is said whether it reaches the
        thresholds.
    pair_list : PairList, optional
        Only these pairs, whatever identity and coverage they have.
    keep : callable, optional
        Says which of some pairs are kept, bool of shape (pairs,).
    strand : {"plus", "both"}
        As for `AlignmentJob`.
    evalues : EvalueFilter, optional
        Pairs with larger E-values are not kept.

    Notes
    -----
    Memory: 17 bytes a pair that is kept.
    """
    pair_thresholds = thresholds
    if from_identity is not None:
        least = min(from_identity, thresholds.least_identity)
        pair_thresholds = replace(thresholds, min_identity=least)
    if pair_list is not None:
        pair_thresholds = PairThresholds()
    mode = problem.scoring.mode
    detail = max(thresholds.detail(mode), thresholds.detail_of_identity(mode))
    job = AlignmentJob(
        problem.queries,
        problem.targets,
        problem.scoring,
        Want(detail, None if evalues is None else evalues.min_raw_score),
        window=DEFAULT_WINDOW if pair_list is None else LIST_WINDOW,
        strand=strand,
        pair_list=pair_list,
        pair_thresholds=pair_thresholds,
        evalue_filter=evalues,
        resources=resources,
    )
    parts = [Pairs.none()]
    with job.open() as results:
        for batch in results:
            alignments = batch if keep is None else batch.take(np.flatnonzero(keep(batch)))
            share, whole = thresholds.count_identity(alignments)
            reaches = np.zeros(len(alignments), np.bool_)
            reaches[thresholds.passing(alignments)] = True
            parts.append(
                Pairs(alignments.query.copy(), alignments.target.copy(), share / whole, reaches)
            )
    return replace(Pairs.joined(parts), steps=job.steps, devices=job.devices)


def align_pairs(
    problem: Problem, pairs: PairList, resources: Resources, strand: str
) -> Iterator[Alignments]:
    """Align some pairs of a set, with CIGARs; yield them in the order of output."""
    yield from AlignmentJob(
        problem.queries,
        None,
        problem.scoring,
        Want(Detail.CIGAR),
        window=LIST_WINDOW,
        strand=strand,
        pair_list=pairs,
        resources=replace(resources, progress=False),
    )


_UNIT = float(1 << 32)
"""Identities are summed as whole numbers: the order of the pairs changes nothing."""


@dataclass
class Leakage:
    """Sums of similarities, as pairs come.

    Attributes
    ----------
    across, total : int
        Of pairs in two folds, and of all pairs in folds.
    """

    across: int = 0
    total: int = 0

    def add(self, identity: Doubles, is_across: Bools) -> None:
        """Take in some pairs in folds."""
        similarity = np.rint(identity * _UNIT).astype(np.int64)
        self.total += int(similarity.sum())
        self.across += int(similarity[is_across].sum())

    @property
    def share(self) -> float:
        """What part of the similarity is across folds, from 0 to 1; 0 where there is none."""
        return self.across / self.total if self.total else 0.0


NEARLY_IDENTICAL = Fraction(9, 10)


def fragment_identity(thresholds: PairThresholds) -> Fraction:
    """Return from which identity pairs are counted: at least that of the promise."""
    return max(NEARLY_IDENTICAL, thresholds.least_identity)


def count_fragments(
    problem: Problem,
    groups: Int32s | None,
    least: Fraction,
    strand: str,
    resources: Resources,
) -> int:
    """Count pairs across groups by matches over the residues of the shorter, ends being free.

    Parameters
    ----------
    problem : Problem
        Aligned with the same costs in mode semiglobal.
    groups : ndarray of int32, shape (n,), or None
        Of each sequence, -1: none. None: the two sets are the groups.
    strand : {"plus", "both"}
    """

    def is_across(alignments: Alignments) -> Bools:
        if groups is None:
            return np.ones(len(alignments), np.bool_)
        query_groups, target_groups = groups[alignments.query], groups[alignments.target]
        kept: Bools = (query_groups != target_groups) & (query_groups >= 0) & (target_groups >= 0)
        return kept

    scoring = replace(problem.scoring, mode="semiglobal", end_gaps=None)
    thresholds = PairThresholds(least, "shorter")
    whole = replace(problem, scoring=scoring)
    quiet = replace(resources, progress=False)
    return len(find_pairs(whole, thresholds, quiet, keep=is_across, strand=strand))
