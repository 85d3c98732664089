"""Pairs within a limit: all of them, no other, and their values, on every instruction set."""

import functools
from dataclasses import replace

import numpy as np
import pytest
from checks import align_pairs
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Costs
from strategies import proteins, small_problems

from pairalign.alignments.problem import Problem as Aligned
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.engines.cpu.near_pairs import (
    NearPairs,
    find_on_cores,
    pairs_within_drop,
    pairs_within_edits,
)
from pairalign.errors import ScoringError
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.sets import SequenceSet

SETS = instruction_sets()


def triples(found: NearPairs) -> list[tuple[int, int, int]]:
    return list(
        zip(found.rows.tolist(), found.columns.tolist(), found.values.tolist(), strict=True)
    )


def all_pairs(queries: SequenceSet, targets: SequenceSet | None) -> list[tuple[int, int]]:
    columns = queries if targets is None else targets
    return [
        (row, column)
        for row in range(len(queries))
        for column in range(row + 1 if targets is None else 0, len(columns))
    ]


def edits(one: np.ndarray, other: np.ndarray) -> int:
    """Wagner and Fischer's recurrence."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        above, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + int(a != b)))
    return row[-1]


def drops(
    queries: SequenceSet, targets: SequenceSet | None, scoring: Scoring
) -> list[tuple[int, int, int]]:
    """Drops of all pairs by the reference, with input indices."""
    sides = [queries, queries if targets is None else targets]
    codes = [[one.codes_of(k) for k in range(len(one))] for one in sides]
    costs = Costs(scoring.matrix, scoring.gap_open, scoring.gap_extend)
    own = [[one.score for one in align_pairs([(x, x) for x in side], costs)] for side in codes]
    pairs = all_pairs(queries, targets)
    aligned = align_pairs([(codes[0][row], codes[1][column]) for row, column in pairs], costs)
    return [
        (row, column, max(min(own[0][row], own[1][column]) - one.score, 0))
        for (row, column), one in zip(pairs, aligned, strict=True)
    ]


@pytest.mark.parametrize("isa", SETS)
@given(small_problems(), st.integers(0, 150))
@settings(max_examples=examples(60), deadline=None)
def test_drops_are_those_of_the_reference(isa, problem, limit):
    """Any matrix: also residues that score more with others than with themselves."""
    sets, scoring = problem.sets(), replace(problem.scoring, mode="global")
    targets = sets[1] if len(sets) > 1 else None
    found = pairs_within_drop(
        Aligned(sets[0], targets, scoring), limit, find=find_on_cores(2, isa), threads=2
    )
    assert triples(found) == [one for one in drops(sets[0], targets, scoring) if one[2] <= limit]


@functools.cache
def family(gap_extend: int) -> tuple[SequenceSet, Scoring, list[tuple[int, int, int]]]:
    """More sequences than lanes, with as many lengths as CDR3s have, and their drops."""
    rng = np.random.default_rng(gap_extend)
    ancestors = ["CASSLDRGGYNEQFF", "CASSPGQGNTEAFF", "CAVGTGGYKVVF", "WWWWWWWWWWWWWWWWWWWWW"]
    residues = list("ACDEFGHIKLMNPQRSTVWYX")
    records = []
    for k in range(75):
        record = list(ancestors[k % 4])
        for at in rng.integers(0, len(record), rng.integers(0, 4)):
            record[at : at + int(rng.integers(0, 3))] = rng.choice(residues, rng.integers(0, 3))
        records.append("".join(record))
    sequences = SequenceSet.from_strings(records, alphabet="protein")
    scoring = make_scoring("protein", gap_open=11, gap_extend=gap_extend)
    return sequences, scoring, drops(sequences, None, scoring)


@pytest.mark.parametrize("isa", SETS)
@pytest.mark.parametrize("gap_extend", [0, 1, 11])
def test_lanes_of_many_lengths(isa, gap_extend):
    """Limits that lanes of 8 bits can hold, and others."""
    sequences, scoring, expected = family(gap_extend)
    for limit in (0, 10, 30, 70, 110, 150, 600):
        found = pairs_within_drop(
            Aligned(sequences, None, scoring), limit, find=find_on_cores(1, isa)
        )
        assert triples(found) == [one for one in expected if one[2] <= limit]


@pytest.mark.parametrize("isa", SETS)
@given(
    st.lists(st.text("ACDXU", min_size=1, max_size=12), min_size=2, max_size=40), st.integers(0, 6)
)
@settings(max_examples=examples(60), deadline=None)
def test_edits_are_those_of_the_recurrence(isa, records, limit):
    one = SequenceSet.from_strings(records, alphabet="protein")
    for targets in (None, one):
        expected = [
            (row, column, value)
            for row, column in all_pairs(one, targets)
            if (value := edits(one.codes_of(row), one.codes_of(column))) <= limit
        ]
        assert (
            triples(pairs_within_edits(one, targets, limit, find=find_on_cores(1, isa))) == expected
        )


def test_threads_and_parts_do_not_show():
    sequences = SequenceSet.from_strings(proteins(1200, 20), alphabet="protein")
    scoring = make_scoring("protein")
    counted: list[int] = []
    one = pairs_within_drop(Aligned(sequences, None, scoring), 40, progress=counted.append)
    assert len(one.rows) > 0
    assert triples(one) == triples(
        pairs_within_drop(Aligned(sequences, None, scoring), 40, threads=3)
    )
    assert sum(counted) == 1200 * 1199 // 2


def test_refuses_other_modes_and_scores_beyond_32_bits():
    sequences = SequenceSet.from_strings(["ACGT", "AC"], alphabet="dna")
    with pytest.raises(ScoringError, match="mode local"):
        pairs_within_drop(Aligned(sequences, None, make_scoring("dna", mode="local")), 3)
    huge = make_scoring("dna", match=1, mismatch=-1, gap_open=10**8, gap_extend=10**8)
    with pytest.raises(ScoringError, match="scale the scores"):
        pairs_within_drop(Aligned(sequences, None, huge), 3)
