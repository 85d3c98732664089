"""Distances of similar long DNA from the words that two sequences have in common.

Scores of all pairs of long sequences take longer than all else. Of similar ones, the share of
common words tells how many bases have changed: if a base is the same with probability p, a word of
k bases is with p^k. A distance is 1 - p in 65536ths. Words that are common by chance, given the
bases of the family, do not count.

All is whole numbers or single operations of IEEE 754: the same on every machine.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pairalign.engines.cpu.cpu_words import CommonWords
from pairalign.jobs.msa.grouping import Distances, Indices, ScoreDistances
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet

_LEAST_LENGTH = 400
"""Bases of a sequence, in the mean."""

_LEAST_CELLS = 10**11
"""Of the matrices of all pairs: fewer are scored in seconds."""

_SIMILAR = 0.3
"""The distance of a pair that is similar."""
_LEAST_SIMILAR = 0.9
"""Of the pairs with seeds, the share that has to be similar."""

_WORD, _LONG_WORD, _LONG = 8, 12, 4000
"""Bases of a word; of sequences that are longer than that in the mean."""

_TIMES, _MORE = 2, 10
"""Two are related if they have this multiple of the words of chance in common, and this more."""

_ONE = 1 << 16


def family_distances(sequences: SequenceSet, threads: int, memory_bytes: int) -> ScoreDistances:
    """Return what tells how far sequences of a family are apart: scores, or words.

    Parameters
    ----------
    sequences : SequenceSet
    threads, memory_bytes : int
        They change nothing.
    """
    scores = ScoreDistances(sequences, threads, memory_bytes)
    total = sequences.total_residues
    is_long = total >= _LEAST_LENGTH * len(sequences) and total**2 // 2 >= _LEAST_CELLS
    if sequences.alphabet != DNA or not is_long:
        return scores
    words = WordDistances(sequences, threads, memory_bytes)
    return words if words.are_similar() else scores


class WordDistances(ScoreDistances):
    """Distances from common words, computed when they are asked for; see `ScoreDistances`."""

    def __init__(self, sequences: SequenceSet, threads: int, memory_bytes: int) -> None:
        super().__init__(sequences, threads, memory_bytes)
        is_long = sequences.total_residues > _LONG * len(sequences)
        bases = _LONG_WORD if is_long else _WORD
        self._words = CommonWords(sequences, bases, threads)
        self._by_chance = _power(_same_base(sequences), bases)
        self._shares = _power(np.arange(_ONE + 1) / _ONE, bases)

    def are_similar(self) -> bool:
        """Whether most pairs with seeds are similar enough for words to say how far apart."""
        distances = self.to_seeds()
        similar = int(np.count_nonzero(distances <= int(_SIMILAR * _ONE)))
        return similar >= _LEAST_SIMILAR * distances.size

    def above_chance(
        self, distances: Distances, rows: Indices, columns: Indices
    ) -> npt.NDArray[np.bool_]:
        """Return which pairs have more words in common than by chance; see `ScoreDistances`."""
        common = self._words.between(rows, columns)
        chance = self._chance(self._counts(rows)[:, np.newaxis], self._counts(columns))
        found: npt.NDArray[np.bool_] = common >= _TIMES * chance + _MORE
        found[rows[:, np.newaxis] == columns] = False
        return found

    def of_pairs(self, indices: Indices) -> npt.NDArray[np.float32]:
        """Return the distances of all pairs of some sequences, condensed."""
        one, other = np.triu_indices(len(indices), 1)
        counts = self._counts(indices)
        common = self._words.of_pairs(indices)
        return self._distances(common, counts[one], counts[other]).astype(np.float32)

    def between(self, first: Indices, second: Indices) -> Distances:
        """Return the distances of each of some sequences and each of others, int64."""
        common = self._words.between(first, second)
        return self._distances(common, self._counts(first)[:, np.newaxis], self._counts(second))

    def _counts(self, indices: Indices) -> npt.NDArray[np.int64]:
        return self._words.counts[indices].astype(np.int64)

    def _chance(
        self, one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Return how many words are common by chance; given how many two sequences have."""
        chance: npt.NDArray[np.int64] = (one * other * self._by_chance).astype(np.int64)
        return chance

    def _distances(
        self,
        common: npt.NDArray[np.int32],
        one: npt.NDArray[np.int64],
        other: npt.NDArray[np.int64],
    ) -> Distances:
        least = np.minimum(one, other)
        chance = np.minimum(self._chance(one, other), least)
        share = (common - chance) / np.maximum(least - chance, 1)
        distances: Distances = _ONE - np.searchsorted(self._shares, np.clip(share, 0, 1))
        return distances


def _same_base(sequences: SequenceSet) -> npt.NDArray[np.float64]:
    """Return the probability that two bases of the family are the same."""
    counts = np.bincount(sequences.codes, minlength=4)[:4].tolist()
    return np.array(sum(count**2 for count in counts) / max(sum(counts), 1) ** 2)


def _power(base: npt.NDArray[np.float64], exponent: int) -> npt.NDArray[np.float64]:
    """Return a power by products alone, which every machine rounds alike."""
    result = np.ones_like(base)
    for _ in range(exponent):
        result = result * base
    return result
