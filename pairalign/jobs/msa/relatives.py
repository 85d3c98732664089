"""Which sequences of a family are like others, by local alignments, and where their rows are not.

What is said here changes no row. Each sequence is compared with others, drawn by chance, until it
is like one of them; beyond `_MOST_OF_ALL` sequences as long as there are scores left. Sequences
decide what is drawn: the order of the input does not matter.

- What has no significant local alignment is like no other. An E-value is that of a search of the
  whole family, so one in twenty unrelated sequences has one below `MOST_EVALUE`.
- Rows keep the order of residues and are as long as a whole family: overlapping parts of a genome,
  and domains that changed places, have similar residues in other columns. So it is said where a
  sequence's best local alignment has fewer than half of its pairs of residues in one column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.multiple import Elsewhere, Unlike
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.declaration import make
from pairalign.jobs.msa.distinct_members import DistinctMembers
from pairalign.jobs.msa.large import residues_of
from pairalign.jobs.run.run_request import RunRequest, find_statistics, plan_alignment
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.scoring.cigars import DELETION, INSERTION, MATCH
from pairalign.scoring.scoring import Scoring, make_scoring
from pairalign.sequences.alphabets import DNA, Alphabet
from pairalign.sequences.sets import SequenceSet

MOST_EVALUE = 0.05
"""Of the best local alignment of a sequence that is like another."""

_MOST_OF_ALL = 500
"""Sequences of which each may be compared with all."""

_SCORES = 200
"""For each sequence of a larger family, in the mean."""

_PART_PAIRS = 1 << 13  # that a thread is given at a time

_FIRST = 8
"""Sequences that all are compared with; those that are like none of them with twice as many."""


@dataclass(frozen=True)
class Relatives:
    """The best local alignment of each sequence with one of those that it was compared with.

    Attributes
    ----------
    others : ndarray of int64, shape (n,)
        Input indices of these.
    log_evalues : ndarray of float64, shape (n,)
    old : int
        The first sequences, which were compared with nothing.
    """

    others: Int64s
    log_evalues: npt.NDArray[np.float64]
    old: int

    def unlike(self) -> tuple[Unlike, ...]:
        """Return what is like no other."""
        values = enumerate(self.log_evalues[self.old :].tolist(), self.old)
        return tuple(
            Unlike(index, math.exp(value))
            for index, value in values
            if value > math.log(MOST_EVALUE)
        )


def find_relatives(sequences: SequenceSet, resources: Resources, *, old: int = 0) -> Relatives:
    """Find what each sequence is like.

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
    each = _MOST_OF_ALL if len(compared) <= _MOST_OF_ALL else _SCORES
    left, scores = np.arange(old, len(sequences)), each * len(sequences)
    # No alignment is worse than one of score 0.
    least = np.log(float(sequences.total_residues) * np.maximum(sequences.lengths, 1))
    others = np.arange(len(sequences))
    start, stop = 0, _FIRST
    while start < len(compared) and len(left):
        stop = min(stop, len(compared), start + scores // len(left))
        scores -= (stop - start) * len(left)
        if start == stop:
            break
        values = log_evalues(sequences, left, compared[start:stop], resources)
        is_less = values.min(axis=1) < least[left]
        others[left[is_less]] = compared[start:stop][values.argmin(axis=1)[is_less]]
        least[left] = np.minimum(least[left], values.min(axis=1))
        left = left[least[left] > math.log(MOST_EVALUE)]
        start, stop = stop, 2 * stop
    return Relatives(others, least, old)


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
    """Return ln of the E-value of each of some sequences with each of others.

    Parameters
    ----------
    sequences : SequenceSet
        What is searched, whatever the others are.
    indices, others : ndarray of int64
        Input indices.

    Returns
    -------
    ndarray of float64, shape (indices, others)
        Infinity with itself, and where no pair has an E-value: of X or N alone.
    """
    problem = Problem(
        sequences.reordered(indices), sequences.reordered(others), local_scoring(sequences.alphabet)
    )
    request = make(AlignRequest, {"mode": "local"})
    silent = replace(resources, progress=False)
    run = RunRequest(detail=Detail.SCORE, statistics=True, resources=silent)
    values = np.full((len(indices), len(others)), math.inf)
    significance = find_statistics(request, problem, run).significance
    if significance is not None:
        searched = sequences.total_residues, len(sequences)
        significance = replace(significance, databases=(searched, searched))
        job = plan_alignment(request, problem, run).job
        with ThreadPoolExecutor(resources.used_threads) as pool:
            for part in job:  # E-values of a pair take longer than its scores on a GPU
                starts = range(0, len(part), _PART_PAIRS)
                pieces = [part[start : start + _PART_PAIRS] for start in starts]
                found = pool.map(significance.log_evalues, pieces)
                values[part.query, part.target] = np.concatenate([np.empty(0), *found])
        values[indices[:, None] == others] = math.inf
    return values


def placed_members(
    members: DistinctMembers, columns: Int32s, resources: Resources
) -> tuple[tuple[Unlike, ...], tuple[Elsewhere, ...]]:
    """Find what of a family is like no other, and what is like another in another order or place.

    Parameters
    ----------
    columns : ndarray of int32, shape (total_residues,)
        Of the residues of the family.
    """
    if len(members.family) < 2:
        return (), ()
    relatives = find_relatives(members.aligned, resources)
    own = columns[residues_of(members.family, members.members)]
    index = members.members.tolist()
    elsewhere = tuple(
        Elsewhere(index[first], index[second], aligned, together)
        for first, second, aligned, together in find_elsewhere(
            members.aligned, own, relatives, resources
        )
    )
    return members.unlike(relatives.unlike()), elsewhere


def find_elsewhere(
    sequences: SequenceSet, columns: Int32s, relatives: Relatives, resources: Resources
) -> tuple[Elsewhere, ...]:
    """Find what is like another in another order or place; each pair once.

    Parameters
    ----------
    columns : ndarray of int32, shape (total_residues,)
        Of the residues of all sequences, see `MultipleAlignment`.
    relatives : Relatives
        Of all sequences.
    """
    like = np.flatnonzero(relatives.log_evalues <= math.log(MOST_EVALUE))
    if not len(like):
        return ()
    ends = like.astype(np.int32), relatives.others[like].astype(np.int32)
    best = dict(zip(*(side.tolist() for side in ends), strict=True))
    request = make(AlignRequest, {"mode": "local", "pairs": PairList(*ends, may_repeat=True)})
    run = RunRequest(resources=replace(resources, progress=False))
    problem = Problem(sequences, None, local_scoring(sequences.alphabet))
    return tuple(
        pair
        for part in plan_alignment(request, problem, run).job
        for pair in _placed_elsewhere(part, best, sequences, columns)
    )


def _placed_elsewhere(
    part: Alignments, best: dict[int, int], sequences: SequenceSet, columns: Int32s
) -> Iterator[Elsewhere]:
    """Yield local alignments of which less than half of the pairs of residues are in one column.

    `best` has the other of each sequence that is like one: the query may be that other.
    """
    assert part.cigar is not None
    assert part.cigar_offsets is not None
    lengths, operations = (part.cigar >> 4).astype(np.int64), part.cigar & 15
    of_run = np.repeat(np.arange(len(part.query)), np.diff(part.cigar_offsets))
    are_pairs = operations >= MATCH
    sizes = lengths[are_pairs]
    steps = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    places = []
    for indices, gap, start in (
        (part.query, DELETION, part.field("query_start")),
        (part.target, INSERTION, part.field("target_start")),
    ):
        before = np.concatenate(([0], np.cumsum(np.where(operations == gap, 0, lengths))))
        firsts = sequences.offsets[indices] + start - before[part.cigar_offsets[:-1]]
        places.append(columns[np.repeat((firsts[of_run] + before[:-1])[are_pairs], sizes) + steps])
    of_pair = np.repeat(of_run[are_pairs], sizes)
    aligned = np.bincount(of_pair, minlength=len(part.query))
    together = np.bincount(of_pair[places[0] == places[1]], minlength=len(part.query))
    for number in np.flatnonzero(2 * together < aligned).tolist():
        ends = int(part.query[number]), int(part.target[number])
        shown = ends if best.get(ends[0]) == ends[1] else ends[::-1]
        yield Elsewhere(*shown, int(aligned[number]), int(together[number]))
