"""Overlaps of more real reads, where these are beside the project: phiX, amplicons, Illumina."""

from pathlib import Path

import numpy as np
import pytest

import pairalign
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

READS = Path(__file__).parents[3] / "shared" / "data" / "reads"
pytestmark = pytest.mark.skipif(not READS.is_dir(), reason="no reads beside the project")


def some(path: str, number: int) -> SequenceSet:
    """The first reads of a file."""
    chosen = list(read_fasta(READS / path))[:number]
    return SequenceSet.from_strings({one.name: one.residues for one in chosen})


def test_amplicons_overlap_whole():
    """One gene's piece, amplified from many: alike reads are aligned from end to end."""
    reads = some("16s-amplicon-v4-250/sam1F.fastq.gz", 120)
    found = pairalign.overlap(reads, device="cpu")
    assert len(found) > 300
    assert (found.strand == 1).all()
    assert set(found.kind.tolist()) <= {"contained", "contains"}
    assert (found.identity >= 0.95).all()
    assert found.columns.min() > 240


def test_reads_of_a_small_circle():
    """Reads of phiX, some longer than the circle: all pairs overlap one way or another."""
    reads = some("phix-ont/barcode03.fastq.gz", 12)
    found = pairalign.overlap(reads, device="cpu")
    assert len(found) > 0.7 * 66
    assert set(found.strand.tolist()) == {1, -1}
    assert found.identity.min() >= 0.6
    assert np.median(found.identity) > 0.8


def test_short_reads_lie_where_their_reference_says():
    reads = some("ecoli1k-illumina/ecoli_1K_1.fq.gz", 150)
    found = pairalign.overlap(reads, device="cpu")
    genome = read_fasta(READS / "ecoli1k-illumina" / "reference_1K.fa.gz")[0].residues
    exact = {
        name: place_of(one.residues, genome) for name, one in zip(reads.names, reads, strict=True)
    }
    pairs = {
        (int(q), int(t)): (int(s), int(n))
        for q, t, s, n in zip(found.query, found.target, found.strand, found.columns, strict=True)
    }
    checked = 0
    for q, one in enumerate(reads.names):
        for t in range(q + 1, len(reads)):
            places = exact[one], exact[reads.names[t]]
            if places[0] is None or places[1] is None:
                continue
            (start, end, strand), (start2, end2, strand2) = places
            common = min(end, end2) - max(start, start2)
            if common >= 40:
                checked += 1
                assert pairs[q, t][0] == strand * strand2
                assert pairs[q, t][1] >= common
    assert checked > 100


def test_amplicons_of_noisy_reads_overlap_whole():
    """Nanopore reads of some 490 letters: as short as Illumina's, as noisy as long ones."""
    reads = some("sarscov2-ont-amplicon/reads.fastq.gz", 40)
    found = pairalign.overlap(reads, device="cpu")
    assert found.preset.name == "ont"
    assert found.preset.min_overlap < 300
    assert len(found) > 0.99 * 40 * 39 / 2


def place_of(letters: str, genome: str) -> tuple[int, int, int] | None:
    """Where a read without errors lies, and on which strand."""
    other = letters.translate(str.maketrans("ACGT", "TGCA"))[::-1]
    for strand, one in ((1, letters), (-1, other)):
        at = genome.find(one)
        if at >= 0:
            return at, at + len(one), strand
    return None
