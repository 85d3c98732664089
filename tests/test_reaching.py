"""What is known of overlaps by their scores and ends: no pair that passes is left out."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import examples, open_cpu
from cuda_engines import open_on
from hypothesis import given, settings
from hypothesis import strategies as st

from pairalign.engines.cuda.packed.family import Packed
from pairalign.jobs.overlap_presets import PRESETS
from pairalign.jobs.overlap_stages import StagedEngine, Stages, Thresholds
from pairalign.overlap_passes import find_overlaps
from pairalign.reaching import ALWAYS, NEVER, least_by_end
from pairalign.sequences import DNA, SequenceSet
from pairalign.want import Detail, Want
from pairalign.windows import Window, plan_windows

seeds = st.integers(0, 2**32 - 1)


def similar_reads(seed: int, count: int, longest: int, letters: str = "ACGT") -> SequenceSet:
    """Pieces of one sequence, on both strands, more and less changed."""
    rng = np.random.default_rng(seed)
    whole = rng.choice(list(letters), longest)
    reads = []
    for _ in range(count):
        start, stop = np.sort(rng.integers(0, longest + 1, 2))
        if rng.random() < 0.5:
            start, stop = rng.integers(0, 4), longest - rng.integers(0, 4)
        piece = whole[start:stop].copy()
        changed = rng.random(len(piece)) < rng.choice([0.0, 0.03, 0.1])
        piece[changed] = rng.choice(list(letters), int(changed.sum()))
        piece = np.delete(piece, np.flatnonzero(rng.random(len(piece)) < rng.choice([0.0, 0.03])))
        if rng.random() < 0.3:
            piece = np.array([{"A": "T", "C": "G", "G": "C", "T": "A"}.get(c, c) for c in piece])
            piece = piece[::-1]
        reads.append("".join(piece) or "A")
    return SequenceSet.from_strings(reads, alphabet=DNA)


@settings(max_examples=examples(60))
@given(
    seeds,
    st.sampled_from([*PRESETS]),
    st.sampled_from(["0.5", "0.8", "0.95", "1", "0"]),
    st.integers(0, 30),
    st.sampled_from(["ACGT", "ACGTN", "NR"]),
)
def test_scores_by_ends_lose_no_overlap(
    seed: int, preset: str, identity: str, overlap: int, letters: str
) -> None:
    scoring = PRESETS[preset].scoring("semiglobal")
    reads = similar_reads(seed, 12, 50, letters)
    least = least_by_end(scoring, np.unique(reads.codes), 60, overlap, Fraction(identity))
    assert (least[:overlap] == NEVER).all()
    engine = open_cpu([reads], scoring)
    found = engine.align(Window(0, 0, 12, 0, 12, True), Want(Detail.STATS, 1))
    engine.close()
    passing = find_overlaps(found, overlap, Fraction(identity))
    ends = np.minimum(found.field("query_end"), found.field("target_end"))
    assert (found.raw_score >= least[ends])[passing].all()


def test_scores_by_ends_say_something() -> None:
    """Of 120 letters at 95%, 114 are matches; six gaps cost 30."""
    scoring = PRESETS["short"].scoring()
    least = least_by_end(scoring, np.arange(4, dtype=np.uint8), 120, 40, Fraction("0.95"))
    assert least[40] == 28
    assert least[120] == 84
    nothing = least_by_end(scoring, np.arange(4, dtype=np.uint8), 120, 0, Fraction(0))
    assert (nothing == ALWAYS).all()


@pytest.mark.parametrize("memory_bytes", [None, 300 << 10])
@pytest.mark.parametrize("both", [False, True])
def test_the_device_leaves_out_what_cannot_pass(
    device: Any, memory_bytes: int | None, both: bool
) -> None:
    scoring = PRESETS["short"].scoring()
    reads = similar_reads(5, 120, 90)
    thresholds = Thresholds(28, 40, Fraction("0.95"), all_strands=both)
    stages = [Stages(), Stages()]
    engines = [
        StagedEngine(open_cpu([reads], scoring), thresholds, stages[0]),
        StagedEngine(
            open_on(device, [reads], scoring, family=Packed.name, memory_bytes=memory_bytes),
            thresholds,
            stages[1],
        ),
    ]
    overlaps = 0
    for window in plan_windows(len(reads), None, 50):
        expected, found = (engine.align(window, Want()) for engine in engines)
        for name in ("query", "target", "strand", "raw_score", "query_end", "matches", "cigar"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
        overlaps += len(found)
    for engine in engines:
        engine.close()
    assert overlaps > 100
    assert stages[0]["score"].passed == stages[1]["score"].passed
    assert overlaps <= stages[1]["align"].alignments < stages[0]["align"].alignments
