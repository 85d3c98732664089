"""A seeded sample of reads: pairs that are likely to overlap, and pairs that cannot.

Likely partners share words on nearly one diagonal. Pairs that cannot overlap are of reads with
reversed ones, which have the same residues and runs of residues, but no common origin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pairalign.base.arrays import Int64s
from pairalign.sequences.complement import reverse_complement
from pairalign.sequences.sets import SequenceSet

Codes = npt.NDArray[np.uint8]

_WORD = 12
"""Residues of a word: of 16.8 million such words, reads that are 70% identical share
14 in 1,000 residues."""
_PROBES, _PROBE_RESIDUES = 32, 400_000
_MOST_RESIDUES = 8_000_000
_DIAGONALS = 256
"""Diagonals that count as one: gaps of noisy reads shift words."""
_PARTNERS = 3
_LEAST_WORDS = 3
_SEPARATOR = np.uint8(31)


@dataclass(frozen=True)
class SampledPairs:
    """Pairs of two sets of the same size: the first with the first, and so on.

    Attributes
    ----------
    queries, targets : SequenceSet
        Targets are turned so that a pair overlaps on the plus strand, or are reversed.
    origin : ndarray of int64, shape (n,)
        Index of each query among the reads.
    """

    queries: SequenceSet
    targets: SequenceSet
    origin: Int64s

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def cells(self) -> Int64s:
        """Cells of each pair's matrix."""
        return self.queries.lengths.astype(np.int64) * self.targets.lengths

    def first(self, cells: int, least: int) -> int:
        """Count the first pairs that have `cells` cells together, at least `least` pairs."""
        fitting = int(np.searchsorted(np.cumsum(self.cells), cells, side="right"))
        return min(len(self), max(least, fitting))


def likely_pairs(reads: SequenceSet, seed: int) -> SampledPairs | None:
    """Return pairs of reads that share most words on nearly one diagonal; None: there are none.

    Parameters
    ----------
    reads : SequenceSet
        Of DNA.

    Returns
    -------
    SampledPairs or None
        The best partner of each sampled read first, then the second ones.

    Notes
    -----
    A sample of `_PROBES` reads is compared with 8 million residues of others: half a second.
    """
    order = np.random.default_rng(seed).permutation(len(reads))
    probes = _fitting(reads, order, _PROBE_RESIDUES)[:_PROBES]
    others = _fitting(reads, order, _MOST_RESIDUES)
    partners = _count_words(reads, probes, others)
    if not len(partners):
        return None
    pairs: dict[tuple[int, int, int], tuple[int, int, int]] = {}
    for rank, probe, strand, other in partners.tolist():
        pairs.setdefault((min(probe, other), max(probe, other), strand), (rank, probe, other))
    chosen = sorted((rank, probe, other, key[2]) for key, (rank, probe, other) in pairs.items())
    queries = [reads.codes_of(probe) for _, probe, _, _ in chosen]
    targets = [
        reverse_complement(reads.codes_of(other), reads.alphabet)
        if strand
        else reads.codes_of(other)
        for _, _, other, strand in chosen
    ]
    origin = np.array([probe for _, probe, _, _ in chosen], np.int64)
    return SampledPairs(_as_set(queries, reads), _as_set(targets, reads), origin)


def chance_pairs(reads: SequenceSet, seed: int) -> SampledPairs:
    """Return pairs of a read and another one from its end to its start, in a seeded order."""
    rng = np.random.default_rng(seed)
    count = 4 * _PROBES
    first = rng.integers(0, len(reads), count)
    second = (first + rng.integers(1, len(reads), count)) % len(reads)
    return SampledPairs(
        _as_set([reads.codes_of(int(k)) for k in first], reads),
        _as_set([reads.codes_of(int(k))[::-1] for k in second], reads),
        first,
    )


def _fitting(reads: SequenceSet, order: Int64s, residues: int) -> Int64s:
    """Return the first reads that have `residues` residues together, at least one read."""
    ends = np.cumsum(reads.lengths[order].astype(np.int64))
    return order[: max(1, int(np.searchsorted(ends, residues, side="right")))]


def _as_set(codes: list[Codes], reads: SequenceSet) -> SequenceSet:
    letters = np.frombuffer(reads.alphabet.letters.encode(), np.uint8)
    texts = [letters[sequence].tobytes().decode() for sequence in codes]
    return SequenceSet.from_strings(texts, alphabet=reads.alphabet, source="a sample of the reads")


def _count_words(reads: SequenceSet, probes: Int64s, others: Int64s) -> Int64s:
    """Find the reads that share most words with each probe.

    Returns
    -------
    ndarray of int64, shape (n, 4)
        Rank among the partners of its probe, probe, strand (1: minus), partner.
    """
    words, places = _words_of([reads.codes_of(int(k)) for k in others])
    strands = [
        strand
        for k in probes.tolist()
        for strand in (reads.codes_of(k), reverse_complement(reads.codes_of(k), reads.alphabet))
    ]
    own_words, own_places = _words_of(strands)
    presence = np.zeros(4**_WORD, np.bool_)
    presence[own_words] = True
    kept = presence[words]
    words, places = words[kept], places[kept]
    by_word = np.argsort(own_words, kind="stable")
    sorted_words = own_words[by_word]
    # A word that a probe has several times counts where it is first: runs of residues say little.
    first = by_word[np.searchsorted(sorted_words, words)]
    last = by_word[np.searchsorted(sorted_words, words, side="right") - 1]
    votes = [_shared(first, own_places, places)]
    several = first != last
    votes.append(_shared(last[several], own_places, places[several]))
    keys, counts = np.unique(np.concatenate(votes), return_counts=True)
    return _best_partners(keys, counts, probes, others)


def _words_of(sequences: list[Codes]) -> tuple[npt.NDArray[np.int32], Int64s]:
    """Words of unambiguous residues, and where each begins: sequence << 32 | place in it."""
    separated = [part for record in sequences for part in (record, np.array([_SEPARATOR]))]
    codes = np.concatenate(separated)
    count = max(0, len(codes) - _WORD + 1)
    words = np.zeros(count, np.int32)
    unambiguous = np.ones(count, np.bool_)
    for k in range(_WORD):
        residues = codes[k : k + count]
        unambiguous &= residues < 4
        words = (words << 2) | (residues & 3)
    lengths = np.array([len(record) + 1 for record in sequences])
    sequence = np.repeat(np.arange(len(sequences)), lengths)
    place = np.arange(len(codes)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    places = (sequence << 32 | place)[:count]
    return words[unambiguous], places[unambiguous]


def _shared(numbers: Int64s, own_places: Int64s, places: Int64s) -> Int64s:
    """Pack strand of a probe, other sequence and group of diagonals of each shared word."""
    strand, at = own_places[numbers] >> 32, own_places[numbers] & 0xFFFFFFFF
    other, other_at = places >> 32, places & 0xFFFFFFFF
    group = (at - other_at + 2**31) // _DIAGONALS
    packed: Int64s = (strand << 52) | (other << 25) | group
    return packed


def _best_partners(keys: Int64s, counts: Int64s, probes: Int64s, others: Int64s) -> Int64s:
    """Rank partners by the most words that they share on one group of diagonals."""
    strand, other = keys >> 52, others[(keys >> 25) & (2**27 - 1)]
    probe = probes[strand // 2]
    good = (other != probe) & (counts >= _LEAST_WORDS)
    table = np.stack([probe, strand % 2, other, counts], axis=1)[good]
    table = table[np.lexsort((table[:, 2], table[:, 1], -table[:, 3], table[:, 0]))]
    _, at = np.unique(table[:, (0, 1, 2)], axis=0, return_index=True)
    table = table[np.sort(at)]  # the best group of each pair and strand
    starts = np.searchsorted(table[:, 0], table[:, 0])
    rank = np.arange(len(table)) - starts
    best: Int64s = np.concatenate([rank[:, None], table[:, :3]], axis=1)[rank < _PARTNERS]
    return best
