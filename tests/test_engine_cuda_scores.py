"""The CUDA kernels that compute scores only: equal to the reference's, whatever the variant.

Tests of the fixture `device` run twice: with the kernels compiled for this CPU, which needs no GPU,
and on a GPU where there is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference
from cases import CASES
from checks import assert_same, costs_of, run
from conftest import examples, open_cpu
from cuda_engines import cuda_device, host_device, open_on
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    MODES,
    Problem,
    large_problems,
    make_scoring,
    random_matrix,
    random_sequences,
    small_problems,
)

from pairalign.alignments import Alignments
from pairalign.engines import Detail, Want
from pairalign.engines.cuda_pair_per_warp import LAYOUTS, PairPerWarp
from pairalign.engines.cuda_striped import Striped
from pairalign.sequences import PROTEIN

SCORES = Want(Detail.SCORE)
KERNELS = (PairPerWarp.name, Striped.name)
VARIANTS: dict[str, Any] = {
    **{f"warp-{layout.lower()}": (PairPerWarp, {"layout": layout}) for layout in LAYOUTS},
    "warp-rolled": (PairPerWarp, {"unrolled": 1, "slots": 1}),
}
QUICK_CASES = [
    *("ties", "homopolymers", "no_match_at_all", "everything_matches", "scores_that_need_32_bits"),
    *("very_long_against_very_short", "a_thousand_letters"),
]


@pytest.fixture(scope="session", params=["on-host", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Any:
    return host_device() if request.param == "on-host" else cuda_device()


@pytest.fixture(scope="session", params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> str:
    return request.param


def opener(device: Any, kernel: str, **fixed: Any) -> Any:
    fixed.update(family=kernel, detail=Detail.SCORE)
    return lambda sets, scoring, **options: open_on(device, sets, scoring, **fixed, **options)


def proteins(number: int, longest: int, seed: int = 1, shape: str = "mixed") -> tuple[str, ...]:
    rng = np.random.default_rng(seed)
    return tuple(random_sequences(rng, "ARNDCQEGHILKMFPSTWYV", number, longest, shape))


def blosum_like(mode: str, gap_open: int = 11, gap_extend: int = 1) -> Any:
    matrix = random_matrix(np.random.default_rng(62), -4, 9)
    return make_scoring(PROTEIN, mode, gap_open, gap_extend, matrix)


def assert_reference_scores(problem: Problem, found: Alignments, at_most: int) -> None:
    sets = problem.sets()
    costs = costs_of(problem.scoring)
    for k in range(0, len(found), max(1, len(found) // at_most)):
        query, target = int(found.query[k]), int(found.target[k])
        expected = reference.align(sets[0].codes_of(query), sets[-1].codes_of(target), costs)
        assert found.raw_score[k] == expected.score, (query, target, problem)


def check(device: Any, kernel: str, problem: Problem, at_most: int = 10, **options: Any) -> None:
    found = run(opener(device, kernel), problem, SCORES, **options)
    assert_same(run(open_cpu, problem, SCORES), found, Detail.SCORE, problem)
    assert_reference_scores(problem, found, at_most)


@settings(max_examples=examples(60))
@given(problem=st.one_of(small_problems(), large_problems))
def test_any_problem(device: Any, kernel: str, problem: Problem) -> None:
    check(device, kernel, problem)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", QUICK_CASES)
def test_hard_cases(device: Any, kernel: str, case: str, mode: str) -> None:
    for problem in list(CASES[case](mode))[-3:]:
        check(device, kernel, problem, at_most=5)
