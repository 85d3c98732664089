"""Pairs of reads that share a run of equal letters, on either strand: a filter that loses nothing.

Of each window of neighbouring words the one of the least hash is kept (winnowing). Two equal runs
as long as a window, or one the reverse complement of the other, have the same words in it, so that
the same word of both is kept.

References
----------
S. Schleimer, D. S. Wilkerson, A. Aiken: Winnowing: local algorithms for document fingerprinting.
SIGMOD 2003:76-85.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.pair_masks import mask_sorted_pairs
from pairalign.sequences import SequenceSet
from pairalign.windows import Window

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_WORD, _LONG_WORD = 16, 24
_LONG_RUN = 31
"""Letters of runs for which words of 24 letters are taken, fewer of which are found by chance."""
SHORTEST = 20
"""Letters of a run: of fewer, words would be found by chance."""

_NONE = np.uint64(2**64 - 1)
_BLOCK_LETTERS = 1 << 22
_MOST_HELD = 1 << 24
_ODD = np.uint64(11400714819323198485)  # Knuth's multiplier of 64 bits
_Word = tuple[Words, Words, npt.NDArray[np.bool_]]
"""Words that begin at each place, their reverse complements, and whether they have no N."""


class RunFilter:
    """Says which pairs share a run of equal letters, whatever their strand.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.
    run : int
        Letters, at least `SHORTEST`.
    """

    name = "runs"

    def __init__(self, reads: SequenceSet, run: int) -> None:
        positions = np.empty(len(reads), np.int64)
        positions[reads.order] = np.arange(len(reads))
        first, second = (positions[ends] for ends in pairs_with_runs(reads, run))
        rows, columns = np.minimum(first, second), np.maximum(first, second)
        order = np.lexsort((columns, rows))
        self._rows = rows[order].astype(np.int32)
        self._columns = columns[order].astype(np.int32)

    def passing(self, window: Window, min_raw_score: int) -> npt.NDArray[np.bool_]:
        """Return which pairs of `window` share a run, bool of shape (pairs,)."""
        return mask_sorted_pairs(window, self._rows, self._columns)

    def cancel(self) -> None:
        """Do nothing: a call takes no time."""

    def close(self) -> None:
        """Do nothing."""


def pairs_with_runs(reads: SequenceSet, run: int) -> tuple[Ints, Ints]:
    """Return all pairs that share a run of definite letters, and a few that do not.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.
    run : int
        Letters, at least `SHORTEST`.

    Returns
    -------
    first, second : ndarray of int64, shape (n,)
        Input indices, the first less than the second; each pair once.
    """
    assert run >= SHORTEST
    kept, start = [np.empty(0, np.uint64)], 0
    ends = np.cumsum(reads.lengths.astype(np.int64))
    while start < len(reads):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _BLOCK_LETTERS, "right")))
        kept.append(_kept_words(reads, range(start, stop), run))
        start = stop
    words = np.sort(np.concatenate(kept))
    return _pairs_of(words >> np.uint64(32), (words & np.uint64(2**32 - 1)).astype(np.int64))


def _kept_words(reads: SequenceSet, numbers: range, run: int) -> Words:
    """Words that some reads keep: hash << 32 | read, each once."""
    gap = np.full(1, 255, np.uint8)
    parts = [part for k in numbers for part in (reads.codes_of(k), gap)]
    codes = np.concatenate(parts)
    lengths = reads.lengths[numbers.start : numbers.stop] + 1
    read = np.repeat(np.arange(numbers.start, numbers.stop, dtype=np.uint64), lengths)
    size = _LONG_WORD if run >= _LONG_RUN else _WORD
    hashes = _hashes(codes, size)
    width = 1
    while size + 2 * width - 1 <= run:  # so many neighbouring words are in a run
        hashes = np.minimum(hashes[:-width], hashes[width:]) if len(hashes) > width else hashes[:0]
        width *= 2
    last = read[width - 1 : width - 1 + len(hashes)]
    read = read[: len(hashes)]
    kept = np.flatnonzero((hashes != _NONE) & (read == last))  # windows of one read
    words = hashes[kept] << np.uint64(32) | read[kept]
    is_new = np.ones(len(words), np.bool_)
    is_new[1:] = words[1:] != words[:-1]
    words = np.unique(words[is_new])
    return words


def _hashes(codes: npt.NDArray[np.uint8], size: int) -> Words:
    """Hash of each word or, if less, its reverse complement; `_NONE` of letters not definite."""
    if len(codes) < size:
        return np.empty(0, np.uint64)
    letters = (codes & 3).astype(np.uint64)
    word: _Word = letters, np.uint64(3) - letters, codes < 4
    length = 1
    while 2 * length <= size:
        half, word = word, _joined(word, word, length, length)
        length *= 2
    if length < size:
        word = _joined(word, half, length, size - length)
    forward, backward, definite = word
    hashed = np.minimum(forward, backward) * _ODD >> np.uint64(32)
    hashes: Words = np.where(definite, hashed & np.uint64(2**32 - 1), _NONE)
    return hashes


def _joined(first: _Word, second: _Word, length: int, more: int) -> _Word:
    """Join each word of `length` letters with that of `more` letters after it, on both strands."""
    forward, backward, definite = second[0][length:], second[1][length:], second[2][length:]
    count = len(forward)
    return (
        first[0][:count] << np.uint64(2 * more) | forward,
        backward << np.uint64(2 * length) | first[1][:count],
        first[2][:count] & definite,
    )


def _pairs_of(words: Words, reads: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of reads with a word in common, of words that are sorted."""
    held, found = 0, [np.empty(0, np.int64)]
    at = np.arange(len(words))
    distance = 0
    while len(at):
        distance += 1
        at = at[at + distance < len(words)]
        at = at[words[at] == words[at + distance]]
        found.append(reads[at] << 32 | reads[at + distance])
        held += len(at)
        if held > _MOST_HELD:
            found = [np.unique(np.concatenate(found))]
            held = 0
    pairs = np.unique(np.concatenate(found))
    return pairs >> 32, pairs & (2**32 - 1)
