"""The CUDA kernels that compute scores only: equal to the reference's, whatever the variant.

Tests of the fixture `device` run twice: with the kernels compiled for this CPU, which needs no GPU,
and on a GPU where there is one.
"""

import contextlib
import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import reference
from cases import CASES
from checks import assert_same, costs_of, run, windows_of
from conftest import examples, open_cpu
from cuda_engines import cuda_device, host_device, open_on
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    MODES,
    Problem,
    blosum_like,
    large_problems,
    make_scoring,
    match_matrix,
    proteins,
    random_matrix,
    random_sequences,
    small_problems,
)

from pairalign.alignments.problem import Problem as Aligned
from pairalign.engines import EngineRequest
from pairalign.engines.cuda.cuda_engine import FAMILIES, CudaEngine, open_cuda_engines
from pairalign.engines.cuda.cuda_reverse_complement import OtherStrand
from pairalign.engines.cuda.papers.pair_per_warp import LAYOUTS, PairPerWarp
from pairalign.engines.cuda.papers.striped import Striped
from pairalign.errors import DeviceError, ScoringError
from pairalign.jobs.run import schedule
from pairalign.pairs.want import Detail, Want
from pairalign.results.alignments_result import Alignments
from pairalign.sequences.alphabets import DNA, PROTEIN

SCORES = Want(Detail.SCORE)
KERNELS = (PairPerWarp.name, Striped.name)
VARIANTS: dict[str, Any] = {
    **{f"warp-{layout.lower()}": (PairPerWarp, {"layout": layout}) for layout in LAYOUTS},
    "warp-rolled": (PairPerWarp, {"unrolled": 1, "slots": 1}),
    "striped-passes": (Striped, {"every_step": False}),
    "striped-reduction": (Striped, {"vote": False, "read_only": False}),
    "striped-as-in-the-paper": (Striped, {"vote": False, "every_step": False, "slots": 1}),
}


@pytest.fixture(scope="session", params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> str:
    return request.param


def opener(device: Any, kernel: str, **fixed: Any) -> Any:
    fixed.update(family=kernel, detail=Detail.SCORE)
    return lambda sets, scoring, **options: open_on(device, sets, scoring, **fixed, **options)


def assert_reference_scores(problem: Problem, found: Alignments, at_most: int) -> None:
    sets = problem.sets()
    costs = costs_of(problem.scoring)
    for k in range(0, len(found) if at_most else 0, max(1, len(found) // max(1, at_most))):
        query, target = int(found.query[k]), int(found.target[k])
        expected = reference.align(sets[0].codes_of(query), sets[-1].codes_of(target), costs)
        assert found.raw_score[k] == expected.score, (query, target, problem)


def check(device: Any, kernel: str, problem: Problem, at_most: int = 10, **options: Any) -> None:
    found = run(opener(device, kernel), problem, SCORES, **options)
    expected = run(open_cpu, problem, SCORES, window=options.get("window", 1 << 20))
    assert_same(expected, found, Detail.SCORE, problem)
    assert_reference_scores(problem, found, at_most)


@pytest.mark.gpu
@settings(max_examples=examples(150))
@given(problem=st.one_of(small_problems(), large_problems))
def test_any_problem(kernel, problem):
    check(cuda_device(), kernel, problem)


@settings(max_examples=examples(8))
@given(problem=small_problems())
def test_small_problems(kernel, problem):
    check(host_device(), kernel, problem)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_hard_cases(kernel, case, mode):
    for problem in CASES[case](mode):
        check(cuda_device(), kernel, problem, at_most=5)


@pytest.mark.parametrize("mode", MODES)
def test_lengths_around_a_warp(device, kernel, mode):
    """Strips, windows, segments and lanes that are full, just begun or just missed."""
    lengths = (1, 2, 31, 32, 33, 64, 65)
    rng = np.random.default_rng(4)
    ancestor = "".join(rng.choice(list("ARNDC"), 100))
    sequences = tuple(ancestor[k : k + n] for k, n in enumerate(lengths) if k + n <= 100)
    check(device, kernel, Problem(sequences, None, blosum_like(mode, 5, 1)), at_most=40)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [20, 9000, 3 * 10**7])
def test_scores_of_8_16_and_32_bits(device, kernel, mode, size):
    matrix = random_matrix(np.random.default_rng(size), -size, size)
    for gap_open, gap_extend in ((size, size // 9), (0, 0)):
        scoring = make_scoring(PROTEIN, mode, gap_open, gap_extend, matrix)
        check(device, kernel, Problem(("ARND", "NDRA" * 2, "C", "DNCARA"), None, scoring))


@pytest.mark.parametrize("mode", MODES)
def test_absurd_scores_are_right_or_refused(device, kernel, mode):
    for size in (3 * 10**8, 10**9):
        for extend in (0, 10**7, 10**8):
            for match, mismatch, gap_open in ((size, -1, 5), (1, -size, 5), (1, -1, size)):
                matrix = match_matrix(DNA, match, mismatch)
                scoring = make_scoring(DNA, mode, max(gap_open, extend), extend, matrix)
                problem = Problem(("A" * 9, "ACCA", "C" * 40), None, scoring)
                with contextlib.suppress(ScoringError):
                    scoring.check_sets(*problem.sets())
                    check(device, kernel, problem)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_agree(device, monkeypatch, variant):
    make, options = VARIANTS[variant]
    monkeypatch.setitem(FAMILIES, "variant", lambda: make(**options))
    for mode in MODES if device.model != "this CPU" else ["local"]:  # each is compiled for this CPU
        check(device, "variant", Problem(proteins(4, 70), proteins(2, 50, 2), blosum_like(mode)))


def test_gaps_that_follow_gaps(device, kernel):
    """Where a mismatch costs more than two gaps: lazy F must also correct E."""
    for mode in MODES:
        scoring = make_scoring(DNA, mode, 2, 1, match_matrix(DNA, 3, -100))
        sequences = ("ACGT" * 10, "ACGGTC" * 6, "TTTTACGTACCCCCGT", "A" * 35 + "C" * 35)
        check(device, kernel, Problem(sequences, None, scoring))


@pytest.mark.parametrize("two_sets", [False, True])
def test_windows_that_nothing_divides(device, kernel, two_sets):
    second = proteins(11, 30, seed=5) if two_sets else None
    problem = Problem(proteins(13, 30), second, blosum_like("local"))
    check(device, kernel, problem, window=5)


def test_a_short_query_against_long_sequences(device, kernel):
    """The row is the shorter sequence of most pairs."""
    problem = Problem(proteins(2, 20), proteins(9, 150, 3), blosum_like("semiglobal"))
    check(device, kernel, problem)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
def test_queries_too_long_for_shared_memory(kernel, mode):
    sequences = (*proteins(4, 9000, seed=6, shape="near"), *proteins(4, 900, seed=7))
    check(cuda_device(), kernel, Problem(sequences, None, blosum_like(mode)), at_most=0)


def test_a_query_too_long_for_shared_memory(kernel):
    problem = Problem(proteins(1, 6200, seed=6, shape="equal"), ("ARN",), blosum_like("global"))
    check(host_device(), kernel, problem, at_most=1)


@pytest.mark.parametrize("memory_bytes", [180 << 10])
def test_little_memory(device, kernel, memory_bytes):
    """Fewer blocks, smaller batches, or the CPU: the scores are the same."""
    problem = Problem(proteins(20, 90), None, blosum_like("local"))
    check(device, kernel, problem, memory_bytes=memory_bytes)


def test_batches_of_a_few_rows(device, kernel, monkeypatch):
    """Some rows at a time, or, where a row has more pairs, some of a row."""
    make = FAMILIES[kernel]
    for most in (30, 5):
        monkeypatch.setitem(FAMILIES, "small", lambda most=most: make(batch_pairs=most))
        for second in (None, proteins(7, 20, 2)):
            check(device, "small", Problem(proteins(9, 20), second, blosum_like("global")))


def test_least_scores_and_chosen_pairs(device, kernel):
    problem = Problem(proteins(23, 40), None, blosum_like("local"))
    sets = problem.sets()
    expected = run(open_cpu, problem, SCORES)
    pair_mask = np.arange(len(expected)) % 3 == 1
    least = int(np.median(expected.raw_score))
    engine = opener(device, kernel)(sets, problem.scoring)
    try:
        (window,) = windows_of(23, None, 23)
        found = engine.align(window, SCORES, pair_mask)
        assert_same(expected.take(pair_mask), found, Detail.SCORE)
        found = engine.align(window, Want(Detail.SCORE, min_raw_score=least), pair_mask)
        wanted = pair_mask & (expected.raw_score >= least)
        assert_same(expected.take(wanted), found, Detail.SCORE)
        assert len(engine.align(window, SCORES, np.zeros_like(pair_mask))) == 0
    finally:
        engine.close()


@pytest.mark.parametrize("at_once", [True, False])
def test_the_other_strand(device, kernel, at_once, monkeypatch):
    """Of a whole set, and of the columns of each window."""
    if not at_once:
        monkeypatch.setitem(OtherStrand.__init__.__kwdefaults__, "most_at_once", 0)
    rng = np.random.default_rng(8)
    sequences = tuple(random_sequences(rng, "ACGT", 9, 40, "mixed"))
    scoring = make_scoring(DNA, "local", 5, 2, match_matrix(DNA, 2, -3))
    sets = Problem(sequences, None, scoring).sets()
    engines = open_cpu(sets, scoring), opener(device, kernel)(sets, scoring)
    try:
        for window in windows_of(9, None, 5):
            turned = replace(window, strand=-1)
            expected, found = (engine.align(turned, SCORES) for engine in engines)
            assert_same(expected, found, Detail.SCORE)
    finally:
        for engine in engines:
            engine.close()


def test_alignments_are_refused(device, kernel):
    problem = Problem(proteins(3, 5), None, blosum_like("global"))
    (sequences,) = problem.sets()
    for detail in (Detail.STATS, Detail.CIGAR):
        with pytest.raises(DeviceError, match=f"'{kernel}'.*scores only"):
            CudaEngine(
                device, Aligned(sequences, None, problem.scoring), family=kernel, detail=detail
            )


def test_an_old_device_is_an_error(kernel):
    device = host_device()
    device.capability = (5, 2)
    problem = Problem(proteins(3, 5), None, blosum_like("global"))
    with pytest.raises(DeviceError, match=r"compute capability 5\.2, needs 6\.1"):
        run(opener(device, kernel), problem, SCORES)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
def test_large_sets(kernel, mode):
    """A few hundred thousand pairs of real lengths, by several engines of a device."""
    problem = Problem(proteins(700, 500, seed=12), None, blosum_like(mode))
    sets = problem.sets()
    windows = list(windows_of(700, None, 200))
    device = cuda_device()
    engines = open_cuda_engines(
        [device],
        EngineRequest(Aligned(sets[0], None, problem.scoring), kernel=kernel, detail=Detail.SCORE),
    )
    expected = open_cpu(sets, problem.scoring, threads=os.cpu_count() or 1)
    try:
        for window, found in schedule.run(engines, windows, SCORES, lambda w: w.pairs, ahead=4):
            assert_same(expected.align(window, SCORES), found, Detail.SCORE, window)
    finally:
        for engine in (*engines, expected):
            engine.close()
