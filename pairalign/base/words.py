"""Words of two sequences that are where they should be: a guess at how alike the two are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

WORDS, WORD = 32, 8
"""So many words of so many letters are looked for."""


def words_in_place(
    row: npt.NDArray[np.uint8], column: npt.NDArray[np.uint8], near: int = 48
) -> float:
    """Return the share of words of one sequence that the other has where they should be, or near.

    Parameters
    ----------
    row, column : ndarray of uint8
        Codes of the letters.
    near : int
        Letters by which a word may be moved.

    Returns
    -------
    float
        From 0 to 1; about the eighth power of the identity where gaps are few. 0 for sequences
        that are shorter than two words.
    """
    if min(len(row), len(column)) < 2 * WORD:
        return 0.0
    at = (len(row) - WORD) * np.arange(WORDS) // WORDS
    words, others = _words_of(row)[at], _words_of(column)
    places = (at * len(column) // len(row))[:, None] + np.arange(-near, near + 1)
    found = others[np.clip(places, 0, len(others) - 1)] == words[:, None]
    return float(found.any(axis=1).mean())


def _words_of(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return the word that begins at each letter, a byte a letter."""
    assert WORD == 8
    count = len(codes) - WORD + 1
    words: npt.NDArray[np.uint64] = np.ndarray(
        count, np.uint64, np.ascontiguousarray(codes).data, strides=(1,)
    )
    return words
