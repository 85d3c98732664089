"""Distances of all pairs of a set, from exact alignments: the input of guide trees.

The alignments themselves are never kept: each batch of results becomes distances in one float32
triangle, which is all that is held. `pairalign.jobs.distances.measures` has the measures.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.passes import place_in_triangle
from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import make_pair_thresholds
from pairalign.base.arguments import Shard
from pairalign.base.choices import DEFAULT_MEASURE, DEFAULT_WINDOW, STRANDS
from pairalign.base.errors import DistanceError
from pairalign.jobs.distances.circular_distances import measure_circular
from pairalign.jobs.distances.measures import Measure, check_alphabet, find_measure, self_scores
from pairalign.jobs.distances.near import NearRequest, find_near
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.inputs import AnyScoring, ProblemRequest, Sequences, read_problem
from pairalign.jobs.run.memory import PAIR_BYTES, bytes_beside_distances, check_memory
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.request import RunRequest, plan_alignment
from pairalign.jobs.run.resources import Resources
from pairalign.requests.align import AlignRequest
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix, check_names, number_of_pairs
from pairalign.trees.sparse_distances import SparseDistances

Doubles = npt.NDArray[np.float64]

_PART_PAIRS = 1 << 16  # pairs at a time: measures make many doubles of a pair


@dataclass(frozen=True)
class DistanceRequest:
    """What is asked of the distances of a set.

    Attributes
    ----------
    measure : str
        One of `MEASURES`.
    strand : str
        One of `STRANDS`.
    resources : Resources
        The memory is for the distances, too, and what is made of them.
    tree_bytes : int
        What a tree of the distances takes for each pair besides.
    shard, result_seconds
        As for `pairalign.jobs.run.align.AlignmentJob`; the distances of a shard are not held.
    known : DistanceMatrix or None
        Distances of the first sequences, whose pairs are not aligned.
    """

    measure: str = DEFAULT_MEASURE
    strand: str = STRANDS[0]
    resources: Resources = field(default_factory=Resources)
    tree_bytes: int = 0
    shard: Shard | None = None
    result_seconds: float | None = None
    known: DistanceMatrix | None = None

    def __post_init__(self) -> None:
        find_measure(self.measure)

    @property
    def chosen_measure(self) -> Measure:
        """The measure of that name."""
        return find_measure(self.measure)

    def alignment(self) -> AlignRequest:
        """Return what is asked of alignments."""
        return AlignRequest(strand=self.strand, window=DEFAULT_WINDOW)

    def run(self) -> RunRequest:
        """Return how their results are wanted."""
        return RunRequest(
            detail=self.chosen_measure.detail,
            shard=self.shard,
            result_seconds=self.result_seconds,
            resources=self.resources,
        )


def plan_distances(request: DistanceRequest, problem: Problem) -> AlignmentJob:
    """Plan the alignment of all pairs of a set for their distances.

    Raises
    ------
    AlphabetError
        The measure is not meant for the alphabet of the sequences.
    CapacityError
        There is not enough memory for the distances.
    FastaError, ScoringError
        See `AlignmentJob`.
    """
    sequences, run = problem.queries, request.run()
    if request.known is not None:
        check_known(request.known, request.chosen_measure, sequences)
        run = replace(run, only=(len(request.known), len(sequences)))
    check_alphabet(request.chosen_measure, sequences)
    if request.shard is None:
        pair_bytes, limit = PAIR_BYTES + request.tree_bytes, request.resources.memory_bytes
        left = bytes_beside_distances(len(sequences), limit, pair_bytes)
        run = replace(run, resources=replace(request.resources, memory_bytes=left))
    return plan_alignment(request.alignment(), problem, run).job


def check_known(known: DistanceMatrix, measure: Measure, sequences: SequenceSet) -> None:
    """Refuse distances that are not those of the first sequences of a set.

    Raises
    ------
    DistanceError
        The names are others, none is left, or the measure is another.
    """
    count = len(known)
    if known.names != list(sequences.names[:count]):
        raise DistanceError(
            f"distances of {count:,} sequences, which are not the first {count:,} of "
            f"{sequences.source}: new sequences come last"
        )
    if count == len(sequences):
        raise DistanceError(f"{sequences.source} has no sequence that the distances have not")
    if known.measure not in ("", measure.name):
        raise DistanceError(f"the distances are {known.measure}, expected {measure.name}")


@overload
def distance(
    sequences: Sequences,
    *,
    measure: str = DEFAULT_MEASURE,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    strand: str = STRANDS[0],
    circular: bool = False,
    similarity: bool = False,
    extend: DistanceMatrix | None = None,
    sparse: Literal[False] = False,
    device: str = "auto",
    kernel: str | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress = False,
) -> DistanceMatrix: ...


@overload
def distance(
    sequences: Sequences,
    *,
    sparse: Literal[True],
    max_drop: int | None = None,
    max_edits: int | None = None,
    max_length_ratio: float | str | Fraction | None = None,
    scoring: AnyScoring | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> SparseDistances: ...


def distance(
    sequences: Sequences,
    *,
    measure: str = DEFAULT_MEASURE,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    strand: str = STRANDS[0],
    circular: bool = False,
    similarity: bool = False,
    max_drop: int | None = None,
    max_edits: int | None = None,
    max_length_ratio: float | str | Fraction | None = None,
    sparse: bool = False,
    extend: DistanceMatrix | None = None,
    device: str = "auto",
    kernel: str | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress = False,
) -> DistanceMatrix | SparseDistances:
    """Align every pair of a set and return how far apart they are.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        As for `pairalign.align`; at least two.
    measure : str
        One of `MEASURES`.
    scoring : Scoring, or matrix as `make_scoring` takes it, optional
        As for `pairalign.align`.
    mode : {"global", "semiglobal", "local"}, optional
        Default: that of `scoring`, else global; one that is not that of `scoring` is an error.
    strand : {"plus", "both"}
        As for `pairalign.align`.
    circular : bool
        The sequences are circles: each pair is aligned, in mode global, with one of the two rotated
        to where it scores most (`pairalign.jobs.run.circular`).
    similarity : bool
        Return identities, 1 less the distances of a measure of identity.
    max_drop, max_edits : int, optional
        Keep only pairs within a limit, with `sparse`: ``min(S(a,a), S(b,b)) - S(a,b)`` of global
        scores S, or Levenshtein's distance. `measure` and `strand` are of no use then.
    max_length_ratio : float, str or Fraction, optional
        As for `pairalign.align`, with `sparse`.
    sparse : bool
        Return the pairs within a limit and nothing of all others.
    extend : DistanceMatrix, optional
        Distances of the first sequences, by the same measure and scoring: only pairs with another
        sequence are aligned.
    device, kernel, threads, memory, progress
        As for `pairalign.align`; `memory` includes the distances themselves.

    Returns
    -------
    DistanceMatrix
        Or `SparseDistances` with `sparse`, whose `csr` is a matrix of SciPy.

    Raises
    ------
    FastaError, AlphabetError, ScoringError, CapacityError, DeviceError
        See `pairalign.errors`.
    ValueError
        An unknown measure, or an argument out of its range.

    Notes
    -----
    Memory: 4 bytes a pair, 0.7 GB for 18,282 sequences, besides what aligning takes. Time is that
    of the alignments; only ``kimura-2p`` needs the alignments themselves, ``score`` not even
    counts.

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
    resources = Resources(device, kernel, threads, memory, progress)
    near = _near_request(max_drop, max_edits, max_length_ratio, sparse, resources)
    if extend is not None and (near is not None or circular):
        raise ValueError("extend is of distances of all pairs: leave circular and limits out")
    if near is not None and (circular or similarity):
        raise ValueError("pairs within a limit are of linear sequences: leave circular out")
    if similarity and not find_measure(measure).is_identity:
        raise ValueError(f"measure {measure!r} has no similarity: take a measure of identity")
    request = DistanceRequest(measure, strand, resources, known=extend)
    problem = read_problem(ProblemRequest(sequences, None, scoring, mode))
    if problem.replaced_message:
        warnings.warn(problem.replaced_message, stacklevel=2)
    if near is not None:
        return find_near(near, problem)
    chosen = request.chosen_measure
    if circular:
        both = strand == "both"
        found, _ = measure_circular(problem, chosen, both_strands=both, resources=resources)
    else:
        found = measure_run(plan_distances(request, problem), chosen, extend)
    return found.similarities() if similarity else found


def _near_request(
    max_drop: int | None,
    max_edits: int | None,
    max_length_ratio: float | str | Fraction | None,
    sparse: bool,
    resources: Resources,
) -> NearRequest | None:
    """Return what is asked of pairs within a limit; None: all pairs are wanted."""
    limits = {"drop": max_drop, "edits": max_edits}
    given = [(measure, limit) for measure, limit in limits.items() if limit is not None]
    if len(given) != sparse:
        raise ValueError("sparse=True goes with one limit, max_drop or max_edits, and they with it")
    if max_length_ratio is not None and not given:
        raise ValueError("max_length_ratio is of pairs within a limit: give max_drop or max_edits")
    lengths = make_pair_thresholds(max_length_ratio=max_length_ratio)
    return NearRequest(*given[0], resources, lengths) if given else None


def measure_run(
    run: AlignmentJob, measure: Measure, known: DistanceMatrix | None = None
) -> DistanceMatrix:
    """Carry out a run over all pairs of a set and keep nothing but the distances.

    Parameters
    ----------
    run : AlignmentJob
        Of one set; wants at least ``measure.detail`` and all pairs.
    measure : Measure
    known : DistanceMatrix, optional
        Of the first sequences, whose pairs the run leaves out.

    Raises
    ------
    AlphabetError
        The measure is not meant for the alphabet of the sequences.
    DistanceError
        A matrix cannot have these names: Unicode has more white space than FASTA.
    CapacityError
        There is not enough memory for the distances.
    """
    assert run.targets is None
    assert run.want.detail >= measure.detail
    sequences = run.queries
    count = len(sequences)
    check_alphabet(measure, sequences)
    check_names(sequences.names, sequences.source)
    check_memory(count, PAIR_BYTES)
    own_scores = self_scores(sequences, run.scoring)
    condensed = np.empty(number_of_pairs(count), np.float32)

    def place(found: Alignments) -> None:
        filled.result()
        for start in range(0, len(found), _PART_PAIRS):
            part = found[start : start + _PART_PAIRS]
            values = measure.compute(part, own_scores)
            place_in_triangle(part.query, part.target, values, count, condensed)

    with ThreadPoolExecutor(1) as beside:  # a large triangle takes a while, as engines do to open
        filled = beside.submit(condensed.fill, np.nan)
        run.hand_out(place)
    if known is not None:
        _place_known(known, count, condensed)
    return DistanceMatrix(list(sequences.names), condensed, measure.name)


def _place_known(known: DistanceMatrix, count: int, condensed: npt.NDArray[np.float32]) -> None:
    """Put distances of the first sequences into the triangle of all."""
    first = len(known)
    start = taken = 0
    for row in range(first - 1):
        length = first - 1 - row
        condensed[start : start + length] = known.condensed[taken : taken + length]
        taken += length
        start += count - 1 - row


def measure_in_order(
    run: AlignmentJob, measure: Measure
) -> Generator[npt.NDArray[np.float32], None, None]:
    """Carry out a run over pairs of a set; yield their distances in the order of windows.

    Parameters
    ----------
    run : AlignmentJob
        Of one set; may be a shard.
    measure : Measure

    Yields
    ------
    ndarray of float32, shape (n,)
        Those of the next ``n`` pairs; ``run.pairs_done`` counts all of them.
    """
    own_scores = self_scores(run.queries, run.scoring)
    with run.open() as results:
        for found in results:
            parts = (found[at : at + _PART_PAIRS] for at in range(0, len(found), _PART_PAIRS))
            values = [measure.compute(part, own_scores).astype(np.float32) for part in parts]
            del found
            yield np.concatenate([np.empty(0, np.float32), *values])
