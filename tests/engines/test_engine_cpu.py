"""What is the CPU engine's own: instruction sets, threads, memory that runs short, cancelling."""

import threading
import time

import numpy as np
import pytest
from cases import CASES
from checks import assert_as_reference, assert_same, run, windows_of
from conftest import examples, open_cpu
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    MODES,
    Problem,
    large_problems,
    make_scoring,
    match_matrix,
    random_sequences,
    small_problems,
)

from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.errors import CapacityError, DeviceError
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA, PROTEIN

BEST, *OTHERS = instruction_sets()
KIB, MIB = 1 << 10, 1 << 20


@settings(max_examples=examples(100))
@given(problem=st.one_of(small_problems(), large_problems, large_problems))
def test_instruction_sets_agree(problem):
    found = run(open_cpu, problem, instruction_set=BEST)
    for other in OTHERS:
        assert_same(run(open_cpu, problem, instruction_set=other), found, note=(other, problem))


@pytest.mark.parametrize("detail", [Detail.SCORE, Detail.CIGAR])
@pytest.mark.parametrize("case", CASES)
def test_instruction_sets_agree_on_hard_cases(case, detail):
    for mode in MODES:
        for problem in CASES[case](mode):
            found = run(open_cpu, problem, instruction_set=BEST)
            for one in instruction_sets():
                other = run(open_cpu, problem, Want(detail), instruction_set=one)
                assert_same(other, found, detail, (one, problem))


@pytest.mark.parametrize("name", instruction_sets())
def test_the_environment_chooses(monkeypatch, name):
    monkeypatch.setenv("PAIRALIGN_ISA", name)
    scoring = make_scoring(DNA, "global", 5, 2, match_matrix(DNA, 2, -3))
    problem = Problem(("ACGT", "AGT", "T"), None, scoring)
    assert_as_reference(problem, run(open_cpu, problem))


def test_an_unknown_instruction_set_is_an_error(monkeypatch):
    scoring = make_scoring(DNA, "global", 5, 2, match_matrix(DNA, 2, -3))
    problem = Problem(("ACGT", "AGT"), None, scoring)
    with pytest.raises(DeviceError, match="instruction set 'mmx' cannot run.*" + BEST):
        run(open_cpu, problem, instruction_set="mmx")
    monkeypatch.setenv("PAIRALIGN_ISA", "mmx")
    with pytest.raises(DeviceError, match="mmx"):
        run(open_cpu, problem)


@settings(max_examples=examples(60))
@given(
    problem=large_problems, window=st.sampled_from([7, 16, 1024]), detail=st.sampled_from(Detail)
)
def test_threads_do_not_matter(problem, window, detail):
    found = run(open_cpu, problem, Want(detail), window=window, threads=1)
    for threads in (2, 3):
        other = run(open_cpu, problem, Want(detail), window=window, threads=threads)
        assert_same(found, other, detail, problem)


def assert_memory_does_not_matter(problem: Problem, **options: object) -> int:
    """Halve the memory until a pair does not fit; returns how often that went well."""
    found = run(open_cpu, problem, **options)
    memory_bytes = 64 * MIB
    for went_well in range(20):
        try:
            other = run(open_cpu, problem, memory_bytes=memory_bytes, **options)
        except CapacityError as error:
            if error.available_bytes != memory_bytes or error.needed_bytes <= memory_bytes:
                raise
            return went_well
        assert_same(other, found, note=(memory_bytes, problem))
        memory_bytes //= 2
    return went_well


@settings(max_examples=examples(60))
@given(problem=large_problems)
def test_memory_does_not_matter(problem):
    """Little memory: flags for a few rows at a time, filled again from checkpoints."""
    assert_memory_does_not_matter(problem)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", instruction_sets())
def test_memory_does_not_matter_to_longer_pairs(mode, name):
    """Pairs of up to a thousand letters, 16-bit and 32-bit, at budgets down to what is possible."""
    rng = np.random.default_rng(12)
    sequences = tuple(random_sequences(rng, "ACGT", 9, 900, "mixed"))
    for size in (1, 1000):
        matrix = match_matrix(DNA, 2 * size, -3 * size)
        scoring = make_scoring(DNA, mode, 5 * size, 2 * size, matrix)
        went_well = assert_memory_does_not_matter(
            Problem(sequences, None, scoring), instruction_set=name
        )
        assert went_well >= 4


@pytest.mark.parametrize("mode", MODES)
def test_what_a_capacity_error_asks_for_is_enough(mode):
    rng = np.random.default_rng(13)
    sequences = tuple(random_sequences(rng, "ARNDC", 5, 700, "near"))
    scoring = make_scoring(PROTEIN, mode, 11, 1, match_matrix(PROTEIN, 5, -4))
    problem = Problem(sequences, None, scoring)
    with pytest.raises(CapacityError, match=r"'seq\d' \(\d+ residues\) and 'seq\d'") as caught:
        run(open_cpu, problem, memory_bytes=64 * KIB)
    run(open_cpu, problem, Want(Detail.SCORE), memory_bytes=64 * KIB)
    found = run(open_cpu, problem, memory_bytes=caught.value.needed_bytes)
    assert_same(found, run(open_cpu, problem))


@pytest.mark.parametrize("mode", MODES)
def test_a_long_pair_in_little_memory(mode):
    """6,000 by 5,000 letters within 20 MiB; flags of all cells would take six times as much."""
    rng = np.random.default_rng(14)
    sequences = tuple(random_sequences(rng, "ARNDC", 2, 6000, "near"))
    scoring = make_scoring(PROTEIN, mode, 11, 1, match_matrix(PROTEIN, 5, -4))
    problem = Problem((sequences[0], sequences[1][:5000]), None, scoring)
    found = run(open_cpu, problem, memory_bytes=20 * MIB)
    assert_same(found, run(open_cpu, problem, memory_bytes=4 << 30))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("detail", [Detail.SCORE, Detail.CIGAR])
def test_cancel_ends_the_work_soon(threads, detail):
    rng = np.random.default_rng(15)
    scoring = make_scoring(DNA, "global", 5, 2, match_matrix(DNA, 2, -3))
    problem = Problem(tuple(random_sequences(rng, "ACGT", 64, 12000, "equal")), None, scoring)
    engine = open_cpu(problem.sets(), scoring, threads=threads)
    (window,) = windows_of(64, None, 64)
    timer = threading.Timer(0.2, engine.cancel)
    timer.start()
    start = time.process_time()  # however busy the machine is
    with pytest.raises(InterruptedError):
        engine.align(window, Want(detail))
    assert time.process_time() - start < 5
    timer.join()
    engine.close()
