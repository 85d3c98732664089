"""Pairs of many short sequences within a limit: of a drop of score, edits, or TCRdist."""

from __future__ import annotations

from functools import partial
from typing import Any

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.error_types import DeviceError, ScoringError
from pairalign.engines.cpu.near_pairs import pairs_within_drop, pairs_within_edits
from pairalign.engines.near_engines import find_on, search_on_gpus
from pairalign.jobs.distances.measures import check_sets
from pairalign.jobs.run.progress import show_progress
from pairalign.requests.distance_request import DistanceRequest
from pairalign.requests.resources import Resources
from pairalign.results.distances_result import SparseDistances

_DEVICES = ("auto", "cpu")
_KERNELS = (None, "auto")


def check_on_cores(resources: Resources) -> None:
    """Raise DeviceError where another device is named than the cores of this machine."""
    if resources.device not in _DEVICES or resources.kernel not in _KERNELS:
        raise DeviceError("these distances are found on the CPU: leave device out")


def find_near(request: DistanceRequest, problem: Problem, resources: Resources) -> SparseDistances:
    """Find the pairs of a set, or of two, whose distance is within the limit.

    Parameters
    ----------
    request : DistanceRequest
        With a limit.
    resources : Resources

    Raises
    ------
    AlphabetError, ScoringError, DistanceError
        Sequences, names or scores of which there is no such distance; a mode that is not global.
    DeviceError
        Another device is named.
    CapacityError
        Out of memory.
    """
    sequences, targets, measure = problem.queries, problem.targets, request.limited
    if measure != "tcrdist":
        problem.scoring.check_sets(*problem.sets)
    if resources.kernel not in _KERNELS:
        raise DeviceError("distances within a limit have a kernel of their own: leave kernel out")
    check_sets(problem)
    if measure == "drop" and problem.scoring.scale != 1:
        raise ScoringError("a drop is a whole number: take scores and costs without decimals")
    with show_progress(problem.pairs, resources.progress, "pairs", "comparing") as meter:

        def advance(done: int) -> None:
            meter.update(done)

        how: dict[str, Any] = {
            "find": find_on(resources.device, resources.used_threads),
            "threads": resources.used_threads,
            "progress": advance,
            "thresholds": PairThresholds(max_length_ratio=request.max_length_ratio),
            "memory_bytes": resources.memory_bytes,
        }
        if measure == "tcrdist":
            from pairalign.jobs.receptors.tcrdist import TcrDistances

            distances = TcrDistances(sequences, targets, resources.used_threads)
            make = partial(distances.kernel, request.limit)
            found = search_on_gpus(resources.device, problem.pairs, make, advance)
            pairs = distances.within(request.limit, advance, resources.memory_bytes, found)
        elif measure == "drop":
            pairs = pairs_within_drop(problem, request.limit, **how)
        else:
            pairs = pairs_within_edits(sequences, targets, request.limit, **how)
    return SparseDistances(
        list(sequences.names),
        *(pairs.rows, pairs.columns, pairs.values),
        *(request.limit, measure),
        None if targets is None else list(targets.names),
    )
