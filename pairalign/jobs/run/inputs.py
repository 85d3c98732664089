"""What functions take: files, mappings, strings and records become sets; names become scorings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Union

from pairalign.base.items import record_name
from pairalign.errors import ScoringError
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.fasta import Records
from pairalign.sequences.sets import (
    PROTEIN,
    Alphabet,
    SequenceSet,
    guess_alphabet,
    read_fasta,
    read_fasta_pair,
)

AnyScoring = Union[Scoring, str, "os.PathLike[str]"]
Sequences = Union[SequenceSet, str, "os.PathLike[str]", Mapping[str, str], Iterable[object]]


def as_inputs(
    sequences: Sequences,
    targets: Sequences | None,
    scoring: AnyScoring | None,
    mode: str | None,
) -> tuple[SequenceSet, SequenceSet | None, Scoring]:
    """Return sequences, and targets where there are any, as sets, and how they are scored.

    Parameters
    ----------
    sequences, targets : Sequences
        See `as_sets`.
    scoring : Scoring, name of a matrix, path of one, or None
        None: the default of the sequences' alphabet.
    mode : str or None
        None: that of `scoring`, or global.

    Raises
    ------
    FastaError, AlphabetError, TypeError
        See `as_sets`.
    ScoringError
        See `as_scoring`.
    """
    alphabet = scoring.alphabet if isinstance(scoring, Scoring) else None
    first, second = as_sets(sequences, targets, alphabet)
    return first, second, as_scoring(scoring, first.alphabet, mode)


def as_scoring(
    scoring: AnyScoring | None, alphabet: Alphabet, mode: str | None, default: str = "global"
) -> Scoring:
    """Return a scoring made of a matrix, or as it is if it does not contradict `mode`.

    Parameters
    ----------
    scoring : Scoring, name of a matrix, path of one, or None
    alphabet : Alphabet
        Of the sequences; a Scoring has its own.
    mode : str or None
        None: that of a Scoring, else `default`.
    default : str

    Raises
    ------
    ScoringError
        `mode` is not that of the Scoring, or there is no such mode or matrix.
    TypeError
        It is nothing of that kind.
    """
    if isinstance(scoring, Scoring):
        if mode not in (None, scoring.mode, "global" if scoring.end_gaps else scoring.mode):
            raise ScoringError(
                f"mode {mode!r}, but the mode of the scoring is {scoring.mode!r}: leave one out, "
                "or make the scoring with that mode"
            )
        return scoring
    if scoring is not None and not isinstance(scoring, (str, os.PathLike)):
        raise TypeError(
            f"scoring is of type {type(scoring).__name__}, expected what make_scoring returns, "
            "or the name of a matrix"
        )
    return make_scoring(alphabet, mode=default if mode is None else mode, matrix=scoring)


def as_sets(
    sequences: Sequences, targets: Sequences | None, alphabet: Alphabet | None
) -> tuple[SequenceSet, SequenceSet | None]:
    """Return sequences, and targets where there are any, as sets of one alphabet.

    Parameters
    ----------
    sequences, targets : Sequences
        A set, the path of a file, a mapping of names to strings, or an iterable of strings or
        records (`pairalign.base.items.letters_of`); `targets` may be None.
    alphabet : Alphabet or None
        None: guessed, over both.

    Raises
    ------
    FastaError, AlphabetError
        See `pairalign.sequences.sets.read_fasta`.
    TypeError
        Something is no sequence; the message says which.
    """
    if targets is None:
        return _as_set(sequences, alphabet), None
    if isinstance(sequences, (str, os.PathLike)) and isinstance(targets, (str, os.PathLike)):
        return read_fasta_pair(sequences, targets, alphabet=alphabet)
    first, second = _as_set(sequences, alphabet), _as_set(targets, alphabet)
    if alphabet is not None or first.alphabet == second.alphabet:
        return first, second
    # A guess over one set alone can be wrong, so it is made over both; an alphabet that somebody
    # may have chosen is not guessed again: what one set can hold, protein letters can.
    common = guess_alphabet(first.byte_counts, second.byte_counts)
    if isinstance(sequences, SequenceSet) or isinstance(targets, SequenceSet):
        common = PROTEIN
    return _with_alphabet(first, common), _with_alphabet(second, common)


def _as_set(sequences: Sequences, alphabet: Alphabet | None) -> SequenceSet:
    if isinstance(sequences, SequenceSet):
        return sequences
    if isinstance(sequences, (str, os.PathLike)):
        return read_fasta(sequences, alphabet=alphabet)
    if isinstance(sequences, Mapping):
        return SequenceSet.from_strings(sequences, alphabet=alphabet)
    if not isinstance(sequences, Iterable):
        raise TypeError(
            f"expected sequences or the path of a file, found {sequences!r} "
            f"(of type {type(sequences).__name__})"
        )
    if getattr(sequences, "ndim", 1) == 2 and hasattr(sequences, "columns"):
        raise TypeError(  # it would give the names of its columns, which may well be proteins
            f"expected sequences, found a table (of type {type(sequences).__name__}): give one of "
            "its columns, or a dict of names and letters"
        )
    records = list(sequences)
    index: Any = getattr(sequences, "index", None)
    if hasattr(index, "tolist") and type(index).__name__ != "RangeIndex":  # a pandas Series
        return SequenceSet.from_strings(records, index.tolist(), alphabet=alphabet)
    names = [record_name(record) for record in records]
    if all(name is None for name in names):
        return SequenceSet.from_strings(records, alphabet=alphabet)
    given = (f"seq{i}" if name is None else name for i, name in enumerate(names, 1))
    return SequenceSet.from_strings(records, given, alphabet=alphabet)


def _with_alphabet(sequences: SequenceSet, alphabet: Alphabet) -> SequenceSet:
    if sequences.alphabet == alphabet:
        return sequences
    records = Records(
        sequences.names, sequences.descriptions, sequences.letters.tobytes(), sequences.offsets
    )
    return SequenceSet(records, alphabet=alphabet, source=sequences.source)
