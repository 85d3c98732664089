"""The packed kernels where it is close: borders of tiles, limits of 16 bits, halves that differ.

Every test runs with the kernels compiled for this CPU, and on a GPU where there is one. The CPU
engine shares neither tiles nor packed words with them, and is itself compared with the reference.
"""

from typing import Any

import numpy as np
import pytest
from checks import assert_same, run
from conftest import open_cpu
from cuda_engines import host_device, open_on
from strategies import MODES, Problem, make_scoring, match_matrix

from pairalign.engines.cuda.packed.batches import choose_numbers
from pairalign.engines.cuda.packed.packed_family import Packed
from pairalign.engines.cuda.packed.packed_kernels import Flight
from pairalign.engines.cuda.packed.packed_results import WindowResults
from pairalign.engines.cuda.packed.parameters import PAIRS_OF_PASSING_BLOCK, Costs
from pairalign.engines.cuda.packed.tilings import STRIPS, TIER, TILINGS, choose_tilings
from pairalign.engines.device.tile_plan import Rectangle
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import plan_windows
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.alphabets import DNA, PROTEIN
from pairalign.sequences.sets import SequenceSet

LETTERS = list("ARNDCQEGHILKM")
BORDERS = range(13, 35)  # around the ends of a tile's columns (8 in narrow tilings) and rows (16)


def assert_like_cpu(device: Any, problem: Problem, want: Want | None = None) -> None:
    def open_packed(sets: Any, scoring: Scoring, **options: Any) -> Any:
        return open_on(device, sets, scoring, family=Packed.name, **options)

    want = want or Want(Detail.CIGAR)
    assert_same(run(open_cpu, problem, want), run(open_packed, problem, want), want.detail)


def protein_scoring(mode: str, match: int = 6, gap_open: int = 11, gap_extend: int = 1) -> Scoring:
    return make_scoring(PROTEIN, mode, gap_open, gap_extend, match_matrix(PROTEIN, match, -4))


def random_protein(length: int, seed: int) -> str:
    return "".join(np.random.default_rng(seed).choice(LETTERS, size=length))


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_gaps_that_begin_and_end_anywhere_in_a_tile(device, mode):
    """A deletion of 1 letter to several tiles at every place: in rows, then in columns."""
    whole = random_protein(110, 1)
    shorter = tuple(
        whole[:start] + whole[start + gap :] for start in BORDERS for gap in (1, 16, 17, 40)
    )
    scoring = protein_scoring(mode, gap_open=4, gap_extend=0)
    assert_like_cpu(device, Problem((whole,), shorter, scoring))
    assert_like_cpu(device, Problem(shorter, (whole,), scoring))


@pytest.mark.parametrize("mode", MODES)
def test_paths_along_a_border(device, mode):
    """The path runs down or across for as long as its tile, just before or behind its border."""
    tail = random_protein(40, 2)
    queries = tuple(random_protein(n, 3) + tail for n in (1, 8, 15, 16, 17, 32))
    targets = tuple(random_protein(n, 4)[:n] + tail[: 40 - n % 5] for n in (7, 8, 9, 16, 24, 33))
    assert_like_cpu(device, Problem(queries, targets, protein_scoring(mode, 9, 2, 0)))


def test_local_alignments_that_begin_and_end_on_borders(device):
    core = random_protein(40, 5)
    targets = tuple(
        "W" * before + core[: 14 + before % 5] + "W" * (before % 4) for before in range(34)
    )
    scoring = protein_scoring("local")
    assert_like_cpu(device, Problem((core,), targets, scoring))
    assert_like_cpu(device, Problem(("W" * 19 + core, "W" * 7 + core + "W" * 9), targets, scoring))


def test_local_alignments_that_are_equally_good(device):
    """The same stretch again and again: the end cell is one of many, in many tiles."""
    core = random_protein(12, 6)
    queries = tuple(("W" * n + core) * 4 for n in (1, 4, 5, 9))
    assert_like_cpu(device, Problem(queries, None, protein_scoring("local")))
    assert_like_cpu(
        device, Problem(queries[:2], (core, core + "WWWW" + core), protein_scoring("local"))
    )


def test_local_alignments_in_one_strip_or_in_several(device):
    """The end cell is in the first strip of columns or in the last; or both have as good a one."""
    core, other = random_protein(30, 20), random_protein(29, 21)
    room = ("W" * 35, "W" * 1000, "W" * 25)  # columns of two strips
    ends = (("", core), (core, ""), (core, core), (core, core[:-1]), (core[:-1], core))
    columns = tuple(room[0] + first + room[1] + last + room[2] for first, last in ends)
    rows = (core, "Y" * 9 + core, core + "YY" + other + "Y" + core, other, "Y" * 1150 + core)
    scoring = protein_scoring("local")
    assert_like_cpu(device, Problem(rows, columns, scoring))
    assert_like_cpu(device, Problem((*rows[:3], *columns[:3]), None, scoring))


@pytest.mark.parametrize("mode", MODES)
def test_ties_at_the_borders_of_tiles(device, mode):
    """With one letter every gap may be anywhere; rows and columns change places in two sets."""
    lengths = (7, 8, 9, 15, 16, 17, 33, 64, 65)
    sequences = tuple("A" * length for length in lengths)
    for gap_open, gap_extend in ((1, 1), (2, 0)):
        scoring = make_scoring(DNA, mode, gap_open, gap_extend, match_matrix(DNA, 1, -1))
        assert_like_cpu(device, Problem(sequences, None, scoring))
        assert_like_cpu(device, Problem(sequences[::2], sequences[1::2], scoring))


@pytest.mark.parametrize("mode", MODES)
def test_halves_that_differ(device, mode):
    """Neighbouring columns of very different lengths, and of very different scores."""
    long = random_protein(150, 7)
    columns = (long[:140], "W", long[10:60], "W" * 49, long[5:9], "W" * 4)
    assert_like_cpu(device, Problem((long, long[::-1]), columns, protein_scoring(mode, 20)))
    assert_like_cpu(device, Problem((long, "W", *columns), None, protein_scoring(mode, 20)))


@pytest.mark.parametrize("mode", MODES)
def test_scores_at_the_limit_of_16_bits(device, mode):
    """Just below and above it, as first and second of a word, beside a pair that scores little."""
    match = 52
    limit = 65471 // (match + (2 if mode != "local" else 0))
    if mode == "semiglobal":
        limit -= 40  # what the lengths add
    high = random_protein(limit + 12, 8)
    low = "W" * (limit + 3)
    columns = (high[:limit], low[:limit], high[: limit - 14], low[: limit - 14], high[: limit + 9])
    assert_like_cpu(device, Problem((high,), columns, protein_scoring(mode, match)))


@pytest.mark.parametrize("mode", MODES)
def test_chosen_pairs(device, mode):
    """By a mask, by their scores, and by both; none, few and all of them."""
    rng = np.random.default_rng(9)
    whole = random_protein(160, 10)
    cut = [(0, 150), (3, 140), (9, 139), (60, 130), (0, 66), (80, 113), (5, 25), (7, 16), (0, 1)]
    first = SequenceSet.from_strings([whole[start:stop] for start, stop in cut], alphabet=PROTEIN)
    second = SequenceSet.from_strings([whole[90:], "W" * 40, whole[:15]], alphabet=PROTEIN)
    scoring = protein_scoring(mode)
    for sets in ([first], [first, second]):
        gpu = open_on(device, sets, scoring, family=Packed.name)
        cpu = open_cpu(sets, scoring)
        columns = len(second) if len(sets) > 1 else None
        for window in plan_windows(len(first), columns, 100):
            for share in (0.0, 0.2, 1.0):
                pair_mask = rng.random(window.pairs) < share
                for want in (Want(), Want(min_raw_score=60), Want(Detail.SCORE, 60)):
                    expected = cpu.align(window, want, pair_mask)
                    assert_same(expected, gpu.align(window, want, pair_mask), want.detail)
            for least in (-50, 60, 10**6):
                want = Want(Detail.STATS, least)
                assert_same(cpu.align(window, want), gpu.align(window, want), want.detail)
        gpu.close()
        cpu.close()


@pytest.mark.slow
@pytest.mark.parametrize("memory_bytes", [None, 300 << 10])
def test_passing_pairs_of_many_blocks_and_batches(device, memory_bytes):
    """Thousands of pairs, of which none, few, most or all reach the minimum."""
    rng = np.random.default_rng(12)
    letters = ["".join(rng.choice(list("ARND"), size=rng.integers(1, 12))) for _ in range(97)]
    sequences = SequenceSet.from_strings(letters, alphabet=PROTEIN)
    scoring = protein_scoring("local")
    gpu = open_on(device, [sequences], scoring, family=Packed.name, memory_bytes=memory_bytes)
    cpu = open_cpu([sequences], scoring)
    (window,) = plan_windows(len(sequences), None, 100)
    assert window.pairs > PAIRS_OF_PASSING_BLOCK
    scores = cpu.align(window, Want(Detail.SCORE)).raw_score
    for want in (
        Want(Detail.CIGAR, 0),
        Want(Detail.SCORE, int(np.median(scores))),
        Want(Detail.CIGAR, int(np.sort(scores)[-20])),
        Want(Detail.CIGAR, int(scores.max()) + 1),
    ):
        found = gpu.align(window, want)
        assert len(found) == (scores >= want.min_raw_score).sum()
        assert_same(cpu.align(window, want), found, want.detail)
    gpu.close()
    cpu.close()


@pytest.mark.parametrize("triangular", [False, True])
def test_numbers_of_pairs_are_those_of_the_window(triangular):
    rectangle = Rectangle(3, 40, 20, 60, triangular)
    rows, columns = rectangle.window().positions()
    numbers = np.flatnonzero(np.random.default_rng(3).random(rectangle.pairs) < 0.2).astype(
        np.int32
    )
    chosen = choose_numbers(rectangle, numbers)
    assert (chosen.rows == rows[numbers]).all()
    assert (chosen.columns == columns[numbers]).all()
    again = choose_numbers(chosen, np.array([0, 5, 9], np.int32))
    assert (again.columns == columns[numbers[[0, 5, 9]]]).all()


def test_few_passing_pairs_need_few_tiles(monkeypatch):
    """Pairs are scored first, and only those that pass are filled again with their borders kept."""
    device = host_device()
    device.driver.memory.launches.clear()
    sequences = SequenceSet.from_strings(
        [random_protein(40, n) for n in range(8)], alphabet=PROTEIN
    )
    engine = open_on(device, [sequences], protein_scoring("local"), family=Packed.name)
    (window,) = plan_windows(len(sequences), None, 100)
    assert len(engine.align(window, Want(min_raw_score=10**6))) == 0
    engine.close()
    launches = device.driver.memory.launches
    assert any(name.startswith("score") for name in launches)
    assert not any(name.startswith(("fill", "traceback")) for name in launches)


@pytest.mark.parametrize("mode", MODES)
def test_runs_that_do_not_fit_where_tiles_have_been(monkeypatch, mode):
    """They are written again, to memory of their own."""
    device = host_device()
    launches = device.driver.memory.launches
    launches.clear()
    monkeypatch.setattr(Flight, "run_capacity", 0)
    queries = tuple(random_protein(n, n) for n in (40, 9, 1))
    assert_like_cpu(device, Problem(queries, None, protein_scoring(mode)))
    assert launches.count("write_runs") > launches.count("place_runs") > 0


@pytest.mark.parametrize("mode", MODES)
def test_offsets_of_runs_in_several_batches(device, mode):
    """Each batch counts its own runs from 0; pairs without any are among them."""
    whole = random_protein(90, 20)
    cut = [(0, 90), (3, 80), (9, 79), (30, 70), (0, 66), (40, 53), (5, 25), (7, 16), (0, 1)]
    sequences = SequenceSet.from_strings(
        [whole[start:stop] for start, stop in cut] + ["W" * 20], alphabet=PROTEIN
    )
    scoring = protein_scoring(mode)
    gpu = open_on(device, [sequences], scoring, family=Packed.name)
    cpu = open_cpu([sequences], scoring)
    (window,) = plan_windows(len(sequences), None, 100)
    gpu.align(window, Want())
    starts = []
    runs_of = WindowResults.runs_of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            WindowResults,
            "runs_of",
            lambda self, first, pairs: starts.append(first) or runs_of(self, first, pairs),
        )
        gpu.family.pipeline.limit_bytes = 30_000
        for want in (Want(), Want(min_raw_score=60)):
            assert_same(cpu.align(window, want), gpu.align(window, want))
    assert len(set(starts)) > 2
    gpu.close()
    cpu.close()


def plain_matrix(scoring: Scoring, costs: Costs, row: list[int], column: list[int]) -> np.ndarray:
    """H of a global alignment as the kernels store it, less the bias; dense letters."""
    opening = costs.gap_open
    h = np.full((len(row) + 1, len(column) + 1), -opening, np.int64)
    h[0, 0] = 0
    f = h[0] - opening
    for i, letter in enumerate(row, 1):
        e = h[i, 0] - opening
        for j, other in enumerate(column, 1):
            h[i, j] = max(h[i - 1, j - 1] + costs.table[letter, other], e, f[j])
            e, f[j] = max(e, h[i, j] - opening), max(f[j], h[i, j] - opening)
    return h


def test_values_of_a_tile_stay_within_their_bits():
    """Neighbours, and all cells of a tile, differ from each other by what is planned for."""
    rng = np.random.default_rng(13)
    codes = np.arange(6, dtype=np.uint8)
    for _ in range(6):
        gap_open = int(rng.integers(0, 30))
        matrix = np.zeros((32, 32), np.int32)
        matrix[:6, :6] = np.tril(rng.integers(-20, 40, (6, 6)))
        matrix += np.tril(matrix, -1).T
        scoring = make_scoring(PROTEIN, "global", gap_open, int(rng.integers(gap_open + 1)), matrix)
        costs = Costs.of(scoring, codes)
        # Long stretches of the best and of the worst letters, and any.
        row = [*rng.integers(0, 6, 30), *[1] * 30, *rng.integers(0, 2, 30)]
        column = [*[1] * 20, *rng.integers(0, 6, 40), *[2] * 30]
        h = plain_matrix(scoring, costs, row, column)
        steps = max(np.abs(np.diff(h, axis=0)).max(), np.abs(np.diff(h, axis=1)).max())
        assert steps <= costs.step_range
        for i in range(0, len(row) - TIER, 5):
            for j in range(0, len(column) - TIER, 5):
                tile = h[i : i + TIER + 1, j : j + TIER + 1] - h[i, j] + costs.tile_bias
                assert tile.min() - costs.gap_open >= 0  # E and F
                assert tile.max() <= costs.tile_range


def test_strips_waste_little():
    lengths = np.arange(1, 5000)
    kinds, strips = choose_tilings(lengths)
    every = [*TILINGS, *STRIPS]
    widths = np.array([every[kind].width for kind in kinds]) * strips
    assert (widths >= lengths).all()
    assert (strips[lengths <= TILINGS[-1].width] == 1).all()
    far = lengths > TILINGS[-1].width
    assert (widths[far] <= 1.25 * lengths[far]).all()
