"""How an alignment becomes a distance.

How each measure is defined is in `MEASURES`; ``p`` is the share of mismatches among the columns of
two unambiguous residues:

======================  =================================================================
identity                ``1 - matches / columns``, gaps counted in ``columns``
identity-aligned        ``1 - matches / columns of two residues``
identity-unambiguous    ``p``
identity-shorter        ``1 - matches / (residues of the shorter sequence)``
kimura                  ``-ln(1 - p - p*p/5)``, proteins
jukes-cantor            ``-3/4 ln(1 - 4/3 p)``, DNA
kimura-2p               ``-1/2 ln((1 - 2P - Q) sqrt(1 - 2Q))``, P transitions and Q
                        transversions by columns of two unambiguous bases, DNA
score                   ``1 - 2 S(a,b) / (S(a,a) + S(b,b))``, with the scores S
tcrdist                 `pairalign.engines.cpu.tcrdist`, of receptors
======================  =================================================================

An ambiguous residue (X; of DNA N, R and others) matches nothing: the other identities count it as a
difference, ``score`` as the matrix has it.

Every value is finite: logarithms that are not defined, or exceed it, give `SATURATED`, and where
nothing is aligned the distance is 1 for identities and scores, `SATURATED` for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.passes import find_differences
from pairalign.alignments.problem import Problem
from pairalign.base.choices import IDENTITY_MEASURES, MEASURE_SUMMARIES, RECEPTOR_MEASURES
from pairalign.base.error_types import AlphabetError
from pairalign.jobs.stages.transitions import count_ambiguous, count_transitions
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA, PROTEIN, Alphabet
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import check_names, check_words

Doubles = npt.NDArray[np.float64]

SATURATED = 5.0
"""The largest distance of the measures that take a logarithm: substitutions a site."""

_MANY_AMBIGUOUS = 0.05
"""Share of a sequence's residues from which on `ambiguous_message` speaks."""


@dataclass(frozen=True)
class Measure:
    """How the alignment of two sequences becomes a distance.

    Attributes
    ----------
    name, summary : str
        What ``--measure`` calls it, and a line about it.
    detail : Detail
        What an engine must compute for it; see `detail_of`.
    alphabet : Alphabet or None
        The only one that it is meant for.
    compute : callable
        Takes alignments, and the scores of each sequence with itself; returns the distances.
    of_unambiguous : bool
        Columns with an ambiguous residue do not count.
    """

    name: str
    summary: str
    detail: Detail
    alphabet: Alphabet | None
    compute: Callable[[Alignments, Doubles], Doubles]
    of_unambiguous: bool = False

    def detail_of(self, problem: Problem) -> Detail:
        """Return what an engine must compute of a problem: CIGARs to leave columns out."""
        ambiguous = self.of_unambiguous and any(
            _ambiguous_of(sequences).any() for sequences in problem.sets
        )
        return Detail.CIGAR if ambiguous else self.detail

    @property
    def farthest(self) -> float:
        """The distance where nothing is aligned."""
        return 1.0 if self.is_identity or self.name == "score" else SATURATED

    @property
    def is_identity(self) -> bool:
        """Whether it is 1 less an identity."""
        return self.name in IDENTITY_MEASURES


def find_measure(name: str) -> Measure:
    """Return the measure of a name; ValueError for another name."""
    if name not in _ALL_MEASURES:
        raise ValueError(f"measure {name!r}: expected one of {', '.join(_ALL_MEASURES)}")
    return _ALL_MEASURES[name]


def check_alphabet(measure: Measure, sequences: SequenceSet) -> None:
    """Raise AlphabetError for a measure that is not meant for these sequences."""
    if measure.alphabet not in (None, sequences.alphabet):
        fitting = [m.name for m in MEASURES.values() if m.alphabet in (None, sequences.alphabet)]
        raise AlphabetError(
            f"{sequences.source}: {sequences.alphabet.name} sequences, but measure "
            f"'{measure.name}' is for {measure.alphabet.name if measure.alphabet else 'any'}; "
            f"take one of {', '.join(fitting)}"
        )


def check_sets(problem: Problem) -> None:
    """Raise DistanceError for sets, of one or two, whose names a matrix cannot have."""
    least = 2 if problem.is_one_set else 1
    for sequences in problem.sets:
        check_names(sequences.names, sequences.source, least)
        check_words(sequences.names, sequences.source)


def ambiguous_message(measure: Measure, problem: Problem) -> str | None:
    """Say that a measure takes many ambiguous residues for differences; None: it does not."""
    if measure.of_unambiguous or measure.name in RECEPTOR_MEASURES or measure.name == "kimura-2p":
        return None
    sets = problem.sets
    many = sum(
        int((_ambiguous_of(sequences) > _MANY_AMBIGUOUS * sequences.lengths).sum())
        for sequences in sets
    )
    if not many:
        return None
    of_dna = problem.queries.alphabet == DNA
    residues, others = ("N and the like", "jukes-cantor") if of_dna else ("X", "kimura")
    return (
        f"{many:,} of {sum(map(len, sets)):,} sequences have more than 5% {residues}, which "
        f"{measure.name} counts as differences; identity-unambiguous and {others} leave them out"
    )


def self_scores(sequences: SequenceSet, scoring: Scoring) -> Doubles:
    """Raw score of each sequence aligned with itself without gaps, float64 of shape (n,).

    Notes
    -----
    That is the best of all alignments of a sequence with itself if no two residues score more than
    the mean of each with itself, ``2 s(x,y) <= s(x,x) + s(y,y)``, and no residue less than 0 with
    itself: then n columns bound the score, and the diagonal attains the bound. All residues of
    BLOSUM and PAM matrices but X, and all unambiguous bases, are such residues. Stretches of X or N
    could score higher locally; they count as what they score.
    """
    diagonal = np.diagonal(scoring.matrix).astype(np.int64)
    return np.add.reduceat(diagonal[sequences.codes], sequences.offsets[:-1]).astype(np.float64)


def own_scores_of(problem: Problem) -> Doubles:
    """Return `self_scores` of the queries; then, of two sets, those of the targets."""
    scores = self_scores(problem.queries, problem.scoring)
    if problem.others is problem.queries:
        return scores
    return np.concatenate((scores, self_scores(problem.others, problem.scoring)))


def _ambiguous_of(sequences: SequenceSet) -> npt.NDArray[np.int64]:
    """Return how many residues of each sequence are ambiguous, int64 of shape (n,)."""
    are_ambiguous = (sequences.codes >= sequences.alphabet.unambiguous).astype(np.int64)
    return np.add.reduceat(are_ambiguous, sequences.offsets[:-1])


def _divide(part: Doubles, whole: Doubles) -> Doubles:
    """Quotients; 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _identity(alignments: Alignments, own_scores: Doubles) -> Doubles:
    return find_differences("identity", alignments)


def _identity_aligned(alignments: Alignments, own_scores: Doubles) -> Doubles:
    return find_differences("identity-aligned", alignments)


def _identity_unambiguous(alignments: Alignments, own_scores: Doubles) -> Doubles:
    if alignments.cigar is None:  # no residue is ambiguous: `Measure.detail_of`
        return _identity_aligned(alignments, own_scores)
    assert alignments.matches is not None
    assert alignments.mismatches is not None
    columns = alignments.matches + alignments.mismatches - count_ambiguous(alignments)
    return 1 - _divide(alignments.matches.astype(np.float64), columns.astype(np.float64))


def _identity_shorter(alignments: Alignments, own_scores: Doubles) -> Doubles:
    return find_differences("identity-shorter", alignments)


def _minus_log(inside: Doubles) -> Doubles:
    """``-ln(inside)``, infinite where that is not defined."""
    result = np.full_like(inside, -np.inf)
    np.log(inside, out=result, where=inside > 0)
    return 0.0 - result  # 0 rather than -0 for the logarithm of 1


def _kimura(alignments: Alignments, own_scores: Doubles) -> Doubles:
    p = _identity_unambiguous(alignments, own_scores)
    return np.minimum(_minus_log(1 - p - p * p / 5), SATURATED)


def _jukes_cantor(alignments: Alignments, own_scores: Doubles) -> Doubles:
    p = _identity_unambiguous(alignments, own_scores)
    return np.minimum(0.75 * _minus_log(1 - 4 / 3 * p), SATURATED)


def _kimura_2p(alignments: Alignments, own_scores: Doubles) -> Doubles:
    assert alignments.matches is not None
    transitions, transversions = count_transitions(alignments)
    sites = (alignments.matches + transitions + transversions).astype(np.float64)
    p, q = (_divide(part.astype(np.float64), sites) for part in (transitions, transversions))
    distance = 0.5 * _minus_log(1 - 2 * p - q) + 0.25 * _minus_log(1 - 2 * q)
    return np.where(sites > 0, np.minimum(distance, SATURATED), SATURATED)


def _score(alignments: Alignments, own_scores: Doubles) -> Doubles:
    return np.clip(find_differences("score", alignments, own_scores), 0, SATURATED)


def _raw_score(alignments: Alignments, own_scores: Doubles) -> Doubles:
    return alignments.raw_score.astype(np.float64)


_OF_UNAMBIGUOUS = ("identity-unambiguous", "kimura", "jukes-cantor")

MEASURES: dict[str, Measure] = {
    name: Measure(
        name, MEASURE_SUMMARIES[name], detail, alphabet, of_alignments, name in _OF_UNAMBIGUOUS
    )
    for name, detail, alphabet, of_alignments in (
        ("identity", Detail.STATS, None, _identity),
        ("identity-aligned", Detail.STATS, None, _identity_aligned),
        ("identity-shorter", Detail.STATS, None, _identity_shorter),
        ("identity-unambiguous", Detail.STATS, None, _identity_unambiguous),
        ("kimura", Detail.STATS, PROTEIN, _kimura),
        ("jukes-cantor", Detail.STATS, DNA, _jukes_cantor),
        ("kimura-2p", Detail.CIGAR, DNA, _kimura_2p),
        ("score", Detail.SCORE, None, _score),
    )
}

_ALL_MEASURES = MEASURES | {
    name: Measure(name, summary, Detail.SCORE, PROTEIN, _raw_score)
    for name, summary in RECEPTOR_MEASURES.items()
}
