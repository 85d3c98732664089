"""Single passes over columns against what NumPy and plain loops make of the same numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import sample

from pairalign.alignments.passes import find_extremes, place_in_triangle
from pairalign.errors import DistanceError
from pairalign.jobs.run.align import AlignmentJob
from pairalign.pairs.positions import window_positions
from pairalign.pairs.want import Detail, Want
from pairalign.requests.resources import Resources
from pairalign.results.distances_result import DistanceMatrix
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

EDGES = st.tuples(st.integers(0, 30), st.integers(0, 12)).map(lambda one: (one[0], sum(one)))


@given(rows=EDGES, columns=EDGES, triangular=st.booleans())
def test_positions(rows, columns, triangular):
    expected = [
        (row, column)
        for row in range(*rows)
        for column in range(*columns)
        if row < column or not triangular
    ]
    found = window_positions(rows, columns, triangular, len(expected))
    assert list(zip(*(one.tolist() for one in found), strict=True)) == expected
    assert {one.dtype for one in found} == {np.dtype(np.int32)}


@given(count=st.integers(2, 30), seed=st.integers(0, 1000))
def test_triangle(count, seed):
    random = np.random.default_rng(seed)
    square = random.random((count, count))
    upper = np.triu_indices(count, 1)
    mixed = random.permutation(len(upper[0]))
    query, target = (one[mixed].astype(np.int32) for one in upper)
    condensed = np.full(len(mixed), np.nan, np.float32)
    half = len(mixed) // 2
    for part in (slice(half), slice(half, None)):
        values = square[query[part], target[part]]
        place_in_triangle(query[part], target[part], values, count, condensed)
    matrix = DistanceMatrix([f"s{k}" for k in range(count)], condensed)
    assert np.array_equal(matrix.square()[upper], square[upper].astype(np.float32))


@given(data=st.data())
def test_extremes(data):
    """Small numbers, so that many pairs are equal."""
    pairs, by_score = data.draw(st.integers(0, 20)), data.draw(st.booleans())
    draw = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    counts = draw.integers(0, 3, (3, pairs)).astype(np.int32)
    scores = draw.integers(-5, 5, pairs).astype(np.int32)
    found = find_extremes(tuple(counts), scores if by_score else None)
    share = scores if by_score else counts[0] / np.maximum(counts.sum(axis=0), 1)
    aligned = np.flatnonzero(sum(counts)) if pairs else []
    if len(aligned) == 0:
        assert found is None
    else:
        expected = aligned[np.argmax(share[aligned])], aligned[np.argmin(share[aligned])]
        assert found == expected


def test_extremes_of_many_pairs_are_the_first_of_equals_whatever_the_threads():
    """Several parts, with equals in each; the first part has nothing aligned."""
    draw = np.random.default_rng(7)
    counts = [
        np.where(np.arange(300_000) < 70_000, 0, one).astype(np.int32)
        for one in draw.integers(0, 3, (3, 300_000))
    ]
    share = counts[0] / np.maximum(sum(counts), 1)
    aligned = np.flatnonzero(sum(counts))
    expected = aligned[np.argmax(share[aligned])], aligned[np.argmin(share[aligned])]
    for threads in (1, 3, 9):
        found = find_extremes(tuple(counts), None, threads)
        assert found == expected


def test_hand_out_gives_each_pair_once():
    sequences = sample(3).queries
    used = Resources(device="cpu", threads=2)
    scoring = make_scoring(sequences.alphabet)
    job = AlignmentJob(sequences, None, scoring, Want(Detail.SCORE), window=3, resources=used)
    handed = []
    job.hand_out(lambda found: handed.extend(zip(found.query, found.target, strict=True)))
    in_order = [pair for found in job for pair in zip(found.query, found.target, strict=True)]
    assert len(in_order) == job.pairs
    assert sorted(handed) == sorted(in_order)


def test_hand_out_passes_errors_on():
    sequences = SequenceSet.from_strings(["ARND", "CQEG", "HILK"])
    job = AlignmentJob(
        sequences, None, make_scoring(sequences.alphabet), resources=Resources(device="cpu")
    )

    def refuse(found):
        raise DistanceError("not these")

    with pytest.raises(DistanceError, match="not these"):
        job.hand_out(refuse)
