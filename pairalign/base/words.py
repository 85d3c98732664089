"""Words of two sequences that are in place: a guess at how alike the two are, as kernels make it.

The numbers are those of ``common/words_in_place.h``, which says what they mean.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.base.native import library

WORDS, WORD = 32, 8
"""Words that are looked for, and their length in residues."""

SIMILAR = WORDS // 4
"""Words in place from which on sequences look similar."""

NEAR, NEAR_AFTER_END = 48, 300
"""Residues by which gaps move a word, and by which a missing end moves all that follows it."""


def words_in_place(
    row: npt.NDArray[np.uint8], column: npt.NDArray[np.uint8], near: int = NEAR
) -> int:
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
