"""Distances of all pairs of a set, from exact alignments: the input of guide trees.

The alignments themselves are never kept: each batch of results becomes distances in one float32
triangle, which is all that is held. How each measure is defined is in `MEASURES`; with ``matches``
and ``mismatches`` counted over the columns without gaps, and ``p = mismatches / (matches +
mismatches)``:

======================  =================================================================
identity                ``1 - matches / columns``, gaps counted in ``columns``
identity-aligned        ``p``
identity-shorter        ``1 - matches / (residues of the shorter sequence)``
kimura                  ``-ln(1 - p - p*p/5)``, proteins
jukes-cantor            ``-3/4 ln(1 - 4/3 p)``, DNA
kimura-2p               ``-1/2 ln((1 - 2P - Q) sqrt(1 - 2Q))``, P transitions and Q
                        transversions by columns of two definite bases, DNA
score                   ``1 - 2 S(a,b) / (S(a,a) + S(b,b))``, with the scores S
======================  =================================================================

Every value is finite: logarithms that are not defined, or exceed it, give `SATURATED`, and where
nothing is aligned the distance is 1 for identities and scores, `SATURATED` for the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.passes import find_differences, place_in_triangle
from pairalign.alignments.problem import Problem
from pairalign.base.arguments import Shard
from pairalign.base.choices import DEFAULT_MEASURE, DEFAULT_WINDOW, MEASURE_SUMMARIES, STRANDS
from pairalign.base.errors import AlphabetError
from pairalign.jobs.distances.near import NearRequest, find_near
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.inputs import AnyScoring, ProblemRequest, Sequences, read_problem
from pairalign.jobs.run.memory import PAIR_BYTES, bytes_beside_distances, check_memory
from pairalign.jobs.run.progress import Progress
from pairalign.jobs.run.request import AlignRequest, plan_alignment
from pairalign.jobs.run.resources import Resources
from pairalign.jobs.stages.transitions import count_transitions
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA, PROTEIN, Alphabet
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import DistanceMatrix, check_names, number_of_pairs
from pairalign.trees.sparse_distances import SparseDistances

Doubles = npt.NDArray[np.float64]

SATURATED = 5.0
"""The largest distance of the measures that take a logarithm: substitutions a site."""

_PART_PAIRS = 1 << 16  # pairs at a time: measures make many doubles of a pair


@dataclass(frozen=True)
class Measure:
    """How the alignment of two sequences becomes a distance.

    Attributes
    ----------
    name, summary : str
        What ``--measure`` calls it, and a line about it.
    detail : Detail
        What an engine must compute for it.
    alphabet : Alphabet or None
        The only one that it is meant for.
    compute : callable
        Takes alignments, and the scores of each sequence with itself; returns the distances.
    """

    name: str
    summary: str
    detail: Detail
    alphabet: Alphabet | None
    compute: Callable[[Alignments, Doubles], Doubles]


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
    """

    measure: str = DEFAULT_MEASURE
    strand: str = STRANDS[0]
    resources: Resources = field(default_factory=Resources)
    tree_bytes: int = 0
    shard: Shard | None = None
    result_seconds: float | None = None

    def __post_init__(self) -> None:
        find_measure(self.measure)

    @property
    def chosen_measure(self) -> Measure:
        """The measure of that name."""
        return find_measure(self.measure)

    def alignment(self) -> AlignRequest:
        """Return what is asked of alignments."""
        return AlignRequest(
            detail=self.chosen_measure.detail,
            strand=self.strand,
            window=DEFAULT_WINDOW,
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
    sequences, asked = problem.queries, request.alignment()
    check_alphabet(request.chosen_measure, sequences)
    if request.shard is None:
        pair_bytes, limit = PAIR_BYTES + request.tree_bytes, request.resources.memory_bytes
        left = bytes_beside_distances(len(sequences), limit, pair_bytes)
        asked = replace(asked, resources=replace(request.resources, memory_bytes=left))
    return plan_alignment(asked, problem).job


@overload
def distances(
    sequences: Sequences,
    *,
    measure: str = DEFAULT_MEASURE,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    strand: str = STRANDS[0],
    sparse: Literal[False] = False,
    device: str = "auto",
    kernel: str | None = None,
    threads: int | None = None,
    memory_bytes: int | None = None,
    progress: Progress = False,
) -> DistanceMatrix: ...


@overload
def distances(
    sequences: Sequences,
    *,
    sparse: Literal[True],
    max_drop: int | None = None,
    max_edits: int | None = None,
    scoring: AnyScoring | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> SparseDistances: ...


def distances(
    sequences: Sequences,
    *,
    measure: str = DEFAULT_MEASURE,
    scoring: AnyScoring | None = None,
    mode: str | None = None,
    strand: str = STRANDS[0],
    max_drop: int | None = None,
    max_edits: int | None = None,
    sparse: bool = False,
    device: str = "auto",
    kernel: str | None = None,
    threads: int | None = None,
    memory_bytes: int | None = None,
    progress: Progress = False,
) -> DistanceMatrix | SparseDistances:
    """Align every pair of a set and return how far apart they are.

    Parameters
    ----------
    sequences : SequenceSet, path, mapping of names to strings, or iterable of strings
        As for `pairalign.align`; at least two.
    measure : str
        One of `MEASURES`.
    scoring : Scoring, or name or path of a matrix, optional
        As for `pairalign.align`.
    mode : {"global", "semiglobal", "local"}, optional
        Default: that of `scoring`, else global; one that is not that of `scoring` is an error.
    max_drop, max_edits : int, optional
        Keep only pairs within a limit, with `sparse`: ``min(S(a,a), S(b,b)) - S(a,b)`` of global
        scores S, or Levenshtein's distance. `measure` and `strand` are of no use then.
    sparse : bool
        Return the pairs within a limit and nothing of all others.
    strand, device, kernel, threads, memory_bytes, progress
        As for `pairalign.align`; `memory_bytes` includes the distances themselves.

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
    >>> matrix = pairalign.distances(globins)
    >>> matrix
    <DistanceMatrix: 3 sequences, identity-aligned>
    >>> [round(float(distance), 3) for distance in matrix.row(0)]
    [0.0, 0.067, 0.672]
    """
    resources = Resources(device, kernel, threads, memory_bytes, progress)
    near = _near_request(max_drop, max_edits, sparse, resources)
    request = DistanceRequest(measure, strand, resources)
    problem = read_problem(ProblemRequest(sequences, None, scoring, mode))
    if problem.replaced_message:
        warnings.warn(problem.replaced_message, stacklevel=2)
    if near is not None:
        return find_near(near, problem)
    return measure_run(plan_distances(request, problem), request.chosen_measure)


def _near_request(
    max_drop: int | None, max_edits: int | None, sparse: bool, resources: Resources
) -> NearRequest | None:
    """Return what is asked of pairs within a limit; None: all pairs are wanted."""
    limits = {"drop": max_drop, "edits": max_edits}
    given = [(measure, limit) for measure, limit in limits.items() if limit is not None]
    if len(given) != sparse:
        raise ValueError("sparse=True goes with one limit, max_drop or max_edits, and they with it")
    return NearRequest(*given[0], resources) if given else None


def find_measure(name: str) -> Measure:
    """Return the measure of a name; ValueError for another name."""
    if name not in MEASURES:
        raise ValueError(f"measure {name!r}: expected one of {', '.join(MEASURES)}")
    return MEASURES[name]


def measure_run(run: AlignmentJob, measure: Measure) -> DistanceMatrix:
    """Carry out a run over all pairs of a set and keep nothing but the distances.

    Parameters
    ----------
    run : AlignmentJob
        Of one set; wants at least ``measure.detail`` and all pairs.
    measure : Measure

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
    return DistanceMatrix(list(sequences.names), condensed, measure.name)


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


def check_alphabet(measure: Measure, sequences: SequenceSet) -> None:
    """Raise AlphabetError for a measure that is not meant for these sequences."""
    if measure.alphabet not in (None, sequences.alphabet):
        fitting = [m.name for m in MEASURES.values() if m.alphabet in (None, sequences.alphabet)]
        raise AlphabetError(
            f"{sequences.source}: {sequences.alphabet.name} sequences, but measure "
            f"'{measure.name}' is for {measure.alphabet.name if measure.alphabet else 'any'}; "
            f"take one of {', '.join(fitting)}"
        )


def self_scores(sequences: SequenceSet, scoring: Scoring) -> Doubles:
    """Raw score of each sequence aligned with itself without gaps, float64 of shape (n,).

    Notes
    -----
    That is the best of all alignments of a sequence with itself if no two residues score more than
    the mean of each with itself, ``2 s(x,y) <= s(x,x) + s(y,y)``, and no residue less than 0 with
    itself: then n columns bound the score, and the diagonal attains the bound. All residues of
    BLOSUM and PAM matrices but X, and all definite bases, are such residues. Stretches of X or N
    could score higher locally; they count as what they score.
    """
    own = np.diagonal(scoring.matrix).astype(np.int64)
    return np.add.reduceat(own[sequences.codes], sequences.offsets[:-1]).astype(np.float64)


# ---------------------------------------------------------------------------------------------
# Measures


def _divide(part: Doubles, whole: Doubles) -> Doubles:
    """Quotients; 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _identity(alignments: Alignments, own: Doubles) -> Doubles:
    return find_differences("identity", alignments)


def _identity_aligned(alignments: Alignments, own: Doubles) -> Doubles:
    return find_differences("identity-aligned", alignments)


def _identity_shorter(alignments: Alignments, own: Doubles) -> Doubles:
    return find_differences("identity-shorter", alignments)


def _minus_log(inside: Doubles) -> Doubles:
    """``-ln(inside)``, infinite where that is not defined."""
    result = np.full_like(inside, -np.inf)
    np.log(inside, out=result, where=inside > 0)
    return 0.0 - result  # 0 rather than -0 for the logarithm of 1


def _kimura(alignments: Alignments, own: Doubles) -> Doubles:
    p = _identity_aligned(alignments, own)
    return np.minimum(_minus_log(1 - p - p * p / 5), SATURATED)


def _jukes_cantor(alignments: Alignments, own: Doubles) -> Doubles:
    p = _identity_aligned(alignments, own)
    return np.minimum(0.75 * _minus_log(1 - 4 / 3 * p), SATURATED)


def _kimura_2p(alignments: Alignments, own: Doubles) -> Doubles:
    assert alignments.matches is not None
    transitions, transversions = count_transitions(alignments)
    sites = (alignments.matches + transitions + transversions).astype(np.float64)
    p, q = (_divide(part.astype(np.float64), sites) for part in (transitions, transversions))
    distance = 0.5 * _minus_log(1 - 2 * p - q) + 0.25 * _minus_log(1 - 2 * q)
    return np.where(sites > 0, np.minimum(distance, SATURATED), SATURATED)


def _score(alignments: Alignments, own: Doubles) -> Doubles:
    return np.clip(find_differences("score", alignments, own), 0, SATURATED)


MEASURES: dict[str, Measure] = {
    name: Measure(name, MEASURE_SUMMARIES[name], detail, alphabet, of_alignments)
    for name, detail, alphabet, of_alignments in (
        ("identity", Detail.STATS, None, _identity),
        ("identity-aligned", Detail.STATS, None, _identity_aligned),
        ("identity-shorter", Detail.STATS, None, _identity_shorter),
        ("kimura", Detail.STATS, PROTEIN, _kimura),
        ("jukes-cantor", Detail.STATS, DNA, _jukes_cantor),
        ("kimura-2p", Detail.CIGAR, DNA, _kimura_2p),
        ("score", Detail.SCORE, None, _score),
    )
}
