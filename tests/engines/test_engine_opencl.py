"""What is the OpenCL engine's own: batches, memory that runs short, failures, the striped kernel.

Everything runs for real, on PoCL if there is no GPU; test_engines.py holds the engine to the
reference, as it does all engines.
"""

import logging
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from cases import CASES
from checks import assert_every_pair, assert_same, run, windows_of
from conftest import examples, open_cpu
from hypothesis import given, settings
from hypothesis import strategies as st
from opencl_engines import SMALL, ShortOfMemory, open_opencl, opencl_device
from strand_problems import problems as dna_problems
from strategies import (
    MODES,
    SEEDS,
    Problem,
    blosum_like,
    large_problems,
    make_scoring,
    match_matrix,
    proteins,
    random_sequences,
    small_problems,
)

from pairalign.engines.opencl import opencl_engine as opencl
from pairalign.engines.opencl.opencl_engine import OPENCL_FAMILIES, OpenClEngine, pinned_pool
from pairalign.engines.opencl.opencl_family import OpenClContext
from pairalign.engines.opencl.opencl_striped import OpenClStriped
from pairalign.errors import DeviceError
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA

KIB, MIB = 1 << 10, 1 << 20
SCORES = Want(Detail.SCORE)


@pytest.fixture(scope="module")
def device() -> Any:
    return opencl_device()


@pytest.mark.parametrize("detail", list(Detail))
@pytest.mark.parametrize("mode", MODES)
def test_small_batches(device, mode, detail):
    for second in (None, proteins(17, 60, seed=3)):
        problem = Problem(proteins(35, 60), second, blosum_like(mode))
        everything = run(open_cpu, problem)
        found = run(open_opencl, problem, Want(detail), memory_bytes=300 * KIB)
        assert_same(found, everything, detail)


def test_an_array_is_no_larger_than_the_device_allows(device, monkeypatch):
    problem = Problem(proteins(120, 60), None, blosum_like("global"))
    expected = run(open_cpu, problem)
    monkeypatch.setattr(device, "array_bytes", MIB)
    sizes: list[int] = []
    allocate = OpenClContext.allocate

    def noted(self: OpenClContext, size_bytes: int) -> Any:
        sizes.append(size_bytes)
        return allocate(self, size_bytes)

    monkeypatch.setattr(OpenClContext, "allocate", noted)
    assert_same(expected, run(open_opencl, problem))
    assert MIB // 2 < max(sizes) <= MIB
    monkeypatch.setattr(device, "array_bytes", KIB)
    with pytest.raises(DeviceError, match=r"sequences of \d+ bytes.*holds 1024"):
        run(open_opencl, problem)


def test_pairs_without_room_go_to_the_cpu(device, caplog):
    sequences = (*proteins(20, 40), *proteins(4, 900, seed=4, shape="equal"))
    for mode in MODES:
        problem = Problem(sequences, None, blosum_like(mode))
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            found = run(open_opencl, problem, memory_bytes=MIB)
        assert_same(run(open_cpu, problem), found)
        assert [record.getMessage() for record in caplog.records if "need more" in record.msg]


def of_15_residues(window: Any, pair_mask: Any, rows: Any, columns: Any, units: int) -> Any:
    """Stands for `long_pairs`: there are few long sequences among the examples."""
    of_row, of_column = window.positions()
    chosen = np.minimum(rows[of_row], columns[of_column]) >= 15
    chosen &= True if pair_mask is None else pair_mask
    return chosen if chosen.any() else None


@settings(max_examples=examples(8))
@given(problem=dna_problems, strand=st.sampled_from([1, -1]), share=st.sampled_from([0.3, 1.0]))
def test_long_pairs_go_to_the_cpu(device, problem, strand, share):
    """On a GPU, where a work-item for each would leave the others idle."""
    sets = problem.sets()
    cpu = open_cpu(sets, problem.scoring)
    lengths = [len(one) for one in sets] + [None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "is_cpu", False)
        patch.setattr(opencl, "long_pairs", of_15_residues)
        engine = open_opencl(sets, problem.scoring)
        for window in windows_of(lengths[0], lengths[1], 1 << 20):
            window = replace(window, strand=strand)
            pair_mask = np.random.default_rng(1).random(window.pairs) < share
            expected = cpu.align(window, Want(), pair_mask)
            assert_same(expected, engine.align(window, Want(), pair_mask), note=problem)
        engine.close()
    cpu.close()


def test_which_pairs_are_long(device, monkeypatch, caplog):
    problem = Problem((*proteins(60, 30), "ARND" * 600, "RNDC" * 560), None, blosum_like("local"))
    expected = run(open_cpu, problem)
    with caplog.at_level(logging.INFO):
        monkeypatch.setattr(device, "is_cpu", True)
        assert_same(expected, run(open_opencl, problem))
        assert not caplog.records  # a CPU gives no work-item less than another core
        monkeypatch.setattr(device, "is_cpu", False)
        assert_same(expected, run(open_opencl, problem, family="pair-per-thread"))
        assert not caplog.records  # asked for by name
        assert_same(expected, run(open_opencl, problem))
    assert "the CPU aligns long pairs such as 'seq61' and 'seq62'" in caplog.text


@pytest.mark.parametrize("kernel", list(OPENCL_FAMILIES))
def test_out_of_memory_halves_the_batch(device, monkeypatch, caplog, kernel):
    alone = kernel == "pair-per-thread"
    detail = Detail.CIGAR if alone else Detail.SCORE
    first, second = (100, 50) if alone else (40, 4)
    problem = Problem(proteins(first, 60), proteins(second, 60, seed=9), blosum_like("global"))
    expected = run(open_cpu, problem, Want(detail))
    memory = ShortOfMemory(device, monkeypatch)

    def open_and_take_memory_away(*arguments: Any, **options: Any) -> OpenClEngine:
        engine = open_opencl(*arguments, family=kernel, detail=detail, **options)
        room = 5 * MIB if alone else 40 * KIB
        memory.limit_bytes = memory.used_bytes + room
        return engine

    monkeypatch.setattr("pairalign.engines.device.device_sets.LEAST_BATCH_BYTES", KIB)
    with caplog.at_level(logging.INFO):
        found = run(open_and_take_memory_away, problem, Want(detail))
    assert_same(expected, found, detail)
    assert any("out of memory" in record.getMessage() for record in caplog.records)
    assert 0 < memory.peak_bytes <= memory.limit_bytes
    assert memory.used_bytes == 0


def test_no_memory_at_all_is_an_error(device, monkeypatch):
    problem = Problem(proteins(50, 60), None, blosum_like("global"))
    memory = ShortOfMemory(device, monkeypatch)
    memory.limit_bytes = 100
    with pytest.raises(DeviceError, match=r"opencl:\d .*no memory left for the sequences"):
        run(open_opencl, problem)

    def open_and_take_memory_away(*arguments: Any, **options: Any) -> OpenClEngine:
        memory.limit_bytes = 1 << 40
        engine = open_opencl(*arguments, **options)
        memory.limit_bytes = memory.used_bytes + 10
        return engine

    with pytest.raises(DeviceError, match=r"opencl:\d: out of memory"):
        run(open_and_take_memory_away, problem)


def test_a_failure_names_device_kernel_and_window(device, monkeypatch):
    launch = OpenClContext.launch

    def failing(self: OpenClContext, kernel: Any, *rest: Any) -> None:
        launch(self, kernel, *rest)
        if "traceback" in kernel.function_name:
            raise device.cl.LogicError("clFinish failed: INVALID_WORK_GROUP_SIZE")

    monkeypatch.setattr(OpenClContext, "launch", failing)
    said = r"opencl:\d .*traceback_pair_per_thread failed on window 0 \(rows 0-16, .*WORK_GROUP"
    with pytest.raises(DeviceError, match=said):
        run(open_opencl, Problem(proteins(40, 20), None, blosum_like("global")), window=16)


def test_results_in_pinned_memory(device, monkeypatch):
    """As on a GPU; they outlive the engine, and later windows do not overwrite them."""
    problem = Problem(proteins(90, 60), None, blosum_like("global"))
    sets = problem.sets()
    monkeypatch.setattr(device, "is_cpu", False)
    pools = []

    def watched(*arguments: Any) -> Any:
        pools.append(pinned_pool(*arguments))
        return pools[-1]

    monkeypatch.setattr(opencl, "pinned_pool", watched)
    engine = open_opencl(sets, problem.scoring, pinned_bytes=8 * MIB)
    cpu = open_cpu(sets, problem.scoring)
    windows = list(windows_of(90, None, 40))
    found = [engine.align(window, Want()) for window in windows]
    (pool,) = pools
    assert pool.pinned_bytes > 0
    engine.close()
    for window, one in zip(windows, found, strict=True):
        assert_same(cpu.align(window, Want()), one)
    del found, one


def test_cancelling(device):
    problem = Problem(proteins(60, 60), None, blosum_like("global"))
    (window,) = windows_of(60, None, 60)
    engine = open_opencl(problem.sets(), problem.scoring)
    engine.cancel()
    with pytest.raises(InterruptedError):
        engine.align(window, Want())
    engine.close()


@settings(max_examples=examples(25))
@given(
    problem=dna_problems,
    detail=st.sampled_from(list(Detail)),
    seed=SEEDS,
    share=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    strand=st.sampled_from([1, -1]),
    scored=st.booleans(),
    memory_bytes=st.sampled_from([None, MIB]),
)
def test_chosen_pairs_of_either_strand(problem, detail, seed, share, strand, scored, memory_bytes):
    rng = np.random.default_rng(seed)
    sets = problem.sets()
    cpu = open_cpu(sets, problem.scoring)
    engine = open_opencl(sets, problem.scoring, memory_bytes=memory_bytes)
    try:
        lengths = [len(one) for one in sets] + [None]
        for window in windows_of(lengths[0], lengths[1], 30):
            window = replace(window, strand=strand)
            pair_mask = rng.random(window.pairs) < share
            minimum = None
            if scored and window.pairs:
                minimum = int(np.median(cpu.align(window, SCORES).raw_score))
            want = Want(detail, minimum)
            expected = cpu.align(window, want, pair_mask)
            assert_same(expected, engine.align(window, want, pair_mask), detail, problem)
    finally:
        cpu.close()
        engine.close()


striped = partial(open_opencl, family=OpenClStriped.name, detail=Detail.SCORE)


@settings(max_examples=examples(25))
@given(problem=st.one_of(small_problems(), large_problems.filter(lambda p: len(p.first) < 20)))
def test_striped_scores(device, problem):
    found = run(striped, problem, SCORES)
    assert_every_pair(problem, found)
    assert_same(run(open_cpu, problem), found, Detail.SCORE, problem)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "case", ["ties", "homopolymers", "everything_matches", "large_steps", "just_fits_or_not"]
)
def test_striped_in_hard_cases(device, case, mode):
    for problem in list(CASES[case](mode))[-2:]:
        found = run(striped, problem, SCORES)
        assert_same(run(open_cpu, problem), found, Detail.SCORE, problem)


@pytest.mark.parametrize("mode", MODES)
def test_striped_gaps_that_follow_one_another(device, mode):
    """Where a mismatch costs more than two gaps: E must follow what lazy F changes."""
    rng = np.random.default_rng(8)
    sequences = tuple(random_sequences(rng, "ACGT", 12, 90, "mixed"))
    for gaps in ((1, 0), (2, 1), (7, 0)):
        scoring = make_scoring(DNA, mode, *gaps, match_matrix(DNA, 5, -40))
        problem = Problem(sequences, None, scoring)
        assert_same(run(open_cpu, problem), run(striped, problem, SCORES), Detail.SCORE, problem)


@pytest.mark.parametrize("mode", MODES)
def test_striped_in_global_memory(device, monkeypatch, mode):
    """Where local memory is too small for H and E of a sequence."""
    problem = Problem(proteins(8, 90), None, blosum_like(mode))
    monkeypatch.setattr(device, "local_bytes", KIB)
    assert_same(run(open_cpu, problem), run(striped, problem, SCORES), Detail.SCORE)


def test_striped_pairs_chosen_or_without_room(device):
    problem = Problem(proteins(12, 80), None, blosum_like("local"))
    sets = problem.sets()
    (window,) = windows_of(12, None, 12)
    cpu = open_cpu(sets, problem.scoring)
    pair_mask = np.random.default_rng(3).random(window.pairs) < 0.4
    for memory_bytes in (None, 16 * KIB):
        engine = striped(sets, problem.scoring, memory_bytes=memory_bytes)
        for want in (SCORES, Want(Detail.SCORE, 20)):
            expected = cpu.align(window, want, pair_mask)
            assert_same(expected, engine.align(window, want, pair_mask), Detail.SCORE)
        engine.close()


def test_striped_computes_scores_only(device):
    with pytest.raises(DeviceError, match=r"'striped'.*scores only"):
        run(open_opencl, SMALL, family="striped")
