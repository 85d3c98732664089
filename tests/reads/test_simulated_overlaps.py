"""Overlaps of simulated reads, held to where the reads come from."""

import numpy as np
import pytest
from overlapping import GENOME
from simulated_reads import simulate, true_pairs, with_errors

import pairalign
from pairalign.sequences.sets import SequenceSet


@pytest.mark.parametrize("kind", ["hifi", "ont"])
def test_all_simulated_overlaps_are_found(kind):
    genome = SequenceSet.from_strings([GENOME]).codes
    reads = simulate(genome, kind, coverage=8, mean=700, seed=1)
    assert sum(map(len, reads.values())) > 7 * len(GENOME)
    found = pairalign.overlap(reads, device="cpu")
    assert found.preset.name == kind
    names = found.reads.names
    pairs = {
        (*sorted((names[q], names[t])), "+" if s > 0 else "-")
        for q, t, s in zip(found.query, found.target, found.strand, strict=True)
    }
    least = found.preset.min_overlap + 30  # errors take letters, and ends are cut
    assert len(true_pairs(list(reads), len(GENOME), least)) > 20
    assert true_pairs(list(reads), len(GENOME), least) <= pairs
    assert pairs <= true_pairs(list(reads), len(GENOME), 1)


def test_errors_are_as_many_as_asked_for():
    genome = SequenceSet.from_strings([GENOME]).codes
    for kind, share in (("hifi", 0.003), ("ont", 0.05)):
        read = with_errors(genome, kind, np.random.default_rng(1))
        letters = "".join("ACGT"[code] for code in read)
        scoring = pairalign.make_scoring("dna", mode="global")
        (one,) = pairalign.align([GENOME, letters], scoring=scoring, device="cpu")
        assert 0.5 * share < 1 - one.identity < 2 * share
