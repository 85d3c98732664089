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
tcrdist                 `pairalign.jobs.receptors.tcrdist`, of receptors
======================  =================================================================

An ambiguous residue (X; of DNA N, R and others) matches nothing: the other identities count it as a
difference, ``score`` as the matrix has it.

Every value is finite: logarithms that are not defined, or exceed it, give `SATURATED`, and where
nothing is aligned the distance is 1 for identities and scores, `SATURATED` for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments, runs_of
from pairalign.alignments.passes import find_differences
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Bools, Doubles, Int64s, UInt8s
from pairalign.base.choices import IDENTITY_MEASURES, RECEPTOR_MEASURES
from pairalign.base.error_types import AlphabetError, UsageError
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import scores_without_gaps
from pairalign.sequences.alphabets import DNA, PROTEIN, Alphabet
from pairalign.sequences.complement import complement_of
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.distance_matrix import check_names, check_words

Codes = UInt8s

SATURATED = 5.0
"""The largest distance of the measures that take a logarithm: substitutions a site."""

_INSERTION, _DELETION, _MISMATCH = 1, 2, 8
_CHUNK_RUNS = 1 << 18
"""Runs looked at together: the arrays of a step hold some 100 bytes a run and 40 a mismatch."""
_MANY_AMBIGUOUS = 0.05
"""Share of a sequence's residues from which on `ambiguous_message` speaks."""


@dataclass(frozen=True)
class Measure:
    """How the alignment of two sequences becomes a distance.

    Attributes
    ----------
    name : str
        What ``--measure`` calls it.
    compute : callable
        Takes alignments, and the scores of each sequence with itself; returns the distances.
    detail : Detail
        What an engine must compute for it; see `detail_of`.
    alphabet : Alphabet or None
        The only one that it is meant for.
    of_unambiguous : bool
        Columns with an ambiguous residue do not count.
    """

    name: str
    compute: Callable[[Alignments, Doubles], Doubles]
    detail: Detail = Detail.STATS
    alphabet: Alphabet | None = None
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
        return 1.0 if self.name in (*IDENTITY_MEASURES, "score") else SATURATED


def find_measure(name: str) -> Measure:
    """Return the measure of a name; UsageError for another name."""
    if name not in _ALL_MEASURES:
        raise UsageError(f"measure {name!r}: expected one of {', '.join(_ALL_MEASURES)}")
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


def own_scores_of(problem: Problem) -> Doubles:
    """Return the raw score of each sequence with itself; of two sets the queries come first."""
    scores = [scores_without_gaps(sequences, problem.scoring) for sequences in problem.sets]
    return np.concatenate(scores).astype(np.float64)


def _ambiguous_of(sequences: SequenceSet) -> Int64s:
    """Return how many residues of each sequence are ambiguous, int64 of shape (n,)."""
    are_ambiguous = (sequences.codes >= sequences.alphabet.unambiguous).astype(np.int64)
    return np.add.reduceat(are_ambiguous, sequences.offsets[:-1])


def _divide(part: Doubles, whole: Doubles) -> Doubles:
    """Quotients; 0 where there is nothing."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _identity_unambiguous(alignments: Alignments, own_scores: Doubles) -> Doubles:
    if alignments.cigar is None:  # no residue is ambiguous: `Measure.detail_of`
        return find_differences("identity-aligned", alignments)
    matches, least = alignments.field("matches"), alignments.scoring.alphabet.unambiguous
    (ambiguous,) = _count_mismatches(  # matches are of unambiguous residues
        alignments, lambda query, target: np.maximum(query, target) >= least
    )
    columns = matches + alignments.field("mismatches") - ambiguous
    return 1 - _divide(matches.astype(np.float64), columns.astype(np.float64))


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
    transitions, transversions = _count_mismatches(alignments, _are_transitions, _are_transversions)
    sites = (alignments.field("matches") + transitions + transversions).astype(np.float64)
    p, q = (_divide(part.astype(np.float64), sites) for part in (transitions, transversions))
    distance = 0.5 * _minus_log(1 - 2 * p - q) + 0.25 * _minus_log(1 - 2 * q)
    return np.where(sites > 0, np.minimum(distance, SATURATED), SATURATED)


def _score(alignments: Alignments, own_scores: Doubles) -> Doubles:
    return np.clip(find_differences("score", alignments, own_scores), 0, SATURATED)


def _raw_score(alignments: Alignments, own_scores: Doubles) -> Doubles:
    return alignments.raw_score.astype(np.float64)


def _are_unambiguous(query: Codes, target: Codes) -> Bools:
    return np.maximum(query, target) < DNA.unambiguous


def _are_transitions(query: Codes, target: Codes) -> Bools:
    """Whether bases change within purines (A, G) or pyrimidines (C, T): their codes differ by 2."""
    flags: Bools = _are_unambiguous(query, target) & (query ^ target == 2)
    return flags


def _are_transversions(query: Codes, target: Codes) -> Bools:
    flags: Bools = _are_unambiguous(query, target) & (query ^ target != 2)
    return flags


def _count_mismatches(alignments: Alignments, *kinds: Callable[[Codes, Codes], Bools]) -> Int64s:
    """Count the columns of two residues that differ, or are ambiguous; int64 of shape (kinds, n).

    Parameters
    ----------
    alignments : Alignments
        With CIGARs.
    *kinds : functions
        Take the codes of query and target of such columns, and say which are counted.
    """
    (_, offsets), count, start = runs_of(alignments), len(alignments), 0
    counts = np.zeros((len(kinds), count), np.int64)
    while start < count:
        stop = int(np.searchsorted(offsets, offsets[start] + _CHUNK_RUNS, side="right")) - 1
        stop = min(max(stop, start + 1), count)
        pair, *codes = _mismatches(alignments[start:stop])
        for row, are_counted in zip(counts, kinds, strict=True):
            row[start:stop] = np.bincount(pair[are_counted(*codes)], minlength=stop - start)
        start = stop
    return counts


def _mismatches(part: Alignments) -> Iterator[npt.NDArray[Any]]:
    """Yield the pair of each column of a mismatch, then its codes of the query, of the target."""
    runs, offsets = runs_of(part)
    operations, lengths = runs & 15, (runs >> 4).astype(np.int64)
    pair = np.repeat(np.arange(len(part)), np.diff(offsets))
    chosen = operations == _MISMATCH
    sizes = lengths[chosen]
    owner = np.repeat(pair[chosen], sizes)
    yield owner
    # Where the first residue of each span is in the set, and where residues go from there: those
    # of a query on strand -1 from its end backwards.
    forward = np.ones(len(part), np.int64)
    steps = forward if part.strand is None else part.strand.astype(np.int64)
    first = np.where(steps > 0, part.field("query_start"), part.field("query_end") - 1)
    in_run = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    for sequences, index, start, step, gap in (
        (part.queries, part.query, first, steps, _DELETION),
        (part.targets, part.target, part.field("target_start"), forward, _INSERTION),
    ):
        residues = np.where(operations == gap, 0, lengths)
        before = np.cumsum(residues) - residues  # over all pairs; less that of the pair's first run
        inside = in_run + np.repeat((before - before[offsets[pair]])[chosen], sizes)
        codes = sequences.codes[(sequences.offsets[index] + start)[owner] + step[owner] * inside]
        if step is not forward:
            codes = np.where(step[owner] < 0, complement_of(sequences.alphabet)[codes], codes)
        yield codes


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("identity", partial(find_differences, "identity")),
        Measure("identity-aligned", partial(find_differences, "identity-aligned")),
        Measure("identity-shorter", partial(find_differences, "identity-shorter")),
        Measure("identity-unambiguous", _identity_unambiguous, of_unambiguous=True),
        Measure("kimura", _kimura, alphabet=PROTEIN, of_unambiguous=True),
        Measure("jukes-cantor", _jukes_cantor, alphabet=DNA, of_unambiguous=True),
        Measure("kimura-2p", _kimura_2p, Detail.CIGAR, DNA),
        Measure("score", _score, Detail.SCORE),
    )
}

_ALL_MEASURES = MEASURES | {
    name: Measure(name, _raw_score, Detail.SCORE, PROTEIN) for name in RECEPTOR_MEASURES
}
