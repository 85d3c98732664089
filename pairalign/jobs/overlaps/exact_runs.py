"""Pairs of reads that share a run of equal residues, on either strand: a filter that loses nothing.

Of each window of neighbouring words the one of the least hash is kept (winnowing). Two equal runs
as long as a window, or one the reverse complement of the other, have the same words in it, so that
the same word of both is kept.

References
----------
S. Schleimer, D. S. Wilkerson, A. Aiken: Winnowing: local algorithms for document fingerprinting.
SIGMOD 2003:76-85.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Bools, Int64s, UInt8s
from pairalign.pairs.windows import Window, mask_sorted_pairs
from pairalign.sequences.sets import SequenceSet

Words = npt.NDArray[np.uint64]
_Any64 = TypeVar("_Any64", np.int64, np.uint64)

SHORTEST = 12
"""Residues of a run: of fewer, almost all reads share one by chance."""
_WORDS = {31: 24, 20: 16}
"""Residues of words by the least run that they are taken for; shorter runs are words themselves."""

_NONE = np.uint64(2**64 - 1)
_BLOCK_RESIDUES = 1 << 22
_MOST_HELD = 1 << 24
_SAMPLED_READS = 400
_ODD = np.uint64(11400714819323198485)  # Knuth's multiplier of 64 bits
_Word = tuple[Words, Words, Bools]
"""Words that begin at each place, their reverse complements, and whether they have no N."""


class RunFilter:
    """Says which pairs share a run of equal residues, whatever their strand.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.
    words : ndarray of uint64
        `words_of` the reads.
    """

    name = "runs"

    def __init__(self, reads: SequenceSet, words: Words) -> None:
        positions = reads.positions
        first, second = (positions[ends] for ends in pairs_of(words))
        rows, columns = np.minimum(first, second), np.maximum(first, second)
        order = np.lexsort((columns, rows))
        self._rows = rows[order]
        self._columns = columns[order]

    def passing(self, window: Window, min_raw_score: int) -> Bools:
        """Return which pairs of `window` share a run, bool of shape (pairs,)."""
        return mask_sorted_pairs(window, self._rows, self._columns)

    def cancel(self) -> None:
        """Do nothing: a call takes no time."""

    def close(self) -> None:
        """Do nothing."""


def shared_by_chance(reads: SequenceSet, run: int) -> float:
    """Estimate the share of the pairs of unrelated reads that would have a word in common.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.
    run : int
        Residues, at least `SHORTEST`.
    """
    words = np.maximum(0, reads.lengths - run + 1).mean()
    begun = 2 * 3 / 4  # on both strands; a word in common that another one precedes is no news
    return float(begun * words**2 / 4.0 ** _word_size(run))


def words_of(reads: SequenceSet, run: int) -> Words:
    """Return words that reads keep: two with a run of unambiguous residues keep one in common.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.
    run : int
        Residues, at least `SHORTEST`.

    Returns
    -------
    ndarray of uint64, sorted
        A hash of the word, or of its reverse complement, in the high 32 bits, and the read's input
        index in the low ones; each once.
    """
    assert run >= SHORTEST
    kept, start = [np.empty(0, np.uint64)], 0
    ends = np.cumsum(reads.lengths.astype(np.int64))
    while start < len(reads):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _BLOCK_RESIDUES, "right")))
        kept.append(_kept_words(reads, range(start, stop), run))
        start = stop
    return np.sort(np.concatenate(kept))


def count_hits(words: Words) -> int:
    """Return how often two reads have a word in common, which is what `pairs_of` has to look at."""
    bounds = np.flatnonzero(np.diff(words >> np.uint64(32))) + 1
    sizes = np.diff(np.concatenate(([0], bounds, [len(words)])))
    return int((sizes * (sizes - 1) // 2).sum())


def estimate_hits(reads: SequenceSet, run: int) -> float:
    """Estimate `count_hits` of the `words_of` reads by some of them."""
    step = max(1, min(len(reads) // _SAMPLED_READS, reads.total_residues // _BLOCK_RESIDUES))
    words = np.sort(_kept_words(reads, range(0, len(reads), step), run))
    return count_hits(words) * float(step) ** 2


def pairs_of(words: Words) -> tuple[Int64s, Int64s]:
    """Return all pairs of reads that share a run, and a few that do not.

    Parameters
    ----------
    words : ndarray of uint64
        From `words_of`.

    Returns
    -------
    first, second : ndarray of int64, shape (n,)
        Input indices, the first less than the second; each pair once.
    """
    hashes, reads = words >> np.uint64(32), (words & np.uint64(2**32 - 1)).astype(np.int64)
    count, parts = 0, [np.empty(0, np.int64)]
    at = np.arange(len(words))
    distance = 0
    while len(at):
        distance += 1
        at = at[at + distance < len(words)]
        at = at[hashes[at] == hashes[at + distance]]
        parts.append(reads[at] << 32 | reads[at + distance])
        count += len(at)
        if count > _MOST_HELD:
            parts = [_once(np.concatenate(parts))]
            count = 0
    pairs = _once(np.concatenate(parts))
    return pairs >> 32, pairs & (2**32 - 1)


def _word_size(run: int) -> int:
    """Residues of the words that stand for runs: long ones are found less often by chance."""
    return next((size for least, size in _WORDS.items() if run >= least), run)


def _kept_words(reads: SequenceSet, numbers: range, run: int) -> Words:
    """Words that some reads keep: hash << 32 | read, each once."""
    gap = np.full(1, 255, np.uint8)
    parts = [part for k in numbers for part in (reads.codes_of(k), gap)]
    codes = np.concatenate(parts)
    chosen = np.arange(numbers.start, numbers.stop, numbers.step, dtype=np.uint64)
    read = np.repeat(chosen, reads.lengths[chosen] + 1)
    size = _word_size(run)
    hashes = _hashes(codes, size)
    width = 1
    while size + 2 * width - 1 <= run:  # a run has that number of neighbouring words
        hashes = np.minimum(hashes[:-width], hashes[width:]) if len(hashes) > width else hashes[:0]
        width *= 2
    last = read[width - 1 : width - 1 + len(hashes)]
    read = read[: len(hashes)]
    kept = np.flatnonzero((hashes != _NONE) & (read == last))  # windows of one read
    words = hashes[kept] << np.uint64(32) | read[kept]
    return _once(words[_is_new(words)])


def _hashes(codes: UInt8s, size: int) -> Words:
    """Hash of each word or, if less, its reverse complement; `_NONE` of ambiguous residues."""
    if len(codes) < size:
        return np.empty(0, np.uint64)
    residues = (codes & 3).astype(np.uint64)
    power: _Word = residues, np.uint64(3) - residues, codes < 4
    word, length = power, size & 1
    for bit in range(1, size.bit_length()):
        power = _joined(power, power, 1 << bit - 1, 1 << bit - 1)
        if size >> bit & 1:
            word = _joined(word, power, length, 1 << bit) if length else power
            length += 1 << bit
    forward, backward, unambiguous = word
    hashed = np.minimum(forward, backward) * _ODD >> np.uint64(32)
    hashes: Words = np.where(unambiguous, hashed & np.uint64(2**32 - 1), _NONE)
    return hashes


def _joined(first: _Word, second: _Word, length: int, more: int) -> _Word:
    """Join each word of `length` residues with the next `more` residues, on both strands."""
    forward, backward, unambiguous = second[0][length:], second[1][length:], second[2][length:]
    count = len(forward)
    return (
        first[0][:count] << np.uint64(2 * more) | forward,
        backward << np.uint64(2 * length) | first[1][:count],
        first[2][:count] & unambiguous,
    )


def _once(values: npt.NDArray[_Any64]) -> npt.NDArray[_Any64]:
    """Sort, and leave out what is there already: `numpy.unique` hashes, which takes longer."""
    values = np.sort(values)
    return values[_is_new(values)]


def _is_new(values: npt.NDArray[_Any64]) -> Bools:
    """Say which values differ from the one before."""
    is_new = np.ones(len(values), np.bool_)
    is_new[1:] = values[1:] != values[:-1]
    return is_new
