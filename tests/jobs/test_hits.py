"""The best hits of each query: against sorting a full run, in every format, in parts, resumed."""

import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checks import assert_same, concatenate
from conftest import examples
from family_sets import small_families as proteins
from hypothesis import given, settings
from hypothesis import strategies as st
from made_thresholds import make_pair_thresholds
from strategies import small_problems

import pairalign
from pairalign.alignments.identities import count_identity
from pairalign.alignments.problem import Problem as PlannedProblem
from pairalign.alignments.strands import exchange
from pairalign.base.declaration import make
from pairalign.cli.main import main
from pairalign.errors import CapacityError, PartsError
from pairalign.formats import FORMATS
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.results.alignments_result import Alignments

COSTS = {"gap_open": 12, "gap_extend": 1}
Key = tuple[Any, ...]


def both_ways(found: Alignments) -> Alignments:
    """Every pair, of a set with itself also with query and target exchanged."""
    if found.queries is not found.targets:
        return found
    twice = found.take(np.concatenate([np.arange(len(found))] * 2))
    return exchange(twice, np.arange(len(twice)) >= len(found))


def plain_hits(found: Alignments, most: int, ranks: list[float]) -> list[tuple[int, int]]:
    """Sort all pairs of each query in Python; `found` is both ways."""
    rows: dict[int, list[Key]] = {}
    targets = found.targets
    for k, (query, target) in enumerate(
        zip(found.query.tolist(), found.target.tolist(), strict=True)
    ):
        score = int(found.raw_score[k])
        if found.scoring.mode != "local" or score > 0:
            codes = targets.codes_of(target).tobytes()
            place = -len(codes), codes, targets.names[target]
            rows.setdefault(query, []).append((-ranks[k], -score, *place, target))
    return [(query, key[-1]) for query in sorted(rows) for key in sorted(rows[query])[:most]]


def ranks_of(found: Alignments, rank: str, job: HitsJob) -> list[float]:
    if rank == "score":
        return [0.0] * len(found)
    if rank == "identity":
        return [-1.0 if math.isnan(x) else x for x in found.identity.tolist()]
    if rank == "bits":
        return job.significance.bits(found).tolist()
    return (-job.significance.log_evalues(found)).tolist()


USED = [one.name for one in fields(Resources)]


def job_of(
    sequences: dict[str, str], others: dict[str, str] | None, mode: str, **asked: Any
) -> HitsJob:
    first = pairalign.SequenceSet.from_strings(sequences)
    second = None if others is None else pairalign.SequenceSet.from_strings(others)
    scoring = pairalign.make_scoring(first.alphabet, mode=mode, **COSTS)
    used = {"device": "cpu", "threads": 1, **{one: asked.pop(one) for one in USED if one in asked}}
    names = ("detail", "once", "shard", "result_seconds")
    wanted = {one: asked.pop(one) for one in names if one in asked}
    run = RunRequest(resources=Resources(**used), **wanted)
    request = make(AlignRequest, {"window": 16, "mode": mode, **asked})
    job = plan_alignment(request, PlannedProblem(first, second, scoring), run).job
    assert isinstance(job, HitsJob)
    return job


def pairs_of(found: Alignments) -> list[tuple[int, int]]:
    return list(zip(found.query.tolist(), found.target.tolist(), strict=True))


def expected_of(job: HitsJob, every: Alignments, most: int, rank: str) -> Alignments:
    """What is expected of a job, taken from a full run."""
    twice = both_ways(every)
    pairs = plain_hits(twice, most, ranks_of(twice, rank, job))
    places = {pair: k for k, pair in enumerate(pairs_of(twice))}
    return twice.take([places[pair] for pair in pairs])


@pytest.mark.parametrize("rank", ["score", "bits", "evalue", "identity"])
@pytest.mark.parametrize("mode", ["local", "global", "semiglobal"])
@pytest.mark.parametrize("two_sets", [False, True])
def test_as_sorting_a_full_run(rank, mode, two_sets):
    if rank in ("bits", "evalue") and mode != "local":
        pytest.skip("local scores alone have bits")
    first, second = proteins(50, 1), proteins(30, 2) if two_sets else None
    for most in (1, 3, 1000):
        job = job_of(first, second, mode, max_hits=most, rank=rank)
        every = pairalign.align(
            job.queries, job.targets, scoring=job.scoring, device="cpu", threads=1
        )
        expected = expected_of(job, every, most, rank)
        assert len(set(every.raw_score.tolist())) < len(every)  # there are ties
        assert_same(expected, concatenate(list(job)))


@settings(max_examples=examples(60))
@given(
    problem=small_problems(), most=st.integers(1, 3), rank=st.sampled_from(["score", "identity"])
)
def test_small_problems(problem, most, rank):
    sets = problem.sets()
    asked = {"scoring": problem.scoring, "device": "cpu", "threads": 1}
    every = both_ways(pairalign.align(*sets, **asked))
    found = pairalign.align(*sets, **asked, max_hits=most, rank=rank)
    ranks = [0.0] * len(every)
    if rank == "identity":
        ranks = np.nan_to_num(every.identity, nan=-1).tolist()
    assert pairs_of(found) == plain_hits(every, most, ranks)
    places = {pair: k for k, pair in enumerate(pairs_of(every))}
    assert_same(every.take([places[pair] for pair in pairs_of(found)]), found)


@pytest.mark.parametrize("identity_of", ["shorter", "internal"])
@pytest.mark.parametrize("two_sets", [False, True])
def test_identities_rank_as_they_are_defined(identity_of, two_sets):
    first, second = proteins(40, 1), proteins(30, 2) if two_sets else None
    asked = {"device": "cpu", "threads": 1}
    every = pairalign.align(first, second, **asked)
    if not two_sets:
        every = both_ways(every)
    part, whole = count_identity(every, identity_of)
    found = pairalign.align(
        first, second, **asked, max_hits=2, rank="identity", identity_of=identity_of
    )
    assert pairs_of(found) == plain_hits(every, 2, (part / whole).tolist())
    assert pairs_of(found) != plain_hits(every, 2, every.identity.tolist())


THRESHOLDS: dict[str, dict[str, Any]] = {
    "score": {"min_score": 60},
    "identity": {"min_identity": 0.5},
    "coverage": {"min_coverage": 0.7},
    "evalue": {"max_evalue": 1e-6},
}


@pytest.mark.parametrize("two_sets", [False, True])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_thresholds_come_first(threshold, two_sets):
    asked: dict[str, Any] = {"mode": "local", "device": "cpu", **THRESHOLDS[threshold]}
    first, second = proteins(40, 3), proteins(25, 4) if two_sets else None
    scoring = pairalign.make_scoring("protein", mode="local", **COSTS)
    every = pairalign.align(first, second, scoring=scoring, **asked)
    assert 20 < len(every) < len(pairalign.align(first, second, mode="local"))
    found = pairalign.align(first, second, scoring=scoring, max_hits=4, **asked)
    twice = both_ways(every)
    if threshold == "evalue" and not two_sets:  # those that pass with that sequence as the query
        asked["both_ways"] = True
        twice = both_ways(pairalign.align(first, second, scoring=scoring, **asked))
        job = job_of(first, None, "local", max_hits=1, rank="evalue")
        twice = twice.take(job.significance.evalues(twice) <= 1e-6)
        assert len(every) < len(twice) < 2 * len(every) + 10
    assert pairs_of(found) == plain_hits(twice, 4, [0.0] * len(twice))


@pytest.mark.parametrize("coverage_of", ["query", "target"])
def test_coverage_of_the_query_of_each_hit(coverage_of):
    first = proteins(40, 3)
    asked: dict[str, Any] = {"mode": "local", "device": "cpu"}
    coverage: dict[str, Any] = {"min_coverage": 0.9, "coverage_of": coverage_of}
    twice = both_ways(pairalign.align(first, **asked))
    thresholds = make_pair_thresholds(0.3, "columns", 0.9, coverage_of)
    passing = twice.take(thresholds.passing(twice))
    pairs = set(pairs_of(passing))
    assert any(pair[::-1] not in pairs for pair in pairs)
    found = pairalign.align(first, max_hits=6, min_identity=0.3, **coverage, **asked)
    assert pairs_of(found) == plain_hits(passing, 6, [0.0] * len(passing))
    assert len(found) < len(passing)


def test_of_a_list():
    first = proteins(30, 5)
    rng = np.random.default_rng(1)
    pairs = sorted({tuple(sorted(rng.integers(0, 30, 2).tolist())) for _ in range(150)})
    pairs = [pair for pair in pairs if pair[0] != pair[1]]
    asked: dict[str, Any] = {"mode": "local", "device": "cpu", "pairs": np.array(pairs)}
    every = both_ways(pairalign.align(first, **asked))
    found = pairalign.align(first, max_hits=2, **asked)
    assert pairs_of(found) == plain_hits(every, 2, [0.0] * len(every))


def test_suboptimal_alignments_follow_their_hit():
    unit = proteins(3, 6, 1)
    first = {f"r{k}": 2 * sequence + "W" for k, sequence in enumerate(unit.values())}
    first["alone"] = "MKWVTFISLLFLFSSAYSRG"
    every = pairalign.align(first, mode="local", hsps=3, min_score=30, device="cpu")
    found = pairalign.align(first, mode="local", hsps=3, min_score=30, max_hits=1, device="cpu")
    twice = both_ways(every)
    best: dict[tuple[int, int], int] = {}
    for pair, score in zip(pairs_of(twice), twice.raw_score.tolist(), strict=True):
        best[pair] = max(best.get(pair, 0), score)
    kept = {min((p for p in best if p[0] == q), key=lambda p: (-best[p], p[1])) for q in range(3)}
    assert sorted(set(pairs_of(found))) == sorted(kept)
    assert len(found) == sum(pair in kept for pair in pairs_of(twice)) > 3
    assert (np.diff(found.query) >= 0).all()


@pytest.mark.parametrize("memory_bytes", [1 << 13, 1 << 15])
def test_little_memory(memory_bytes):
    """Blocks of queries whose hits fit, down to a few."""
    job = job_of(proteins(40, 7), None, "local", max_hits=30)
    small = replace(job, resources=replace(job.resources, memory=memory_bytes))
    assert_same(concatenate(list(job)), concatenate(list(small)))


def test_each_pair_once_needs_all_hits_in_memory():
    with pytest.raises(CapacityError, match=r"each pair once, take .* raise memory"):
        job_of(proteins(40, 7), None, "local", max_hits=5, once=True, memory=1 << 12)


def test_scores_alone():
    asked: dict[str, Any] = {"mode": "local", "device": "cpu", "max_hits": 3}
    first = proteins(30, 8)
    scores = pairalign.align(first, detail="score", **asked)
    assert not scores.has_stats
    whole = pairalign.align(first, **asked)
    assert pairs_of(scores) == pairs_of(whole)
    assert scores.raw_score.tolist() == whole.raw_score.tolist()


def test_nothing_is_a_hit():
    assert len(pairalign.align(["WWWWWW", "AAAAAA"], mode="local", max_hits=1)) == 0
    found = pairalign.align(["MKVLAW", "MKVLAW"], mode="local", max_hits=1, min_score=1000)
    assert len(found) == 0


# ---------------------------------------------------------------------------------------------
# The command


def write(name: str, sequences: dict[str, str]) -> None:
    Path(name).write_text("".join(f">{n}\n{s}\n" for n, s in sequences.items()))


OPTIONS = ("--mode", "local", "-k", "3", "-q", "--device", "cpu", "--gap-open", "12")
ONCE = [name for name, writer in FORMATS.items() if writer.pairs_once]


@pytest.mark.parametrize("inputs", [["one.fa"], ["one.fa", "two.fa"]])
@pytest.mark.parametrize("format", ["paf", "sam", "blast7", "parquet", "abc", "graphml", "npz"])
def test_formats_and_parts(folder, format, inputs, capsys):
    write("one.fa", proteins(30, 10))
    write("two.fa", {f"t{name}": one for name, one in proteins(20, 11).items()})
    command = ["align", *inputs, *OPTIONS, "--format", format]
    assert main([*command, "-o", "one"]) == 0
    assert main([*command, "-o", "resumed", "--resume", "--commit-every", "0"]) == 0
    assert Path("resumed").read_bytes() == Path("one").read_bytes()
    assert main([*command, "-o", "small", "--memory", "64K"]) == 0
    assert Path("small").read_bytes() == Path("one").read_bytes()
    if format in ONCE and len(inputs) == 1:
        assert main([*command, "-o", "parts", "--shard", "1/2"]) == 2
        assert "leave --shard out" in capsys.readouterr().err
        return
    for k in (3, 1, 2):
        assert main([*command, "-o", "parts", "--shard", f"{k}/3"]) == 0
    assert main(["merge", "parts", "-o", "all", "-q"]) == 0
    assert Path("all").read_bytes() == Path("one").read_bytes()


def test_a_network_has_each_pair_once(folder):
    write("one.fa", proteins(30, 13))
    assert main(["align", "one.fa", *OPTIONS, "--rank", "identity", "-o", "x.abc"]) == 0
    edges = [line.split("\t")[:2] for line in Path("x.abc").read_text().splitlines()]
    scoring = pairalign.make_scoring("protein", mode="local", **COSTS)
    hits = pairalign.align("one.fa", scoring=scoring, max_hits=3, rank="identity", device="cpu")
    names = hits.queries.names
    pairs = {frozenset((names[q], names[t])) for q, t in pairs_of(hits)}
    assert len(pairs) < len(hits)
    assert len(edges) == len(pairs) == len({frozenset(edge) for edge in edges})
    assert {frozenset(edge) for edge in edges} == pairs
    graph = hits.to_scipy("score")
    assert (graph.diagonal() >= hits.score.max()).any()  # of sequences with themselves
    graph.setdiag(0)
    graph.eliminate_zeros()
    assert graph.nnz == 2 * len(pairs)
    assert graph.max() == hits.score.max()


@pytest.mark.parametrize("results", [2, 6, 12])
def test_a_search_goes_on_with_other_memory(results):
    """In the blocks of queries in which it has begun."""
    few = job_of(*(proteins(40, 7), None, "local"), memory=1 << 14, max_hits=30, result_seconds=0.0)
    much = replace(few, resources=replace(few.resources, memory=1 << 30))
    assert len(few._blocks) > len(much._blocks) == 1
    for begun, other in ((few, much), (much, few)):
        search = replace(begun)
        before = [one for _, one in zip(range(results), search._search(), strict=False)]
        after = list(replace(other).after(search.pairs_done, search.leave()))
        assert_same(concatenate(list(replace(begun))), concatenate([*before, *after]))


def test_damaged_hits_of_a_manifest(folder):
    job = job_of(proteins(20, 15), None, "local", max_hits=3, result_seconds=0.0)
    results = job._search()
    for _ in range(3):
        next(results)
    left = job.leave()
    fresh = replace(job).after(job.pairs_done, left)
    again = [*list(fresh)]
    assert_same(concatenate(list(replace(job))), concatenate(again))
    other = job_of(proteins(20, 15), None, "local", max_hits=2, result_seconds=0.0)
    for damaged in ({**left, "hits": "AAAA"}, {**left, "block": 9}, {**left, "written": 99}):
        with pytest.raises(PartsError, match="hits make no sense"):
            replace(job).after(0, damaged)
    with pytest.raises(PartsError, match="hits make no sense"):
        other.after(0, left)


def test_summary(folder, capsys):
    write("one.fa", proteins(30, 1))
    assert main(["align", "one.fa", "-k", "2", "--device", "cpu", "-o", "out.tsv"]) == 0
    assert "435, with 60 hits, up to 2 a query" in capsys.readouterr().err
