"""Pairs that share a run of equal letters: all of them, and overlaps as without the filter."""

from __future__ import annotations

import numpy as np
import pytest
from checks import assert_same
from overlapping import GENOME, changed, find
from test_strands import other_strand

from pairalign import exact_runs
from pairalign.errors import ScoringError
from pairalign.exact_runs import pairs_with_runs
from pairalign.jobs import overlaps
from pairalign.sequences import SequenceSet


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
    """By the definition: all runs of definite letters of each read, and of its other strand."""

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
@pytest.mark.parametrize("run", [20, 23, 31, 47])
def test_no_pair_is_missed(run: int, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_runs, "_BLOCK_LETTERS", block)
    monkeypatch.setattr(exact_runs, "_MOST_HELD", block)
    for errors in (0.01, 0.08):
        reads = reads_of(errors)
        first, second = pairs_with_runs(SequenceSet.from_strings(reads, alphabet="dna"), run)
        found = list(zip(first.tolist(), second.tolist(), strict=True))
        assert found == sorted(set(found))
        expected = with_runs(reads, run)
        assert len(expected) > 10
        assert expected <= set(found)
        shorter = with_runs(reads, 16)
        assert set(found) <= shorter  # they share a word at least
        assert len(shorter) < len(reads) * (len(reads) - 1) // 2


@pytest.mark.parametrize("mode", ["local", "semiglobal"])
def test_the_filter_loses_nothing(mode: str) -> None:
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


def test_auto_takes_it_for_many_long_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = {f"r{k}": GENOME[100 * k : 100 * k + 700] for k in range(8)}
    options = {"preset": "hifi", "min_overlap": 100, "min_score": 80}
    assert find(reads, **options).stages["filter"].alignments == 0
    monkeypatch.setattr(overlaps, "_CELLS_WORTH_RUNS", 1)
    assert find(reads, **options).stages["filter"].alignments == 2 * 28
    assert find(reads, **{**options, "min_identity": 0.6}).stages["filter"].alignments == 0


def test_where_no_run_is_forced() -> None:
    with pytest.raises(ScoringError, match="filter runs: 500 letters at 64% identity force no run"):
        find({"a": GENOME[:600], "b": GENOME[50:700]}, preset="ont", min_overlap=500, filter="runs")
