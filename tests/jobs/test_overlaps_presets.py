"""``--preset auto`` on made-up reads of every kind, and what chance reaches."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from overlapping import GENOME, changed
from strand_problems import other_strand

import pairalign
from pairalign.cli.main import main
from pairalign.jobs.overlaps.choice import Chance, choose_preset, measure_chance, thresholds_of
from pairalign.jobs.overlaps.presets import PRESETS
from pairalign.jobs.overlaps.stages import OverlapThresholds
from pairalign.sequences.sets import SequenceSet


def reads_of(
    genome: str, count: int, length: int, errors: float, *, at: int | None = None
) -> SequenceSet:
    """Reads of both strands, from anywhere or from one place."""
    rng = np.random.default_rng(5)
    reads = []
    for k in range(count):
        start = int(rng.integers(0, len(genome) - length)) if at is None else at
        read = changed(genome[start : start + length], errors, k)
        reads.append(other_strand(read) if rng.integers(2) else read)
    return SequenceSet.from_strings(reads)


def choose(reads: SequenceSet) -> tuple[str, int, str]:
    choice = choose_preset(reads, threads=1, memory_bytes=1 << 28)
    return choice.preset.name, choice.preset.min_overlap, choice.reason


def test_accurate_and_noisy_reads_of_any_length():
    for length, errors, name, least in (
        (1500, 0.001, "hifi", 500),
        (1500, 0.1, "ont", 500),
        (700, 0.001, "hifi", 410),
        (490, 0.08, "ont", 285),
        (250, 0.001, "short", 40),
    ):
        found, overlap, reason = choose(reads_of(GENOME, 12, length, errors))
        assert found == name, reason
        assert abs(overlap - least) <= 20, reason
        assert f"preset {name}: " in reason
        assert "best partners are" in reason


def uneven(letters: str, fewest: float, most: float) -> SequenceSet:
    """Reads of one genome, all pairs of which overlap, with more and more errors."""
    rng = np.random.default_rng(2)
    genome = "".join(rng.choice(list(letters), 2000))
    reads = []
    for k in range(14):
        start = int(rng.integers(0, 800))
        errors = fewest + (most - fewest) * k / 13
        reads.append(changed(genome[start : start + 1200], errors, k))
    return SequenceSet.from_strings(reads)


def test_reads_that_differ_lower_the_least_identity():
    reads = uneven("ACGT", 0.12, 0.42)
    choice = choose_preset(reads, threads=1, memory_bytes=1 << 28)
    least = choice.preset.min_identity
    assert 0.5 <= least < 0.62
    assert f"{100 * least:g}% identity" in choice.reason
    found = pairalign.overlap(reads, device="cpu", max_overlaps=1)
    assert found.preset.min_overlap == int(500 * least / 0.64) < 480
    assert len(found) == 91 > 1.1 * len(pairalign.overlap(reads, preset="ont", max_overlaps=1))
    given = pairalign.overlap(reads, device="cpu", min_identity=0.62, max_overlaps=1)
    assert given.identity.min() >= 0.62
    even = choose_preset(uneven("ACGT", 0.02, 0.12), threads=1, memory_bytes=1 << 28)
    assert even.preset.min_identity == 0.64


def test_where_unrelated_reads_align_the_least_identity_stays():
    """Of A and T alone, reads that run backwards align from end to end with the costs of ont."""
    reads = uneven("AT", 0.12, 0.42)
    assert choose_preset(reads, threads=1, memory_bytes=1 << 28).preset.min_identity < 0.64
    found = pairalign.overlap(reads, device="cpu", max_overlaps=1)
    assert found.preset.min_identity == 0.64
    assert found.preset.min_overlap == 500
    assert found.identity.min() >= 0.64


def test_all_pairs_of_a_noisy_amplicon_are_found():
    reads = reads_of(GENOME, 10, 490, 0.08, at=300)
    found = pairalign.overlap(reads, device="cpu")
    assert len(found) == 45
    assert found.preset.min_overlap < 300


def test_families_of_accurate_reads_are_accurate():
    """Reads of different genes of a family are 85% alike; each read has partners of its gene."""
    genes = [changed(GENOME[:400], 0.15, 100 + k) for k in range(6)]
    reads = SequenceSet.from_strings([changed(g, 0.001, k) for g in genes for k in range(2)])
    assert choose(reads)[0] == "short"


def test_where_nothing_overlaps_the_length_decides():
    rng = np.random.default_rng(3)
    for length, name in ((600, "short"), (601, "ont")):
        reads = SequenceSet.from_strings(
            ["".join(rng.choice(list("ACGT"), length)) for _ in range(4)]
        )
        found, _, reason = choose(reads)
        assert found == name
        assert "0 of 0 sampled pairs overlap" in reason


def test_tiny_sets_and_ambiguous_reads():
    assert choose(SequenceSet.from_strings(["ACGT", "A"], alphabet="dna"))[0] == "short"
    assert choose(SequenceSet.from_strings(["N" * 700] * 3))[0] == "ont"


def test_the_choice_does_not_depend_on_threads():
    reads = reads_of(GENOME, 12, 700, 0.05)
    reasons = {choose_preset(reads, threads=t, memory_bytes=1 << 28).reason for t in (1, 2)}
    assert len(reasons) == 1


# ---------------------------------------------------------------------------------------------
# Chance


def chance_of(reads: SequenceSet, preset: str) -> tuple[Chance, OverlapThresholds]:
    scoring = PRESETS[preset].scoring()
    limits = thresholds_of(PRESETS[preset], scoring)
    return measure_chance(reads, scoring, limits, threads=1, memory_bytes=1 << 28), limits


def random_reads(shares: list[float], count: int, length: int, seed: int) -> SequenceSet:
    rng = np.random.default_rng(seed)
    return SequenceSet.from_strings(
        ["".join(rng.choice(list("ACGT"), length, p=shares)) for _ in range(count)]
    )


def test_scores_by_chance_are_foretold():
    """Of unrelated reads as many pairs reach a score as are expected to."""
    reads = random_reads([0.25] * 4, 40, 300, 1)
    chance, _ = chance_of(reads, "short")
    scoring = PRESETS["short"].scoring("local")
    turned = {f"{one.name}-": other_strand(one.residues) for one in reads}
    every = pairalign.align(reads, scoring=scoring, detail="score", device="cpu").raw_score
    other = pairalign.align(reads, turned, scoring=scoring, detail="score", device="cpu").raw_score
    for least in (10, 11, 12):
        seen = (every >= least).sum() + (other >= least).sum() / 2
        assert seen / 2 < chance.expected(OverlapThresholds(least)) < 2 * seen


def test_scores_are_raised():
    chance, limits = chance_of(random_reads([0.25] * 4, 20, 1000, 2), "ont")
    assert chance.expected(limits) < 0.01
    assert chance.raised(limits, 1.0) == limits
    low = OverlapThresholds(10, 50, Fraction(1, 2))
    assert chance.expected(low) > 1
    raised = chance.raised(low, 0.1)
    assert raised.min_raw_score > 20
    assert (raised.min_overlap, raised.min_identity) == (50, Fraction(1, 2))
    assert chance.expected(raised) <= 0.1
    assert chance.raised(low, 0.001).min_raw_score > raised.min_raw_score


def test_identity_is_raised_where_scores_are_not_safe():
    """Reads without G and C: the costs of ``ont`` align any two of them from end to end."""
    reads = random_reads([0.45, 0.05, 0.05, 0.45], 20, 900, 3)
    chance, limits = chance_of(reads, "ont")
    assert chance.best_score > limits.min_raw_score
    assert chance.span > limits.min_overlap
    assert 0.64 < chance.best_identity < 0.7
    low = OverlapThresholds(80, 500, Fraction(58, 100))
    assert chance.expected(low) > 10
    raised = chance.raised(low, 0.1)
    assert raised.min_raw_score == 80
    assert 0.66 < raised.min_identity < 0.75
    assert chance.expected(raised) <= 0.11
    options = {"preset": "ont", "min_score": 80, "min_identity": 0.58, "device": "cpu"}
    assert len(pairalign.overlap(reads, **options)) > 10
    assert len(pairalign.overlap(reads, **options, max_false=0.1)) == 0


def test_what_may_be_false_is_above_zero():
    with pytest.raises(ValueError, match="max_false 0: expected a number above 0"):
        pairalign.overlap(["ACGT", "ACGT"], max_false=0)


# ---------------------------------------------------------------------------------------------
# The command


def write(path: Path, reads: SequenceSet) -> str:
    path.write_text("".join(f">{one.name}\n{one.residues}\n" for one in reads))
    return str(path)


def test_the_command_says_what_it_chose(tmp_path, capsys):
    reads = write(tmp_path / "reads.fa", reads_of(GENOME, 8, 490, 0.08, at=100))
    out = tmp_path / "out.paf"
    assert main(["overlap", reads, "-o", str(out), "--device", "cpu", "--max-false", "0.5"]) == 0
    said = capsys.readouterr().err
    assert "pairalign: preset ont: " in said
    assert "pairalign: chance: 128 reads against reversed ones reach score " in said
    assert "overlaps by chance are expected" in said
    assert len(out.read_text().splitlines()) == 28


def test_a_warning_when_few_reads_overlap(tmp_path, capsys):
    related = reads_of(GENOME, 3, 700, 0.02, at=100)
    alone = random_reads([0.25] * 4, 5, 700, 9)
    letters = [one.residues for one in (*related, *alone)]
    reads = write(tmp_path / "reads.fa", SequenceSet.from_strings(letters))
    main(["overlap", reads, "-o", str(tmp_path / "out.paf"), "--device", "cpu"])
    assert "warning: only 3 of 8 reads (37%) have an overlap" in capsys.readouterr().err
    main(["overlap", reads, "-o", str(tmp_path / "out.paf"), "--device", "cpu", "-q"])
    assert capsys.readouterr().err == ""
