"""Global alignments of circular sequences, which may begin anywhere, and on either strand.

1. The query is aligned with the target twice in a row, whose ends are free. Every rotation of the
   target is a part of that, so none scores more.
2. The query is aligned, in mode global, with the target rotated to begin where that alignment
   begins or, if that scores more, to end where it ends. If both score less than 1., rotations that
   may score more are searched (`pairalign.jobs.circular.rotations`).
3. Both are rotated to the middle of the longest run of matches of that alignment, and aligned
   once more: no gap is cut in two where the query happens to begin, so where the files begin does
   not matter.

Ties: the original strand before the other; the rotation by the start before that by the end;
of equal runs the first; of equal alignments as ever (docs/conventions.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from pairalign.alignments.alignments import Alignments
from pairalign.alignments.problem import Problem
from pairalign.base.arrays import Int32s, Int64s
from pairalign.base.choices import STRANDS
from pairalign.base.error_types import ScoringError
from pairalign.jobs.circular.rotations import RotationSearch, align_list, free_target_ends, rotated
from pairalign.jobs.run.problem_checks import check_strand
from pairalign.pairs.lists import PairList
from pairalign.pairs.want import Detail
from pairalign.requests.resources import Resources
from pairalign.results.alignment_result import Alignment
from pairalign.scoring.cigars import DELETION, INSERTION
from pairalign.scoring.scoring import Scoring
from pairalign.sequences.complement import complement_of
from pairalign.sequences.sequence_records import join_records
from pairalign.sequences.sets import SequenceSet

MATCH = 7
_BLOCK_RESIDUES = 1 << 25
"""Residues of rotated targets that are held at a time."""


@dataclass(frozen=True)
class CircularAlignments:
    """Alignments of some pairs with rotated targets.

    Attributes
    ----------
    found : Alignments
        A row a pair, in their order; queries and targets are sets of their own, pair k's the k-th
        of each, rotated to begin where they are alike.
    reversed : ndarray of bool, shape (n,)
        Whether the target is aligned on the other strand, seen from the query.
    is_best : ndarray of bool, shape (n,)
        Whether it is proven that no rotation of the target scores more with the query as it was
        read. It is not for some unrelated sequences.
    """

    found: Alignments
    reversed: npt.NDArray[np.bool_]
    is_best: npt.NDArray[np.bool_]


def align_circular(
    problem: Problem,
    queries: Int32s,
    targets: Int32s,
    *,
    both_strands: bool,
    detail: Detail = Detail.CIGAR,
    resources: Resources | None = None,
) -> Iterator[CircularAlignments]:
    """Align pairs of a set whose targets are circular, block by block.

    Parameters
    ----------
    problem : Problem
        Of one set; mode global.
    queries, targets : ndarray of int32, shape (n,)
        Input indices.
    both_strands : bool
        Of DNA: the strand on which a pair scores more.
    detail : Detail
        At least STATS.

    Raises
    ------
    ScoringError
        The mode is not global, or end gaps have costs of their own.
    AlphabetError
        Both strands of proteins.
    CapacityError
        A pair needs more memory than allowed.
    """
    check_circular(problem.scoring)
    used = Resources() if resources is None else resources
    used = replace(used, progress=False)
    check_strand(STRANDS[both_strands], problem.queries, problem.scoring)
    strands = Strands.of(problem.queries, both_strands)
    lengths = problem.queries.lengths[targets].astype(np.int64)
    block = np.cumsum(lengths) // _BLOCK_RESIDUES
    for number in np.unique(block):
        part = np.flatnonzero(block == number)
        yield _align_block(problem, strands, queries[part], targets[part], detail, used)


def check_circular(scoring: Scoring) -> None:
    """Raise ScoringError for a scoring by which no circles are aligned."""
    if scoring.mode != "global":
        raise ScoringError(f"circular sequences are aligned in mode global, not {scoring.mode}")


@dataclass(frozen=True)
class Strands:
    """The residues of a set, of one strand or of two.

    Attributes
    ----------
    residues : tuple of list of bytes
        Of the original strand and, with both, of the other: each sequence.
    table : bytes or None
        Complement of each byte.
    """

    sequences: SequenceSet
    residues: tuple[list[bytes], ...]
    table: bytes | None

    @classmethod
    def of(cls, sequences: SequenceSet, both: bool) -> Strands:
        """Read the sequences; AlphabetError for both strands of proteins."""
        offsets = sequences.offsets.tolist()
        plus = sequences.residues.tobytes()
        texts = [plus[a:b] for a, b in pairwise(offsets)]
        if not both:
            return cls(sequences, (texts,), None)
        alphabet = sequences.alphabet
        complement = complement_of(alphabet, sequences.source)
        shown = np.frombuffer(alphabet.letters.encode(), np.uint8)
        table = shown[complement[alphabet.encoding % len(complement)] % len(shown)].tobytes()
        return cls(sequences, (texts, [text[::-1].translate(table) for text in texts]), table)

    def other(self, text: bytes) -> bytes:
        """Return the reverse complement of a sequence."""
        assert self.table is not None
        return text[::-1].translate(self.table)

    def set_of(self, texts: list[bytes]) -> SequenceSet:
        """Return a set of such sequences, named by their numbers."""
        names = [str(number) for number in range(len(texts))]
        records = join_records(names, names, texts)
        return SequenceSet(records, alphabet=self.sequences.alphabet, source=self.sequences.source)


def _align_block(
    problem: Problem,
    strands: Strands,
    queries: Int32s,
    targets: Int32s,
    detail: Detail,
    resources: Resources,
) -> CircularAlignments:
    """Find the rotations of some pairs, then align them."""
    count = len(queries)
    circles = [texts[k] for texts in strands.residues for k in targets.tolist()]
    numbers = np.tile(np.arange(count), len(strands.residues))
    bounds, cuts = _align_with_doubled(problem, strands, queries, targets, resources)
    search = RotationSearch(problem, strands.set_of, queries, resources)
    search.try_rotations(numbers, circles, cuts)
    search.improve(numbers, circles, bounds)
    texts = [
        rotated(circles[circle], cut)
        for circle, cut in zip(search.circles.tolist(), search.cuts.tolist(), strict=True)
    ]
    again = Problem(problem.queries, strands.set_of(texts), problem.scoring)
    pairs = PairList(queries, np.arange(count, dtype=np.int32))
    last = _align_again(
        problem, strands, align_list(again, pairs, Detail.CIGAR, resources), detail, resources
    )
    return CircularAlignments(last, search.circles >= count, search.is_best)


def _align_with_doubled(
    problem: Problem, strands: Strands, queries: Int32s, targets: Int32s, resources: Resources
) -> tuple[Int64s, Int64s]:
    """Align queries with targets twice in a row.

    Returns
    -------
    bounds : ndarray of int64, shape (strands * n,)
        Raw scores, which no rotation exceeds.
    cuts : ndarray of int64, shape (2, strands * n)
        The rotations that begin where the alignments begin, and those that end where they end.
    """
    kinds = len(strands.residues)
    target_numbers, place = np.unique(targets, return_inverse=True)
    doubled = strands.set_of(
        [2 * texts[k] for texts in strands.residues for k in target_numbers.tolist()]
    )
    pairs = PairList(
        np.tile(queries, kinds),
        np.concatenate([place + len(target_numbers) * strand for strand in range(kinds)]).astype(
            np.int32
        ),
    )
    scoring = free_target_ends(problem.scoring)
    alignments = align_list(
        Problem(problem.queries, doubled, scoring), pairs, Detail.STATS, resources
    )
    lengths = np.tile(problem.queries.lengths[targets], kinds).astype(np.int64)
    start = alignments.field("target_start").astype(np.int64)
    end = alignments.field("target_end").astype(np.int64)
    cuts = np.stack((start % lengths, (end - lengths) % lengths))
    return alignments.raw_score.astype(np.int64), cuts


def _align_again(
    problem: Problem, strands: Strands, alignments: Alignments, detail: Detail, resources: Resources
) -> Alignments:
    """Rotate both sequences of each pair to the middle of its longest run of matches, and align.

    Of DNA, both are on the strand on which the residues of that run come first.
    """
    pairs = []
    for alignment in (Alignment(alignments, number) for number in range(len(alignments))):
        pair = alignment.query.residues.encode(), alignment.target.residues.encode()
        starts, length = _longest_run(alignment.runs)
        run = pair[0][starts[0] : starts[0] + length].upper()
        if strands.table is not None and run[::-1].translate(strands.table) < run:
            pair = strands.other(pair[0]), strands.other(pair[1])
            starts = tuple(
                len(text) - start - length for text, start in zip(pair, starts, strict=True)
            )
        pairs.append(
            [rotated(text, at + length // 2) for text, at in zip(pair, starts, strict=True)]
        )
    queries, targets = (strands.set_of([pair[side] for pair in pairs]) for side in (0, 1))
    numbers = np.arange(len(pairs), dtype=np.int32)
    again = Problem(queries, targets, problem.scoring)
    return align_list(again, PairList(numbers, numbers), detail, resources)


def _longest_run(runs: npt.NDArray[np.uint32]) -> tuple[tuple[int, ...], int]:
    """Return where the longest run of matches begins in query and target, and its length."""
    operation, length = runs & 15, (runs >> 4).astype(np.int64)
    matched = np.where(operation == MATCH, length, 0)
    run = int(np.argmax(matched))
    before, kinds = length[:run], operation[:run]
    starts = tuple(int(before[kinds != gap].sum()) for gap in (DELETION, INSERTION))
    return starts, int(matched[run])
