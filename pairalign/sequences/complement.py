"""The other strand of DNA: complements of codes, and reverse complements of sequences."""

from __future__ import annotations

import numpy as np

from pairalign.base.arrays import Int64s, UInt8s
from pairalign.base.error_types import AlphabetError
from pairalign.base.spelling import spelled
from pairalign.sequences.alphabets import Alphabet
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.sets import SequenceSet


def complement_of(alphabet: Alphabet, source: str | None = None) -> UInt8s:
    """Complement of each code, uint8 of shape (32,).

    Parameters
    ----------
    source : str, optional
        What a message calls the sequences.

    Raises
    ------
    AlphabetError
        The alphabet has no complements: only DNA has a second strand.
    """
    if alphabet.complement is None:
        where = "" if source is None else f"{source}: "
        raise AlphabetError(
            f"{where}{alphabet.name} sequences have one strand, expected DNA (if it is DNA, say "
            f"{spelled('alphabet', 'dna')})"
        )
    return alphabet.complement


def reverse_complement(codes: UInt8s, alphabet: Alphabet) -> UInt8s:
    """Return the other strand of a sequence of codes.

    Raises
    ------
    AlphabetError
        The alphabet has no complements.
    """
    return complement_of(alphabet)[codes[::-1]]


def reverse_complement_set(sequences: SequenceSet) -> SequenceSet:
    """Return the other strand of each sequence of a set, under the same names, in its order.

    Raises
    ------
    AlphabetError
        The alphabet has no complements.
    """
    alphabet, offsets = sequences.alphabet, sequences.offsets
    complement = complement_of(alphabet, sequences.source)
    ends = np.repeat(offsets[:-1] + offsets[1:] - 1, sequences.lengths)
    codes = complement[sequences.codes[ends - np.arange(len(sequences.codes))]]
    letters = np.frombuffer(alphabet.letters.encode(), np.uint8)[codes]
    names = list(sequences.names)
    records = Records(names, names, letters.tobytes(), offsets)
    strands = SequenceSet(records, alphabet=alphabet, source=sequences.source)
    strands.order = sequences.order  # as they were read: a position means the same sequence in both
    return strands


def turn_sequences(sequences: SequenceSet, indices: Int64s, mark: str) -> SequenceSet:
    """Return a set in which some sequences are their other strand, with a mark before their names.

    Parameters
    ----------
    indices : ndarray of int64
        Input indices of the sequences that are turned; the others stay as they are.

    Returns
    -------
    SequenceSet
        Without qualities. Upper and lower case stay; the complement of A is U in a set that has U
        and no T.

    Raises
    ------
    AlphabetError
        The alphabet has no complements.
    FastaError
        A name with the mark is that of another sequence.
    """
    table = _complement_table(sequences)
    residues, offsets = sequences.residues.copy(), sequences.offsets.tolist()
    names, descriptions = list(sequences.names), list(sequences.descriptions)
    for index in indices.tolist():
        view = residues[offsets[index] : offsets[index + 1]]
        view[:] = table[view[::-1]]
        names[index], descriptions[index] = mark + names[index], mark + descriptions[index]
    records = Records(names, descriptions, residues.tobytes(), sequences.offsets, sequences.origins)
    return SequenceSet(records, alphabet=sequences.alphabet, source=sequences.source)


def _complement_table(sequences: SequenceSet) -> UInt8s:
    """Return the complement of each byte, uint8 of shape (256,)."""
    alphabet = sequences.alphabet
    complement = complement_of(alphabet, sequences.source)
    letters = np.frombuffer(alphabet.letters.encode(), np.uint8)
    has_code = alphabet.encoding < len(letters)
    table = np.arange(256, dtype=np.uint8)
    table[has_code] = letters[complement[alphabet.encoding[has_code]]]
    counts = sequences.byte_counts
    if counts[list(b"Uu")].any() and not counts[list(b"Tt")].any():
        table[table == ord("T")] = ord("U")
    lower = slice(ord("a"), ord("z") + 1)
    table[lower] = np.frombuffer(table[lower].tobytes().lower(), np.uint8)
    return table
