"""What a job may ask for: sequences that engines can count, of which strands."""

from __future__ import annotations

from pairalign.alignments.problem import Problem
from pairalign.base.choices import STRANDS
from pairalign.base.error_types import (
    CapacityError,
    FastaError,
    ScoringError,
    UsageError,
    shown_name,
)
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import complement_of
from pairalign.sequences.sets import SequenceSet

# Engines count the residues of a pair, and a few more, in 31 bits; a run of a CIGAR has 28.
_MOST_RESIDUES = {Detail.SCORE: 2**30 - 2**16, Detail.STATS: 2**30 - 2**16, Detail.CIGAR: 2**28 - 1}


def check_problem(problem: Problem, detail: Detail, strand: str) -> None:
    """Refuse sets and scorings that no engine can align.

    Parameters
    ----------
    detail : Detail
        How much is computed of each pair.

    Raises
    ------
    FastaError
        There is no pair.
    CapacityError, AlphabetError, ScoringError, UsageError, TypeError
        See `AlignmentJob`.
    """
    queries, scoring = problem.queries, problem.scoring
    if problem.is_one_set and len(queries) < 2:
        raise FastaError(
            f"{queries.source}: one sequence only, {shown_name(queries.name_of(0))}; "
            "a pair needs two (align takes a second file)"
        )
    for sequences in problem.sets:
        check_lengths(sequences, detail)
    scoring.check_sets(queries, problem.targets)
    check_strand(strand, queries, scoring)


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


def check_strand(strand: str, queries: SequenceSet, scoring: Scoring) -> None:
    """Refuse both strands where there is one, or where it matters which one an end is of.

    Raises
    ------
    UsageError
        There is no such choice.
    AlphabetError
        The sequences are no DNA.
    ScoringError
        End gaps have costs of their own, or two bases score what their complements do not: which
        of two sequences is turned would decide the score.
    """
    if strand not in STRANDS:
        raise UsageError(f"strand {strand!r}: expected one of {', '.join(STRANDS)}")
    if strand == STRANDS[0]:
        return
    complement_of(queries.alphabet, queries.source)
    if scoring.end_gaps is not None:
        raise ScoringError(
            "strand both: end gaps with costs of their own are those of one strand; leave them out"
        )
    unlike = scoring.unlike_complements
    if unlike is not None:
        (letter, score), (other, its_score) = unlike
        raise ScoringError(
            f"strand both: {letter} scores {score} and {other}, its complement, {its_score}: the "
            "score would depend on which sequence is turned; give each the same"
        )
