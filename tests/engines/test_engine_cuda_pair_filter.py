"""The filter of pairs on a GPU drops the pairs that the CPU's drops, and says the same of them."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from made_thresholds import make_pair_thresholds
from relatives import COSTS, LETTERS, change, relatives

from pairalign.alignments.problem import Problem
from pairalign.alignments.thresholds import PairThresholds
from pairalign.base.choices import COVERAGES, IDENTITIES, MODES
from pairalign.engines.cpu.cpu_pair_filter import Grams, PairFilter, PairsLeft
from pairalign.engines.cuda import cuda_pair_filter as cuda_filter
from pairalign.engines.cuda.build import ModuleRequest
from pairalign.engines.cuda.cuda_engine import CudaEngine
from pairalign.engines.cuda.cuda_pair_filter import (
    KERNEL,
    LONGEST_TEXT,
    SOURCE,
    SUBSEQUENCES_KERNEL,
    SUBSEQUENCES_SOURCE,
)
from pairalign.errors import KernelBuildError
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.stages import threshold_engine
from pairalign.jobs.stages.threshold_engine import Steps
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window, plan_windows
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.sets import SequenceSet

Sets = tuple[SequenceSet, SequenceSet | None]


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """Wait for the kernel however busy the machine is."""
    before, cuda_filter.PATIENCE = cuda_filter.PATIENCE, 60
    yield
    cuda_filter.PATIENCE = before


def assert_same(found: PairsLeft, expected: PairsLeft, *, may_be_more: bool = False) -> None:
    """The same is left; where subsequences may not stray on cores, more may be on GPUs."""
    counts = [(one.looked_at, one.possible, one.sharing) for one in (found, expected)]
    assert counts[0] == counts[1]
    if may_be_more:
        assert found.mask[expected.mask].all()
        return
    np.testing.assert_array_equal(found.mask, expected.mask)
    assert (found.left, found.min_raw_score) == (expected.left, expected.min_raw_score)


def compile_kernels(device: Any) -> None:
    """Until they have been compiled, the host looks at pairs."""
    with device.current():
        device.load_modules([ModuleRequest(one, {}) for one in (SOURCE, SUBSEQUENCES_SOURCE)])


def check(
    device: Any,
    sets: Sets,
    scoring: Scoring,
    wanted: PairThresholds,
    least: int | None,
    side: int,
    **looks_at: bool | Grams,
) -> list[PairsLeft]:
    """Compare both filters on all windows; return what is left of each."""
    problem = Problem(*sets, scoring)
    host = PairFilter(problem, wanted, least, threads=1, **looks_at)
    compile_kernels(device)
    engine = CudaEngine(device, problem)
    on_device = engine.open_pair_filter(host, pairs_a_bound=0)
    chosen = []
    for window in plan_windows(len(sets[0]), None if sets[1] is None else len(sets[1]), side):
        chosen.append(host.choose(window))
        more = host.has_subsequences and wanted.identity_of in ("columns", "full")
        assert_same(on_device.choose(window), chosen[-1], may_be_more=more)
    on_device.close()
    engine.close()
    return chosen


@settings(max_examples=examples(40))
@given(data=st.data())
def test_the_same_pairs_as_on_the_cpu(device, data):
    draw = data.draw
    alphabet = draw(st.sampled_from(sorted(LETTERS)))
    seed, rate = draw(st.integers(0, 1 << 30)), draw(st.sampled_from([0.0, 0.02, 0.1]))
    longest = draw(st.sampled_from([4, 120, 900]))
    count = draw(st.sampled_from([6, 80]))
    queries = relatives(alphabet, seed, count, longest, rate)
    targets = relatives(alphabet, seed, 70, longest, 0.05) if draw(st.booleans()) else None
    scoring = make_scoring(
        alphabet, mode=draw(st.sampled_from(MODES)), **draw(st.sampled_from(COSTS))
    )
    shares = st.sampled_from(["0", "80%", "0.9", "0.97", "1"]) | st.fractions(
        0, 1, max_denominator=10**18
    )
    wanted = make_pair_thresholds(
        draw(st.none() | shares),
        draw(st.sampled_from(list(IDENTITIES))),
        draw(st.none() | shares),
        draw(st.sampled_from(list(COVERAGES))),
    )
    least = draw(st.sampled_from([None, 1, 60, 200]))
    side, looks = draw(st.sampled_from([37, 1024])), draw(st.booleans())
    check(device, (queries, targets), scoring, wanted, least, side, subsequences=looks)


@pytest.mark.parametrize("share", ["90%", "97%"])
def test_sets_of_several_sizes_are_folded(device, share):
    """Each mode but global lets sequences of other lengths pass: their bits are folded."""
    rng = np.random.default_rng(4)
    origin = "".join(rng.choice(list("ACGT"), 3000))
    starts = rng.integers(0, 200, 70)
    cuts = [origin[start : start + 40 * k + 40] for k, start in enumerate(starts)]
    others = ["".join(rng.choice(list("ACGT"), len(cut))) for cut in cuts]
    queries = SequenceSet.from_strings(cuts + others, alphabet="dna")
    scoring = make_scoring("dna", mode="local")
    wanted = make_pair_thresholds(share, "columns", "80%", "shorter")
    (chosen,) = check(device, (queries, None), scoring, wanted, None, 1024)
    assert 0 < chosen.left < chosen.possible


# Patterns of 1 to 16 words in registers, of more in strips, and in a few words that move along.
@pytest.mark.parametrize(
    ("alphabet", "length"),
    [
        *(("dna", length) for length in (1, 32, 33, 128, 250, 500, 1040)),
        *(("protein", length) for length in (31, 129, 390, 513)),
    ],
)
@pytest.mark.parametrize("share", ["45%", "90%", "97%"])
def test_common_subsequences(device, alphabet, length, share):
    rng = np.random.default_rng(length)
    letters = LETTERS[alphabet]
    origin = "".join(rng.choice(list(letters), length))
    rate = 1 - float(share[:-1]) / 100
    made = [origin, origin[1:], origin[length // 3 :]]
    made += [change(rng, letters, origin, rate * rng.uniform(0.3, 1.6)) for _ in range(14)]
    made += ["".join(rng.choice(list(letters), length)) for _ in range(3)]
    queries = SequenceSet.from_strings([one or letters[0] for one in made], alphabet=alphabet)
    scoring = make_scoring(alphabet)
    wanted = make_pair_thresholds(share, "shorter")
    check(device, (queries, None), scoring, wanted, None, 15, subsequences=True, grams=Grams.NONE)


@pytest.mark.parametrize("unmatched", [31, 32, 33, 37, 63, 64, 65, 96, 97])
def test_matches_on_the_outermost_diagonals(device, unmatched):
    """Words that move hold the first and the last diagonal that can have all matches."""
    rng = np.random.default_rng(unmatched)
    origin, others = "".join(rng.choice(list("ACGT"), 400)), "N" * unmatched
    made = [origin, others + origin[:-unmatched], origin[unmatched:] + others]
    queries = SequenceSet.from_strings([*made, "".join(rng.choice(list("ACGT"), 400))])
    wanted = make_pair_thresholds(Fraction(400 - unmatched, 400), "shorter")
    taken = (queries, None), make_scoring(queries.alphabet), wanted, None, 10
    (chosen,) = check(device, *taken, subsequences=True, grams=Grams.NONE)
    assert chosen.left == 2


def test_of_pairs_of_long_sequences_the_host_looks_at_subsequences(device):
    rng = np.random.default_rng(6)
    origin = "".join(rng.choice(list("ACGT"), LONGEST_TEXT + 60))
    made = [change(rng, "ACGT", origin, rate) for rate in (0.01, 0.3)]
    made += ["".join(rng.choice(list("ACGT"), LONGEST_TEXT + 9)), origin[:-60]]
    made += [change(rng, "ACGT", origin[at : at + 700], 0.1) for at in (0, 900)]
    queries = SequenceSet.from_strings(made, alphabet="dna")
    wanted = make_pair_thresholds("75%", "shorter")
    taken = (queries, None), make_scoring("dna"), wanted, None, 20
    (chosen,) = check(device, *taken, subsequences=True, grams=Grams.NONE)
    assert 0 < chosen.left < chosen.sharing


def check_alike(
    device: Any,
    spoil: Callable[[CudaEngine], None],
    start: int = 0,
    stop: int = 30,
    pairs_a_bound: int = 0,
) -> None:
    """What the filter of an engine chooses is what the host does, whoever looks."""
    problem = Problem(relatives("dna", 3, 30, 200, 0.0), None, make_scoring("dna"))
    host = PairFilter(problem, make_pair_thresholds("95%"), None, threads=1)
    engine = CudaEngine(device, problem)
    spoil(engine)
    on_device = engine.open_pair_filter(host, pairs_a_bound=pairs_a_bound)
    window = Window(0, start, stop, 0, 30, True)
    assert_same(on_device.choose(window), host.choose(window))
    on_device.close()
    engine.close()


def test_the_host_looks_where_the_kernel_cannot_be_had(device):
    def cannot(*_: object) -> Any:
        raise KernelBuildError("nvcc is not there")

    check_alike(device, lambda engine: setattr(engine._context, "load_module", cannot))


def test_many_lengths_are_for_the_host(device):
    check_alike(device, lambda _: None, 3, 17, pairs_a_bound=10**6)


def test_without_room_on_the_device_the_host_looks(monkeypatch):
    pytest.importorskip("cuda_on_host")
    from cuda_on_host import driver
    from cuda_on_host.device import HostDevice

    memory = driver.memory
    full = lambda _: monkeypatch.setattr(memory, "total_bytes", memory.used_bytes)  # noqa: E731
    check_alike(HostDevice(), full)


@pytest.mark.parametrize("subsequences", [False, True])
def test_of_chosen_pairs(device, subsequences):
    queries = relatives("dna", 3, 90, 200, 0.1)
    scoring, wanted = make_scoring("dna"), make_pair_thresholds("75%", "shorter")
    host = PairFilter(
        Problem(queries, None, scoring), wanted, None, threads=1, subsequences=subsequences
    )
    compile_kernels(device)
    engine = CudaEngine(device, Problem(queries, None, scoring))
    on_device = engine.open_pair_filter(host, pairs_a_bound=0)
    before = len(launches_of(device))
    for window in (Window(0, 3, 77, 0, 90, True), Window(0, 0, 20, 20, 90, False)):
        for share in (0.5, 0.1, 0.001, 0.0):
            mask = np.random.default_rng(5).random(window.pairs) < share
            assert_same(on_device.choose(window, mask), host.choose(window, mask))
    on_device.close()
    engine.close()
    if hasattr(device.driver, "memory"):
        assert KERNEL in launches_of(device)[before:]


def launches_of(device: Any) -> list[str]:
    """Names of kernels, on the host."""
    return device.driver.memory.launches if hasattr(device.driver, "memory") else []


def job_on(queries: SequenceSet, engine: CudaEngine | None, **thresholds: Any) -> tuple[Any, Steps]:
    """Scores of a job on the CPU, or on an engine; and what its steps counted."""
    job = AlignmentJob(
        queries,
        None,
        make_scoring("dna"),
        Want(Detail.SCORE, thresholds.pop("least", None)),
        resources=Resources(device="cpu"),
        pair_thresholds=make_pair_thresholds(**thresholds),
    )
    if engine is not None:
        job._open_engines = lambda: job._wrap_engines([engine])  # type: ignore[method-assign]
    found = [(part.query, part.target, part.raw_score) for part in job]
    assert job.steps is not None
    return [np.concatenate(one).tolist() for one in zip(*found, strict=True)], job.steps


@pytest.mark.parametrize(
    "thresholds",
    [
        {"min_identity": "97%"},
        {"min_identity": "75%", "identity_of": "shorter"},
        {"least": 180},
        {"max_length_ratio": "1.02"},
        {"min_identity": "97%", "max_length_ratio": "1.02"},
    ],
)
def test_a_job_counts_what_it_counts_on_the_cpu(device, thresholds, monkeypatch):
    monkeypatch.setattr(threshold_engine, "WORTH_FILTERING", 0)
    rng = np.random.default_rng(2)
    origins = ["".join(rng.choice(list("ACGT"), 100)) for _ in range(4)]
    reads = [origins[k % 4][: 90 + k % 5] + rng.choice(list("ACGT")) for k in range(90)]
    queries = SequenceSet.from_strings(reads, alphabet="dna")
    expected, counted = job_on(queries, None, **dict(thresholds))
    compile_kernels(device)
    engine = CudaEngine(device, Problem(queries, None, make_scoring("dna")))
    before = len(launches_of(device))
    found, steps = job_on(queries, engine, **dict(thresholds))
    assert found == expected
    assert len(found[0]) > 0
    assert counted.pairs > counted.common
    names = ["pairs", "possible", "passing"]
    if "min_identity" not in thresholds:  # else cores may leave out q-grams
        names += ["sharing", "common", "gram"]
    for name in names:
        assert getattr(steps, name) == getattr(counted, name)
    if device.name == "cuda:0" and hasattr(device.driver, "memory"):
        launches = launches_of(device)[before:]
        assert KERNEL in launches
        assert (SUBSEQUENCES_KERNEL in launches) == ("identity_of" in thresholds)
        assert (steps.common < steps.sharing) == ("identity_of" in thresholds)


def test_a_least_score_alone_is_not_worth_a_filter_on_a_gpu_for_small_sets(device):
    queries = relatives("dna", 3, 30, 200, 0.0)
    scoring = make_scoring("dna")
    engine = CudaEngine(device, Problem(queries, None, scoring))
    requirement = threshold_engine.Requirement(
        Problem(queries, None, scoring), PairThresholds(), min_raw_score=180
    )
    engines, steps, _ = threshold_engine.skip_where_it_pays([engine], requirement)
    assert (engines, steps) == ([engine], None)
    engine.close()
