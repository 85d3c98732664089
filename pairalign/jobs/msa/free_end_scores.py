"""Scores with free end gaps of sequences of a family: who is near whom.

A distance is 1 minus the score by the lower score of the two sequences with themselves, in
65536ths.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pairalign.alignments.problem import Problem
from pairalign.jobs.distances.measures import self_scores
from pairalign.jobs.msa.grouping import Indices, subset
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.sets import SequenceSet

_ONE = 1 << 16

Distances = npt.NDArray[np.int64]


class FreeEndScores:
    """Distances by scores with free end gaps, computed when they are asked for."""

    def __init__(self, sequences: SequenceSet, resources: Resources) -> None:
        self._sequences = sequences
        self._scoring = make_scoring(sequences.alphabet, mode="semiglobal")
        self._own = self_scores(sequences, self._scoring).astype(np.int64)
        used = replace(resources, device="cpu", progress=False)
        self._run = RunRequest(detail=Detail.SCORE, resources=used)

    def between(self, first: Indices, second: Indices) -> Distances:
        """Return the distances of each of some sequences and each of others, int64."""
        table = np.zeros((len(first), len(second)), np.int64)
        one, other = subset(self._sequences, first), subset(self._sequences, second)
        job = plan_alignment(AlignRequest(), Problem(one, other, self._scoring), self._run).job
        with job.open() as results:
            for found in results:
                query, target = found.query.astype(np.int64), found.target.astype(np.int64)
                own = np.minimum(self._own[first][query], self._own[second][target])
                scores = _ONE * found.raw_score.astype(np.int64)
                table[query, target] = np.clip(_ONE - scores // np.maximum(own, 1), 0, _ONE)
        return table
