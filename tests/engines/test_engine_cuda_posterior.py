"""Posteriors on a GPU, or with its kernels on this CPU: the CPU's bytes."""

from typing import Any

import numpy as np
import pytest
from conftest import examples
from cuda_engines import cuda_device, host_device
from hypothesis import given, settings
from hypothesis import strategies as st

from pairalign.alignments.posteriors import ARITHMETICS, SparsePosteriors
from pairalign.engines.cpu.cpu_posterior import PosteriorEngine
from pairalign.engines.cuda.cuda_posterior import CudaPosteriorEngine
from pairalign.engines.cuda.posterior_plan import Kernel, plan_pairs
from pairalign.engines.posterior_computer import PosteriorRequest
from pairalign.engines.posterior_engines import compute_pieces
from pairalign.errors import DeviceError
from pairalign.scoring.posterior_models import MOST_MATCH_STATES, posterior_model
from pairalign.sequences.sets import SequenceSet

LETTERS = {"protein": "ARNDCQEGHILKMFPSTWYVBZXUOJ*", "dna": "ACGTNRYU"}
STATES = (1, MOST_MATCH_STATES)  # DNA has one in any case
MEMORY = 64 << 20
ASKED = ("threads", "memory_bytes", "threshold", "calls")


@pytest.fixture(params=[pytest.param("gpu", marks=pytest.mark.gpu), "on-host"])
def device(request: Any) -> Any:
    return cuda_device() if request.param == "gpu" else host_device()


def family(seed: int, lengths: list[int], alphabet: str = "protein") -> SequenceSet:
    """Sequences of which each has a part of one ancestor, with substitutions."""
    random = np.random.default_rng(seed)
    letters = list(LETTERS[alphabet])
    ancestor = random.choice(letters, max(lengths))
    strings = []
    for length in lengths:
        start = random.integers(0, max(lengths) - length + 1)
        own = ancestor[start : start + length].copy()
        changed = random.random(length) < 0.6
        own[changed] = random.choice(letters, int(changed.sum()))
        strings.append("".join(own).rstrip("*") or "A")  # a stop at the end would be left out
    return SequenceSet.from_strings(strings, alphabet=alphabet)


def all_pairs(sequences: SequenceSet) -> tuple[Any, Any]:
    first, second = np.triu_indices(len(sequences), 1)
    return first.astype(np.int32), second.astype(np.int32)


def compute(
    device: Any,
    sequences: SequenceSet,
    pairs: Any = None,
    match_states: int = MOST_MATCH_STATES,
    **options: Any,
) -> SparsePosteriors:
    asked = {name: options.pop(name) for name in ASKED if name in options}
    request = PosteriorRequest(
        sequences, **{"memory_bytes": MEMORY, "match_states": match_states, **asked}
    )
    engine = CudaPosteriorEngine(device, request, **{"least_cells": 0, **options})
    try:
        return engine.compute(*(all_pairs(sequences) if pairs is None else pairs))
    finally:
        engine.close()


def on_cpu(
    sequences: SequenceSet, pairs: Any = None, match_states: int = MOST_MATCH_STATES, **options: Any
) -> SparsePosteriors:
    model = posterior_model(sequences.alphabet, match_states=match_states)
    engine = PosteriorEngine(sequences, model, **options)
    return engine.compute(*(all_pairs(sequences) if pairs is None else pairs))


def assert_same(one: SparsePosteriors, other: SparsePosteriors) -> None:
    for name in ("queries", "targets", "offsets", "arithmetic", "rows", "columns", "values"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
        assert getattr(one, name).dtype == getattr(other, name).dtype


@settings(max_examples=examples(30))
@given(
    seed=st.integers(0, 2**32 - 1),
    lengths=st.lists(st.integers(1, 60), min_size=2, max_size=12),
    alphabet=st.sampled_from(sorted(LETTERS)),
    match_states=st.sampled_from(STATES),
    arithmetic=st.sampled_from(ARITHMETICS[:2]),
    threshold=st.sampled_from((0.001, 0.01, 0.3)),
)
def test_the_bytes_of_the_cpu(seed, lengths, alphabet, match_states, arithmetic, threshold):
    sequences = family(seed, lengths, alphabet)
    options = {"match_states": match_states, "arithmetic": arithmetic, "threshold": threshold}
    assert_same(compute(host_device(), sequences, **options), on_cpu(sequences, **options))


@pytest.mark.parametrize("match_states", STATES)
@pytest.mark.parametrize("arithmetic", ARITHMETICS[:2])
def test_the_bytes_of_the_cpu_for_a_family(device, match_states, arithmetic):
    sequences = family(1, [1, 2, 3, 4, 5, 8, 150, 151, 152, 153, 200, *range(40, 75)])
    options = {"match_states": match_states, "arithmetic": arithmetic}
    found = compute(device, sequences, **options)
    assert len(found.rows) > 1000
    assert_same(found, on_cpu(sequences, **options))


def test_pairs_come_in_the_order_asked_for(device):
    sequences = family(2, [30, 40, 50, 60])
    pairs = np.array([3, 0, 3, 1, 0], np.int32), np.array([0, 3, 1, 1, 3], np.int32)
    assert_same(compute(device, sequences, pairs), on_cpu(sequences, pairs))


@pytest.mark.parametrize("match_states", STATES)
def test_ranges_that_are_too_wide_are_computed_with_more(device, match_states):
    """Blocks that belong together crosswise: one has to give way."""
    blocks = [("W" * n + "C" * n, "C" * n + "W" * n) for n in (10, 60, 450)]
    strings = [one for pair in blocks for one in pair] + ["MKV" * 20]
    sequences = SequenceSet.from_strings(strings, alphabet="protein")
    pairs = np.array([6, 0, 4, 2, 6], np.int32), np.array([0, 1, 5, 3, 2], np.int32)
    found = compute(device, sequences, pairs, match_states)
    assert set(found.arithmetic.tolist()) == {0, 1, 2}
    assert_same(found, on_cpu(sequences, pairs, match_states))


@pytest.mark.parametrize("match_states", STATES)
@pytest.mark.parametrize(("alphabet", "letters"), [("protein", "WCHAX"), ("dna", "ACGTN")])
def test_homopolymers(device, match_states, alphabet, letters):
    runs = [letter * n for letter in letters for n in (11, 60)]
    strings = [*runs, *(one + "ACGT" * 5 + one for one in runs[::2])]
    sequences = SequenceSet.from_strings(strings, alphabet=alphabet)
    first, second = all_pairs(sequences)
    pairs = np.concatenate((first, second)), np.concatenate((second, first))
    found = compute(device, sequences, pairs, match_states)
    assert_same(found, on_cpu(sequences, pairs, match_states))
    sums = np.bincount(found.pairs * 1000 + found.rows, found.probabilities)
    assert sums.max() < 2**0.5 + 1e-3  # 1 of each model


@pytest.mark.parametrize("match_states", STATES)
@pytest.mark.parametrize("memory_kib", [128, 300, 700, 4000])
def test_little_memory_changes_nothing(device, memory_kib, match_states):
    """Fewer warps, blocks of rows, halves; the host where one pair finds no room."""
    sequences = family(3, [20, 33, 64, 65, 100, 140, 141, 142, 143])
    options = {"memory_bytes": memory_kib << 10, "match_states": match_states}
    found = compute(device, sequences, **options)
    assert_same(found, on_cpu(sequences, match_states=match_states))


@pytest.mark.parametrize("arithmetic", ARITHMETICS[:2])
def test_little_shared_memory_changes_nothing(monkeypatch, arithmetic):
    device, sequences = host_device(), family(10, [*range(30, 50), *range(60, 90)])
    monkeypatch.setattr(device, "shared_bytes", 99 << 10)
    found = compute(device, sequences, arithmetic=arithmetic)
    assert_same(found, on_cpu(sequences, arithmetic=arithmetic))


def test_blocks_fit_the_shared_memory():
    for kernel in (Kernel(states, number_bytes) for states in STATES for number_bytes in (4, 8)):
        warps = [kernel.block_warps(kib << 10) for kib in (99, 163, 227)]
        assert warps == sorted(warps)
        assert kernel.shared_bytes(warps[0]) <= 99 << 10
    assert [Kernel(4, 4).block_warps(kib << 10) for kib in (99, 227)] == [2, 3]


def test_more_entries_than_expected_find_room(device):
    sequences = SequenceSet.from_strings(["A" * 120] * 8, alphabet="protein")
    found = compute(device, sequences, threshold=0.001)
    assert len(found.rows) > 20 * 120 * 28
    assert_same(found, on_cpu(sequences, threshold=0.001))


def test_a_device_that_is_full_is_used_in_parts():
    pytest.importorskip("cuda_on_host")
    from cuda_on_host import driver

    device, sequences = host_device(), family(4, [70] * 12)
    used = driver.memory.used_bytes
    limit, driver.memory.total_bytes = driver.memory.total_bytes, used + (3 << 20)
    try:
        found = compute(device, sequences)
    finally:
        driver.memory.total_bytes = limit
    assert_same(found, on_cpu(sequences))
    assert driver.memory.used_bytes == used


@pytest.mark.parametrize("pinned_kib", [0, 48, 1 << 10])
def test_results_are_pinned_as_far_as_allowed_and_that_memory_is_used_again(pinned_kib):
    from cuda_on_host import driver

    device, sequences = host_device(), family(9, [60] * 10)
    request = PosteriorRequest(sequences, memory_bytes=MEMORY, match_states=MOST_MATCH_STATES)
    options = {"least_cells": 0, "pinned_bytes": pinned_kib << 10}
    engine = CudaPosteriorEngine(device, request, **options)
    queries, targets = all_pairs(sequences)
    pieces = [(queries[k : k + 9], targets[k : k + 9]) for k in range(0, len(queries), 9)]
    before, pinned = driver.memory.pinned_bytes, []
    for _ in range(3):
        engine.compute(queries, targets)
        pinned.append(engine._pool.pinned_bytes)
    assert len(set(pinned)) == 1
    computed = compute_pieces(engine, iter(pieces), 2)
    for piece, pairs in zip(computed, pieces, strict=True):
        assert_same(piece, on_cpu(sequences, pairs))
    assert bool(pinned_kib) == bool(engine._pool.pinned_bytes)
    assert engine._pool.pinned_bytes <= pinned_kib << 10
    engine.close()
    assert_same(piece, on_cpu(sequences, pairs))  # it outlives the engine
    del piece, computed
    assert driver.memory.pinned_bytes == before


def test_few_cells_are_for_the_host():
    from cuda_on_host import driver

    device, sequences = host_device(), family(5, [20, 30])
    driver.memory.launches.clear()
    assert_same(compute(device, sequences, least_cells=601), on_cpu(sequences))
    assert not driver.memory.launches


def test_a_kernel_that_fails_is_an_error_of_the_device():
    from cuda_on_host import driver

    driver.memory.failing_launches.add("posteriors_float32_4")
    try:
        with pytest.raises(DeviceError, match="cuda:0: posteriors: cuLaunchKernel failed"):
            compute(host_device(), family(6, [20, 30]))
    finally:
        driver.memory.failing_launches.clear()


def test_cancelled(device):
    sequences = family(7, [20, 30])
    request = PosteriorRequest(sequences, memory_bytes=MEMORY, match_states=MOST_MATCH_STATES)
    engine = CudaPosteriorEngine(device, request, least_cells=0)
    engine.cancel()
    with pytest.raises(InterruptedError):
        engine.compute(*all_pairs(sequences))
    engine.close()


def test_every_pair_is_in_one_task_and_warps_fit_the_memory():
    lengths = np.random.default_rng(8).integers(1, 400, 80)
    queries, targets = np.triu_indices(80, 1)
    pairs = queries.astype(np.int32), targets.astype(np.int32)
    plan = plan_pairs(
        lengths,
        *pairs,
        threshold=0.01,
        kernel=Kernel(4, 4),
        block_warps=3,
        most_warps=64,
        memory_bytes=32 << 20,
    )
    assert plan.warps * plan.warp_bytes <= 32 << 20
    tasks = plan.tasks
    taken = np.concatenate([np.arange(t["count"]) + t["first"] for t in tasks])
    assert np.array_equal(np.sort(taken), np.arange(len(queries)))
    assert tasks["count"].max() <= 32
    assert np.array_equal(plan.targets[plan.places], targets)
    cells = lengths[tasks["row"]] * tasks["longest"]
    assert (np.diff(cells) <= 0).all()


@pytest.mark.parametrize(("match_states", "between"), [(1, 10), (4, 8 + 64 / 6)])
def test_blocks_take_little_memory(match_states, between):
    for strips in (1, 2, 20, 75, 400):
        sizes = np.arange(1, strips + 1)
        numbers = (match_states + 4) * -(-strips // sizes) + between * sizes  # a column
        chosen = int(Kernel(match_states, 4).strips_of_block(np.array([strips]))[0])
        assert numbers[chosen - 1] <= 1.1 * numbers.min()
