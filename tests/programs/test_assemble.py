"""scripts/assemble.py: simulated reads, their truth, and what our overlaps find of it."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from assemble_script import ROOT, script
from overlapping import GENOME

import pairalign
from pairalign.sequences.sets import SequenceSet

PHIX = ROOT.parent / "shared" / "data" / "reads" / "phix-ont"


@pytest.mark.parametrize("kind", ["hifi", "ont"])
def test_all_simulated_overlaps_are_found(kind: str) -> None:
    assemble = script()
    options = argparse.Namespace(seed=1, coverage=8.0, length=700, kind=kind)
    genome = SequenceSet.from_strings([GENOME]).codes
    reads = assemble.simulate(genome, options)
    assert sum(map(len, reads.values())) > 7 * len(GENOME)
    found = pairalign.overlap(reads, device="cpu")
    assert found.preset.name == kind
    names = found.reads.names
    pairs = {
        (*sorted((names[q], names[t])), "+" if s > 0 else "-")
        for q, t, s in zip(found.query, found.target, found.strand, strict=True)
    }
    least = found.preset.min_overlap + 30  # errors take letters, and ends are cut
    assert len(assemble.true_pairs(list(reads), len(GENOME), least)) > 20
    assert assemble.true_pairs(list(reads), len(GENOME), least) <= pairs
    assert pairs <= assemble.true_pairs(list(reads), len(GENOME), 1)


def test_errors_are_as_many_as_asked_for() -> None:
    assemble = script()
    genome = SequenceSet.from_strings([GENOME]).codes
    for kind, share in (("hifi", 0.003), ("ont", 0.05)):
        read = assemble.with_errors(genome, kind, np.random.default_rng(1))
        letters = "".join("ACGT"[code] for code in read)
        scoring = pairalign.make_scoring("dna", mode="global")
        (one,) = pairalign.align([GENOME, letters], scoring=scoring, device="cpu")
        assert 0.5 * share < 1 - one.identity < 2 * share


def test_circles_are_opened_on_the_other_side(tmp_path: Path) -> None:
    contigs = tmp_path / "contigs.fa"
    contigs.write_text(">utg000001c LN:i:9\nAAAACCGGT\n>utg000002l\nACCCGG\n")
    turned = script().half_turned(contigs, tmp_path / "turned.fa")
    assert turned.read_text() == ">utg000001c\nCCGGTAAAA\n>utg000002l\nACCCGG\n"


@pytest.mark.slow
@pytest.mark.skipif(not PHIX.is_dir(), reason="no reads beside the project")
@pytest.mark.skipif(shutil.which("miniasm") is None, reason="miniasm is not installed")
def test_phix_is_one_circle(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assemble = script()
    arguments = [PHIX / "phix_genome.fa", "--reads", PHIX / "barcode03.fastq.gz", "--kind", "ont"]
    if shutil.which("racon") is not None:
        arguments += ["--racon", "2"]
    monkeypatch.setattr(sys, "argv", ["assemble.py", *map(str, arguments), "--device", "cpu"])
    assemble.main()
    ours = capsys.readouterr().out.split("pairalign: ")[1]
    assert "1 contigs (1 circles), longest 5,3" in ours  # of 5,386, not corrected
    shares = [float(share) for share in re.findall(r"([\d.]+)% of the genome", ours)]
    assert min(shares) > 95
    if "racon" in ours:
        assert shares[1] > 99.5
