"""Shards of jobs with thresholds: each pair once."""

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
