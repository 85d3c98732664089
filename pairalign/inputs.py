"""What counts as sequences: files, mappings, strings and records become sets of sequences."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Union

from pairalign.fasta import Records
from pairalign.sequences import (
    PROTEIN,
    Alphabet,
    SequenceSet,
    guess_alphabet,
    read_fasta,
    read_fasta_pair,
)

Sequences = Union[SequenceSet, str, "os.PathLike[str]", Mapping[str, str], Iterable[object]]


def as_sets(
    sequences: Sequences, targets: Sequences | None, alphabet: Alphabet | None
) -> tuple[SequenceSet, SequenceSet | None]:
    """Return sequences, and targets where there are any, as sets of one alphabet.

    Parameters
    ----------
    sequences, targets : Sequences
        A set, the path of a file, a mapping of names to strings, or an iterable of strings or
        records; `targets` may be None.
    alphabet : Alphabet or None
        None: guessed, over both.

    Raises
    ------
    FastaError, AlphabetError
        See `pairalign.sequences.read_fasta`.
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
    records = list(sequences)
    letters = [getattr(r, "seq", getattr(r, "letters", r)) for r in records]
    names = [getattr(r, "id", getattr(r, "name", None)) for r in records]
    return SequenceSet.from_strings(
        map(str, letters), None if None in names else map(str, names), alphabet=alphabet
    )


def _with_alphabet(sequences: SequenceSet, alphabet: Alphabet) -> SequenceSet:
    if sequences.alphabet == alphabet:
        return sequences
    records = Records(
        sequences.names, sequences.descriptions, sequences.letters.tobytes(), sequences.offsets
    )
    return SequenceSet(records, alphabet=alphabet, source=sequences.source)
