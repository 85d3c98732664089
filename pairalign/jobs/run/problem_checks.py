"""What a job may ask for: whole numbers in their range, sequences that engines can count."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.choices import STRANDS
from pairalign.base.error_types import CapacityError, FastaError, ScoringError, shown_name
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import complement_of
from pairalign.sequences.sets import SequenceSet

_MOST_OF_A_PAIR = 2**20
# Engines count the residues of a pair, and a few more, in 31 bits; a run of a CIGAR has 28.
_MOST_RESIDUES = {Detail.SCORE: 2**30 - 2**16, Detail.STATS: 2**30 - 2**16, Detail.CIGAR: 2**28 - 1}


def check_problem(
    problem: Problem, detail: Detail, thresholds: PairThresholds, hsps: int, strand: str
) -> None:
    """Refuse sets and scorings that no engine can align.

    Parameters
    ----------
    problem : Problem
    detail : Detail
        How much is wanted of each pair.
    thresholds : PairThresholds
    hsps : int
        Alignments of a pair.
    strand : str

    Raises
    ------
    FastaError
        There is no pair.
    CapacityError, AlphabetError, ScoringError, ValueError, TypeError
        See `AlignmentJob`.
    """
    queries, scoring = problem.queries, problem.scoring
    if problem.is_one_set and len(queries) < 2:
        raise FastaError(
            f"{queries.source}: one sequence only, {shown_name(queries.name_of(0))}; "
            "a pair needs two (align takes a second file)"
        )
    computed = computed_detail(detail, thresholds, check_hsps(hsps, scoring), scoring)
    for sequences in problem.sets:
        check_lengths(sequences, computed)
    scoring.check_sets(queries, problem.targets)
    check_strand(strand, queries, scoring)


def computed_detail(
    detail: Detail, thresholds: PairThresholds, hsps: int, scoring: Scoring
) -> Detail:
    """Return what engines compute: identities need counts, suboptimal alignments CIGARs."""
    return Detail.CIGAR if hsps > 1 else max(detail, thresholds.detail(scoring.mode))


def check_lengths(sequences: SequenceSet, detail: Detail) -> None:
    """Raise CapacityError for a sequence that is too long for any engine."""
    most = _MOST_RESIDUES[detail]
    longest = int(sequences.sorted_lengths[0])
    if longest > most:
        index = int(sequences.order[0])
        what = "aligned with CIGARs" if detail == Detail.CIGAR else "aligned"
        raise CapacityError(
            f"{sequences.source}: {sequences.record(index)} has {longest:,} "
            f"{sequences.alphabet.unit}; sequences that are {what} have at most {most:,}"
        )


def whole_number(name: str, value: object, most: int, least: int = 1) -> int:
    """Return a whole number from `least` on; more than `most` is as good as that."""
    if not isinstance(value, SupportsIndex):
        raise TypeError(f"{name} {value!r}: expected a whole number")
    number = operator.index(value)
    if number < least:
        raise ValueError(f"{name} {number}: expected at least {least}")
    return min(number, most)


def check_strand(strand: str, queries: SequenceSet, scoring: Scoring) -> None:
    """Refuse both strands where there is one, or where it matters which one an end is of.

    Raises
    ------
    ValueError
        There is no such choice.
    AlphabetError
        The sequences are no DNA.
    ScoringError
        End gaps have costs of their own.
    """
    if strand not in STRANDS:
        raise ValueError(f"strand {strand!r}: expected one of {', '.join(STRANDS)}")
    if strand == STRANDS[0]:
        return
    complement_of(queries.alphabet, queries.source)
    if scoring.end_gaps is not None:
        raise ScoringError(
            "strand both: end gaps with costs of their own are those of one strand; leave them out"
        )


def check_hsps(hsps: object, scoring: Scoring) -> int:
    """Return how many alignments a pair may have.

    Raises
    ------
    ScoringError
        Several, but not in mode local.
    TypeError, ValueError
        It is no whole number from 1 on.
    """
    number = whole_number("hsps", hsps, _MOST_OF_A_PAIR)
    if number > 1 and scoring.mode != "local":
        raise ScoringError(
            f"hsps {number}: several alignments of a pair are local ones, but the mode is "
            f"{scoring.mode}; set mode local"
        )
    return number
