"""What is the CUDA engine's own: widths, blocks, batches, memory that runs short, failures.

Tests of the fixture `device` run twice: with the kernels compiled for this CPU, which needs no GPU,
and on a GPU where there is one. test_engines.py holds the engine on a GPU to the reference, as it
does all engines.
"""

import logging
import os
import re
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import CASES
from checks import assert_as_reference, assert_every_pair, assert_same, run, windows_of
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
    random_sequences,
    small_problems,
)

from pairalign.alignments.problem import Problem as Aligned
from pairalign.engines import EngineRequest
from pairalign.engines.cuda.cuda_engine import FAMILIES, CudaEngine, open_cuda_engines
from pairalign.engines.cuda.cuda_reverse_complement import SOURCE as STRAND_SOURCE
from pairalign.engines.cuda.pair_per_thread import PairPerThread
from pairalign.engines.device.tile_plan import NARROW, PLAIN, WIDE, choose_width
from pairalign.errors import DeviceError, KernelBuildError
from pairalign.jobs.run import schedule
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

KIB, MIB = 1 << 10, 1 << 20
PAPER = PairPerThread.name
QUICK_CASES = [
    *("ties", "homopolymers", "no_match_at_all", "everything_matches", "scores_that_need_32_bits"),
    *("very_long_against_very_short", "a_thousand_residues"),
]


def opener(device: Any, **fixed: Any) -> Any:
    fixed.setdefault("family", PAPER)
    return lambda sets, scoring, **options: open_on(device, sets, scoring, **fixed, **options)


@settings(max_examples=examples(60))
@given(problem=st.one_of(small_problems(), large_problems))
def test_any_problem(device, problem):
    found = run(opener(device), problem)
    assert_every_pair(problem, found)
    assert_same(run(open_cpu, problem), found, note=problem)
    assert_as_reference(problem, found, at_most=20)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", QUICK_CASES)
def test_hard_cases(device, case, mode):
    for problem in list(CASES[case](mode))[-3:]:
        found = run(opener(device), problem)
        assert_same(run(open_cpu, problem), found, note=problem)
        scores = run(opener(device), problem, Want(Detail.SCORE))
        assert_same(scores, found, Detail.SCORE, problem)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("block", [8, 32])
def test_the_size_of_blocks_does_not_matter(device, monkeypatch, block, mode):
    monkeypatch.setitem(FAMILIES, "other", lambda: PairPerThread(block=block))
    for second in (None, proteins(20, 50, seed=2)):
        problem = Problem(proteins(37, 40), second, blosum_like(mode))
        assert_same(run(open_cpu, problem), run(opener(device, family="other"), problem))


@pytest.mark.parametrize("window", [15, 16, 80])
@pytest.mark.parametrize("two_sets", [False, True])
def test_windows_that_nothing_divides(device, window, two_sets):
    second = proteins(50, 30, seed=5) if two_sets else None
    problem = Problem(proteins(61, 30), second, blosum_like("local"))
    found = run(opener(device), problem, window=window)
    assert_same(run(open_cpu, problem, window=window), found)


@pytest.mark.parametrize("detail", list(Detail))
@pytest.mark.parametrize("mode", MODES)
def test_small_batches(device, mode, detail):
    for second in (None, proteins(17, 60, seed=3)):
        problem = Problem(proteins(35, 60), second, blosum_like(mode))
        everything = run(open_cpu, problem)
        for memory_bytes in (180 * KIB, 600 * KIB):
            found = run(opener(device), problem, Want(detail), memory_bytes=memory_bytes)
            assert_same(found, everything, detail, memory_bytes)


@pytest.mark.parametrize("detail", list(Detail))
def test_least_scores(device, detail):
    problem = Problem(proteins(60, 60), None, blosum_like("local"))
    everything = run(open_cpu, problem)
    for least in (0, 10, int(np.median(everything.raw_score)), int(everything.raw_score.max()) + 1):
        want = Want(detail, min_raw_score=least)
        expected = run(open_cpu, problem, want)
        for memory_bytes in (None, 600 * KIB):
            found = run(opener(device), problem, want, memory_bytes=memory_bytes)
            assert_same(found, expected, detail, (least, memory_bytes))


def test_pairs_without_room_go_to_the_cpu(device, caplog):
    sequences = (*proteins(20, 40), *proteins(4, 900, seed=4, shape="equal"))
    for mode in MODES:
        problem = Problem(sequences, None, blosum_like(mode))
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            found = run(opener(device), problem, memory_bytes=2 * MIB)
        assert_same(run(open_cpu, problem), found)
        (record,) = caplog.records
        assert "need more memory" in record.getMessage()
        assert re.search("'seq2[1-4]' and 'seq2[1-4]'", record.getMessage())  # long ones


def test_out_of_memory_halves_the_batch(monkeypatch, caplog):
    device = host_device()
    memory = device.driver.memory
    problem = Problem(proteins(120, 60), proteins(50, 60, seed=9), blosum_like("global"))
    expected = run(open_cpu, problem)
    monkeypatch.setattr(memory, "peak_bytes", 0)

    def open_and_take_memory_away(*arguments: Any, **options: Any) -> CudaEngine:
        engine = opener(device)(*arguments, **options)
        monkeypatch.setattr(memory, "total_bytes", memory.used_bytes + 5 * MIB)
        return engine

    with caplog.at_level(logging.INFO):
        found = run(open_and_take_memory_away, problem)
    assert_same(expected, found)
    assert any("out of memory" in record.getMessage() for record in caplog.records)
    assert 0 < memory.peak_bytes <= memory.total_bytes
    assert memory.used_bytes == 0


def test_no_memory_at_all_is_an_error(monkeypatch):
    device = host_device()
    memory = device.driver.memory
    problem = Problem(proteins(50, 60), None, blosum_like("global"))
    monkeypatch.setattr(memory, "total_bytes", 100)
    with pytest.raises(DeviceError, match=r"cuda:0.*memory"):
        run(opener(device), problem)
    monkeypatch.undo()

    def open_and_take_memory_away(*arguments: Any, **options: Any) -> CudaEngine:
        engine = opener(device)(*arguments, **options)
        monkeypatch.setattr(memory, "total_bytes", memory.used_bytes + 10)
        return engine

    with pytest.raises(DeviceError, match="cuda:0: out of memory"):
        run(open_and_take_memory_away, problem)
    monkeypatch.undo()
    assert memory.used_bytes == 0


@pytest.mark.parametrize("kernel", ["fill_pair_per_thread", "traceback_pair_per_thread"])
def test_a_failure_names_device_kernel_and_window(monkeypatch, kernel):
    device = host_device()
    monkeypatch.setattr(device.driver.memory, "failing_launches", {kernel})
    problem = Problem(proteins(40, 20), None, blosum_like("global"))
    with pytest.raises(DeviceError, match=rf"cuda:0 .*{kernel} failed on window 0 \(rows 0-16"):
        run(opener(device), problem, window=16)
    assert device.driver.memory.used_bytes == 0


@pytest.mark.parametrize("missing", ["packed/fill.cu", "packed/traceback.cu"])
def test_kernels_that_are_not_there_are_replaced_only_by_auto(monkeypatch, caplog, missing):
    """A cache that earlier runs have filled in part, and no nvcc."""
    device = host_device()
    load_modules = device.load_modules

    def load(requests: Any) -> Any:
        if any(request.source == missing for request in requests):
            raise KernelBuildError("nvcc is not there")
        return load_modules(requests)

    monkeypatch.setattr(device, "load_modules", load)
    problem = Problem(proteins(40, 20), None, blosum_like("global"))
    sets, windows = problem.sets(), list(windows_of(40, None, 16))
    expected = open_cpu(sets, problem.scoring)
    for falls_back in (True, False):
        (engine,) = open_cuda_engines(
            [device],
            EngineRequest(Aligned(*sets, None, problem.scoring), per_device=1),
            falls_back=falls_back,
        )
        try:
            if not falls_back:
                with pytest.raises(KernelBuildError, match="nvcc is not there"):
                    engine.align(windows[0], Want())
                continue
            for window in windows:
                assert_same(expected.align(window, Want()), engine.align(window, Want()))
                mask = np.arange(window.pairs) % 3 == 1
                found = engine.align(window, Want(), mask)
                assert_same(expected.align(window, Want(), mask), found)
        finally:
            engine.close()
    warnings = [one for one in caplog.messages if "kernels that are not there" in one]
    assert len(warnings) == 1
    assert device.driver.memory.used_bytes == 0


@pytest.mark.parametrize(
    ("family", "source"),
    [("packed", "packed/traceback.cu"), ("block-diagonals", "block_diagonals/traceback.cu")],
)
def test_what_traces_is_compiled_while_pairs_are_scored(family, source):
    """Overlaps are scored first: then kernels that trace need not be waited for."""
    rng = np.random.default_rng(3)
    sequences = SequenceSet.from_strings(["".join(rng.choice(list("ACGT"), 200)) for _ in range(4)])
    scoring = make_scoring(DNA, "local", 5, 2, match_matrix(DNA, 2, -3))
    for detail in (Detail.SCORE, Detail.CIGAR):
        device = host_device()
        engine = CudaEngine(device, Aligned(sequences, None, scoring), family=family, detail=detail)
        engine.align(next(iter(windows_of(4, None, 4))), Want(Detail.SCORE))
        engine.close()
        ahead = {request.source for request in device.ahead}
        assert (source in ahead) == (detail == Detail.CIGAR)
        assert STRAND_SOURCE in ahead


def test_several_engines_on_a_device(device):
    problem = Problem(proteins(150, 40), None, blosum_like("semiglobal"))
    sets = problem.sets()
    windows = list(windows_of(150, None, 32))
    engines = open_cuda_engines(
        [device], EngineRequest(Aligned(*sets, None, problem.scoring), kernel=PAPER, per_device=3)
    )
    expected = open_cpu(sets, problem.scoring)
    try:
        results = schedule.run(engines, windows, Want(), lambda window: window.pairs, ahead=5)
        for window, found in results:
            assert_same(expected.align(window, Want()), found, note=window)
    finally:
        for engine in engines:
            engine.close()


def test_cancelling(device):
    problem = Problem(proteins(60, 60), None, blosum_like("global"))
    (window,) = windows_of(60, None, 60)
    with_engine = opener(device)(problem.sets(), problem.scoring)
    with_engine.cancel()
    with pytest.raises(InterruptedError):
        with_engine.align(window, Want())
    with_engine.close()


def test_an_unknown_kernel_is_an_error(device):
    problem = Problem(proteins(3, 5), None, blosum_like("global"))
    with pytest.raises(DeviceError, match=f"'fast'.*{PAPER}"):
        run(opener(device, family="fast"), problem)


def test_an_old_device_is_an_error():
    device = host_device()
    device.capability = (5, 2)
    problem = Problem(proteins(3, 5), None, blosum_like("global"))
    with pytest.raises(DeviceError, match=r"compute capability 5\.2"):
        run(opener(device), problem)


@pytest.mark.parametrize(
    ("mode", "match", "mismatch", "gaps", "length", "expected"),
    [
        ("local", 11, -4, (11, 1), 2978, NARROW),
        ("local", 11, -4, (11, 1), 2979, WIDE),
        ("global", 2, -3, (5, 2), 10_921, NARROW),
        ("global", 2, -3, (5, 2), 10_922, WIDE),
        ("local", 127, -128, (300, 1), 100, NARROW),
        ("local", 128, -128, (300, 1), 100, WIDE),
        ("local", 32767, -32768, (300, 1), 100, WIDE),
        ("local", 32768, -4, (300, 1), 100, PLAIN),
        ("local", 1, -1, (1 << 24, 1), 10, PLAIN),
        ("global", 1000, -1000, (5000, 1), 20_000, PLAIN),
    ],
)
def test_widths(mode, match, mismatch, gaps, length, expected):
    scoring = make_scoring(DNA, mode, *gaps, match_matrix(DNA, match, mismatch))
    assert choose_width(scoring, length, length) == expected


def read_or_make(name: str, number: int, mean: int, letters: str) -> SequenceSet:
    """A set of the folder PAIRALIGN_DATA, or one like it made up."""
    folder = os.environ.get("PAIRALIGN_DATA")
    if folder:
        return read_fasta(Path(folder) / name)
    rng = np.random.default_rng(mean)
    sequences = random_sequences(rng, letters, number, 2 * mean, "mixed")
    return SequenceSet.from_strings(sequences, alphabet="dna" if letters == "ACGT" else "protein")


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "number", "mean", "letters"),
    [("mean0257.fa.gz", 2000, 257, "ARNDCQEGHILKMFPSTWYV"), ("reads.fa.gz", 1000, 300, "ACGT")],
)
def test_large_sets(name, number, mean, letters, mode):
    """Byte for byte as the CPU engine."""
    device = cuda_device()
    sequences = read_or_make(name, number, mean, letters)
    if letters == "ACGT":
        scoring = make_scoring(DNA, mode, 5, 2, match_matrix(DNA, 2, -3))
    else:
        scoring = blosum_like(mode)
    cpu = every_core(sequences, scoring)
    engines = open_cuda_engines(
        [device], EngineRequest(Aligned(sequences, None, scoring), kernel=PAPER)
    )
    windows = list(windows_of(len(sequences), None, 700))
    try:
        for window, found in schedule.run(engines, windows, Want(), lambda w: w.pairs, ahead=3):
            assert_same(cpu.align(window, Want()), found, note=window)
    finally:
        for engine in engines:
            engine.close()
        cpu.close()


def every_core(sequences: SequenceSet, scoring: Any) -> Any:
    return open_cpu(
        [sequences], scoring, threads=len(os.sched_getaffinity(0)), memory_bytes=8 << 30
    )


@pytest.mark.gpu
def test_threads_of_other_libraries_are_left_alone():
    """The engine leaves no context behind in the thread that used it."""
    device = cuda_device()
    problem = Problem(proteins(20, 30), None, blosum_like("global"))
    run(opener(device), problem)
    left = []

    def look() -> None:
        run(opener(device), problem)
        left.append(device.driver.Context.get_current())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert left == [None]


def test_a_closed_engine_holds_no_streams():
    """They end while their context is current, whatever still refers to the engine."""
    device = host_device()
    shared = device.streams()
    device.streams = lambda: shared
    kinds = device.driver.Stream, device.driver.Event
    before = [set(kind.alive) for kind in kinds]
    reads = SequenceSet.from_strings({"a": "ACGTTGCA", "b": "TTGCATCA"}, alphabet="dna")
    engine = open_on(device, [reads], make_scoring(DNA, "local", 5, 2, match_matrix(DNA, 2, -3)))
    (window,) = windows_of(2, None, 2)
    for strand in (1, -1):
        engine.align(replace(window, strand=strand), Want())
    assert all(set(kind.alive) - old for kind, old in zip(kinds, before, strict=True))
    engine.close()
    assert [set(kind.alive) - old for kind, old in zip(kinds, before, strict=True)] == [
        set(),
        set(),
    ]
    assert engine.name == "cuda:0"
