"""Pairs of many short sequences whose distance is within a limit: a drop of score, or edits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.choices import NEAR_MEASURES
from pairalign.base.errors import DeviceError, ScoringError
from pairalign.engines.cpu.near import pairs_within_drop, pairs_within_edits
from pairalign.jobs.run.progress import show_progress
from pairalign.jobs.run.resources import Resources
from pairalign.trees.distance_matrix import check_names
from pairalign.trees.sparse_distances import SparseDistances

_DEVICES = ("auto", "cpu")
_KERNELS = (None, "auto")


@dataclass(frozen=True)
class NearRequest:
    """What is asked of pairs within a limit.

    Attributes
    ----------
    measure : str
        One of `NEAR_MEASURES`: ``"drop"``, ``min(S(a,a), S(b,b)) - S(a,b)``, or ``"edits"``.
    limit : int
        The largest distance of a pair that is kept.
    resources : Resources
        Threads and progress; it is this machine's cores that compare.
    thresholds : PairThresholds
        Its `max_length_ratio` counts.
    """

    measure: str
    limit: int
    resources: Resources = field(default_factory=Resources)
    thresholds: PairThresholds = field(default_factory=PairThresholds)

    def __post_init__(self) -> None:
        if self.measure not in NEAR_MEASURES:
            raise ValueError(f"measure {self.measure!r}: expected {' or '.join(NEAR_MEASURES)}")
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or self.limit < 0:
            raise ValueError(f"a limit of {self.limit!r}: expected a whole number of 0 or more")
        if self.resources.device not in _DEVICES or self.resources.kernel not in _KERNELS:
            raise DeviceError("distances within a limit are found on the CPU: leave device out")

    def check(self, problem: Problem) -> None:
        """Refuse sequences and a scoring of which there is no such distance.

        Raises
        ------
        AlphabetError, ScoringError
            The sequences do not fit the scoring, or its scores are no whole numbers.
        DistanceError
            The names cannot be those of a matrix.
        """
        problem.scoring.check_sets(*problem.sets)
        check_names(problem.queries.names, problem.queries.source)
        if self.measure == "drop" and problem.scoring.scale != 1:
            raise ScoringError("a drop is a whole number: take scores and costs without decimals")


def find_near(request: NearRequest, problem: Problem) -> SparseDistances:
    """Find the pairs of a set whose distance is within the limit.

    Parameters
    ----------
    request : NearRequest
    problem : Problem
        Of one set.

    Raises
    ------
    AlphabetError, ScoringError, DistanceError
        See `NearRequest.check`; ScoringError too where the mode is not global.
    CapacityError
        Out of memory.
    """
    assert problem.is_one_set
    request.check(problem)
    sequences, threads = problem.queries, request.resources.used_threads
    pairs = len(sequences) * (len(sequences) - 1) // 2
    with show_progress(pairs, request.resources.progress, "pairs", "comparing") as meter:

        def advance(done: int) -> None:
            meter.update(done)

        how: dict[str, Any] = {
            "threads": threads,
            "progress": advance,
            "thresholds": request.thresholds,
        }
        if request.measure == "drop":
            found = pairs_within_drop(sequences, None, problem.scoring, request.limit, **how)
        else:
            found = pairs_within_edits(sequences, None, request.limit, **how)
    return SparseDistances(
        list(sequences.names),
        found.rows,
        found.columns,
        found.values,
        request.limit,
        request.measure,
    )
