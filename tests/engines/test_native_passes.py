"""Native passes over pairs and overlaps against the same in NumPy."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from pairalign.alignments.alignments import STATS_FIELDS
from pairalign.pairs.positions import positions_of_mask
from pairalign.pairs.windows import Window
from pairalign.reads.overlap_kinds import (
    CONTAINED,
    CONTAINS,
    DOVETAIL,
    INTERNAL,
    choose_strands,
    classify_and_count,
    find_overlaps,
    merge_strands,
)
from pairalign.reads.reaching_pairs import ReachingPairs
from pairalign.results.alignments_result import Alignments
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.sets import SequenceSet

seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=examples(50))
@given(seeds, st.booleans(), st.sampled_from([0.0, 0.05, 0.5, 1.0]))
def test_positions_of_chosen_pairs(seed, triangular, share):
    rng = np.random.default_rng(seed)
    starts, sizes = rng.integers(0, 40, 2).tolist(), rng.integers(0, 40, 2).tolist()
    window = Window(0, starts[0], starts[0] + sizes[0], starts[1], starts[1] + sizes[1], triangular)
    rows, columns = window.positions()
    mask = rng.random(window.pairs) < share
    for found in (
        positions_of_mask(window.bounds, mask),
        window.positions_of(np.flatnonzero(mask)),
        window.positions_of(np.flatnonzero(mask).astype(np.int32)),
    ):
        assert (found[0] == rows[mask]).all()
        assert (found[1] == columns[mask]).all()
    if window.pairs:
        numbers = rng.integers(0, window.pairs, 30)  # in any order, some again
        found = window.positions_of(numbers)
        assert (found[0] == rows[numbers]).all()
        assert (found[1] == columns[numbers]).all()


def reaching_of(scores: np.ndarray, may_pass: np.ndarray, least: int) -> ReachingPairs:
    found = ReachingPairs.of_scores(scores, least)
    return replace(found, may_pass=may_pass[found.numbers].astype(np.int32))


@settings(max_examples=examples(50))
@given(seeds, st.booleans(), st.integers(0, 4000))
def test_strands_are_chosen_by_both_scores(seed, both, pairs):
    rng = np.random.default_rng(seed)
    plus, minus = rng.integers(-5, 6, (2, pairs)).astype(np.int32)
    may = rng.random((2, pairs)) < rng.random()
    chosen = choose_strands(reaching_of(plus, may[0], 2), reaching_of(minus, may[1], 2), both)
    expected = (plus >= 2) & (both | (plus >= minus)), (minus >= 2) & (both | (minus > plus))
    for k in (0, 1):
        assert chosen[k].tolist() == np.flatnonzero(expected[k] & may[k]).tolist()


@settings(max_examples=examples(50))
@given(seeds, st.integers(0, 100))
def test_overlaps_of_both_strands_in_the_order_of_pairs(seed, pairs):
    rng = np.random.default_rng(seed)
    plus, minus = (np.flatnonzero(rng.random(pairs) < rng.random()) for _ in range(2))
    order = merge_strands(plus, minus)
    keys = [2 * plus, 2 * minus + 1]
    assert (order == np.argsort(np.concatenate(keys))).all()


def overlaps_of(rng: np.random.Generator, pairs: int) -> Alignments:
    """Alignments of two sets whose spans and counts mean nothing, but for where spans lie."""
    sets = [SequenceSet.from_strings(["A" * int(n) for n in rng.integers(1, 9, 5)]) for _ in "12"]
    names = [rng.integers(0, 5, pairs) for _ in sets]
    fields = {name: rng.integers(0, 5, pairs) for name in STATS_FIELDS}
    for side, one, name in zip(("query", "target"), sets, names, strict=True):
        ends = np.sort(rng.integers(0, one.lengths[name] + 1, (2, pairs)), axis=0)
        fields[f"{side}_start"], fields[f"{side}_end"] = ends
    return Alignments(
        queries=sets[0],
        targets=sets[1],
        scoring=make_scoring(DNA),
        query=names[0],
        target=names[1],
        raw_score=np.zeros(pairs),
        strand=rng.choice([-1, 1], pairs) if rng.integers(2) else None,
        **fields,
    )


@settings(max_examples=examples(50))
@given(seeds, st.integers(0, 60), st.integers(0, 4), st.sampled_from(["0", "0.3", "0.5", "1"]))
def test_long_and_alike_enough(seed, pairs, span, identity):
    found = overlaps_of(np.random.default_rng(seed), pairs)
    spans = [found.field(f"{one}_end") - found.field(f"{one}_start") for one in ("query", "target")]
    share = Fraction(identity)
    alike = found.field("matches") * share.denominator >= share.numerator * found.columns
    passed = (np.minimum(*spans) >= span) & alike
    assert find_overlaps(found, span, share).tolist() == np.flatnonzero(passed).tolist()


def kind_of(found: Alignments, pair: int, max_overhang: int) -> int:
    """Kind of an overlap by its definition, see docs/overlaps.md."""
    one = found[pair]
    query = one.query_start, len(one.query) - one.query_end
    target = one.target_start, len(one.target) - one.target_end
    if one.strand < 0:
        query = query[1], query[0]
    length = max(one.query_end - one.query_start, one.target_end - one.target_start)
    beyond = min(query[0], target[0]) + min(query[1], target[1])
    if length == 0:
        return 0
    if beyond > min(max_overhang, 0.8 * length):
        return INTERNAL
    if query[0] >= target[0] and query[1] >= target[1]:
        return CONTAINS
    if query[0] <= target[0] and query[1] <= target[1]:
        return CONTAINED
    return DOVETAIL


@settings(max_examples=examples(50))
@given(seeds, st.integers(0, 60), st.integers(0, 6))
def test_kinds_of_overlaps(seed, pairs, max_overhang):
    found = overlaps_of(np.random.default_rng(seed), pairs)
    kinds, counts = classify_and_count(found, max_overhang)
    assert kinds.tolist() == [kind_of(found, pair, max_overhang) for pair in range(pairs)]
    assert counts.tolist() == np.bincount(kinds, minlength=5).tolist()


def test_pairs_that_are_not_there_cannot_be_taken():
    found = overlaps_of(np.random.default_rng(1), 4)
    assert found.take([-1, 0]).matches.tolist() == found.matches[[-1, 0]].tolist()
    for wrong in (4, -5):
        with pytest.raises(IndexError, match=f"no pair {wrong}"):
            found.take([0, wrong])
