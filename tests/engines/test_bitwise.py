"""Bitwise scores: linear-gap local alignment against the reference, on every instruction set."""

import threading
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from commands import BASES, fasta, run
from conftest import examples
from cuda_bitwise_pairs import BitwisePairs
from cuda_engines import cuda_device, host_device, open_on
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Costs, align, fill_by_rows
from strategies import random_sequences

from pairalign.alignments.problem import Problem
from pairalign.engines import Engine
from pairalign.engines.bitwise_scoring import MOST_LOW_BITS, LinearScores, linear_scores, why_not
from pairalign.engines.cpu.cpu_bitwise import CpuBitwise
from pairalign.engines.cpu.cpu_engine import CpuEngine, instruction_sets
from pairalign.engines.cuda.bitwise import Bitwise, Shape, choose_shape, round_bits
from pairalign.engines.cuda.cuda_engine import FAMILIES
from pairalign.engines.filters import open_filters
from pairalign.errors import DeviceError, ScoringError
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, plan_windows
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.complement import reverse_complement
from pairalign.sequences.sets import SequenceSet

SCORES = Want(Detail.SCORE)
SCHEMES = [(1, -3, 2), (2, -1, 1), (1, -1, 1), (2, -3, 5), (1, -2, 1), (5, -4, 10), (1, 0, 0)]
"""Match, mismatch and gap: also a mismatch that is two gaps, and costs of nothing."""


def linear(match: int, mismatch: int, gap: int) -> Scoring:
    return make_scoring(
        "dna", mode="local", match=match, mismatch=mismatch, gap_open=gap, gap_extend=gap
    )


def make_sets(first: list[str], second: list[str] | None = None) -> list[SequenceSet]:
    return [SequenceSet.from_strings(s, alphabet="dna") for s in (first, second) if s]


def whole(sets: list[SequenceSet], strand: int = 1) -> Window:
    return Window(0, 0, len(sets[0]), 0, len(sets[-1]), len(sets) == 1, strand)


def open_bitwise(sets: list[SequenceSet], scoring: Scoring, **options: object) -> CpuBitwise:
    return CpuBitwise(Problem(sets[0], sets[1] if len(sets) > 1 else None, scoring), **options)


def expected(sets: list[SequenceSet], scoring: Scoring, window: Window) -> np.ndarray:
    """Scores of the window's pairs by the reference."""
    costs = Costs(scoring.matrix, scoring.gap_open, scoring.gap_extend, "local")
    rows, columns = window.positions()
    scores = []
    for row, column in zip(rows, columns, strict=True):
        one = sets[0].codes_of(int(sets[0].order[row]))
        other = sets[-1].codes_of(int(sets[-1].order[column]))
        if window.strand < 0:
            other = reverse_complement(other, sets[-1].alphabet)
        scores.append(align(one, other, costs).score)
    return np.array(scores, np.int32)


# ------------------------------------------------------------------------------- what can be scored


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 40), st.integers(1, 9))
def test_the_low_bits_tell_neighbours_apart(match, mismatch, gap, k):
    """The conditions of common/bitwise_cell.h hold, and no fewer bits would do."""
    scores = linear_scores(linear(k * match, -k * mismatch, k * gap))
    assert scores.mismatch <= 2 * scores.gap
    assert scores.match * scores.factor == k * match
    assert scores.gap * scores.factor == k * gap
    assert scores.mismatch * scores.factor == min(k * mismatch, 2 * k * gap)

    def enough(bits: int) -> bool:
        steps = max(scores.match, scores.mismatch) <= 1 << (bits - 2)
        return scores.match + 2 * scores.gap < 1 << (bits - 1) and steps

    assert enough(scores.low_bits)
    assert scores.low_bits == 3 or not enough(scores.low_bits - 1)


@pytest.mark.parametrize("match", [1, 2, 5])
@pytest.mark.parametrize("length", [1, 63, 64, 127, 128, 255, 256, 511, 512])
def test_bits_hold_the_highest_score(match, length):
    scores = LinearScores(match, 1, 1, 1)
    bits = scores.bits(length, 10**6)
    assert bits >= scores.low_bits
    assert match * length < 1 << bits
    assert bits == scores.low_bits or match * length >= 1 << (bits - 1)


@pytest.mark.parametrize(
    ("scoring", "reason"),
    [
        (make_scoring("dna", gap_open=2, gap_extend=2), "mode global"),
        (make_scoring("protein", mode="local", gap_open=2, gap_extend=2), "alphabet protein"),
        (make_scoring("dna", mode="local"), "affine gaps"),
        (linear(0, 0, 1), "match 0"),
        (linear(1, -1, 2000), f"of {MOST_LOW_BITS}"),
    ],
)
def test_what_it_cannot_score(scoring, reason):
    assert reason in str(why_not(scoring))
    with pytest.raises(ScoringError, match=reason):
        linear_scores(scoring)
    sets = make_sets(["ACGT", "ACG"])
    for open_it, said in (
        (lambda: CpuBitwise(Problem(sets[0], None, scoring)), reason),
        (
            lambda: open_filters(
                "cpu", Problem(sets[0], None, scoring), threads=1, memory_bytes=1 << 20
            ),
            f"bitwise filter: .*{reason}",
        ),
    ):
        with pytest.raises(DeviceError, match=said):
            open_it()


def test_a_matrix_with_other_scores_is_refused(tmp_path):
    path = tmp_path / "matrix"
    path.write_text("   A  C  G  T\nA  5 -4  1 -4\nC -4  5 -4 -4\nG  1 -4  5 -4\nT -4 -4 -4  5\n")
    scoring = make_scoring("dna", mode="local", matrix=path, gap_open=4, gap_extend=4)
    assert "one score for matches" in str(why_not(scoring))


# -------------------------------------------------------------------------------------- on the CPU


@pytest.mark.parametrize("isa", instruction_sets())
@settings(max_examples=examples(30))
@given(
    st.lists(st.text("ACGTN", min_size=1, max_size=12), min_size=2, max_size=6),
    st.one_of(st.none(), st.lists(st.text("ACGRN", min_size=1, max_size=9), min_size=1)),
    st.integers(1, 5),
    st.integers(-9, 0),
    st.integers(0, 6),
    st.sampled_from([1, -1]),
)
def test_small_sets(isa, first, second, match, mismatch, gap, strand):
    sets = make_sets(first, second)
    scoring = linear(match, mismatch, gap)
    window = whole(sets, strand)
    found = open_bitwise(sets, scoring, instruction_set=isa).scores(window)
    assert found.tolist() == expected(sets, scoring, window).tolist()


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize("seed", range(4))
def test_words_full_of_different_pairs(isa, seed):
    """More pairs than a word has, of all lengths, in windows, on several threads."""
    rng = np.random.default_rng(seed)
    longest = (33, 70, 130, 31)[seed]
    sets = make_sets(
        random_sequences(rng, "ACGTN", 45, longest, "mixed"),
        random_sequences(rng, "ACGT", 20, longest, "one long") if seed % 2 else None,
    )
    scoring = linear(*SCHEMES[seed])
    judge = CpuEngine(Problem(sets[0], sets[1] if len(sets) > 1 else None, scoring))
    engine = open_bitwise(sets, scoring, instruction_set=isa, threads=1 + seed % 2)
    for window in plan_windows(len(sets[0]), len(sets[1]) if len(sets) > 1 else None, 37):
        for strand in (1, -1):
            check_alike(engine, judge, replace(window, strand=strand))


def check_alike(engine: Engine, judge: Engine, window: Window) -> None:
    found, wanted = engine.align(window, SCORES), judge.align(window, SCORES)
    for name in ("raw_score", "query", "target"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), (name, window)
    assert (found.strand is None) == (window.strand > 0)


@pytest.mark.parametrize("isa", instruction_sets())
@pytest.mark.parametrize(("match", "mismatch", "gap"), SCHEMES)
def test_hard_pairs(isa, match, mismatch, gap):
    """One letter, only N, nothing in common, scores on both sides of a bit more."""
    scoring = linear(match, mismatch, gap)
    rng = np.random.default_rng(0)
    letters = "".join(rng.choice(list("ACGT"), 270))
    edges = [-(-(1 << bits) // match) for bits in (5, 6, 7, 8)]
    cuts = sorted({n + d for n in edges for d in (-1, 0, 1) if 0 < n + d <= len(letters)})
    first = ["A", "C", "N", "NNNN", "ANA", "AAAA", letters[:1] * 40]
    first += [letters[:n] for n in cuts]
    sets = make_sets(first, [letters, letters[:100] + letters[103:], "N" * 50, "T", "A"])
    window = whole(sets)
    found = open_bitwise(sets, scoring, instruction_set=isa).scores(window)
    assert found.tolist() == expected(sets, scoring, window).tolist()
    same = found.reshape(len(first), 5)[np.argsort(sets[0].order)]
    for sequence, score in zip(first, same[:, 0], strict=True):
        if sequence in letters and "N" not in sequence:
            assert score == match * len(sequence)


def test_strands_duplicates_and_palindromes():
    one = "ACGTTGCATGGACTTACGCAT"
    other = "ATGCGTAAGTCCATGCAACGT"  # its reverse complement
    sets = make_sets([one, other, one, "ACGCGT"], None)
    scoring = linear(1, -2, 2)
    for strand in (1, -1):
        window = whole(sets, strand)
        found = open_bitwise(sets, scoring).align(window, SCORES)
        assert found.raw_score.tolist() == expected(sets, scoring, window).tolist()
        pairs = dict(zip(zip(found.query, found.target, strict=True), found.raw_score, strict=True))
        assert (pairs[0, 1] == len(one)) == (strand < 0)
        assert (pairs[0, 2] == len(one)) == (strand > 0)


def test_only_chosen_pairs():
    rng = np.random.default_rng(2)
    sets = make_sets(random_sequences(rng, "ACGT", 40, 50, "mixed"))
    engine = open_bitwise(sets, linear(1, -2, 2))
    window = whole(sets)
    everything = engine.scores(window)
    pair_mask = rng.random(window.pairs) < 0.3
    assert np.array_equal(engine.scores(window, pair_mask), np.where(pair_mask, everything, 0))
    found = engine.align(window, Want(Detail.SCORE, min_raw_score=5), pair_mask)
    assert np.array_equal(found.raw_score, everything[pair_mask & (everything >= 5)])


def test_the_threshold_is_reached_by_its_own_score():
    rng = np.random.default_rng(3)
    sets = make_sets(random_sequences(rng, "ACGT", 30, 60, "mixed"))
    scoring = linear(2, -3, 5)
    (one,) = open_filters("cpu", Problem(sets[0], None, scoring), threads=2, memory_bytes=1 << 20)
    for strand in (1, -1):
        window = whole(sets, strand)
        scores = expected(sets, scoring, window)
        assert one.scores(window).tolist() == scores.tolist()
        for threshold in (0, int(np.median(scores)), int(scores.max()), int(scores.max()) + 1):
            passing = one.passing(window, threshold)
            assert passing.dtype == bool
            assert passing.tolist() == (scores >= threshold).tolist()
    one.close()


def test_decimals_and_common_factors():
    sets = make_sets(["ACGTACGTTT", "ACGTCGTTA", "GGTACG"])
    small = open_bitwise(sets, linear(2, -3, 4)).scores(whole(sets))
    large = make_scoring(
        "dna", mode="local", match="0.5", mismatch="-0.75", gap_open=1, gap_extend=1
    )
    engine = open_bitwise(sets, large)
    assert linear_scores(large) == LinearScores(2, 3, 4, 25)
    assert np.array_equal(engine.scores(whole(sets)), 25 * small)


def test_it_stops_when_told():
    """Amid work for minutes."""
    rng = np.random.default_rng(4)
    sets = make_sets(["".join(rng.choice(list("ACGT"), 3000)) * 10 for _ in range(200)])
    engine = open_bitwise(sets, linear(1, -2, 2))
    timer = threading.Timer(0.1, engine.cancel)
    timer.start()
    with pytest.raises(InterruptedError):
        engine.align(whole(sets), SCORES)
    timer.join()


def test_an_unknown_instruction_set():
    with pytest.raises(DeviceError, match="instruction set 'mmx'"):
        open_bitwise(make_sets(["A", "C"]), linear(1, -1, 1), instruction_set="mmx")


def test_the_command_writes_what_it_does_without(tmp_path):
    (tmp_path / "in.fa").write_text(fasta({**BASES, "r4": "NNNN"}))
    gaps = ("--gap-open", "2", "--gap-extend", "2", "--match", "1")
    common = ("align", "in.fa", "--mode", "local", "--score-only", "--device", "cpu", "--quiet")
    for more in ((), ("--kernel", "bitwise")):
        done = run(*common, *gaps, *more, "-o", f"{len(more)}.tsv", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "0.tsv").read_bytes() == (tmp_path / "2.tsv").read_bytes()
    refused = run(*common, "--kernel", "bitwise", "-o", "x.tsv", cwd=tmp_path)
    assert refused.returncode == 1
    assert b"kernel 'bitwise': affine gaps, needs --gap-open equal to" in refused.stderr
    assert not (tmp_path / "x.tsv").exists()


# --------------------------------------------------------------------------- the kernels of the GPU


def open_kernels(
    device: object, sets: list[SequenceSet], scoring: Scoring, shape: Shape | None
) -> Engine:
    with patch.dict(FAMILIES, {"bitwise": lambda: Bitwise(shape)}):
        return open_on(device, sets, scoring, family="bitwise", detail=Detail.SCORE)


def check_kernels(device: object, scoring: Scoring, shape: Shape | None, seed: int) -> None:
    """One set and two, on both strands, of lengths that need several passes."""
    rng = np.random.default_rng(seed)
    longest = 150 if shape is None else shape.strip * 5 // 2
    first = random_sequences(rng, "ACGTN", 35, longest, "mixed")
    second = random_sequences(rng, "ACGT", 5, longest // 3, "mixed")  # its words are turned
    for sets in (make_sets(first), make_sets(first[:6], second)):
        engine = open_kernels(device, sets, scoring, shape)
        judge = CpuEngine(Problem(sets[0], sets[1] if len(sets) > 1 else None, scoring))
        try:
            for strand in (1, -1):
                check_alike(engine, judge, whole(sets, strand))
            check_alike(engine, judge, Window(0, 2, 6, 3, len(sets[-1]), len(sets) == 1))
        finally:
            engine.close()


def check_independent_pairs(device: object, scoring: Scoring) -> None:
    """The paper's kernel: every pair has two sequences of its own."""
    rng = np.random.default_rng(5)
    pairs, rows, columns = 70, 128, 64
    row_codes = rng.choice([0, 1, 2, 3, 14], (pairs, rows), p=[0.24] * 4 + [0.04]).astype(np.uint8)
    column_codes = rng.choice([0, 1, 2, 3, 5], (pairs, columns)).astype(np.uint8)
    column_codes[::2] = row_codes[::2, 30 : 30 + columns]
    row_lengths = rng.integers(1, rows + 1, pairs).astype(np.int32)
    column_lengths = rng.integers(1, columns + 1, pairs).astype(np.int32)
    found = np.empty(pairs, np.int32)
    with device.current():
        scorer = BitwisePairs(device, scoring, pairs, rows, columns)
        scorer.upload(
            row_codes=row_codes,
            column_codes=column_codes,
            row_lengths=row_lengths,
            column_lengths=column_lengths,
        )
        scorer.transpose()
        scorer.score()
        scorer.download(found)
        scorer.close()
    costs = Costs(scoring.matrix, scoring.gap_open, scoring.gap_extend, "local")
    for k in range(pairs):
        one, other = row_codes[k, : row_lengths[k]], column_codes[k, : column_lengths[k]]
        assert found[k] == fill_by_rows([(one, other)], costs)[0][0].max()


def test_kernels_on_this_cpu():
    check_kernels(host_device(), linear(1, -2, 2), Shape(8, 4, 16), 1)


def test_kernels_with_whole_warps_on_this_cpu():
    """The shape that independent pairs of 64 letters take: both are compiled together."""
    scoring = linear(2, -1, 1)
    scores = linear_scores(scoring)
    shape = Shape(round_bits(scores, scores.bits(128, 64)), 4, 32)
    check_independent_pairs(host_device(), scoring)
    rng = np.random.default_rng(6)
    sets = make_sets(random_sequences(rng, "ACGT", 12, 60, "mixed"))
    engine = open_kernels(host_device(), sets, scoring, shape)
    check_alike(engine, CpuEngine(Problem(sets[0], None, scoring)), whole(sets))
    engine.close()


@pytest.mark.gpu
@pytest.mark.parametrize(("match", "mismatch", "gap"), SCHEMES[:4])
def test_kernels_on_a_gpu(match, mismatch, gap):
    scoring = linear(match, mismatch, gap)
    check_kernels(cuda_device(), scoring, None, 7)
    check_kernels(cuda_device(), scoring, Shape(round_bits(linear_scores(scoring), 11), 8, 32), 8)
    check_independent_pairs(cuda_device(), scoring)


@pytest.mark.gpu
def test_the_filter_on_a_gpu_says_what_that_on_a_cpu_says():
    rng = np.random.default_rng(9)
    sets = make_sets(random_sequences(rng, "ACGTN", 200, 120, "mixed"))
    masks = []
    for device in ("cpu", cuda_device().name):
        (one,) = open_filters(
            device, Problem(sets[0], None, linear(2, -3, 5)), threads=2, memory_bytes=1 << 28
        )
        masks.append([one.passing(whole(sets, strand), 30) for strand in (1, -1)])
        one.close()
    for ours, theirs in zip(*masks, strict=True):
        assert ours.any()
        assert not ours.all()
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("columns", [1, 64, 100, 128, 250, 300, 5000])
@pytest.mark.parametrize("bits", [8, 9, 12, 16, 20])
def test_shapes_fit_registers_and_waste_little(bits, columns):
    shape = choose_shape(bits, columns)
    assert shape.columns * bits <= 144
    padded = -(-columns // shape.strip) * shape.strip
    assert padded <= max(64, columns * 1.4)


def test_what_is_compiled_ahead_is_what_windows_ask_for():
    ahead = [defines for _, defines in Bitwise().variants()]
    for match, mismatch, gap, length in ((1, 3, 2, 250), (2, 1, 1, 250), (1, 2, 1, 150)):
        scores = LinearScores(match, mismatch, gap, 1)
        shape = choose_shape(round_bits(scores, scores.bits(length, length)), length)
        assert shape.defines(scores) in ahead
