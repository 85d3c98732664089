"""Pairs that share a run of equal letters: all of them, and overlaps as without the filter."""

import numpy as np
import pytest
from checks import assert_same
from overlapping import GENOME, changed, find
from strand_problems import other_strand

from pairalign.errors import ScoringError
from pairalign.jobs.overlaps import exact_runs, overlap_plan
from pairalign.jobs.overlaps.exact_runs import count_hits, pairs_of, shared_by_chance, words_of
from pairalign.sequences.sets import SequenceSet


def reads_of(errors: float) -> dict[str, str]:
    """Reads of both strands; some with N, some too short for a word, one of nothing but A."""
    rng = np.random.default_rng(4)
    reads = {"a": 300 * "A", "aa": 90 * "A", "tiny": "ACGT", "n": 40 * "N"}
    for k in range(30):
        start = int(rng.integers(0, 1400))
        piece = changed(GENOME[start : start + int(rng.integers(20, 600))], errors, k)
        piece = piece[:50] + "N" + piece[50:] if k % 5 == 0 else piece
        reads[f"r{k}"] = piece if rng.integers(2) else other_strand(piece)
    return reads


def with_runs(reads: dict[str, str], run: int) -> set[tuple[int, int]]:
    """By the definition: all runs of unambiguous letters of each read, and of its other strand."""

    def runs(letters: str) -> set[str]:
        every = (letters[k : k + run] for k in range(len(letters) - run + 1))
        return {one for one in every if set(one) <= set("ACGT")}

    plus = [runs(letters) for letters in reads.values()]
    minus = [runs(other_strand(letters)) for letters in reads.values()]
    count = len(reads)
    return {
        (i, j) for i in range(count) for j in range(i + 1, count) if plus[i] & (plus[j] | minus[j])
    }


@pytest.mark.parametrize("block", [200, 1 << 22])
@pytest.mark.parametrize("run", [12, 13, 15, 19, 20, 23, 31, 47])
def test_no_pair_is_missed(run, block, monkeypatch):
    monkeypatch.setattr(exact_runs, "_BLOCK_RESIDUES", block)
    monkeypatch.setattr(exact_runs, "_MOST_HELD", block)
    for errors in (0.01, 0.08):
        reads = reads_of(errors)
        first, second = pairs_of(words_of(SequenceSet.from_strings(reads, alphabet="dna"), run))
        found = list(zip(first.tolist(), second.tolist(), strict=True))
        assert found == sorted(set(found))
        expected = with_runs(reads, run)
        assert len(expected) > 10
        assert expected <= set(found)
        shorter = with_runs(reads, min(run, 16))
        assert set(found) <= shorter  # they share a word at least
        assert len(shorter) < len(reads) * (len(reads) - 1) // 2


def test_hits_are_pairs_of_reads_by_word():
    reads = SequenceSet.from_strings(reads_of(0.01), alphabet="dna")
    words = words_of(reads, 20).tolist()
    hashes = [word >> 32 for word in words]
    assert len(set(words)) == len(words)
    expected = sum(hashes[i] == hashes[j] for i in range(len(words)) for j in range(i))
    assert count_hits(words_of(reads, 20)) == expected > len(reads)


@pytest.mark.parametrize("mode", ["local", "semiglobal"])
def test_the_filter_loses_nothing(mode):
    reads = reads_of(0.01)
    options = {"preset": "hifi", "mode": mode, "min_overlap": 80, "min_score": 30}
    options |= {"min_identity": "97%", "max_overlaps": 2}
    every = find(reads, **options, filter="none")
    found = find(reads, **options, filter="runs")
    assert_same(every.alignments, found.alignments)
    assert every.strand.tolist() == found.strand.tolist()
    assert len(every) > 50
    stage = found.stages["filter"]
    assert stage.alignments == every.stages["score"].alignments
    assert found.stages["score"].alignments == stage.passed < 0.7 * stage.alignments


def short_reads(seed: int, count: int = 60, apart: int = 20) -> dict[str, str]:
    """Reads of 90 letters of both strands, some letters of which are wrong."""
    starts = np.random.default_rng(seed).integers(0, apart * count, count)
    genome = "".join(np.random.default_rng(3).choice(list("ACGT"), apart * count + 90))
    pieces = [changed(genome[start : start + 90], 0.02, k) for k, start in enumerate(starts)]
    return {f"r{k}": other_strand(one) if k % 2 else one for k, one in enumerate(pieces)}


def test_auto_takes_it_for_many_pairs(monkeypatch):
    reads = {f"r{k}": GENOME[100 * k : 100 * k + 700] for k in range(8)}
    options = {"preset": "hifi", "min_overlap": 100, "min_score": 80}
    assert find(reads, **options).stages["filter"].alignments == 0
    monkeypatch.setattr(overlap_plan, "_CELLS_WORTH_RUNS", {True: 1, False: 1})
    assert find(reads, **options).stages["filter"].alignments == 2 * 28
    assert find(reads, **{**options, "min_identity": 0.6}).stages["filter"].alignments == 0


def test_auto_leaves_it_where_reads_repeat_each_other(monkeypatch):
    monkeypatch.setattr(overlap_plan, "_CELLS_WORTH_RUNS", {True: 1, False: 1})
    monkeypatch.setattr(overlap_plan, "_LONGEST_TO_FILTER", 0)
    options = {"preset": "short", "min_score": 15, "min_overlap": 40}
    apart, alike = short_reads(1, apart=200), short_reads(1, apart=1)
    assert find(apart, **options).stages["filter"].alignments > 0
    assert find(alike, **options).stages["filter"].alignments == 0
    named = find(alike, **options, filter="runs")
    assert_same(find(alike, **options).alignments, named.alignments)


def test_long_reads_share_short_words_by_chance():
    rng = np.random.default_rng(9)
    letters = "".join(rng.choice(list("ACGT"), 60_000))
    for length, run in ((300, 12), (300, 13), (3000, 16)):
        cut = range(0, len(letters) - length + 1, length)
        reads = SequenceSet.from_strings(
            {str(k): letters[k : k + length] for k in cut}, alphabet="dna"
        )
        first, _ = pairs_of(words_of(reads, run))
        pairs = len(reads) * (len(reads) - 1) / 2
        expected = shared_by_chance(reads, run)
        assert len(first) == pytest.approx(pairs * expected, abs=4 * (pairs * expected) ** 0.5 + 1)
    options = {"preset": "short", "filter": "runs", "min_overlap": 40}
    with pytest.raises(ScoringError, match="no run of equal bases that few of these reads"):
        find({"a": letters[:6000], "b": letters[5000:11_000]}, **options)


def test_where_no_run_is_forced():
    with pytest.raises(ScoringError, match="filter runs: 500 bases at 64% identity force no"):
        find({"a": GENOME[:600], "b": GENOME[50:700]}, preset="ont", min_overlap=500, filter="runs")
