"""What is known of overlaps by their scores and ends: no pair that passes is left out."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from checks import concatenate
from conftest import examples, open_cpu
from cuda_engines import open_on
from hypothesis import given, settings
from hypothesis import strategies as st
from strand_problems import other_strand

from pairalign.engines.cpu.strand_filter import StrandFilter
from pairalign.engines.cpu.suboptimal import SuboptimalAligner
from pairalign.engines.cuda.packed.packed_family import Packed
from pairalign.jobs.overlaps.presets import PRESETS
from pairalign.jobs.overlaps.stages import OverlapThresholds, StagedEngine
from pairalign.jobs.run.progress import Stages
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, join_windows, plan_windows
from pairalign.reads.candidates import Candidates, CandidateStrands
from pairalign.reads.overlap_kinds import find_overlaps
from pairalign.reads.reaching_pairs import ALWAYS, NEVER, least_by_end
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet

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
def test_scores_by_ends_lose_no_overlap(seed, preset, identity, overlap, letters):
    scoring = PRESETS[preset].scoring("semiglobal")
    reads = similar_reads(seed, 12, 50, letters)
    least = least_by_end(scoring, reads, overlap, Fraction(identity))
    assert (least[:overlap] == NEVER).all()
    engine = open_cpu([reads], scoring)
    found = engine.align(Window(0, 0, 12, 0, 12, True), Want(Detail.STATS, 1))
    engine.close()
    passing = find_overlaps(found, overlap, Fraction(identity))
    ends = np.minimum(found.field("query_end"), found.field("target_end"))
    assert (found.raw_score >= least[ends])[passing].all()


def test_scores_by_ends_say_something():
    """Of 120 letters at 95%, 114 are matches; six gaps cost 30."""
    scoring = PRESETS["short"].scoring()
    reads = SequenceSet.from_strings(["ACGT" * 30], alphabet=DNA)
    least = least_by_end(scoring, reads, 40, Fraction("0.95"))
    assert least[40] == 28
    assert least[120] == 84
    nothing = least_by_end(scoring, reads, 0, Fraction(0))
    assert (nothing == ALWAYS).all()


THRESHOLDS = OverlapThresholds(28, 40, Fraction("0.95"))


def overlaps_of(
    engine: Any,
    reads: SequenceSet,
    thresholds: OverlapThresholds,
    strand_filter: StrandFilter | None,
) -> tuple[dict[str, Any], Stages]:
    """Fields of the overlaps in windows of 50 reads, and the stages."""
    stages = Stages()
    staged = StagedEngine(engine, thresholds, stages, strand_filter=strand_filter)
    windows = plan_windows(len(reads), None, 50)
    found = concatenate([staged.align(window, Want()) for window in windows])
    staged.close()
    names = ("query", "target", "strand", "raw_score", "query_end", "matches", "cigar")
    return {name: getattr(found, name).tolist() for name in names}, stages


@pytest.mark.slow
@pytest.mark.parametrize(("memory_bytes", "both"), [(None, False), (300 << 10, True)])
def test_the_device_leaves_out_what_cannot_pass(device, memory_bytes, both):
    scoring = PRESETS["short"].scoring()
    reads = similar_reads(5, 90, 90)
    thresholds = replace(THRESHOLDS, all_strands=both)
    expected, on_cpu = overlaps_of(open_cpu([reads], scoring), reads, thresholds, None)
    gpu = open_on(device, [reads], scoring, family=Packed.name, memory_bytes=memory_bytes)
    found, on_gpu = overlaps_of(gpu, reads, thresholds, None)
    assert found == expected
    assert len(found["query"]) > 100
    assert on_cpu["score"].passed == on_gpu["score"].passed
    assert len(found["query"]) <= on_gpu["align"].alignments < on_cpu["align"].alignments


@pytest.mark.parametrize("strand", [1, -1])
@pytest.mark.parametrize("detail", [Detail.SCORE, Detail.CIGAR])
def test_pairs_go_by_number_as_by_mask(device, strand, detail):
    reads = similar_reads(6, 60, 70)
    gpu = open_on(device, [reads], PRESETS["short"].scoring())
    window = Window(0, 0, 40, 20, 60, True, strand)
    mask = np.random.default_rng(1).random(window.pairs) < 0.3
    found = gpu.align_numbers(window, Want(detail), np.flatnonzero(mask))
    none = gpu.align_numbers(window, Want(detail), np.empty(0, np.int64))
    expected = gpu.align(window, Want(detail), mask)
    gpu.close()
    assert found is not None
    assert none is not None
    assert len(none) == 0
    for name in ("query", "target", "strand", "raw_score", "query_end", "matches", "cigar"):
        values, others = getattr(found, name), getattr(expected, name)
        assert values is others is None or np.array_equal(values, others)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("per_pair", [1, 3])
def test_joined_windows_give_the_same_overlaps(both, per_pair):
    scoring = PRESETS["short"].scoring()
    reads = similar_reads(8, 130, 90)
    thresholds = replace(THRESHOLDS, all_strands=both, max_overlaps=per_pair)
    suboptimal = SuboptimalAligner(reads, reads, scoring, 1)
    engine = StagedEngine(
        open_cpu([reads], scoring), thresholds, Stages(), None, suboptimal, width=30
    )
    windows = plan_windows(len(reads), None, 30)
    joined = list(join_windows(windows, lambda one: one.pairs <= 3000, 1))
    assert len(joined) < len(windows)
    found, expected = (
        concatenate([engine.align(window, Want()) for window in some]) for some in (joined, windows)
    )
    engine.close()
    assert {-1, 1} == set(expected.strand.tolist())
    for name in ("query", "target", "strand", "raw_score", "query_end", "matches", "cigar"):
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_long_pairs_do_not_go_by_number(device):
    reads = SequenceSet.from_strings(["ACGT" * 260, "CCGT" * 255, "ACGA" * 20])
    gpu = open_on(device, [reads], PRESETS["short"].scoring())
    window = Window(0, 0, 3, 0, 3, True)
    found = gpu.align_numbers(window, Want(Detail.SCORE), np.array([0]))
    gpu.close()
    assert found is None


@settings(max_examples=examples(25))
@given(
    seeds,
    st.sampled_from(["semiglobal", "local"]),
    st.booleans(),
    st.sampled_from(["ACGT", "ACGTN", "AT"]),
)
def test_the_other_strand_is_scored_where_it_matters(seed, mode, both, letters):
    """Reads whose other strand may be like themselves: pieces of palindromes among others."""
    scoring = PRESETS["short"].scoring(mode)
    half = similar_reads(seed, 1, 60, letters)[0].residues
    turned = half[::-1].translate(str.maketrans("ACGT", "TGCA"))
    plain = [one.residues for one in similar_reads(seed, 60, 90, letters)]
    reads = SequenceSet.from_strings([half + turned, half + half, turned + half, *plain])
    thresholds = replace(THRESHOLDS, all_strands=both)
    expected, every = overlaps_of(open_cpu([reads], scoring), reads, thresholds, None)
    strand_filter = StrandFilter.of(reads, scoring, 2)
    found, stages = overlaps_of(open_cpu([reads], scoring), reads, thresholds, strand_filter)
    strand_filter.close()
    assert found == expected
    assert stages["score"].alignments <= every["score"].alignments


def test_unlike_reads_are_scored_on_one_strand():
    scoring = PRESETS["short"].scoring()
    reads = SequenceSet.from_strings(
        ["".join(np.random.default_rng(k).choice(list("ACGT"), 100)) for k in range(60)]
    )
    strand_filter = StrandFilter.of(reads, scoring, 2)
    _, stages = overlaps_of(open_cpu([reads], scoring), reads, THRESHOLDS, strand_filter)
    strand_filter.close()
    assert stages["score"].alignments < 1.1 * 60 * 59 / 2


def test_scorings_without_q_grams_have_no_filter():
    reads = SequenceSet.from_strings(["ACGT" * 10] * 2)
    assert StrandFilter.of(reads, PRESETS["ont"].scoring(), 1) is None
    strand_filter = StrandFilter.of(reads, PRESETS["hifi"].scoring(), 1)
    strand_filter.close()


def test_candidates_yield_to_a_better_other_strand():
    """One that is no candidate: of equals plus, as of two candidates."""
    rng = np.random.default_rng(3)
    piece, *ends = ("".join(rng.choice(list("ACGT"), n)) for n in (101, *[500] * 7))
    ways = [(100, 100), (99, 100), (100, 99)] * 2
    letters = [ends[0] + "N" + piece + "N"] + [
        f"N{piece[:plus]}N{end}N{other_strand(piece[:minus])}N"
        for end, (plus, minus) in zip(ends[1:], ways, strict=True)
    ]
    reads, scoring = SequenceSet.from_strings(letters, alphabet=DNA), PRESETS["ont"].scoring()
    first, strands = np.zeros(6, np.int32), np.repeat([1, -1], 3).astype(np.int8)
    candidates = Candidates(
        first, np.arange(1, 7, dtype=np.int32), strands, source="", may_lack_strands=True
    )
    engine = StagedEngine(
        open_cpu([reads], scoring),
        OverlapThresholds(),
        Stages(),
        candidates=CandidateStrands(candidates, reads),
        opposite=SuboptimalAligner(reads, reads, scoring, 1),
    )
    found = engine.align(Window(0, 0, 7, 0, 7, True), Want(Detail.STATS))
    engine.close()
    assert sorted(zip(found.target.tolist(), found.strand.tolist(), strict=True)) == [
        (1, 1),
        (3, 1),
        (5, -1),
    ]
