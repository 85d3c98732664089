"""The pruned kernel on a GPU: the bytes of the full matrix, and what it leaves to other kernels.

As in test_engine_cuda.py, tests of the fixture `device` run with the kernels compiled for this CPU
and on a GPU where there is one. What is compared with is the CPU engine, with full matrices.
"""

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
from cases import CASES
from checks import assert_as_reference, assert_same, run, windows_of
from commands import fasta
from conftest import examples, open_cpu
from cuda_engines import host_device, open_on
from hypothesis import given, settings
from hypothesis import strategies as st
from similar_problems import DEFAULT, WORSE, mutated, of_mode, related_problem
from strategies import SEEDS, Problem, make_scoring, match_matrix, small_problems

from pairalign.alignments.problem import Problem as Aligned
from pairalign.cli import main as cli
from pairalign.engines.cpu.cpu_engine import Pruned, Pruning
from pairalign.engines.cuda import build as cuda_build
from pairalign.engines.cuda import cuda_devices
from pairalign.engines.cuda.pruned import pruned_family, sampling
from pairalign.engines.cuda.pruned.pruned_plan import RESULT, Layout, lay_out
from pairalign.engines.cuda.pruned.sampling import Sampler
from pairalign.engines.cuda.pruned.worth import choose_worth
from pairalign.engines.device.device_engine import HostFallback
from pairalign.pairs.want import Detail, Want
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import make_scoring as scoring_of
from pairalign.sequences.alphabets import DNA, PROTEIN

KIB, MIB = 1 << 10, 1 << 20
FORCED = Pruning("forced")


def opener(device: Any, pruning: Pruning, counts: list[Pruned] | None = None, **fixed: Any) -> Any:
    """Open the engine with these kernels; what they did is appended to `counts` at last."""

    def open_pruned(sets: Any, scoring: Any, **options: Any) -> Any:
        engine = open_on(device, sets, scoring, **{"family": "pruned", **fixed}, **options)
        engine.pruned.pruning = pruning
        close = engine.close

        def close_and_count() -> None:
            if counts is not None:
                counts.append(engine.pruned.counts)
            close()

        engine.close = close_and_count
        return engine

    return open_pruned


def align(
    device: Any, problem: Problem, pruning: Pruning, want: Want | None = None, **options: Any
) -> tuple[Alignments, Pruned]:
    """Every pair of a problem, and what pruning did."""
    counts: list[Pruned] = []
    found = run(opener(device, pruning, counts), problem, want, **options)
    return found, counts[0]


def related(seed: int, longest: int) -> Problem:
    """Sequences that come from one; those that are longer are cut."""
    problem = related_problem(seed)
    return replace(problem, first=tuple(one[:longest] for one in problem.first))


def similar(number: int, length: int, rate: float, seed: int = 51) -> Problem:
    """Sequences with a gap, and with runs of N at the same and at different places."""
    rng = np.random.default_rng(seed)
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=length))
    sequences = [mutated(rng, letters, ancestor, rate) for _ in range(number)]
    sequences[0] = sequences[0][: length // 3] + sequences[0][length // 2 :]
    for k, at in ((0, 20), (1, length // 2), (2, length // 2 + 5)):
        one = sequences[k % number]
        sequences[k % number] = one[:at] + "N" * 40 + one[at + 40 :]
    return Problem(tuple(sequences), None, DEFAULT)


def test_related_sequences(device):
    @settings(max_examples=examples(20))
    @given(seed=SEEDS, worse=WORSE, use=st.sampled_from(["forced", "forced", "always"]))
    def check(seed: int, worse: int, use: str) -> None:
        problem = related(seed, 250)
        found, did = align(device, problem, Pruning(use, worse))
        assert_same(found, run(open_cpu, problem), note=problem)
        assert did.lost == 0
        if problem.scoring is DEFAULT and use == "forced":
            assert did.done == did.tried

    check()


def test_a_few_letters(device):
    @settings(max_examples=examples(40))
    @given(problem=small_problems(), worse=WORSE)
    def check(problem: Problem, worse: int) -> None:
        problem = of_mode(problem, "global")
        found, did = align(device, problem, Pruning("forced", worse))
        assert_as_reference(problem, found)
        assert did.lost == 0

    check()


@pytest.mark.parametrize("case", CASES)
def test_hard_cases(device, case):
    for problem in islice(CASES[case]("global"), 3):
        short = replace(
            problem,
            first=tuple(one[:120] for one in problem.first[:4]),
            second=problem.second and tuple(one[:120] for one in problem.second[:4]),
        )
        found, did = align(device, short, FORCED)
        assert_same(found, run(open_cpu, short), note=short)
        assert did.lost == 0


def nearly_equal(seed: int, longest: int) -> Problem:
    """Long stretches in common, some of them repeats; a few letters match nothing."""
    rng = np.random.default_rng(seed)
    period = int(rng.choice([1, 2, 7, 40, longest, longest]))
    unit = "".join(rng.choice(list("ACGT"), size=period))
    ancestor = (unit * longest)[: int(rng.integers(100, longest))]
    sequences = []
    for _ in range(3):
        one = ancestor
        for _ in range(int(rng.integers(0, 5))):
            at, size = int(rng.integers(len(one))), int(rng.geometric(0.3))
            new = "".join(rng.choice(list("ACGTN"), size=size))
            cut = size if rng.integers(2) else int(rng.geometric(0.1))
            one = (one[:at] + new + one[at + cut :]) or "A"
        sequences.append(one)
    match, mismatch = int(rng.integers(0, 6)), -int(rng.integers(0, 6))
    extend = int(rng.integers(0, 4))
    scoring = make_scoring(
        DNA,
        "global",
        extend + int(rng.choice([0, 1, 3, 40])),
        extend,
        match_matrix(DNA, match, mismatch),
    )
    return Problem(tuple(sequences), None, scoring if rng.integers(2) else DEFAULT)


def test_stretches_of_equal_letters(device):
    """They are skipped; bands are narrow, or wider for a bad score to begin with."""

    @settings(max_examples=examples(25))
    @given(seed=SEEDS, worse=st.sampled_from([0, 0, 20, 150]))
    def check(seed: int, worse: int) -> None:
        problem = nearly_equal(seed, 500)
        found, did = align(device, problem, Pruning("forced", worse))
        assert_same(found, run(open_cpu, problem), note=problem)
        assert did.lost == 0

    check()


def test_equal_letters_are_not_filled(device):
    """A few blocks around each difference are, in the beam and in the band."""
    rng = np.random.default_rng(55)
    one = "".join(rng.choice(list("ACGT"), size=8000))
    other = one[:2000] + "T" + one[2001:5000] + one[5007:7000] + "N" * 20 + one[7020:]
    problem = Problem((one, other), None, DEFAULT)
    found, did = align(device, problem, FORCED)
    assert_same(found, run(open_cpu, problem))
    assert did.lost == 0
    assert did.beam_cells + did.cells < 0.1 * 64 * 16000


@pytest.mark.parametrize(("rate", "worse"), [(0.01, 0), (0.3, 0), (0.05, 4000)])
def test_windows_of_all_widths(device, rate, worse):
    """One tile of each width, and several beside one another; runs of N."""
    problem = similar(3, 700, rate)
    found, did = align(device, problem, Pruning("forced", worse))
    assert_same(found, run(open_cpu, problem))
    assert (did.done, did.lost) == (3, 0)
    if worse:
        assert did.cells > 0.9 * did.matrix_cells
    elif rate < 0.1:
        assert did.cells < 0.5 * did.matrix_cells


@pytest.mark.parametrize("detail", Detail)
@pytest.mark.parametrize("two_sets", [False, True])
def test_details_masks_minimum_and_strands(device, detail, two_sets):
    one = similar(4, 150, 0.05)
    problem = replace(one, second=one.first[::-1]) if two_sets else one
    sets = problem.sets()
    (window,) = windows_of(4, 4 if two_sets else None, 1 << 20)
    mask = np.arange(window.pairs) % 3 != 1
    for strand in (1, -1):
        turned = replace(window, strand=strand)
        engines = [opener(device, FORCED)(sets, problem.scoring), open_cpu(sets, problem.scoring)]
        full = engines[1].align(turned, Want(Detail.CIGAR))
        least = int(np.median(full.raw_score))
        for want in (Want(detail), Want(detail, min_raw_score=least)):
            found = [engine.align(turned, want, mask) for engine in engines]
            assert_same(*found, detail, problem)
        for engine in engines:
            engine.close()


def test_little_memory(device):
    """Fewer warps, larger slabs; what has no room even so is aligned by the others."""
    problem = similar(3, 600, 0.1)
    full = run(open_cpu, problem)
    done = []
    for memory_bytes in (1 << 30, 1000 * KIB, 300 * KIB, 100 * KIB):
        found, did = align(device, problem, Pruning("forced", 500), memory_bytes=memory_bytes)
        assert_same(found, full, note=memory_bytes)
        assert did.lost == 0
        done.append(did.done)
    assert done[0] == done[1] == 3
    assert done[-1] == 0


@pytest.mark.parametrize("large_slabs", [0, 1, 3])
def test_large_slabs(device, monkeypatch, large_slabs):
    """A pair that has no room in the slab of its warp gets a large one, or is tried again."""
    problem = similar(3, 600, 0.1)
    levels = []

    def lay_out_small(*arguments: Any) -> Layout | None:
        levels.append(arguments[4])
        layout = lay_out(*arguments)
        if layout is None or arguments[4] > 0:
            return layout
        assert layout.large_count == 3
        assert layout.slab_bytes > 30_000
        return replace(layout, slab_bytes=30_000, large_count=large_slabs, is_largest=False)

    monkeypatch.setattr(pruned_family, "lay_out", lay_out_small)
    found, did = align(device, problem, Pruning("forced", 500))
    assert_same(found, run(open_cpu, problem))
    assert (did.done, did.lost) == (3, 0)
    if not large_slabs:
        assert max(levels) == 1
    if large_slabs == 3:
        assert max(levels) == 0


def test_an_unsound_bound_is_noticed(device):
    problem = similar(3, 400, 0.02)
    full = run(open_cpu, problem)
    found, did = align(device, problem, Pruning("forced", lower_bound=1))
    assert did.lost > 0
    assert_same(found, full)  # what was lost is aligned in full
    _, did = align(device, problem, Pruning("forced", worse_seed=1, lower_bound=1))
    assert did.lost == 0


def test_a_bad_pair_is_left_to_others(device):
    """Of sequences that have nothing in common little is filled."""
    rng = np.random.default_rng(52)
    one = similar(3, 500, 0.01)
    stranger = "".join(rng.choice(list("ACGT"), size=500))
    problem = replace(one, first=(*one.first, stranger))
    found, did = align(device, problem, Pruning("always"))
    assert (did.tried, did.lost) == (6, 0)
    assert 1 <= did.done <= 3
    assert_same(found, run(open_cpu, problem))


@pytest.mark.parametrize("seed", [13, 14, 15])
def test_runs_of_n_at_the_edges_of_windows(device, seed):
    """What N can give back at most differs from lane to lane; trimming must come to an end."""
    rng = np.random.default_rng(seed)
    letters = list("ACGT")
    ancestor = "".join(rng.choice(letters, size=int(rng.integers(100, 400))))
    sequences = []
    for _ in range(4):
        one = mutated(rng, letters, ancestor, 0.03)
        for _ in range(int(rng.integers(0, 3))):
            at, size = int(rng.integers(len(one))), int(rng.integers(1, 60))
            one = one[:at] + "N" * size + one[at + size :]
        sequences.append(one)
    problem = Problem(tuple(sequences), None, DEFAULT)
    found, did = align(device, problem, Pruning("always"))
    assert_same(found, run(open_cpu, problem))
    assert did.lost == 0


@pytest.mark.parametrize("rate", [0.02, 0.7])
def test_auto_takes_similar_pairs(device, monkeypatch, rate):
    """It asks for long pairs, for many cells, and a sample of pairs that look similar."""
    problem = similar(5, 500, rate)
    full = run(open_cpu, problem)

    def did() -> int:
        counts: list[Pruned] = []
        open_auto = opener(device, Pruning("auto"), counts, family=None)
        assert_same(run(open_auto, problem), full)
        return counts[0].tried

    assert did() == 0
    monkeypatch.setattr(sampling, "LEAST_RESIDUES", 100)
    monkeypatch.setattr(pruned_family, "LEAST_RESIDUES", 100)
    assert did() == 0
    monkeypatch.setattr(sampling, "_LEAST_CELLS", 1000)
    monkeypatch.setattr(sampling, "expected_seconds", lambda *_: (0.0, 1.0))
    assert did() == (10 if rate < 0.1 else 0)


def test_pairs_are_sketched(device):
    """Of those that do not look similar not a cell is filled."""
    rng = np.random.default_rng(54)
    one = similar(3, 500, 0.01)
    stranger = "".join(rng.choice(list("ACGT"), size=500))
    problem = replace(one, first=(*one.first, stranger))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pruned_family, "LEAST_RESIDUES", 100)
        patch.setattr(Sampler, "pays", lambda *_: True)
        patch.setattr(pruned_family, "WIDEST_AUTO", 0.5)
        found, did = align(device, problem, Pruning("auto"))
        _, others = align(device, one, Pruning("auto"))
    assert_same(found, run(open_cpu, problem))
    assert did.done == others.done >= 1
    assert did.tried == 6
    assert did.beam_cells == others.beam_cells > 0


def test_layouts_fit():
    rng = np.random.default_rng(53)
    levels = set()
    for _ in range(examples(300)):
        rows = rng.integers(1, 10 ** rng.integers(1, 6), size=rng.integers(1, 50))
        columns = np.maximum(1, rows - rng.integers(0, 5))
        limit, level = int(10 ** rng.uniform(4, 10)), int(rng.integers(3))
        detail = Detail(int(rng.integers(3)))
        layout = lay_out(rows, columns, detail, 4, level, limit)
        if layout is None:
            continue
        assert sum(layout.sizes.values()) <= limit
        assert layout.sizes["slabs"] == layout.warps * layout.slab_bytes
        assert layout.sizes["large_slabs"] == layout.large_count * layout.large_bytes
        assert layout.large_bytes % 16 == 0
        assert layout.slab_bytes % 16 == 0
        assert layout.sizes["tables"] >= 64 + len(rows) * RESULT.itemsize
        levels.add((level, layout.is_largest))
    assert len(levels) > 3


@pytest.mark.parametrize(
    ("scoring", "plain"),
    [
        (DEFAULT, 4),
        (make_scoring(DNA, "global", 0, 0, match_matrix(DNA, 1, -7)), 4),
        (make_scoring(DNA, "global", 3, 1, match_matrix(DNA, -1, -5)), 4),
        (scoring_of(PROTEIN, mode="global"), 0),
    ],
)
def test_worths_bound_scores(scoring, plain):
    """Two letters score no more than they are worth, two cheap ones no more than with the bonus."""
    counts = np.zeros(32, np.int64)
    counts[: len(scoring.alphabet.letters)] = 100
    worth = choose_worth(scoring, counts)
    assert worth.plain == plain
    codes = np.arange(len(scoring.alphabet.letters))
    most = worth.row[codes, None] + worth.column[None, codes]
    most += worth.pair_bonus * (worth.cheap[codes, None] & worth.cheap[None, codes])
    assert (scoring.matrix[np.ix_(codes, codes)] <= most).all()
    for letters, loss, bonus in (
        (worth.row, worth.row_loss, worth.row_bonus),
        (worth.column, worth.column_loss, worth.column_bonus),
    ):
        in_a_gap = letters[codes] + scoring.gap_extend
        assert (in_a_gap >= loss - bonus * worth.cheap[codes]).all()
    assert worth.row_loss + worth.column_loss >= worth.pair_bonus


def test_pairs_on_the_host_are_pruned_there():
    problem = similar(2, 1500, 0.01)
    sets = problem.sets()
    (window,) = windows_of(2, None, 1 << 20)
    host = HostFallback(Aligned(sets[0], None, problem.scoring))
    found = host.align(window, Want(Detail.CIGAR), "cuda:0")
    engine = host._engine
    assert engine.pruned().tried == 1
    assert_same(found, run(open_cpu, problem))
    host.close()


@pytest.mark.parametrize("has_gpu", [True, False])
def test_the_whole_command(tmp_path, monkeypatch, has_gpu):
    """By name on a GPU, and on the CPU where there is none."""
    letters = similar(4, 200, 0.05).first
    (tmp_path / "a.fa").write_text(fasta({f"s{k}": one for k, one in enumerate(letters)}))
    if has_gpu:
        monkeypatch.setattr(cuda_devices, "_devices", [host_device()])
        monkeypatch.setattr(cuda_build, "find_nvcc", lambda: "/usr/bin/nvcc")
    common = ["align", str(tmp_path / "a.fa"), "--quiet", "-o"]
    written = []
    for k, more in enumerate((["--device", "cpu", "--kernel", "lanes"], ["--kernel", "pruned"])):
        output = tmp_path / f"{k}.tsv"
        assert cli.main([*common, str(output), *more]) == 0
        written.append(output.read_bytes())
    assert written[0] == written[1]
