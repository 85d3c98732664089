"""What functions take becomes sets and scorings, and these are checked: engines can align them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pairalign.alignments.problem import Problem
from pairalign.base.choices import MODES, STRANDS
from pairalign.base.declaration import check, make
from pairalign.base.error_types import (
    CapacityError,
    FastaError,
    ScoringError,
    UsageError,
    WrongTypeError,
    shown_name,
)
from pairalign.base.interpreter import no_collection
from pairalign.base.spelling import spelled
from pairalign.pairs.want import Detail
from pairalign.requests.shared import ProblemOptions
from pairalign.scoring.given_matrices import Matrix, is_matrix
from pairalign.scoring.scoring import Scoring
from pairalign.scoring.scoring_request import ScoringRequest
from pairalign.sequences.alphabets import DNA, PROTEIN, Alphabet, guess_alphabet
from pairalign.sequences.complement import complement_of
from pairalign.sequences.fasta_records import Source
from pairalign.sequences.input_rules import AUTO, DEFAULT_RULES, InputRules, checked_rules
from pairalign.sequences.python_sequences import columns_of, index_of, is_table, record_name
from pairalign.sequences.set_reading import read_set, read_two_sets, warn_of_two_kinds
from pairalign.sequences.sets import SequenceSet, whole_records

AnyScoring = Scoring | Matrix
Sequences = SequenceSet | str | os.PathLike[str] | Mapping[str, str] | Iterable[object]


class ProblemRequest(NamedTuple):
    """Which sequences are aligned, how they are read, and how they are scored.

    Attributes
    ----------
    sequences, targets : Sequences
        A set, the path of a file, a mapping of names to strings, or an iterable of strings or
        records (`pairalign.sequences.python_sequences.residues_of`); `targets` may be None.
    scoring : Scoring, ScoringRequest, matrix as `make_scoring` takes it, or None
        None: the default of the sequences' alphabet.
    mode : str or None
        None: that of `scoring`, or global.
    """

    sequences: Sequences
    targets: Sequences | None = None
    reading: InputRules = DEFAULT_RULES
    scoring: AnyScoring | ScoringRequest | None = None
    mode: str | None = None


def given_problem(
    sequences: Sequences,
    targets: Sequences | None,
    scoring: AnyScoring | None,
    mode: str | None,
    options: Mapping[str, Any],
) -> ProblemRequest:
    """Return what a function is asked of sequences and their scoring; it takes `ProblemOptions`.

    Raises
    ------
    ScoringError
        A scoring is given in two ways.
    """
    request = given_sequences(sequences, options, targets)
    costs = make(ScoringRequest, {**options, "mode": mode or MODES[0]})
    check(costs)
    if costs.matrix is None and not costs.has_costs:
        return request._replace(scoring=scoring, mode=mode)
    if scoring is not None:
        if isinstance(scoring, Scoring) or costs.matrix is not None or not is_matrix(scoring):
            raise ScoringError("scoring is given twice: leave it out, or matrix and costs")
        costs = replace(costs, matrix=scoring)
    return request._replace(scoring=costs, mode=mode)


def given_sequences(
    sequences: Sequences, options: Mapping[str, Any], targets: Sequences | None = None
) -> ProblemRequest:
    """Return what a function is asked of sequences; it takes the options of `InputRules`."""
    alphabet = options.get("alphabet", AUTO)  # which need not have a name
    rules = vars(make(InputRules, {**options, "alphabet": AUTO}))
    reading = checked_rules(**{**rules, "qualities": True})  # results can be SAM
    return ProblemRequest(sequences, targets, replace(reading, alphabet=alphabet))


def check_scoring(request: ProblemOptions) -> None:
    """Refuse scores and costs that make no sense for any sequences, before these are read."""
    alphabet = request.reading.known_alphabet
    assert alphabet is None or isinstance(alphabet, str)
    request.scoring.check(alphabet)


def read_problem(request: ProblemRequest) -> Problem:
    """Read the sequences, and make their scoring.

    Raises
    ------
    FastaError, AlphabetError, TypeError
        See `pairalign.sequences.set_reading.read_fasta`; the message says what is no sequence.
    ScoringError
        See `as_scoring`.
    """
    queries, targets = read_sets(request)
    scoring = as_scoring(request.scoring, queries.alphabet, request.mode)
    return Problem(queries, targets, scoring)


@no_collection()
def read_sets(request: ProblemRequest) -> tuple[SequenceSet, SequenceSet | None]:
    """Read the sequences alone, targets where there are any, as sets of one alphabet."""
    sequences, targets, rules = request.sequences, request.targets, request.reading
    alphabet = rules.known_alphabet
    if alphabet is None and isinstance(request.scoring, Scoring):
        alphabet = request.scoring.alphabet
    if targets is None:
        return _as_set(sequences, alphabet, rules, rules.also), None
    if isinstance(sequences, (str, os.PathLike)) and isinstance(targets, (str, os.PathLike)):
        first_files = [sequences, *rules.also]
        return read_two_sets(first_files, [targets], alphabet=alphabet, rules=rules)
    first = _as_set(sequences, alphabet, rules, rules.also)
    second = _as_set(targets, alphabet, rules)
    if rules.known_alphabet is None and not first.alphabet == second.alphabet == DNA:
        warn_of_two_kinds(
            (sequence_set.source, sequence_set.byte_counts) for sequence_set in (first, second)
        )
    if alphabet is not None or first.alphabet == second.alphabet:
        return first, second
    # A guess over one set alone can be wrong, so it is made over both; an alphabet that somebody
    # may have chosen is not guessed again: what one set can hold, protein residues can.
    common = guess_alphabet(first.byte_counts, second.byte_counts)
    if isinstance(sequences, SequenceSet) or isinstance(targets, SequenceSet):
        common = PROTEIN
    return with_alphabet(first, common), with_alphabet(second, common)


def read_one_set(sequences: Sequences, options: Mapping[str, Any] | None = None) -> SequenceSet:
    """Return sequences of any kind that functions take as a set; see `given_sequences`."""
    return read_sets(given_sequences(sequences, options or {}))[0]


def mode_of(scoring: object, mode: str | None) -> str:
    """Return the mode of alignments: that of a Scoring, else what is asked for, else global."""
    if isinstance(scoring, Scoring):
        mode = scoring.mode if scoring.end_gaps is None else "global"
    return "global" if mode is None else mode


def as_scoring(
    scoring: AnyScoring | ScoringRequest | None,
    alphabet: Alphabet,
    mode: str | None,
    default: str = "global",
) -> Scoring:
    """Return a scoring made of a matrix, or as it is if it does not contradict `mode`.

    Parameters
    ----------
    scoring : Scoring, ScoringRequest, matrix as `make_scoring` takes it, or None
    alphabet : Alphabet
        Of the sequences; a Scoring has its own.
    mode : str or None
        None: that of a Scoring, else `default`.

    Raises
    ------
    ScoringError
        `mode` is not that of the Scoring, or there is no such mode or matrix.
    WrongTypeError
        It is nothing of that kind.
    """
    if isinstance(scoring, ScoringRequest):
        return scoring.scoring(alphabet)
    if isinstance(scoring, Scoring):
        if mode not in (None, scoring.mode, "global" if scoring.end_gaps else scoring.mode):
            raise ScoringError(
                f"mode {mode!r}, but the mode of the scoring is {scoring.mode!r}: leave one out, "
                "or make the scoring with that mode"
            )
        return scoring
    if scoring is not None and not is_matrix(scoring):
        raise WrongTypeError(
            f"scoring is of type {type(scoring).__name__}, expected what make_scoring returns, "
            "or a matrix"
        )
    return ScoringRequest(mode=default if mode is None else mode, matrix=scoring).scoring(alphabet)


def _as_set(
    sequences: Sequences,
    alphabet: Alphabet | str | None,
    rules: InputRules,
    also: tuple[Source, ...] = (),
) -> SequenceSet:
    if isinstance(sequences, (str, os.PathLike)):
        return read_set([sequences, *also], alphabet=alphabet, rules=rules)
    if also:
        raise UsageError(f"{spelled('also')} is of sequences in files: give the path of one")
    if isinstance(sequences, SequenceSet):
        return sequences
    if isinstance(sequences, Mapping):
        return _of_strings(sequences, None, alphabet, rules)
    if is_table(sequences):
        return _of_strings(*columns_of(sequences), alphabet, rules)
    if not isinstance(sequences, Iterable):
        raise WrongTypeError(
            f"expected sequences or the path of a file, found {sequences!r} "
            f"(of type {type(sequences).__name__})"
        )
    records = list(sequences)
    index = index_of(sequences)
    if index is not None:
        return _of_strings(records, index, alphabet, rules)
    names = [record_name(record) for record in records]
    if all(name is None for name in names):
        return _of_strings(records, None, alphabet, rules)
    full_names = (f"seq{i}" if name is None else name for i, name in enumerate(names, 1))
    return _of_strings(records, full_names, alphabet, rules)


def _of_strings(
    sequences: Iterable[object] | Mapping[str, str],
    names: Iterable[object] | None,
    alphabet: Alphabet | str | None,
    rules: InputRules,
) -> SequenceSet:
    return SequenceSet.from_strings(
        sequences,
        names,
        alphabet=alphabet,
        degap=rules.degap,
        on_empty=rules.on_empty,
        on_duplicate=rules.on_duplicate,
    )


def with_alphabet(sequences: SequenceSet, alphabet: Alphabet) -> SequenceSet:
    """Return a set with another alphabet; the same object if it has that."""
    if sequences.alphabet == alphabet:
        return sequences
    return SequenceSet(whole_records(sequences), alphabet=alphabet, source=sequences.source)


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
