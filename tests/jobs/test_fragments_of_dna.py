"""No base of a fragment of DNA stands far from the others."""

from typing import Any

import numpy as np
import pytest
from conftest import examples

import pairalign
from pairalign.sequences.sets import SequenceSet

BASES = list("ACGT")
FAR = 30
"""Columns between neighbours of a fragment: there are no gaps as long in the families."""


def family(seed: int, fragment: int, length: int) -> SequenceSet:
    """Four genes, 5% from a root, and a fragment of one."""
    random = np.random.default_rng(seed)
    root = random.choice(BASES, length)
    genes = []
    for _ in range(4):
        own = root.copy()
        changed = random.random(length) < 0.04
        own[changed] = random.choice(BASES, int(changed.sum()))
        genes.append("".join(own[random.random(length) > 0.01]))
    source, start = genes[random.integers(4)], int(random.integers(0, length - fragment - 40))
    strings = [*genes, source[start : start + fragment]]
    return SequenceSet.from_strings(strings, alphabet="dna")


def is_torn(places: Any) -> bool:
    return bool(np.abs(np.diff(places)).max(initial=0) > FAR)


def last_columns(alignment: Any) -> Any:
    start, end = alignment.sequences.offsets[-2:]
    return alignment.columns[start:end]


def places_by_path(alignments: Any, pair: int) -> list[int]:
    """Residues of the query that are aligned to those of the target."""
    i, places = 0, []
    own = slice(*alignments.cigar_offsets[pair : pair + 2])
    for run in alignments.cigar[own].tolist():
        length, op = run >> 4, run & 15
        if op in (7, 8):
            places += range(i, i + length)
        i += length * (op != 2)
    return places


CASES = [(seed, size) for size in (20, 50, 100, 200, 500) for seed in range(3)]


@pytest.mark.parametrize(("seed", "size"), CASES)
def test_no_fragment_is_torn(seed, size):
    sequences = family(seed, size, max(500, 2 * size))
    aligned = pairalign.msa(sequences, confidence=False)
    assert not is_torn(last_columns(aligned))
    genes = pairalign.msa(sequences[:4], confidence=False)
    added = pairalign.msa(add=sequences[4:], to=genes, confidence=False)
    assert not is_torn(last_columns(added))


@pytest.mark.parametrize(("seed", "size"), CASES)
def test_no_fragment_is_torn_in_pairs(seed, size):
    sequences = family(seed, size, max(500, 2 * size))
    found = pairalign.posterior(sequences)
    for pair in np.flatnonzero(found.targets == 4):
        own = slice(*found.offsets[pair : pair + 2])
        sure = found.probabilities[own] > 0.5
        assert not is_torn(found.rows[own][sure])
    alignments = pairalign.align(sequences, objective="mea")[0].alignments
    pairs = np.flatnonzero(alignments.target == 4)
    assert len(pairs) == 4
    for pair in pairs:
        assert not is_torn(places_by_path(alignments, pair))


def test_words_of_a_sequence_keep_together():
    random = np.random.default_rng(5)
    for _ in range(examples(60)):
        whole, start = "".join(random.choice(BASES, 200)), int(random.integers(0, 181))
        pair = {"word": whole[start : start + 20], "whole": whole}
        aligned = pairalign.msa(SequenceSet.from_strings(pair), confidence=False)
        assert aligned.columns[:20].tolist() == list(range(start, start + 20))


def test_two_bases_keep_together():
    pair = SequenceSet.from_strings({"a": "AC", "b": "TTACGG"}, alphabet="dna")
    assert pairalign.msa(pair, confidence=False).columns[:2].tolist() == [2, 3]
