"""The other strand of DNA: complements of codes, and reverse complements of sequences."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.base.error_types import AlphabetError
from pairalign.base.spelling import spelled
from pairalign.sequences.alphabets import Alphabet
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.sets import SequenceSet


def complement_of(alphabet: Alphabet, source: str | None = None) -> npt.NDArray[np.uint8]:
    """Complement of each code, uint8 of shape (32,).

    Parameters
    ----------
    alphabet : Alphabet
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


def reverse_complement(codes: npt.NDArray[np.uint8], alphabet: Alphabet) -> npt.NDArray[np.uint8]:
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
    made = SequenceSet(records, alphabet=alphabet, source=sequences.source)
    made.order = sequences.order  # as they were read: a position means the same sequence in both
    return made
