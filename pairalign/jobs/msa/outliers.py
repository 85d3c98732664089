"""Which sequences of a family are like no other: without a significant local alignment.

That is said, and changes no row. An E-value is that of a search of the whole family with the
sequence, so one in twenty unrelated sequences has one below `MOST_EVALUE`. Each is compared with
others, drawn by chance, until it is like one of them; beyond `_MOST_OF_ALL` sequences as long as
there are scores left. Sequences decide what is drawn: the order of the input does not matter.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from pairalign.alignments.multiple import Unlike
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int64s
from pairalign.base.declaration import make
from pairalign.jobs.msa.grouping import subset
from pairalign.jobs.run.run_request import RunRequest, find_statistics, plan_alignment
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.alphabets import DNA, Alphabet
from pairalign.sequences.sets import SequenceSet

MOST_EVALUE = 0.05
"""Of the best local alignment of a sequence that is like another."""

_MOST_OF_ALL = 500
"""Sequences of which each may be compared with all."""

_SCORES = 200
"""For each sequence of a larger family."""

_FIRST = 32
"""Sequences that all are compared with; those that are like none of them with twice as many."""


def find_unlike(
    sequences: SequenceSet, resources: Resources, *, old: int = 0
) -> tuple[Unlike, ...]:
    """Find what is like no other.

    Parameters
    ----------
    sequences : SequenceSet
        Without copies.
    resources : Resources
        They change nothing.
    old : int
        The first sequences are those of an alignment: the others are compared with them alone.
    """
    compared = drawn_members(sequences, old)
    left, scores = np.arange(old, len(sequences)), _SCORES * len(sequences)
    # No alignment is worse than one of score 0.
    least = np.log(float(sequences.total_residues) * np.maximum(sequences.lengths, 1))
    start, stop = 0, _FIRST
    while start < len(compared) and len(left):
        if len(compared) > _MOST_OF_ALL:
            stop = min(stop, start + scores // len(left))
            scores -= (stop - start) * len(left)
        if start == stop:
            break
        values = log_evalues(sequences, left, compared[start:stop], resources)
        least[left] = np.minimum(least[left], values)
        left = left[least[left] > math.log(MOST_EVALUE)]
        start, stop = stop, 2 * stop
    return tuple(Unlike(index, math.exp(least[index])) for index in left.tolist())


def drawn_members(sequences: SequenceSet, old: int) -> Int64s:
    """Return input indices, or those of the `old` first, by chance, which sequences decide."""
    members = sequences.canonical_order().astype(np.int64)
    members = members[members < (old or len(sequences))]
    return members[np.random.default_rng(0).permutation(len(members))]


def local_scoring(alphabet: Alphabet) -> Scoring:
    """Return a scoring that finds distant relatives, with published parameters."""
    if alphabet != DNA:
        return make_scoring(alphabet, mode="local")
    return make_scoring(DNA, mode="local", match=1, mismatch=-1, gap_open=4, gap_extend=1)


def log_evalues(
    sequences: SequenceSet, indices: Int64s, others: Int64s, resources: Resources
) -> npt.NDArray[np.float64]:
    """Return ln of the least E-value of each of some sequences with any of others, not itself.

    Parameters
    ----------
    sequences : SequenceSet
        What is searched: E-values are of its residues.
    indices, others : ndarray of int64
        Input indices.
    """
    problem = Problem(
        subset(sequences, indices), subset(sequences, others), local_scoring(sequences.alphabet)
    )
    request = make(AlignRequest, {"mode": "local", "db_size": sequences.total_residues})
    silent = replace(resources, progress=False)
    run = RunRequest(detail=Detail.SCORE, statistics=True, resources=silent)
    least = np.full(len(indices), math.inf)
    significance = find_statistics(request, problem, run).significance
    if significance is None:  # X or N alone: no pair has an E-value
        return least
    for part in plan_alignment(make(AlignRequest, {"mode": "local"}), problem, run).job:
        is_other = indices[part.query] != others[part.target]
        logs = np.where(is_other, significance.log_evalues(part), math.inf)
        np.minimum.at(least, part.query, logs)
    return least
