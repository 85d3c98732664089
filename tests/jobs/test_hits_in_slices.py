"""Hits of some queries, which are searched in slices of the others: those of a search of all."""

from bisect import bisect_left
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checks import assert_same, concatenate
from family_sets import small_families as proteins

import pairalign
from pairalign.alignments.problem import Problem
from pairalign.base.declaration import make
from pairalign.cli.main import main
from pairalign.errors import PartsError
from pairalign.formats.pieces import read_manifest
from pairalign.jobs.run import hits, query_slices
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.hits import HitsJob
from pairalign.jobs.run.query_slices import (
    cells_of_queries,
    in_whole,
    jobs_of_queries,
    pairs_of_queries,
)
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.jobs.run.slabs import PAIR_CELLS, cut_queries, weigh_residues
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.results.alignments_result import Alignments
from pairalign.sequences import block_set
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.store_format import encode_store
from pairalign.sequences.stored_set import StoredSet

ASKED: dict[str, dict[str, Any]] = {
    "score": {},
    "bits": {"rank": "bits"},
    "evalue": {"rank": "evalue", "max_evalue": 1e-2},
    "identity": {"rank": "identity"},
    "thresholds": {"min_identity": 0.3, "min_coverage": 0.5},
    "one way": {"min_coverage": 0.7, "coverage_of": "query"},
    "both strands": {"strand": "both"},
    "hsps": {"hsps": 3},
}


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hits, "_LEAST_SLICE", 150)
    monkeypatch.setattr(hits, "_SLICES", 1 << 60)
    monkeypatch.setattr(query_slices, "_AT_A_TIME", 7)
    monkeypatch.setattr(block_set, "_AT_A_TIME", 8)


def stored(sequences: SequenceSet) -> SequenceSet:
    return StoredSet(b"".join(map(bytes, encode_store(sequences))), "a store")


def sets_of(two_sets: bool, *, dna: bool = False) -> tuple[SequenceSet, SequenceSet | None]:
    first = SequenceSet.from_strings(proteins(40, 1))
    second = SequenceSet.from_strings(proteins(31, 2)) if two_sets else None
    if dna:
        rng = np.random.default_rng(3)
        first = SequenceSet.from_strings(
            "".join(rng.choice(list("ACGT"), n)) for n in rng.integers(20, 60, 40)
        )
    return stored(first), None if second is None or dna else stored(second)


def job_of(asked: dict[str, Any], sets: tuple[SequenceSet, SequenceSet | None]) -> HitsJob:
    scoring = pairalign.make_scoring(sets[0].alphabet, mode="local")
    wanted = {one: asked[one] for one in ("detail", "once", "result_seconds") if one in asked}
    run = RunRequest(resources=Resources(device="cpu", threads=1), **wanted)
    rest = {name: value for name, value in asked.items() if name not in wanted}
    request = make(AlignRequest, {"window": 16, "max_hits": 3, "mode": "local", **rest})
    job = plan_alignment(request, Problem(*sets, scoring), run).job
    assert isinstance(job, HitsJob)
    return job


@pytest.mark.parametrize("two_sets", [False, True], ids=["one set", "two sets"])
@pytest.mark.parametrize("name", ASKED)
def test_hits_of_shards_are_those_of_all(name, two_sets):
    job = job_of(ASKED[name], sets_of(two_sets, dna=name == "both strands"))
    expected = concatenate(list(job))
    assert len(expected) > 60
    parts = [replace(job, shard=(k, 3)) for k in (1, 2, 3)]
    for part in parts:
        assert part._in_slices(part._first, part._stop) == (name != "both strands")
        assert len(list(part._jobs(part._first, part._stop))) > 3 or name == "both strands"
    assert_same(expected, concatenate([found for part in parts for found in part]))


@pytest.mark.parametrize(
    ("queries", "two_sets"),
    [
        *((queries, False) for queries in ((0, 1), (5, 9), (17, 40), (39, 40), (0, 39))),
        *((queries, True) for queries in ((5, 9), (0, 39))),
    ],
)
def test_each_pair_comes_once(queries, two_sets):
    sets = sets_of(two_sets)
    job = AlignmentJob(
        *sets,
        pairalign.make_scoring(sets[0].alphabet),
        resources=Resources(device="cpu", threads=1),
    )
    start, stop = queries
    whole = [(one.query.name, one.target.name, one.score, one.cigar) for one in of_all(job)]
    names = set(sets[0].names[start:stop])
    wanted = {one for one in whole if one[0] in names or (not two_sets and one[1] in names)}
    jobs = list(jobs_of_queries(job, start, stop, 150))
    assert len(jobs) > 3 or stop - start > 30
    assert max(len(one.problem.others) for one in jobs[1:]) < len(job.problem.others)
    found = [Alignments.of(in_whole(part, job.problem)) for one in jobs for part in one]
    pairs = [(a.query.name, a.target.name, a.score, a.cigar) for part in found for a in part]
    assert sorted(pairs) == sorted(wanted)
    assert len(pairs) == sum(one.pairs for one in jobs) == pairs_of_queries(job.problem, *queries)
    assert sum(one.cells for one in jobs) == cells_of_queries(job.problem, *queries)


def of_all(job: AlignmentJob) -> Alignments:
    return concatenate(list(job))


@pytest.mark.parametrize("shards", [1, 2, 7, 39, 40, 41, 1000])
def test_shards_cost_the_same(shards):
    """The cuts of a plain list of costs, in integers that need more than 64 bits."""
    lengths = np.random.default_rng(shards).integers(1, 30, 40) ** 3
    queries = SequenceSet.from_strings(["A" * n for n in lengths.tolist()], alphabet="protein")
    others = SequenceSet.from_strings(["A", "AA"], alphabet="protein")
    letters = int(weigh_residues(others.lengths).sum())
    sums = [0, *np.cumsum(weigh_residues(queries.lengths)).tolist()]
    costs = [letters * weight + PAIR_CELLS * 2 * k for k, weight in enumerate(sums)]
    cuts = [bisect_left(costs, costs[-1] * k // shards) for k in range(shards + 1)]
    found = [cut_queries(queries, others, (k, shards)) for k in range(1, shards + 1)]
    assert found == list(pairwise(cuts))
    assert [cut_queries(stored(queries), others, (k, shards)) for k in (1, shards)] == [
        found[0],
        found[-1],
    ]


def test_a_part_goes_on_within_a_slice(here, monkeypatch):
    """Ended after each of its results, with other memory each time, it has the same bytes."""
    sequences, _ = sets_of(two_sets=False)
    Path("one.pairset").write_bytes(b"".join(map(bytes, encode_store(sequences))))
    command = ["align", "one.pairset", "--mode", "local", "--max-hits", "3", "--device", "cpu"]
    command += ["--window", "8", "--format", "tsv", "-q", "--shard", "2/3"]
    assert main([*command, "-o", "whole"]) == 0
    search, ends = HitsJob._search, []

    def ended_early(job: HitsJob) -> Any:
        for count, found in enumerate(search(job)):
            if count == 4:
                ends.append((job._scored, job._slice_residues))
                raise OSError("the power failed")
            yield found

    for module in ("hits", "align"):
        monkeypatch.setattr(f"pairalign.jobs.run.{module}.slab_cells", lambda *_: 30_000)
    resumed = [*command, "-o", "out", "--resume", "--commit-every", "0"]
    with monkeypatch.context() as patch:
        patch.setattr(HitsJob, "_search", ended_early)
        for count in range(100):
            patch.setattr(hits, "_LEAST_SLICE", 150 + 100 * count)  # the first run's counts
            if main([*resumed, "--memory", f"{count + 1}M"]) == 0:
                break
    assert len({scored for scored, _ in ends}) > 4
    assert {residues for _, residues in ends} == {150}
    parts = []
    for folder in ("out", "whole"):
        pieces = read_manifest(f"{folder}/part-2-of-3.json").pieces
        parts.append(b"".join(Path(piece.path).read_bytes() for piece in pieces if piece.bytes))
    assert parts[0] == parts[1]


def test_hits_of_other_searches_are_refused():
    job = replace(job_of({}, sets_of(two_sets=False)), shard=(1, 2))
    left = job.leave()
    del left["ranked"]
    with pytest.raises(PartsError, match="hits make no sense"):
        job.after(0, {**left, "scored": 3})
