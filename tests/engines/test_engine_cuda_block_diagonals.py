"""The kernels for long pairs, what they are given, and what is put together afterwards.

As in test_engine_cuda.py, tests of the fixture `device` run with the kernels compiled for this CPU
and on a GPU where there is one. Lengths lie around those of lanes, strips and tiles.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from cases import CASES
from checks import assert_as_reference, assert_same, run, windows_of
from conftest import examples, open_cpu
from cuda_engines import host_device, open_on
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    LETTERS,
    MODES,
    SEEDS,
    Problem,
    make_scoring,
    match_matrix,
    random_scoring,
    random_sequences,
)

from pairalign.engines.cuda.block_diagonals.block_diagonals_family import OPEN_LIMIT, BlockDiagonals
from pairalign.engines.cuda.block_diagonals.block_diagonals_plan import (
    ROWS_A_LANE,
    Shape,
    Task,
    cut_batch,
    cut_launches,
    describe_pairs,
    lay_out,
)
from pairalign.engines.cuda.cuda_engine import FAMILIES
from pairalign.engines.cuda.pair_per_thread import PairPerThread
from pairalign.engines.device import long_pairs as routing
from pairalign.errors import DeviceError
from pairalign.pairs.want import Detail, Want
from pairalign.sequences.alphabets import DNA, PROTEIN

KIB, MIB = 1 << 10, 1 << 20
NAME = BlockDiagonals.name
EDGES = (1, 2, 3, 4, 5, 31, 32, 33, 63, 65, 127, 128, 129, 255, 256, 257, 300)
FAR_EDGES = (511, 512, 513, 769, 1023, 1024, 1025, 1537, 2049)


def opener(device: Any, **fixed: Any) -> Any:
    fixed.setdefault("family", NAME)
    return lambda sets, scoring, **options: open_on(device, sets, scoring, **fixed, **options)


def dna(mode: str, size: int = 1) -> Any:
    return make_scoring(DNA, mode, 5 * size, 2 * size, match_matrix(DNA, 2 * size, -3 * size))


def problem_of(rng: np.random.Generator, edges: tuple[int, ...], number: int) -> Problem:
    """Sequences with lengths at edges, some of them related, and any scoring."""
    alphabet = DNA if rng.integers(3) else PROTEIN
    lengths = rng.choice(edges, size=number)
    letters = str(rng.choice(LETTERS[alphabet.name]))
    whole = random_sequences(rng, letters, number, int(max(lengths)), "equal")
    sequences = tuple(one[:length] for one, length in zip(whole, lengths, strict=True))
    scoring = random_scoring(rng, alphabet, int(max(lengths)))
    if rng.integers(3) == 0:
        return Problem(sequences[:1], sequences[1:], scoring)
    return Problem(sequences, None, scoring)


def is_narrow(problem: Problem) -> bool:
    """Whether scores of letters fit 8 bits."""
    scoring = problem.scoring
    return bool(np.abs(scoring.matrix).max() + 2 * scoring.gap_extend < 128)


def check(device: Any, problem: Problem, want: Want | None = None, **options: Any) -> None:
    rows_a_lane = options.pop("rows_a_lane", None)
    if problem.scoring.gap_open >= OPEN_LIMIT:
        return
    expected = run(open_cpu, problem, want)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(FAMILIES, "other", lambda: BlockDiagonals(rows_a_lane))
        found = run(opener(device, family="other"), problem, want, **options)
    assert_same(expected, found, (want or Want()).detail, (rows_a_lane, options, problem))


@settings(max_examples=examples(20))
@given(seed=SEEDS, rows_a_lane=st.sampled_from([None, *ROWS_A_LANE]))
def test_lengths_at_edges(device, seed, rows_a_lane):
    problem = problem_of(np.random.default_rng(seed), EDGES, 3)
    if device.model != "this CPU" or problem.scoring.mode == "local" or is_narrow(problem):
        check(device, problem, rows_a_lane=rows_a_lane)  # fewer kernels to compile for this CPU


@pytest.mark.gpu
@settings(max_examples=examples(150))
@given(
    seed=SEEDS,
    rows_a_lane=st.sampled_from([None, *ROWS_A_LANE]),
    detail=st.sampled_from(list(Detail)),
    memory_bytes=st.sampled_from([None, 3 * MIB, 6 * MIB]),
)
def test_lengths_at_far_edges(gpu, seed, rows_a_lane, detail, memory_bytes):
    problem = problem_of(np.random.default_rng(seed), EDGES + 3 * FAR_EDGES, 4)
    check(gpu, problem, Want(detail), rows_a_lane=rows_a_lane, memory_bytes=memory_bytes)


@pytest.mark.parametrize("mode", MODES)
def test_many_tiles(device, mode):
    """Tiles of 256 letters, a few of them filled again at a time."""
    rng = np.random.default_rng(1)
    sequences = random_sequences(rng, "ACGT", 2, 700, "equal")
    sequences[1] = sequences[0][150:400] + sequences[0][80:600]
    problem = Problem(tuple(sequences), None, dna(mode))
    check(device, problem, memory_bytes=300 * KIB)
    assert_as_reference(problem, run(opener(device), problem))


@pytest.mark.parametrize("case", ["homopolymers", "no_match_at_all"])
def test_ties(device, case):
    for mode in MODES:
        check(device, list(CASES[case](mode))[-1])


def test_a_gap_across_many_tiles(device):
    """Also beside the diagonal, where no tile has been filled in advance."""
    rng = np.random.default_rng(2)
    (whole,) = random_sequences(rng, "ACGT", 1, 1100, "equal")
    whole = "".join(rng.choice(list("ACGT"), 1100))
    check(device, Problem((whole, whole[:40] + whole[-40:]), None, dna("global")))
    check(device, Problem((whole, whole[:300] + whole[-20:]), None, dna("semiglobal")))


def test_scores_of_32_bits(device):
    rng = np.random.default_rng(3)
    sequences = random_sequences(rng, "ACGT", 2, 300, "near")
    check(device, Problem(tuple(sequences), None, dna("local", 1000)))


@pytest.mark.parametrize("detail", list(Detail))
def test_details_least_scores_and_chosen_pairs(device, detail):
    rng = np.random.default_rng(4)
    sequences = random_sequences(rng, "ACGT", 7, 150, "mixed")
    problem = Problem(tuple(sequences), None, dna("local"))
    everything = run(open_cpu, problem)
    least = int(np.median(everything.raw_score))
    check(device, problem, Want(detail, min_raw_score=least))
    pair_mask = rng.random(len(everything)) < 0.4
    (window,) = windows_of(7, None, 7)
    engine = opener(device)(problem.sets(), problem.scoring)
    try:
        found = engine.align(window, Want(detail), pair_mask)
    finally:
        engine.close()
    assert_same(everything.take(pair_mask), found, detail)


def test_launches_and_batches_do_not_show(device, monkeypatch):
    rng = np.random.default_rng(5)
    sequences = random_sequences(rng, "ACGT", 4, 500, "near")
    problem = Problem(tuple(sequences), None, dna("local"))
    expected = run(open_cpu, problem)
    monkeypatch.setattr(
        "pairalign.engines.cuda.block_diagonals.block_diagonals_family.CELLS_A_MULTIPROCESSOR", 1e5
    )
    monkeypatch.setattr("pairalign.engines.cuda.block_diagonals.block_diagonals_plan.MOST_PAIRS", 2)
    assert_same(expected, run(opener(device), problem))


def test_a_pair_without_room_goes_to_the_cpu(device):
    rng = np.random.default_rng(6)
    problem = Problem(tuple(random_sequences(rng, "ACGT", 2, 900, "near")), None, dna("global"))
    check(device, problem, memory_bytes=60 * KIB)


def test_gaps_that_cost_too_much_are_an_error(device):
    scoring = make_scoring(DNA, "global", OPEN_LIMIT, 1, match_matrix(DNA, 1, -1))
    with pytest.raises(DeviceError, match=f"costs {OPEN_LIMIT}, at most {OPEN_LIMIT - 1}"):
        run(opener(device), Problem(("A", "C"), None, scoring))


# -------------------------------------------------------------------------------- routing


@pytest.mark.parametrize("second", [False, True])
def test_auto_gives_long_pairs_to_block_diagonals(device, monkeypatch, second):
    """A few long sequences among short ones: the pairs come back in the window's order."""
    rng = np.random.default_rng(7)
    sequences = random_sequences(rng, "ACGT", 9, 30, "mixed")
    sequences[3:3] = random_sequences(rng, "ACGT", 2, 300, "near")
    others = tuple(random_sequences(rng, "ACGT", 5, 300, "one long")) if second else None
    problem = Problem(tuple(sequences), others, dna("global"))
    monkeypatch.setitem(FAMILIES, "packed", PairPerThread)
    monkeypatch.setattr(routing, "LEAST_RESIDUES", 100)
    monkeypatch.setattr(routing, "RESIDUES_A_PAIR", 1e-6)
    routed = []
    align = BlockDiagonals.align

    def spy(self: Any, window: Any, want: Want, pair_mask: Any = None) -> Any:
        routed.append(int(pair_mask.sum()))
        return align(self, window, want, pair_mask)

    monkeypatch.setattr(BlockDiagonals, "align", spy)
    assert_same(run(open_cpu, problem), run(opener(device, family=None), problem))
    assert routed == [2 if second else 1]


def test_pairs_without_room_elsewhere_go_to_block_diagonals(monkeypatch):
    device = host_device()
    monkeypatch.setitem(FAMILIES, "packed", PairPerThread)  # needs quadratic memory
    rng = np.random.default_rng(8)
    problem = Problem(tuple(random_sequences(rng, "ACGT", 2, 990, "near")), None, dna("global"))
    found = run(opener(device, family=None), problem, memory_bytes=400 * KIB)
    assert_same(run(open_cpu, problem), found)
    assert "refill_tiles" in device.driver.memory.launches


def test_who_is_long():
    (window,) = windows_of(100, None, 100)
    lengths = np.full(100, 5000, np.int32)
    chosen = routing.long_pairs(window, None, lengths, lengths, 1000)
    assert chosen.all()  # too few to keep 1,000 multiprocessors busy
    assert routing.long_pairs(window, None, lengths, lengths, 10) is None
    lengths[:2] = 100_000
    chosen = routing.long_pairs(window, None, lengths, lengths, 10)
    assert np.flatnonzero(chosen).tolist() == [0]  # it would take longer than all others together
    assert routing.long_pairs(window, ~chosen, lengths, lengths, 10) is None
    lengths[:] = np.linspace(9000, 3000, 100)
    chosen = routing.long_pairs(window, None, lengths, lengths, 100)
    assert chosen.all()  # once the longest are gone the others are too few, and so on
    lengths[:] = routing.LEAST_RESIDUES - 1
    assert routing.long_pairs(window, None, lengths, lengths, 1000) is None


@pytest.mark.parametrize("share", [0.0, 0.002, 0.05, 0.6])
@pytest.mark.parametrize("two_sets", [False, True])
def test_chosen_pairs_of_a_family_that_does_not_choose(share, two_sets):
    device = host_device()
    rng = np.random.default_rng(9)
    sequences = tuple(random_sequences(rng, "ACGT", 90, 12, "mixed"))
    second = tuple(random_sequences(rng, "ACGT", 40, 12, "mixed")) if two_sets else None
    problem = Problem(sequences, second, dna("local"))
    everything = run(open_cpu, problem)
    pair_mask = rng.random(len(everything)) < share
    (window,) = windows_of(90, 40 if two_sets else None, 90)
    for least in (None, int(np.median(everything.raw_score))):
        engine = opener(device, family=PairPerThread.name)(problem.sets(), problem.scoring)
        found = engine.align(window, Want(min_raw_score=least), pair_mask)
        engine.close()
        expected = everything.take(pair_mask)
        if least is not None:
            expected = expected.take(expected.raw_score >= least)
        assert_same(expected, found)


# -------------------------------------------------------------------------------- plans

TASK = Task(traced=True, local=True, wants_runs=True, wide=False, multiprocessors=132)


@pytest.mark.parametrize(
    ("letters", "memory_bytes"),
    [(45_000, 1 << 30), (1_000_000, 4 << 30), (1_000_000, 1300 << 20), (5_000_000, 100 << 30)],
)
def test_a_long_pair_fits(letters, memory_bytes):
    layout = lay_out([Shape(letters, letters)], TASK, memory_bytes)
    assert layout.bytes <= memory_bytes
    assert layout.tile % 512 == 0 or layout.tile == 256
    assert layout.tile % (32 * layout.rows_a_lane) == 0


def test_any_memory_from_some_size_on_is_enough():
    shapes = [Shape(200_000, 150_000)]
    layouts = [lay_out(shapes, TASK, 1 << k) for k in range(24, 38)]
    fitting = [layout for layout in layouts if layout]
    assert 8 <= len(fitting) < len(layouts)
    assert layouts[-len(fitting) :] == fitting
    for k, layout in zip(range(38 - len(fitting), 38), fitting, strict=True):
        assert layout.bytes <= 1 << k
    assert fitting[-1].tile == 8192


@settings(max_examples=examples(50))
@given(seed=SEEDS)
def test_arrays_of_a_batch_do_not_overlap(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5000, size=(int(rng.integers(1, 8)), 2))
    shapes = [Shape(int(max(one)), int(min(one))) for one in lengths]
    limit = int(rng.choice([1, 4, 16, 1000])) * MIB
    first = 0
    while first < len(shapes):
        count, layout = cut_batch(shapes, first, TASK, limit)
        batch = shapes[first : first + count]
        first += count
        if layout is None:
            assert count == 1
            continue
        ends, addresses = 0, {}
        for name, size in layout.sizes.items():
            addresses[name] = 1 + ends
            ends += size
        pairs, items = describe_pairs(batch, layout, addresses)
        assert (items[:, 0] >= 0).all()
        strip = 32 * layout.rows_a_lane
        assert len(items) == sum(-(-one.rows // strip) for one in batch)
        spans = []
        for pair in pairs:
            tiles_down, tiles_across = (
                (int(pair[name]) - 1) // layout.tile for name in ("rows", "columns")
            )
            m, n = int(pair["rows"]), int(pair["columns"])
            spans += [
                (pair["handed"], 8 * n),
                (pair["kept_rows"], 8 * n * tiles_down),
                (pair["kept_columns"], 8 * int(pair["padded_rows"]) * tiles_across),
                (pair["best"], 4 * int(pair["strips"]) * (tiles_across + 1)),
                (pair["runs"] - 4 * (m + n), 4 * (m + n)),
            ]
        spans = sorted((int(start), size) for start, size in spans if size)
        for (start, size), (after, _) in pairwise(spans):
            assert start + size <= after
        assert spans[-1][0] + spans[-1][1] <= 1 + ends
        launches = cut_launches(items, batch, strip, 1e6)
        assert [a for a, _ in launches[1:]] == [b for _, b in launches[:-1]]
        assert launches[-1][1] == len(items)


# -------------------------------------------------------------------------------- large ones


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
def test_more_strips_than_tags(gpu, mode):
    """Strips are told apart by a number of 12 bits, and there are more of them than warps."""
    rng = np.random.default_rng(10)
    long = "".join(rng.choice(list("ACGT"), 700_000))
    short = long[300_000:300_060] + long[500_000:500_100] + long[690_000:690_200]
    for rows_a_lane in (4, None):
        check(gpu, Problem((long, short), None, dna(mode)), rows_a_lane=rows_a_lane)


@pytest.mark.gpu
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("letters", [3001, 12_345, 40_000])
def test_long_pairs(gpu, mode, letters):
    """As the CPU engine, byte for byte: related, with rearranged parts, and unrelated."""
    rng = np.random.default_rng(letters)
    first = rng.choice(list("ACGT"), letters)
    second = np.where(rng.random(letters) < 0.1, rng.choice(list("ACGT"), letters), first)
    third = letters // 3
    second = np.concatenate((second[:third], second[third + 777 :], second[:500]))
    unrelated = rng.choice(list("ACGT"), letters)
    sequences = tuple("".join(one) for one in (first, second, unrelated))
    problem = Problem(sequences, None, dna(mode))
    expected = run(open_cpu, problem, memory_bytes=8 << 30)
    for memory_bytes in (None, 24 * MIB):
        found = run(opener(gpu), problem, memory_bytes=memory_bytes)
        assert_same(expected, found, note=(letters, memory_bytes))
    assert_same(expected, run(opener(gpu, family=None), problem))
