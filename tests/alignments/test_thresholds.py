"""Thresholds of identity and coverage: the same bytes as aligning all pairs and looking at them."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from align_command import align as run_align
from align_command import table
from checks import assert_equal, concatenate
from commands import BASES, fasta
from hypothesis import given
from hypothesis import strategies as st
from identity_words import identity_in_words
from made_thresholds import make_pair_thresholds
from relatives import COSTS, LETTERS, change, relatives

from pairalign.alignments import problem as problem_module
from pairalign.alignments.problem import Problem as Aligned
from pairalign.alignments.thresholds import PairThresholds, raw_minimum
from pairalign.base.arguments import parse_share
from pairalign.base.choices import COVERAGES, IDENTITIES, MODES
from pairalign.engines.cpu.cpu_engine import CpuEngine
from pairalign.engines.cpu.cpu_pair_filter import PairFilter
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.align_all import align
from pairalign.jobs.stages.threshold_engine import Requirement, skip_pairs
from pairalign.pairs.want import Detail, Want
from pairalign.pairs.windows import Window
from pairalign.requests.resources import Resources
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.sets import SequenceSet


def expected(found: Alignments, wanted: PairThresholds, min_raw_score: int | None) -> Alignments:
    """What passes of all alignments, one by one, in fractions."""
    passing = []
    for k, (query, target) in enumerate(zip(found.query, found.target, strict=True)):
        lengths = int(found.queries.lengths[query]), int(found.targets.lengths[target])
        identity = identity_in_words(found[k], wanted.identity_of)
        covered = [
            Fraction(int(found.field(f"{side}_end")[k] - found.field(f"{side}_start")[k]), length)
            for side, length in zip(("query", "target"), lengths, strict=True)
        ]
        coverage = {
            "query": covered[0],
            "target": covered[1],
            "both": min(covered),
            "shorter": covered[0] if lengths[0] <= lengths[1] else covered[1],
            "aligned": Fraction(found[k].matches + found[k].mismatches, max(lengths)),
        }[wanted.coverage_of]
        scores = min_raw_score is None or int(found.raw_score[k]) >= min_raw_score
        passing.append(
            scores and identity >= wanted.least_identity and coverage >= wanted.least_coverage
        )
    return found.take(np.array(passing, bool))


@dataclass(frozen=True)
class Problem:
    """Sets, scoring and thresholds."""

    queries: SequenceSet
    targets: SequenceSet | None
    scoring: Scoring
    wanted: PairThresholds
    min_score: str | None
    detail: Detail
    window: int


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    alphabet = draw(st.sampled_from(sorted(LETTERS)))
    seed = draw(st.integers(0, 1 << 30))
    longest = draw(st.sampled_from([4, 30, 120]))
    rate = draw(st.sampled_from([0.0, 0.02, 0.1, 0.4]))
    queries = relatives(alphabet, seed, draw(st.sampled_from([6, 24])), longest, rate)
    targets = relatives(alphabet, seed, 9, longest, 0.05) if draw(st.booleans()) else None
    scoring = make_scoring(
        alphabet, mode=draw(st.sampled_from(MODES)), **draw(st.sampled_from(COSTS))
    )
    shares = st.sampled_from(["0", "0.3", "80%", "0.9", "0.97", "1"]) | st.fractions(
        0, 1, max_denominator=10**18
    )
    wanted = make_pair_thresholds(
        draw(st.none() | shares),
        draw(st.sampled_from(list(IDENTITIES))),
        draw(st.none() | shares),
        draw(st.sampled_from(list(COVERAGES))),
    )
    return Problem(
        queries,
        targets,
        scoring,
        wanted,
        draw(st.none() | st.sampled_from(["-20", "1", "20.5", "60", "200"])),
        draw(st.sampled_from(list(Detail))),
        draw(st.sampled_from([5, 1024])),
    )


def run(problem: Problem, wanted: PairThresholds) -> Alignments:
    return align(
        problem.queries,
        problem.targets,
        scoring=problem.scoring,
        detail=problem.detail.name,
        min_score=problem.min_score,
        min_identity=wanted.least_identity,
        identity_of=wanted.identity_of,
        min_coverage=wanted.least_coverage,
        coverage_of=wanted.coverage_of,
        window=problem.window,
        device="cpu",
    )


def check(problem: Problem, every: Alignments, wanted: PairThresholds) -> None:
    least = raw_minimum(problem.min_score, problem.scoring)
    kept = expected(every, wanted, least)
    kept = kept.without(stats=problem.detail == Detail.SCORE, cigar=problem.detail < Detail.CIGAR)
    assert_equal(run(problem, wanted), kept)


@pytest.mark.slow
@given(problems(), st.data())
def test_the_bytes_of_all_pairs(problem, data):
    every = align(
        problem.queries,
        problem.targets,
        scoring=problem.scoring,
        window=problem.window,
        device="cpu",
    )
    check(problem, every, problem.wanted)
    # An identity that a pair just reaches is where a bound that is too strict shows.
    pair = data.draw(st.integers(0, len(every) - 1))
    matches, columns = int(every.field("matches")[pair]), int(every.columns[pair])
    if matches:
        check(problem, every, PairThresholds(Fraction(matches, columns)))
        lengths = (
            every.queries.lengths[every.query[pair]],
            every.targets.lengths[every.target[pair]],
        )
        check(problem, every, PairThresholds(Fraction(matches, int(min(lengths))), "shorter"))
        aligned = matches + int(every.field("mismatches")[pair])
        cover = Fraction(aligned, int(max(lengths)))
        identity_of = data.draw(
            st.sampled_from(["internal", "mbl", "aligned", "full", "longer", "mean"])
        )
        alike = identity_in_words(every[pair], identity_of)
        check(problem, every, PairThresholds(alike, identity_of, cover, "aligned"))


@pytest.mark.parametrize(("number", "identity_of"), list(enumerate(IDENTITIES)))
@pytest.mark.parametrize("least", [Fraction(1, 10**18), Fraction(3, 10**17), Fraction(1, 10**9)])
def test_tiny_shares_lose_no_pair(number, identity_of, least):
    """Quotients by them have more than 64 bits."""
    sequences = relatives("dna", 5, 8, 200, 0.3)
    options: dict[str, Any] = {"mode": MODES[number % len(MODES)], "device": "cpu"}
    every = align(sequences, **options)
    for share in ({"min_identity": least, "identity_of": identity_of}, {"min_coverage": least}):
        found = align(sequences, **share, **options)
        assert_equal(found, expected(every, PairThresholds(**share), None))
    assert np.count_nonzero(every.field("matches")) > 10


@pytest.mark.parametrize(
    ("mode", "alphabet", "rate", "share"),
    [
        (mode, ("dna", "protein")[(k + n) % 2], *rates)
        for k, mode in enumerate(MODES)
        for n, rates in enumerate([(0.003, "90%"), (0.3, "90%"), (0.1, "70%")])
    ],
)
def test_nearly_all_or_none_pass_of_longer_sequences(mode, alphabet, rate, share):
    queries = relatives(alphabet, 5, 24, 900, rate)
    problem = Problem(
        queries, None, make_scoring(alphabet, mode=mode), PairThresholds(), None, Detail.CIGAR, 7
    )
    every = align(queries, scoring=problem.scoring, window=7, device="cpu")
    for coverage_of in COVERAGES:
        check(problem, every, make_pair_thresholds(share, "columns", "60%", coverage_of))
    for identity_of in ("shorter", "internal", "mbl"):
        check(problem, every, make_pair_thresholds(share, identity_of))
    check(problem, every, make_pair_thresholds(share, "mbl", "85%", "aligned"))


def filter_of(job: AlignmentJob) -> PairFilter:
    return PairFilter(job.problem, job.pair_thresholds, job.want.min_raw_score, threads=1)


def test_each_step_drops_pairs():
    queries = relatives("dna", 3, 60, 300, 0.02)
    job = AlignmentJob(
        queries,
        None,
        make_scoring("dna"),
        Want(Detail.STATS),
        pair_thresholds=make_pair_thresholds("97%"),
        resources=Resources(device="cpu"),
    )
    found = sum(len(part) for part in job)
    steps = job.steps
    assert steps.pairs == job.pairs == 60 * 59 // 2
    assert steps.pairs > steps.possible > steps.common >= steps.scoring >= steps.passing == found
    assert found > 0
    assert filter_of(job).gram > 1


def test_a_least_score_skips_what_is_too_short_for_it():
    queries = SequenceSet.from_strings(["ACGT" * 300, "ACGT" * 290, "ACGTA" * 20, "ACGTC" * 20])
    job = AlignmentJob(
        queries,
        None,
        make_scoring("dna"),
        Want(Detail.CIGAR, 1000),
        resources=Resources(device="cpu"),
    )
    assert sum(len(part) for part in job) == 1
    assert job.steps.possible == 1


@pytest.mark.parametrize("least", [0, -300])
def test_a_least_score_of_0_or_less_skips_what_gaps_alone_put_below_it(least):
    rng = np.random.default_rng(4)
    lengths = [*([900] * 8), *([150] * 8)]
    texts = ["".join(rng.choice(list("ACGT"), length)) for length in lengths]
    queries = SequenceSet.from_strings(texts, alphabet="dna")
    scoring = make_scoring("dna")
    job = AlignmentJob(
        queries, None, scoring, Want(Detail.SCORE, least), resources=Resources(device="cpu")
    )
    found = concatenate(list(job))
    everything = concatenate(list(AlignmentJob(queries, None, scoring, Want(Detail.SCORE))))
    assert_equal(found, everything.take(everything.raw_score >= least))
    assert job.steps.possible == 2 * 8 * 7 // 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("least", [-20, 0, 30, 60])
def test_short_pairs_are_scored_without_a_look(mode, least):
    """A look at their residues takes as long as their score."""
    rng = np.random.default_rng(5)
    letters = list(LETTERS["protein"])
    texts = ["".join(rng.choice(letters, int(rng.integers(8, 20)))) for _ in range(100)]
    texts += [texts[k] + "C" for k in range(20)]
    queries = SequenceSet.from_strings(texts, alphabet="protein")
    scoring = make_scoring("protein", mode=mode)
    job = AlignmentJob(
        queries, None, scoring, Want(Detail.SCORE, least), resources=Resources(device="cpu")
    )
    found = concatenate(list(job))
    everything = concatenate(list(AlignmentJob(queries, None, scoring, Want(Detail.SCORE))))
    assert_equal(found, everything.take(everything.raw_score >= least))
    assert 0 < len(found) <= len(everything)
    assert job.steps is None


def test_a_filter_looks_at_the_pairs_of_a_mask_only():
    queries = relatives("dna", 3, 30, 200, 0.0)
    job = AlignmentJob(
        queries, None, make_scoring("dna"), pair_thresholds=make_pair_thresholds("95%")
    )
    window = Window(0, 3, 17, 0, 30, True)
    everything = filter_of(job).choose(window)
    mask = np.arange(window.pairs) % 3 == 1
    some = filter_of(job).choose(window, mask)
    np.testing.assert_array_equal(some.mask, everything.mask & mask)
    assert some.looked_at == mask.sum()
    assert 0 < everything.left < window.pairs


def test_thresholds_and_a_list_of_pairs():
    queries = relatives("dna", 4, 40, 100, 0.02)
    pairs = [(i, j) for i in range(40) for j in range(i + 1, 40) if (i + j) % 2]
    found = align(queries, pairs=pairs, min_identity="90%", device="cpu")
    listed = align(queries, pairs=pairs, device="cpu")
    assert_equal(found, expected(listed, make_pair_thresholds("90%"), None))
    assert 0 < len(found) < len(pairs)


class OnGpu:
    """The CPU engine, as if it were a GPU; notes how many pairs it is told to choose."""

    name, is_gpu, on_device = "gpu", True, None

    def __init__(self, queries: SequenceSet, scoring: Scoring) -> None:
        self._engine = CpuEngine(Aligned(queries, None, scoring))
        self.chosen: list[int | None] = []

    def align(self, window: Window, want: Want, pair_mask: Any = None) -> Alignments:
        self.chosen.append(None if pair_mask is None else int(pair_mask.sum()))
        return self._engine.align(window, want, pair_mask)

    def cancel(self) -> None:
        self._engine.cancel()

    def close(self) -> None:
        self._engine.close()


@pytest.mark.parametrize(("letters", "share"), [(100, 0.1), (100, 0.4), (1000, 0.4), (1000, 0.7)])
def test_gpus_choose_pairs_where_few_are_left_or_pairs_are_long(letters, share):
    rng = np.random.default_rng(2)  # of 1, the sample of pairs chooses q-grams that drop fewer
    alike = round(np.sqrt(share) * 40)
    origin = "".join(rng.choice(list("ACGT"), letters))
    reads = [change(rng, "ACGT", origin, 0.002) for _ in range(alike)]
    reads += ["".join(rng.choice(list("ACGT"), letters)) for _ in range(40 - alike)]
    queries = SequenceSet.from_strings(reads, alphabet="dna")
    scoring, wanted = make_scoring("dna"), make_pair_thresholds("90%")
    engine = OnGpu(queries, scoring)
    requirement = Requirement(problem_module.Problem(queries, None, scoring), wanted)
    (wrapped,), steps, _ = skip_pairs([engine], requirement)
    found = wrapped.align(Window(0, 0, 40, 0, 40, True), Want())
    assert abs(steps.sharing / steps.pairs - share) < 0.05
    assert_equal(found, align(queries, scoring=scoring, min_identity="90%", device="cpu"))
    is_chosen = share == 0.1 or (letters, share) == (1000, 0.4)
    assert engine.chosen == [steps.sharing if is_chosen else None]
    wrapped.close()


# Shares


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("0.97", Fraction(97, 100)),
        ("97%", Fraction(97, 100)),
        (0.97, Fraction(97, 100)),
        (1, Fraction(1)),
        ("0", Fraction(0)),
        ("1e-3", Fraction(1, 1000)),
        (Fraction(1, 3), Fraction(1, 3)),
    ],
)
def test_shares_are_exact(text, share):
    assert parse_share(text) == share  # type: ignore[arg-type]


# The command


def test_the_command(here, capsys):
    Path("in.fa").write_text(fasta({**BASES, "r4": BASES["r1"]}))
    rows = table("in.fa", "--min-identity", "90%", "--explain")
    assert [(row["query"], row["target"]) for row in rows] == [("r1", "r4")]
    assert rows[0] in table("in.fa")
    said = capsys.readouterr().err
    assert "lengths  3 of 6 pairs dropped" in said
    assert "alignments  " in said
    run_align("in.fa", "-o", "out.paf", "--min-coverage", "1", "--coverage-of", "query")
    assert "6, of which 6 reach the thresholds" in capsys.readouterr().err
    run_align("in.fa", "-o", "out.paf", "--quiet", "--explain")
    assert "no pair is dropped: all 6 are aligned" in capsys.readouterr().err
    scores = table("in.fa", "--min-identity", "0.9", "--score-only")
    assert [row["score"] for row in scores] == [rows[0]["score"]]
    assert scores[0].get("identity", "") == table("in.fa", "--score-only")[0].get("identity", "")
