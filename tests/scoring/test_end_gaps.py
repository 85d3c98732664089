"""End gaps with costs of their own: every engine against the reference, and the options."""

from functools import partial

import numpy as np
import pytest
from cases import CASES
from checks import OpenEngine, assert_as_reference, assert_every_pair, assert_same, run
from conftest import examples, open_cpu
from cuda_engines import open_on
from hypothesis import given, settings
from hypothesis import strategies as st
from opencl_engines import open_opencl
from strategies import SEEDS, Problem, large_problems, small_problems, with_ends, with_vsearch_ties

from pairalign import align, cluster, overlap
from pairalign import make_scoring as make
from pairalign.alignments.identities import count_identity
from pairalign.base.choices import IDENTITIES
from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.engines.kernels import check_kernel
from pairalign.errors import DeviceError, ScoringError
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import plan_windows
from pairalign.scoring.end_gaps import ENDS, GapCost
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.statements import describe_scoring

VSEARCH = {"match": 2, "mismatch": -4, "gap_open": 20, "gap_extend": 2}


def test_small_sets(open_engine):
    @settings(max_examples=examples(150, open_engine))
    @given(problem=small_problems(), seed=SEEDS)
    def check(problem: Problem, seed: int) -> None:
        problem = with_ends(problem, seed)
        found = run(open_engine, problem)
        assert_every_pair(problem, found)
        assert_as_reference(problem, found)

    check()


def test_lanes_of_mixed_lengths(open_engine):
    @settings(max_examples=examples(10, open_engine))
    @given(problem=large_problems, seed=SEEDS)
    def check(problem: Problem, seed: int) -> None:
        problem = with_ends(problem, seed)
        assert_as_reference(problem, run(open_engine, problem), at_most=60)

    check()


SLOW = (
    "worst_scores_around_a_limit",
    "just_fits_or_not",
    "positions_beyond_16_bits",
    "very_long_against_very_short",
    "a_thousand_residues",
)
HARD = [pytest.param(case, marks=pytest.mark.slow if case in SLOW else ()) for case in CASES]


@pytest.mark.parametrize("case", HARD)
def test_hard_cases(open_engine, case):
    for number, problem in enumerate(CASES[case]("global")):
        problem = with_ends(problem, number)
        assert_as_reference(problem, run(open_engine, problem), at_most=20)


@settings(max_examples=examples(10))
@given(problem=large_problems, seed=SEEDS, ends=st.sampled_from([with_ends, with_vsearch_ties]))
def test_kernels_of_the_cpu_agree(problem, seed, ends):
    """Instruction sets, long pairs, less detail and little memory give the same bytes."""
    problem = ends(problem, seed)
    found = run(open_cpu, problem)
    assert_as_reference(problem, found, at_most=40)
    for name in instruction_sets():
        assert_same(run(open_cpu, problem, instruction_set=name), found, note=(name, problem))
    assert_same(run(open_cpu, problem, long_pairs="always"), found, note=problem)
    assert_same(run(open_cpu, problem, memory_bytes=256 << 10), found, note=problem)
    scores = run(open_cpu, problem, Want(Detail.SCORE))
    assert_same(scores, found, Detail.SCORE, problem)


@settings(max_examples=examples(120))
@given(problem=small_problems(), seed=SEEDS)
def test_ties_of_vsearch(problem, seed):
    problem = with_vsearch_ties(problem, seed)
    problem.scoring.end_gaps.check_ties(GapCost(problem.scoring.gap_open, 0))
    assert_as_reference(problem, run(open_cpu, problem))


@pytest.mark.parametrize("case", ["ties", "homopolymers", "no_match_at_all", "large_steps"])
def test_hard_cases_with_ties_of_vsearch(case):
    for number, problem in enumerate(CASES[case]("global")):
        problem = with_vsearch_ties(problem, number)
        found = run(open_cpu, problem)
        assert_as_reference(problem, found, at_most=20)
        assert_same(run(open_cpu, problem, long_pairs="always"), found, note=problem)


PACKED = [False, pytest.param(True, marks=pytest.mark.slow)]
"""Packed kernels have the same costs for query and target."""


@pytest.mark.parametrize("packed", PACKED)
@settings(max_examples=examples(25))
@given(problem=st.one_of(small_problems(), large_problems), seed=SEEDS)
def test_kernels_of_cuda(device, problem, seed, packed):
    problem = with_ends(problem, seed, symmetric=packed)
    assert_as_cpu(partial(open_on, device), problem)


@pytest.mark.parametrize(
    "case",
    [
        "ties",
        *(
            pytest.param(case, marks=pytest.mark.slow)
            for case in ("very_long_against_very_short", "just_fits_or_not", "a_thousand_residues")
        ),
    ],
)
def test_hard_cases_of_packed_kernels(device, case):
    for number, problem in enumerate(list(CASES[case]("global"))[-4:]):
        problem = with_ends(problem, number + 2, symmetric=True)
        assert_as_cpu(partial(open_on, device), problem)


QUICK = [
    *("ties", "homopolymers", "no_match_at_all"),
    *(pytest.param(case, marks=pytest.mark.slow) for case in ("everything_matches", "large_steps")),
]  # those marked need kernels of other widths, which take their time to compile


@pytest.mark.parametrize("case", QUICK)
def test_hard_cases_on_cuda(device, case):
    for number, problem in enumerate(list(CASES[case]("global"))[-6:]):
        problem = with_ends(problem, number)
        assert_as_cpu(partial(open_on, device), problem)


@pytest.mark.parametrize("case", QUICK[:4])
def test_hard_cases_on_opencl(case):
    problem = with_ends(list(CASES[case]("global"))[-1], 7)
    assert_as_cpu(open_opencl, problem)


@pytest.mark.parametrize("symmetric", [False, True])
def test_pairs_that_a_gpu_has_no_memory_for(device, symmetric):
    """They go to the CPU, since block-diagonals knows no end gaps."""
    rng = np.random.default_rng(4)
    letters = [rng.integers(0, 4, n).astype(np.uint8) for n in (900, 700, 40, 30)]
    texts = ["".join("ACGT"[code] for code in one) for one in letters]
    sequences = SequenceSet.from_strings(texts, alphabet="dna")
    ends = {"free_ends": "query-start"} if not symmetric else {}
    scoring = make("dna", **VSEARCH, end_gap_open=2, end_gap_extend=1, **ends)
    expected = align(sequences, scoring=scoring, device="cpu")
    (window,) = plan_windows(4, None, 100)
    engine = open_on(device, [sequences], scoring, memory_bytes=150 << 10)
    try:
        found = engine.align(window, Want(Detail.CIGAR))
    finally:
        engine.close()
    assert_same(found, expected)


def assert_as_cpu(open_engine: OpenEngine, problem: Problem) -> None:
    """With and without alignments an engine returns what the CPU does."""
    found = run(open_cpu, problem)
    assert_same(run(open_engine, problem), found, note=problem)
    scores = run(open_engine, problem, Want(Detail.SCORE))
    assert_same(scores, found, Detail.SCORE, problem)


@settings(max_examples=examples(60))
@given(problem=small_problems(), seed=SEEDS)
def test_alignments_score_what_they_say(problem, seed):
    problem = with_ends(problem, seed)
    found = run(open_cpu, problem)
    offsets = found.cigar_offsets
    for k in range(len(found)):
        query = found.queries.codes_of(int(found.query[k]))
        target = found.targets.codes_of(int(found.target[k]))
        spans = {
            name: int(getattr(found, name)[k])
            for name in ("query_start", "query_end", "target_start", "target_end")
        }
        cigar = found.cigar[offsets[k] : offsets[k + 1]]
        assert problem.scoring.rescore(query, target, cigar, **spans) == found.raw_score[k]


def test_the_mode_follows_from_the_costs():
    assert make("dna", **VSEARCH).mode == "global"
    assert make("dna", **VSEARCH).end_gaps is None
    same = make("dna", **VSEARCH, end_gap_open=20, end_gap_extend=2)
    assert same == make("dna", **VSEARCH)
    all_free = make("dna", **VSEARCH, free_ends=ENDS)
    assert all_free == make("dna", **VSEARCH, mode="semiglobal")
    cheap = make("dna", **VSEARCH, end_gap_open=2, end_gap_extend=1)
    assert cheap.mode == "end-gaps"
    assert cheap.end_gaps.numbers == (2, 1) * 4
    assert cheap != make("dna", **VSEARCH, end_gap_open=2, end_gap_extend=0)
    assert hash(cheap) == hash(make("dna", **VSEARCH, end_gap_open=2, end_gap_extend=1))


def test_costs_of_ends_are_scaled_with_the_others():
    scoring = make("dna", free_ends="query-start, target-end", end_gap_open="1.5", gap_extend=1)
    assert scoring.scale == 10
    assert scoring.end_gaps.numbers == (0, 0, 15, 10, 15, 10, 0, 0)
    assert scoring.end_gaps.free_ends == ("query-start", "target-end")
    assert not scoring.end_gaps.is_symmetric


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"end_gap_open": 6}, "end_gap_open 6 exceeds gap_open 5"),
        ({"end_gap_extend": 3}, "end_gap_extend 3 exceeds gap_extend 2"),
        ({"end_gap_open": 1, "end_gap_extend": 2}, "end_gap_extend 2 exceeds end_gap_open 1"),
        ({"free_ends": "query-start", "mode": "local"}, "found mode local"),
        ({"end_gap_open": 1, "mode": "semiglobal"}, "found mode semiglobal"),
    ],
)
def test_costs_that_make_no_sense(options, message):
    with pytest.raises(ScoringError, match=message):
        make("dna", **options)


def test_the_whole_query_within_the_target():
    """Glocal: letters of the target are left out, those of the query cost."""
    scoring = make("dna", free_ends="target-start,target-end")
    (found,) = align(["ACG"], ["TTACGTT"], scoring=scoring, device="cpu")
    assert (found.cigar, found.score, found.target_start, found.target_end) == ("3=", 6, 2, 5)
    (found,) = align(["TTACGTT"], ["ACG"], scoring=scoring, device="cpu")
    assert found.cigar == "2I3=2I"
    assert found.score == 6 - 2 * 7
    assert found.rows() == ("TTACGTT", "--ACG--")


def test_identities_without_the_gaps_at_ends():
    scoring = make("dna", **VSEARCH, end_gap_open=2, end_gap_extend=1)
    found = align(["AACGTACGTACGTTT", "CGTACGTACG"], scoring=scoring, device="cpu")
    assert found[0].cigar == "2I10=3I"
    assert found[0].score == 20 - 3 - 4
    shares = {name: count_identity(found, name) for name in IDENTITIES}
    assert [int(x[0]) for x in shares["columns"]] == [10, 15]
    assert [int(x[0]) for x in shares["internal"]] == [10, 10]


def test_a_gap_beside_a_free_end_is_internal():
    scoring = make("dna", free_ends="target-end")
    sequences = ["ACGTACGTACGGGG", "ACGTACGTACT"]
    found = align(sequences, scoring=scoring, device="cpu")
    assert (found[0].cigar, found[0].target_end) == ("10=4I", 10)
    assert [int(x[0]) for x in count_identity(found, "internal")] == [10, 14]
    for least, pairs in (("0.72", 0), ("0.71", 1)):
        chosen = {"min_identity": least, "identity_of": "internal"}
        assert len(align(sequences, scoring=scoring, device="cpu", **chosen)) == pairs


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({}, "at query-end that is above that of extending it and below that of opening others"),
        (
            {"end_gap_open": 2, "end_gap_extend": 1, "free_ends": "target-end"},
            "at target-end that is above",
        ),
        ({"end_gap_open": 2, "end_gap_extend": 2}, "at query-end"),
        ({"mode": "local"}, "ties of vsearch need"),
    ],
)
def test_who_refuses_ties_of_vsearch(costs, message):
    with pytest.raises(ScoringError, match=message):
        make("dna", gap_open=20, gap_extend=2, ties="vsearch", **costs)


def test_ties_of_vsearch_are_of_the_cpu():
    scoring = make("dna", **VSEARCH, end_gap_open=2, end_gap_extend=1, ties="vsearch")
    assert scoring != make("dna", **VSEARCH, end_gap_open=2, end_gap_extend=1)
    assert "end gaps 2/1, ties of vsearch" in describe_scoring(scoring)
    for framework in ("cuda", "opencl"):
        with pytest.raises(DeviceError, match="ties of vsearch, does the usual ones only"):
            check_kernel("pair-per-thread", framework, scoring, Detail.CIGAR)
        check_kernel("pair-per-thread", framework, scoring, Detail.SCORE)
    check_kernel("lanes", "cpu", scoring, Detail.CIGAR)


def test_who_refuses_end_gaps():
    scoring = make("dna", free_ends="query-start")
    with pytest.raises(ScoringError, match="same of query and target"):
        cluster(["ACGT", "ACG"], min_identity=0.9, scoring=scoring)
    ties = make("dna", **VSEARCH, end_gap_open=2, end_gap_extend=1, ties="vsearch")
    with pytest.raises(ScoringError, match="ties of vsearch"):
        cluster(["ACGT", "ACG"], min_identity=0.9, scoring=ties)
    with pytest.raises(ScoringError, match="semiglobal or local"):
        overlap(["ACGT", "ACG"], scoring=scoring)
    with pytest.raises(DeviceError, match="mode end-gaps"):
        check_kernel("pruned", "cpu", scoring, Detail.CIGAR)


def test_the_command(tmp_path, capfd):
    path = tmp_path / "two.fa"
    path.write_text(">a\nAACGTACGTACGTTT\n>b\nCGTACGTACG\n")
    options = ["--match", "2", "--mismatch", "-4", "--gap-open", "20", "--gap-extend", "2"]
    options += ["--free-ends", "query-end", "--end-gap-open", "2", "--end-gap-extend", "1"]
    assert (
        main(["align", str(path), "-o", "-", "--format", "paf", "--device", "cpu", *options]) == 0
    )
    out, err = capfd.readouterr()
    assert out.split("\t")[:9] == ["a", "15", "0", "12", "+", "b", "10", "0", "10"]
    assert "cg:Z:2I10=" in out
    assert "AS:i:17" in out
    assert "end gaps query-start 2/1, query-end free, target-start 2/1, target-end 2/1" in err
