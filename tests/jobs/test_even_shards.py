"""Shards of jobs with thresholds: each pair once, and about the same work, as a sample says."""

from itertools import pairwise

import numpy as np
import pytest
from checks import concatenate
from made_thresholds import make_pair_thresholds

from pairalign.jobs.run.align import AlignmentJob
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

LETTERS = list("ARNDCQEGHILKMFPSTWYV")


def random_set(count: int, seed: int = 1, most: int = 400) -> SequenceSet:
    """Sequences whose lengths differ much, so that few pairs can reach an identity."""
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(LETTERS, n)) for n in rng.integers(20, most, count)]
    return SequenceSet.from_strings([*texts, *texts[::9]], alphabet="protein")


def jobs_of(sequences: SequenceSet, other: SequenceSet | None, shards: int) -> list[AlignmentJob]:
    """Shards of a job with thresholds."""
    scoring = make_scoring(sequences.alphabet)
    asked = make_pair_thresholds(min_identity=0.6)
    return [
        AlignmentJob(
            *(sequences, other, scoring),
            pair_thresholds=asked,
            shard=(k, shards),
            resources=Resources(device="cpu", threads=1 + k % 2, memory=1 << (26 + k % 2)),
            window=32,
        )
        for k in range(1, shards + 1)
    ]


def possible_cells(job: AlignmentJob) -> int:
    """Cells of pairs whose lengths permit the identity: what filters look at."""
    rows, columns = job.queries.sorted_lengths, job.problem.others.sorted_lengths
    total = 0
    for window in job._planned._windows:  # type: ignore[attr-defined]
        places = window.positions()
        first, second = rows[places[0]].astype(np.int64), columns[places[1]].astype(np.int64)
        fits = np.minimum(first, second) >= 0.6 * np.maximum(first, second)
        total += int((first * second)[fits].sum())
    return total


@pytest.mark.parametrize("two_sets", [False, True], ids=["one set", "two sets"])
def test_filters_look_at_about_as_much_in_each_shard(two_sets):
    sequences, other = random_set(900), random_set(500, 2) if two_sets else None
    jobs = jobs_of(sequences, other, 6)
    cells = [possible_cells(job) for job in jobs]
    assert max(cells) <= 1.25 * sum(cells) / len(cells)


@pytest.mark.parametrize("two_sets", [False, True], ids=["one set", "two sets"])
def test_each_pair_is_in_one_shard(two_sets):
    """Shards of several machines agree, whatever threads and memory they have."""
    sequences, other = random_set(150), random_set(150) if two_sets else None
    jobs = jobs_of(sequences, other, 5)
    pieces = sorted(piece for job in jobs for piece in job.pieces)
    assert pieces[0].start == 0
    assert all(a.start + a.pairs == b.start for a, b in pairwise(pieces))
    whole = AlignmentJob(
        *(sequences, other, jobs[0].scoring),
        pair_thresholds=jobs[0].pair_thresholds,
        resources=Resources(device="cpu"),
        window=32,
    )
    assert sum(piece.pairs for piece in pieces) == whole.pairs
    pairs = [
        pair
        for job in jobs
        for found in job
        for pair in zip(found.query.tolist(), found.target.tolist(), strict=True)
    ]
    expected = concatenate(list(whole))
    assert len(pairs) == len(set(pairs)) > 10
    assert set(pairs) == set(zip(expected.query.tolist(), expected.target.tolist(), strict=True))


def test_a_sample_of_little_and_of_long_sequences_cuts_all_the_same():
    """One sequence of a group is sampled where sequences are long: their pairs count as others."""
    sequences = random_set(30, 4, 200)
    jobs = jobs_of(sequences, None, 40)
    assert sum(job.pairs for job in jobs) == len(sequences) * (len(sequences) - 1) // 2
