"""Which sequences of a family of DNA are on the other strand than most.

1. Local scores of sequences with representatives, drawn from all by chance, on both strands; of
   long ones a piece in the middle is compared.
2. The difference of a pair's two scores says whether its sequences are on one strand. Of unrelated
   ones both scores follow one Gumbel distribution, so the difference times lambda is logistic: it
   exceeds x with probability ``1 / (1 + e^x)``. Differences count that are rare enough.
3. A spanning forest of the greatest differences says it of all sequences of a tree. What is not in
   the largest tree is compared with more representatives.
4. In each tree those on the strand of fewer sequences, of equally many that of the shorter ones,
   are turned.

All is whole numbers, and sequences decide between equals: the order of the input does not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int64s
from pairalign.base.choices import STRANDS
from pairalign.base.declaration import make
from pairalign.jobs.msa.msa_result import MultipleAlignment
from pairalign.jobs.msa.relatives import drawn_members, local_scoring
from pairalign.jobs.run.run_request import RunRequest, plan_alignment
from pairalign.pairs.want import Detail
from pairalign.requests.align_request import AlignRequest
from pairalign.requests.resources import Resources
from pairalign.sequences.alphabets import DNA
from pairalign.sequences.complement import (
    complement_of,
    reverse_complement_set,
    turn_sequences,
)
from pairalign.sequences.sequence_records import join_records
from pairalign.sequences.sets import SequenceSet
from pairalign.statistics.significance import Gumbel, find_gumbel

MARK = "_R_"
"""Before the names of sequences that were turned, as MAFFT has it."""

_BASES = (2_000, 32_000)
"""Of the representatives that all are compared with, and of those that some are."""

_PIECE = 500
"""Bases in the middle of a representative that are compared."""

_MOST_BY_CHANCE = 0.05
"""Representatives with which an unrelated sequence may have as great a difference."""


@dataclass(frozen=True)
class Orientation:
    """A family, whose sequences on the other strand are known.

    Attributes
    ----------
    other_strand : tuple of int
        Input indices of the sequences that are on the other strand than most.
    turned : tuple of int
        Those that were.
    """

    sequences: SequenceSet
    other_strand: tuple[int, ...]
    turned: tuple[int, ...] = ()

    @classmethod
    def find(
        cls, sequences: SequenceSet, strand: str, resources: Resources, *, old: int = 0
    ) -> Orientation:
        """Find the sequences on the other strand; of strand both these are turned, with the mark.

        Parameters
        ----------
        strand : {"plus", "both"}
        resources, old
            See `find_other_strand`.

        Raises
        ------
        AlphabetError
            Both strands of proteins.
        FastaError
            A name with the mark is that of another sequence.
        """
        other = find_other_strand(sequences, resources, old=old)
        if strand == STRANDS[0]:
            return cls(sequences, other)
        complement_of(sequences.alphabet, sequences.source)
        if not other:
            return cls(sequences, other)
        return cls(turn_sequences(sequences, np.array(other), MARK), (), other)

    def note(self, alignment: MultipleAlignment) -> MultipleAlignment:
        """Return an alignment of the sequences that knows of their strands."""
        unlike = tuple(
            outlier for outlier in alignment.unlike if outlier.sequence not in self.other_strand
        )
        return replace(alignment, unlike=unlike, other_strand=self.other_strand, turned=self.turned)


def find_other_strand(
    sequences: SequenceSet, resources: Resources, *, old: int = 0
) -> tuple[int, ...]:
    """Find the sequences that are on the other strand than most.

    Parameters
    ----------
    sequences : SequenceSet
        Of proteins there are none.
    resources : Resources
        They change nothing.
    old : int
        The first sequences are those of an alignment: they stay, and the others are compared with
        them alone.

    Returns
    -------
    tuple of int
        Input indices, ascending.

    Notes
    -----
    Time: the residues of the set times 4,000 cells, and those of sequences that are like few others
    times 64,000 at most.
    """
    if sequences.alphabet != DNA or len(sequences) < 2:
        return ()
    ranks, drawn = sequences.canonical_places().astype(np.int64), drawn_members(sequences, old)
    usual = min(_PIECE, int(sequences.lengths[drawn].mean()))
    first, most = (min(bases // usual, len(drawn)) for bases in _BASES)
    drawn = drawn[:most]
    least = math.ceil(math.log(2 * most / _MOST_BY_CHANCE) / _gumbel().lambda_)
    strands = _Strands(len(sequences))
    for member in range(1, old):
        strands.join(0, member, is_turned=False)
    left, start, stop = np.arange(len(sequences)), 0, first
    while start < most and len(left):
        representatives = drawn[start:stop]
        differences = _differences(sequences, left, representatives, resources)
        row, column = np.nonzero(abs(differences) >= least)
        index, other, more = left[row], representatives[column], differences[row, column]
        order = np.lexsort((ranks[other], ranks[index], -abs(more)))
        for query, target, difference in np.stack((index, other, more))[:, order].T.tolist():
            strands.join(query, target, is_turned=difference < 0)
        left = strands.outside(ranks)
        start, stop = stop, 2 * stop
    turned: list[int] = []
    for plus, minus in strands.sides():
        longest = min(plus + minus, key=lambda index: int(ranks[index]))
        stays = 0 if old else longest
        if len(plus) == len(minus) or old:
            turned += minus if stays in plus else plus
        else:
            turned += plus if len(plus) < len(minus) else minus
    return tuple(sorted(turned))


def _gumbel() -> Gumbel:
    """Return the parameters of the scores that are compared."""
    gumbel = find_gumbel(local_scoring(DNA))
    assert gumbel is not None
    return gumbel


def _differences(
    sequences: SequenceSet, indices: Int64s, representatives: Int64s, resources: Resources
) -> Int64s:
    """Return how much more sequences score with representatives as read than turned.

    Returns
    -------
    ndarray of int64, shape (n, representatives)
    """
    texts = []
    for index in representatives.tolist():
        start, stop = sequences.offsets[index : index + 2].tolist()
        cut = max(stop - start - _PIECE, 0) // 2
        texts.append(sequences.residues[start + cut : stop - cut][:_PIECE].tobytes())
    names = list(map(str, range(len(texts))))
    pieces = SequenceSet(join_records(names, names, texts), alphabet=DNA, source=sequences.source)
    queries = sequences.reordered(indices)
    run = RunRequest(detail=Detail.SCORE, resources=replace(resources, progress=False))
    differences = np.zeros((len(queries), len(pieces)), np.int64)
    for targets, sign in ((pieces, 1), (reverse_complement_set(pieces), -1)):
        problem = Problem(queries, targets, local_scoring(DNA))
        for part in plan_alignment(make(AlignRequest, {"mode": "local"}), problem, run).job:
            differences[part.query, part.target] += sign * part.raw_score
    return differences


class _Strands:
    """Trees of sequences whose strands beside each other are known."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))
        self._is_turned = [False] * count  # beside the one above

    def join(self, index: int, other: int, *, is_turned: bool) -> None:
        """Join the trees of two sequences, if these are two."""
        (first, first_turned), (second, second_turned) = self._root(index), self._root(other)
        if first != second:
            self._above[second] = first
            self._is_turned[second] = first_turned ^ second_turned ^ is_turned

    def sides(self) -> list[tuple[list[int], list[int]]]:
        """Return the sequences of each strand of each tree of several."""
        trees: dict[int, tuple[list[int], list[int]]] = {}
        for index in range(len(self._above)):
            root, is_turned = self._root(index)
            trees.setdefault(root, ([], []))[is_turned].append(index)
        return [sides for sides in trees.values() if len(sides[0]) + len(sides[1]) > 1]

    def outside(self, ranks: Int64s) -> Int64s:
        """Return the sequences that are not in the largest tree, of equals the first by ranks."""
        roots = np.array([self._root(index)[0] for index in range(len(self._above))])
        sizes = np.bincount(roots, minlength=len(roots))
        largest = roots[np.lexsort((ranks, -sizes[roots]))[0]]
        return np.flatnonzero(roots != largest)

    def _root(self, index: int) -> tuple[int, bool]:
        """Return the root of a tree, and whether a sequence is turned beside it."""
        path, is_turned = [index], False
        while self._above[path[-1]] != path[-1]:
            path.append(self._above[path[-1]])
        for place in reversed(path[:-1]):
            is_turned ^= self._is_turned[place]
            self._above[place], self._is_turned[place] = path[-1], is_turned
        return path[-1], is_turned
