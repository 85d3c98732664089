"""Shards as blocks of the pair matrix: every pair once, even work, few rows and columns."""

from itertools import pairwise

import numpy as np
import pytest
from checks import concatenate
from conftest import examples
from cuda_engines import open_on
from hypothesis import given, settings
from hypothesis import strategies as st
from shard_costs import cost, shard_of

from pairalign.alignments.problem import Problem
from pairalign.engines import EngineRequest
from pairalign.engines.cuda.cuda_engine import CudaEngine
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.blocks import Blocks
from pairalign.jobs.run.slabs import PAIR_CELLS, weigh_residues
from pairalign.pairs.windows import Window, WindowGrid
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet


def in_blocks(grid: WindowGrid, rows: np.ndarray, columns: np.ndarray, shards: int) -> list[Window]:
    """All windows in the order of blocks."""
    blocks = Blocks(grid, lambda a, b: rows[a:b], lambda a, b: columns[a:b], shards)
    return list(blocks.between(blocks.find(0), blocks.find(shards)))


@settings(max_examples=examples(60), deadline=None)
@given(
    rows=st.lists(st.integers(1, 50_000), min_size=2, max_size=60),
    columns=st.one_of(st.none(), st.lists(st.integers(1, 5000), min_size=1, max_size=40)),
    size=st.integers(1, 45),
    shards=st.integers(1, 60),
)
def test_blocks(rows, columns, size, shards):
    """Each pair is in one shard, in the place that its piece says; work is that of any shard."""
    first = np.sort(np.array(rows, np.int32))[::-1]
    other = first if columns is None else np.sort(np.array(columns, np.int32))[::-1]
    grid = WindowGrid(len(rows), None if columns is None else len(columns), size)
    windows = list(grid)
    whole = [pair for window in windows for pair in zip(*window.positions(), strict=True)]
    seen = np.zeros(len(whole), np.int64)
    costs, mean = [], cost(windows, first, other) / shards
    for k in range(1, shards + 1):
        own, pieces = shard_of(grid, first, other, k, shards)
        pairs = [pair for window in own for pair in zip(*window.positions(), strict=True)]
        places = [place for start, count in pieces for place in range(start, start + count)]
        assert pairs == [whole[place] for place in places]
        assert places == sorted(places)
        assert all(a + b < c for (a, b), (c, _) in pairwise(pieces))
        seen[places] += 1
        costs.append(cost(own, first, other))
    assert (seen == 1).all()
    pair = int(weigh_residues(first)[0]) * int(weigh_residues(other)[0]) + PAIR_CELLS
    assert all(abs(one - mean) <= pair for one in costs)
    blocked = in_blocks(grid, first, other, shards)
    assert (blocked[0], blocked[-1]) == (windows[0], windows[-1])
    assert sorted(blocked, key=lambda one: one.index) == windows


@pytest.mark.parametrize("shards", [64, 300])
def test_a_shard_touches_a_block(shards):
    lengths = np.sort(np.random.default_rng(1).gamma(2, 180, 20_000).astype(np.int32) + 1)[::-1]
    grid = WindowGrid(len(lengths), None, 256)
    sums = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    mean = cost(grid, lengths, lengths) / shards
    for k in range(1, shards + 1, 1 + shards // 12):
        own, _ = shard_of(grid, lengths, lengths, k, shards)
        assert cost(own, lengths, lengths) <= 1.03 * mean
        touched = np.zeros(len(lengths), np.bool_)
        for window in own:
            touched[window.row_start : window.row_stop] = True
            touched[window.column_start : window.column_stop] = True
        # a square block has the root of 1 / 2N of the residues on either side
        assert sums[-1] * (2 / shards) ** 0.5 * 1.5 > lengths[touched].sum(dtype=np.int64)


def test_a_block_of_all_is_the_set_itself():
    sequences = SequenceSet.from_strings(["ACDE" * k for k in range(1, 30)], alphabet="protein")
    scoring = make_scoring(sequences.alphabet)
    for shard, is_all in (((1, 1), True), ((1, 9), False)):
        job = AlignmentJob(sequences, None, scoring, window=8, shard=shard)
        assert (job.of_block() is job) == is_all


@pytest.mark.parametrize("two_sets", [False, True], ids=["one set", "two sets"])
def test_a_gpu_gets_the_block_alone(two_sets, device, monkeypatch):
    rng = np.random.default_rng(2)
    sets = [
        SequenceSet.from_strings(
            ("".join(rng.choice(list("ACDE"), n)) for n in rng.integers(5, 40, 60)),
            alphabet="protein",
        )
        for _ in range(1 + two_sets)
    ]
    problem = Problem(sets[0], sets[1] if two_sets else None, make_scoring(sets[0].alphabet))
    asked = AlignmentJob(
        problem.queries,
        problem.targets,
        problem.scoring,
        window=8,
        shard=(3, 9),
        resources=Resources(device="cpu"),
    )
    expected = concatenate(list(asked))
    opened: list[Problem] = []

    def open_on_device(_: str, request: EngineRequest) -> list[CudaEngine]:
        opened.append(request.problem)
        sides = [side for side in (request.problem.queries, request.problem.targets) if side]
        return [open_on(device, sides, problem.scoring, memory_bytes=1 << 26)]

    monkeypatch.setattr("pairalign.jobs.run.align.open_engines", open_on_device)
    found = concatenate(list(asked.of_block()))
    for block, whole in (
        (opened[0].queries, problem.queries),
        (opened[0].targets, problem.targets),
    ):
        assert (block is None) == (whole is None)
        assert block is None or len(block) < len(whole)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.query.name, ours.target.name) == (theirs.query.name, theirs.target.name)
        assert (ours.score, ours.cigar) == (theirs.score, theirs.cigar)
        assert str(ours.query) == str(theirs.query)
