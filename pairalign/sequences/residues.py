"""Single passes over the residues of a set, in native code (``cpu/sets``).

No array is made on the way, and the interpreter is free meanwhile: several engines open the same
sets, and a large set has millions of residues.

The numbers are those of ``common/words_in_place.h``, which says what they mean.
"""

from __future__ import annotations

import numpy as np

from pairalign.base.arrays import Int64s, UInt8s, distinct
from pairalign.base.native import library
from pairalign.sequences.sets import SequenceSet

_lay_out = library.pairalign_lay_out_residues
_sum_worth = library.pairalign_sum_worth


def codes_in(sequences: SequenceSet) -> UInt8s:
    """Return the codes that a set's residues have, ascending, uint8 of shape (k,)."""
    return distinct(sequences.alphabet.encoding[sequences.byte_counts > 0]).astype(np.uint8)


def lay_out_residues(
    sequences: SequenceSet,
    letter_of_code: UInt8s,
    starts: Int64s,
    residues: UInt8s,
) -> None:
    """Copy the sequences of a set, longest first, to their places in an array.

    Parameters
    ----------
    letter_of_code : ndarray of uint8, shape (256,)
        What each code becomes.
    starts : ndarray of int64, shape (n,)
        First residue of each sorted position.
    residues : ndarray of uint8, shape (m,)
        Is filled where sequences lie; what is between them stays.
    """
    assert letter_of_code.shape == (256,)
    assert starts.shape == (len(sequences),)
    assert residues.dtype == letter_of_code.dtype == np.uint8
    starts = np.ascontiguousarray(starts, np.int64)
    lengths = sequences.lengths[sequences.order]
    assert starts.min() >= 0
    assert int((starts + lengths).max()) <= len(residues)
    table = np.ascontiguousarray(letter_of_code)
    _lay_out(*_arguments_of(sequences), table, starts, residues)


def sum_worth(sequences: SequenceSet, worth_of_code: Int64s) -> Int64s:
    """Return the sum of a worth over the residues of each sequence, longest first.

    Parameters
    ----------
    worth_of_code : ndarray of int64, shape (256,)

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    assert worth_of_code.shape == (256,)
    table = np.ascontiguousarray(worth_of_code, np.int64)
    sums = np.empty(len(sequences), np.int64)
    _sum_worth(*_arguments_of(sequences), table, sums)
    return sums


def _arguments_of(sequences: SequenceSet) -> tuple[object, ...]:
    """Return number, order, offsets and codes of a set, whose arrays are contiguous."""
    arrays = sequences.order, sequences.offsets, sequences.codes
    assert [array.dtype for array in arrays] == [np.int32, np.int64, np.uint8]
    return len(sequences), *arrays


WORDS, WORD = 32, 8
"""Words that are looked for, and their length in residues."""

SIMILAR = WORDS // 4
"""Words in place from which on sequences look similar."""

NEAR, NEAR_AFTER_END = 48, 300
"""Residues by which gaps move a word, and by which a missing end moves all that follows it."""


def words_in_place(row: UInt8s, column: UInt8s, near: int = NEAR) -> int:
    """Return how many of `WORDS` words of one sequence the other has where they should be, or near.

    Parameters
    ----------
    row, column : ndarray of uint8
        Codes of the residues.
    near : int
        Residues by which a word may be moved.

    Returns
    -------
    int
        At most `WORDS`; their share is about the eighth power of the identity where gaps are few.
        0 for sequences that are shorter than two words.
    """
    if min(len(row), len(column)) < 2 * WORD:
        return 0
    row, column = np.ascontiguousarray(row), np.ascontiguousarray(column)
    count: int = library.pairalign_words_in_place(row, len(row), column, len(column), near)
    return count
